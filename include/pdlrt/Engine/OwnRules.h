//===- OwnRules.h - Optimizer rules applied by trainers ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If all trainers of a job have all parameters on devices, the devices also sum
// up the gradients of parameters. Then each trainer applies the optimizer rules
// of parameters itself. The exchange with servers handles the tables.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_OWNRULES_H
#define PDLRT_ENGINE_OWNRULES_H

#include "pdlrt/State/Model.h"
#include "pdlrt/State/Updater.h"
#include "pdlrt/Sum/PartialSum.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pdlrt {

/// Applies the optimizer rules of one program's parameters. Not thread-safe.
class OwnRules {
public:
  /// The devices of `model` must hold its parameters, and must receive all
  /// gradients of parameters. The arguments must outlive the object.
  OwnRules(Model &model, const pdl_program &program, Scheduler &scheduler);

  /// Begins a step with the gradients of parameters, which the devices have
  /// summed over all trainers (`ReplicaSet::sumGroups`). Call before an
  /// exchange. `sum` is the contribution of this trainer; null: none. Returns
  /// an error if a sum is not finite.
  Status begin(const PartialSum *sum);
  /// Returns the partial sums of the squared norm of a parameter's gradient.
  /// The gradient is divided by the sum of the weights of all trainers. The
  /// result is valid until the next call.
  Expected<std::span<const double>>
  partialNorms(int32_t update, std::span<const ObjectiveSums> objectives);
  /// Applies the optimizer rules of the parameters. Call after the exchange.
  /// `norms` has one entry per clip of the descriptor. After an error the state
  /// must not be used any more.
  Status finish(std::span<const ObjectiveSums> objectives,
                const std::vector<double> &norms);

private:
  Model &model;
  const pdl_program &program;
  const std::vector<GradientBlock> blocks;
  Updater updater;
  PartialSum merged;
  std::vector<double> partials;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_OWNRULES_H
