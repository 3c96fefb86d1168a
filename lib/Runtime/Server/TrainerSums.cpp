//===- TrainerSums.cpp - Sums of vectors over trainers --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server/TrainerSums.h"

#include <string>
#include <utility>

using namespace pdlrt;

Status TrainerSums::check(const Envelope &request, const Message &payload) {
  Expected<ReduceVectors> given = decodeReduce(payload);
  if (!given)
    return given.status();
  for (uint32_t other = 0; other < vectors.size(); ++other)
    if (vectors[other] && other != request.trainer &&
        (vectors[other]->counts.size() != given->counts.size() ||
         vectors[other]->sums.size() != given->sums.size()))
      return Status::internal(
          "trainer " + std::to_string(request.trainer) + " gives " +
          std::to_string(given->counts.size()) + " counts and " +
          std::to_string(given->sums.size()) + " sums, trainer " +
          std::to_string(other) + " " +
          std::to_string(vectors[other]->counts.size()) + " and " +
          std::to_string(vectors[other]->sums.size()) +
          ": start all trainers with the same flags");
  vectors[request.trainer] = std::make_unique<ReduceVectors>(std::move(*given));
  return {};
}

void TrainerSums::close() {
  ReduceVectors sum = std::move(*vectors[0]);
  for (uint32_t other = 1; other < vectors.size(); ++other) {
    for (size_t i = 0; i < sum.counts.size(); ++i)
      // Unsigned addition, because signed overflow is undefined.
      sum.counts[i] = int64_t(uint64_t(sum.counts[i]) +
                              uint64_t(vectors[other]->counts[i]));
    for (size_t i = 0; i < sum.sums.size(); ++i)
      sum.sums[i] += vectors[other]->sums[i];
  }
  for (std::unique_ptr<ReduceVectors> &each : vectors)
    each.reset();
  encoded = encodeReduce(sum);
}
