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

/// Fault that the checker must detect.
struct Mutant {
  const char *name;
  /// At least one of the seeds from 1 to this number must show the fault.
  uint64_t seeds;
  /// Returns the hooks that cause the fault. `scenario` outlives them.
  std::function<SimulationHooks(const Scenario &scenario)> hooks;
  /// Changes a scenario so that the fault can have an effect; may be empty.
  std::function<void(Scenario &scenario)> prepare;
  /// Mode of jobs in which the fault has an effect; none: any mode.
  std::optional<ToyMode> mode = std::nullopt;
};

std::vector<Mutant> allMutants();

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_TESTING_SIMULATOR_MUTANTS_H
