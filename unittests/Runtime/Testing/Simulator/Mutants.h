//===- Mutants.h - Deliberate faults in the protocol ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_TESTING_SIMULATOR_MUTANTS_H
#define PDL_UNITTESTS_RUNTIME_TESTING_SIMULATOR_MUTANTS_H

#include "pdlrt/Testing/Simulator/Simulation.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace pdlrt::test {

/// A fault that the checker must detect.
struct Mutant {
  const char *name;
  /// It is detected in one of the seeds from 1 to this number.
  uint64_t seeds;
  /// Returns the hooks that make the fault. `scenario` outlives them.
  std::function<SimulationHooks(const Scenario &scenario)> hooks;
  /// Changes scenarios so that the fault can show; may be empty.
  std::function<void(Scenario &scenario)> prepare;
  /// Mode whose jobs show it; none: any mode.
  std::optional<ToyMode> mode = std::nullopt;
};

std::vector<Mutant> allMutants();

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_TESTING_SIMULATOR_MUTANTS_H
