//===- WorkerNumbers.h - Sender numbers within a trainer --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of `Envelope::worker` for the senders of one trainer process. Number 0
// is the process itself. Then come its workers, in modes in which each worker
// sends its own steps. Then come two senders, one for pulls and one for saves.
// Then comes one sender for each worker, which pushes concurrently with the
// worker's steps.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_WORKERNUMBERS_H
#define PDLRT_PROTOCOL_WORKERNUMBERS_H

#include <cstdint>

namespace pdlrt {

/// Returns the sender of worker `worker` (from 0), in modes in which each
/// worker sends its own steps.
constexpr uint32_t senderOfSteps(uint32_t worker) { return worker + 1; }

/// Returns the sender that pushes for worker `worker`, in a process of
/// `workers` workers.
constexpr uint32_t senderOfPushes(uint32_t workers, uint32_t worker) {
  return workers + 3 + worker;
}

/// Returns the sender of the steps whose gradients `sender` pushes. `sender`
/// must be a result of `senderOfPushes`.
constexpr uint32_t stepsOfPushes(uint32_t workers, uint32_t sender) {
  return senderOfSteps(sender - senderOfPushes(workers, 0));
}

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_WORKERNUMBERS_H
