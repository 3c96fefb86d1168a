//===- WorkerNumbers.h - Sender numbers within a trainer --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values of `Envelope::worker` for the senders of one trainer process. 0 is the
// process itself. Then follow its workers, in modes where each worker sends its
// own steps; two senders that pull and save; and one sender per worker that
// pushes concurrently with its steps.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_WORKERNUMBERS_H
#define PDLRT_PROTOCOL_WORKERNUMBERS_H

#include <cstdint>

namespace pdlrt {

/// Returns the sender of worker `worker` (from 0), in modes where each worker
/// sends by itself.
constexpr uint32_t senderOfSteps(uint32_t worker) { return worker + 1; }

/// Returns the sender that pushes for worker `worker` concurrently with its
/// steps, in a process of `workers` workers.
constexpr uint32_t senderOfPushes(uint32_t workers, uint32_t worker) {
  return workers + 3 + worker;
}

/// Returns the sender of the steps whose gradients the push sender `sender`
/// carries.
constexpr uint32_t stepsOfPushes(uint32_t workers, uint32_t sender) {
  return senderOfSteps(sender - senderOfPushes(workers, 0));
}

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_WORKERNUMBERS_H
