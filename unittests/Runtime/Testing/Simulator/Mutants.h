//===- Mutants.h - Faults of the protocol, made on purpose ------*- C++ -*-===//
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

/// A fault that the checker must notice.
struct Mutant {
  const char *name;
  /// It is noticed in one of the seeds from 1 to here.
  uint64_t seeds;
  /// What is wrong in the protocol. `scenario` outlives the hooks.
  std::function<SimulationHooks(const Scenario &scenario)> hooks;
  /// What the scenarios must have for the fault to show; may be empty.
  std::function<void(Scenario &scenario)> prepare;
  /// Whose jobs show it; none: those of any.
  std::optional<ToyMode> mode = std::nullopt;
};

std::vector<Mutant> allMutants();

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_TESTING_SIMULATOR_MUTANTS_H
