//===- LocalCommunicator.cpp - All state is in this process ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/LocalCommunicator.h"

#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/State/DeviceState.h"

using namespace pdlrt;

Communicator::~Communicator() = default;

/// Where a group updates rows without gradient too, those that the next batch
/// creates would take part in the step.
static Communicator::NextBatch whenNextOf(const pdl_descriptor &descriptor,
                                          const pdl_program &program) {
  for (int32_t i = 0; i < program.update_count; ++i) {
    const pdl_symbol &symbol = descriptor.symbols[program.updates[i].symbol];
    if (symbol.kind == PDL_SYMBOL_TABLE &&
        descriptor.groups[symbol.group].untouched == PDL_UNTOUCHED_DENSE)
      return Communicator::NextBatch::AfterStep;
  }
  return Communicator::NextBatch::BesideStep;
}

LocalCommunicator::LocalCommunicator(Model &model, const pdl_program &program,
                                     const ReplicaLayout &layout,
                                     Scheduler &scheduler)
    : model(model), program(program), scheduler(scheduler),
      isSum(layout.localReplicas() > 1),
      isWholeJob(layout.localGroups == layout.groups),
      whenNext(whenNextOf(model.descriptor(), program)),
      blocks(gradientBlocks(model.descriptor(), program)),
      updater(model, program, scheduler) {
  if (DeviceState *state = model.deviceState();
      state && program.update_count > 0)
    state->keepGradients(size_t(layout.localReplicas()),
                         size_t(layout.workers));
}

bool LocalCommunicator::stopped() const { return stopSignal() != 0; }

Expected<RoundOutcome> LocalCommunicator::exchange(const StepOffer &offer) {
  RoundOutcome outcome;
  outcome.contributingNext = offer.contributesNext;
  outcome.stop = offer.stop;
  outcome.save = offer.save;
  if (offer.opens || program.objective_count == 0)
    return outcome;
  Stopwatch stopwatch;
  PDLRT_RETURN_IF_ERROR(sum.assign(blocks, offer.groups, scheduler));
  const Contribution &merged = sum.result();
  outcome.take(merged);
  if (program.update_count > 0 && merged.hasWeight())
    PDLRT_RETURN_IF_ERROR(apply(merged));
  seconds += stopwatch.lap();
  return outcome;
}

Status LocalCommunicator::checkSums(const Contribution &merged) {
  DeviceState *state = model.deviceState();
  if (!state)
    return checkFiniteSums(model.descriptor(), blocks, merged);
  if (const int32_t block = state->nonFiniteSum(); block >= 0)
    return refuseSum(model.descriptor(), blocks[block].symbol);
  // Their quotients by the sum of weights are finite, too, unless that is
  // small.
  if (!hasSmallWeight(merged))
    return checkFiniteSums(model.descriptor(), blocks, merged);
  const Expected<Contribution> onHost = state->withGradients(merged, blocks);
  if (!onHost)
    return onHost.status();
  return checkFiniteSums(model.descriptor(), blocks, *onHost);
}

Status LocalCommunicator::apply(const Contribution &merged) {
  if (isSum || hasSmallWeight(merged))
    PDLRT_RETURN_IF_ERROR(checkSums(merged));
  noteUpdate(merged);
  PDLRT_RETURN_IF_ERROR(updater.apply(merged));
  model.quiesce();
  return {};
}
