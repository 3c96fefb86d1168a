//===- ServerSums.cpp - Sums over trainers --------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Server/StateServer.h"

#include "pdlrt/Core/Trace.h"

#include <string>
#include <utility>

using namespace pdlrt;

Status StateServer::checkReduce(const Envelope &request,
                                const Message &payload) {
  Expected<ReduceVectors> vectors = decodeReduce(payload);
  if (!vectors)
    return vectors.status();
  for (uint32_t other = 0; other < trainers(); ++other)
    if (reduced[other] && other != request.trainer &&
        (reduced[other]->counts.size() != vectors->counts.size() ||
         reduced[other]->sums.size() != vectors->sums.size()))
      return Status::invalid(
          "trainer " + std::to_string(request.trainer) + " gives " +
          std::to_string(vectors->counts.size()) + " counts and " +
          std::to_string(vectors->sums.size()) + " sums, trainer " +
          std::to_string(other) + " " +
          std::to_string(reduced[other]->counts.size()) + " and " +
          std::to_string(reduced[other]->sums.size()) +
          ": start all trainers with the same flags");
  reduced[request.trainer] =
      std::make_unique<ReduceVectors>(std::move(*vectors));
  return {};
}

void StateServer::closeReduce() {
  ReduceVectors sum = std::move(*reduced[0]);
  for (uint32_t other = 1; other < trainers(); ++other) {
    for (size_t i = 0; i < sum.counts.size(); ++i)
      // Wraps where the sum has no room, instead of being undefined.
      sum.counts[i] = int64_t(uint64_t(sum.counts[i]) +
                              uint64_t(reduced[other]->counts[i]));
    for (size_t i = 0; i < sum.sums.size(); ++i)
      sum.sums[i] += reduced[other]->sums[i];
  }
  for (std::unique_ptr<ReduceVectors> &vectors : reduced)
    vectors.reset();
  reducedSum = encodeReduce(sum);
}

Expected<Contribution> StateServer::closeSum(RunningSum &sum, int32_t program) {
  const TraceSpan span("end the sum");
  Contribution merged = sum.finish(scheduler);
  if (!merged.present || !merged.hasWeight())
    return merged;
  if (const int32_t block = sum.firstNonFinite(); block >= 0)
    return refuseSum(descriptor, blocks[program][block].symbol);
  // Values that are finite may have quotients that are not.
  if (hasSmallWeight(merged))
    PDLRT_RETURN_IF_ERROR(checkFiniteSums(descriptor, blocks[program], merged));
  PDLRT_RETURN_IF_ERROR(updaters[program]->begin(merged));
  return merged;
}
