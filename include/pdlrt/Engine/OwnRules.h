//===- OwnRules.h - Rules that each trainer applies -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where all trainers of a job have all parameters on devices, and the sums of
// their gradients: what each of them does of a step beside the exchange.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_OWNRULES_H
#define PDLRT_ENGINE_OWNRULES_H

#include "pdlrt/State/Model.h"
#include "pdlrt/State/Updater.h"
#include "pdlrt/Sum/Contribution.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pdlrt {

/// Of one program. One thread at a time.
class OwnRules {
public:
  /// All outlive it. Devices of `model` keep its parameters, and take all of
  /// the program's gradients of parameters.
  OwnRules(Model &model, const pdl_program &program, Scheduler &scheduler);

  /// Before an exchange, with what this trainer gives (null: nothing): takes up
  /// the gradients. An error where a sum is not finite.
  Status begin(const Contribution *sum);
  /// Partial squared norms of a parameter's gradient, by the weights of all
  /// trainers. Valid until the next call.
  Expected<std::span<const double>>
  partialNorms(int32_t update, std::span<const ObjectiveSums> objectives);
  /// Behind the exchange: applies the rules. `norms`: by clip of the
  /// descriptor. After an error the state must not be used any more.
  Status finish(std::span<const ObjectiveSums> objectives,
                const std::vector<double> &norms);

private:
  Model &model;
  const pdl_program &program;
  const std::vector<GradientBlock> blocks;
  Updater updater;
  Contribution merged;
  std::vector<double> partials;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_OWNRULES_H
