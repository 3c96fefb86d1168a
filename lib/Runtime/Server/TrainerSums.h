//===- TrainerSums.h - Sums of vectors over trainers ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SERVER_TRAINERSUMS_H
#define LIB_RUNTIME_SERVER_TRAINERSUMS_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Transport/Envelope.h"
#include "pdlrt/Transport/Message.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pdlrt {

/// Adds up the vectors of Reduce requests of all trainers, in rank order. Not
/// thread-safe.
class TrainerSums {
public:
  explicit TrainerSums(uint32_t trainers) : vectors(trainers) {}

  /// Decodes and stores the vectors of a trainer for the current round. Returns
  /// an error if their lengths differ from those of other trainers.
  Status check(const Envelope &request, const Message &payload);
  /// Ends the round, which has the vectors of all trainers.
  void close();
  /// Returns the payload of the responses of the last closed round.
  const Message &sum() const { return encoded; }

private:
  /// Vectors of the current round, by trainer.
  std::vector<std::unique_ptr<ReduceVectors>> vectors;
  Message encoded;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SERVER_TRAINERSUMS_H
