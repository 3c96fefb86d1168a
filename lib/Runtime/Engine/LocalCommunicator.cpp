//===- LocalCommunicator.cpp - State in the same process ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/LocalCommunicator.h"

#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Engine/StepMetrics.h"
#include "pdlrt/State/DeviceState.h"

using namespace pdlrt;

Communicator::~Communicator() = default;

/// Returns when the next batch may be read. A group that also updates rows
/// without a gradient would include rows that the next batch inserts. So with
/// such a group, the batch is read only after the step.
static Communicator::NextBatch whenNextOf(const pdl_descriptor &descriptor,
                                          const pdl_program &program) {
  for (int32_t i = 0; i < program.update_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[program.updates[i].symbol];
    if (symbol.kind == PDL_SYMBOL_TABLE &&
        descriptor.groups[symbol.group].untouched == PDL_UNTOUCHED_DENSE)
      return Communicator::NextBatch::AfterStep;
  }
  return Communicator::NextBatch::DuringStep;
}

LocalCommunicator::LocalCommunicator(Model &model, const pdl_program &program,
                                     const ReplicaLayout &layout,
                                     Scheduler &scheduler)
    : model(model), program(program), scheduler(scheduler),
      isSum(layout.localReplicas() > 1),
      isWholeJob(layout.localGroups == layout.groups),
      whenNext(whenNextOf(model.descriptor(), program)),
      blocks(gradientBlocks(model.descriptor(), program)),
      updater(model, program, scheduler),
      applySeconds(addApplySeconds(program)) {
  if (DeviceState *state = model.deviceState();
      state && program.update_count > 0)
    state->keepGradients(size_t(layout.localReplicas()),
                         size_t(layout.workers));
}

bool LocalCommunicator::stopped() const { return stopSignal() != 0; }

Expected<RoundOutcome>
LocalCommunicator::exchange(const StepRequest &stepRequest) {
  RoundOutcome outcome;
  outcome.sendersWithNextBatch = stepRequest.hasNextBatch;
  outcome.stop = stepRequest.stop;
  outcome.save = stepRequest.save;
  if (stepRequest.requestOnly || program.objective_count == 0)
    return outcome;
  Stopwatch stopwatch;
  PDLRT_RETURN_IF_ERROR(sum.assign(blocks, stepRequest.groups, scheduler));
  const PartialSum &merged = sum.result();
  outcome.take(merged);
  if (program.update_count > 0 && merged.hasWeight())
    PDLRT_RETURN_IF_ERROR(apply(merged));
  applySeconds += stopwatch.lap();
  return outcome;
}

Status LocalCommunicator::checkSums(const PartialSum &merged) {
  DeviceState *state = model.deviceState();
  if (!state)
    return checkFiniteSums(model.descriptor(), blocks, merged);
  if (const int32_t block = state->nonFiniteSum(); block >= 0)
    return refuseSum(model.descriptor(), blocks[block].symbol);
  // Quotients by the sum of weights are then finite too, unless a sum is small.
  if (!hasSmallWeight(merged))
    return checkFiniteSums(model.descriptor(), blocks, merged);
  const Expected<PartialSum> onHost = state->withGradients(merged, blocks);
  if (!onHost)
    return onHost.status();
  return checkFiniteSums(model.descriptor(), blocks, *onHost);
}

Status LocalCommunicator::apply(const PartialSum &merged) {
  if (isSum || hasSmallWeight(merged))
    PDLRT_RETURN_IF_ERROR(checkSums(merged));
  noteUpdate(merged);
  PDLRT_RETURN_IF_ERROR(updater.apply(merged));
  model.quiesce();
  return {};
}
