//===- OwnRules.h - Optimizer rules applied by trainers ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Used if all trainers of a job have all parameters on devices, together with
// the sums of their gradients. Each trainer then does this part of a step in
// addition to the exchange.
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
  /// The arguments must outlive the object. Devices of `model` have its
  /// parameters, and receive all of the program's gradients of parameters.
  OwnRules(Model &model, const pdl_program &program, Scheduler &scheduler);

  /// Collects the gradients. Call before an exchange, with this trainer's
  /// contribution (null: none). Returns an error if a sum is not finite.
  Status begin(const PartialSum *sum);
  /// Returns the partial squared norms of a parameter's gradient, divided by
  /// the weights of all trainers. Valid until the next call.
  Expected<std::span<const double>>
  partialNorms(int32_t update, std::span<const ObjectiveSums> objectives);
  /// Applies the rules. Call after the exchange. `norms`: by clip of the
  /// descriptor. After an error the state must not be used any more.
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
