//===- OwnRules.cpp - Optimizer rules applied by trainers -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/OwnRules.h"

#include "pdlabi/norm.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/State/DeviceState.h"

using namespace pdlrt;

OwnRules::OwnRules(Model &model, const pdl_program &program,
                   Scheduler &scheduler)
    : model(model), program(program),
      blocks(gradientBlocks(model.descriptor(), program)),
      updater(model, program, scheduler) {}

Status OwnRules::begin(const PartialSum *sum) {
  const DeviceState &state = *model.deviceState();
  if (const int32_t block = state.nonFiniteSum(); block >= 0)
    return refuseSum(model.descriptor(), blocks[block].symbol);
  merged = {};
  merged.present = true;
  merged.blocks.resize(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].isTable)
      continue;
    // `state` has a sum only if there are several replicas. The gradient of a
    // single replica is itself the sum.
    merged.blocks[b].onDevice = sum ? sum->blocks[b].onDevice : nullptr;
    if (const void *all = state.sumOf(b))
      merged.blocks[b].onDevice = all;
  }
  return {};
}

Expected<std::span<const double>>
OwnRules::partialNorms(int32_t update,
                       std::span<const ObjectiveSums> objectives) {
  const pdl_update_descriptor &of = program.updates[update];
  const pdl_symbol &symbol = model.descriptor().symbols[of.symbol];
  const double weight =
      divisorOf(model.descriptor(), symbol.group,
                objectives[size_t(of.objective)].weight, merged.steps);
  partials.clear();
  // With weight 0, nothing is applied, so the norm is not needed.
  if (weight > 0)
    PDLRT_RETURN_IF_ERROR(model.deviceState()->partialNorms(
        of.symbol, size_t(update), merged.blocks[size_t(update)],
        pdlabi::rowsInNormUnit * symbol.row_width, weight, partials));
  return std::span<const double>(partials);
}

Status OwnRules::finish(std::span<const ObjectiveSums> objectives,
                        const std::vector<double> &norms) {
  const TraceSpan span("apply");
  merged.objectives.assign(objectives.begin(), objectives.end());
  if (!merged.hasWeight())
    return {};
  return updater.finish(merged, norms);
}
