//===- WorkerNumbers.h - The senders of a trainer's process -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `Envelope::worker` of each sender of a process: 0 is the process itself; then
// come its workers, where each sends its steps; two that pull and save; and for
// each worker one that pushes beside its steps.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_WORKERNUMBERS_H
#define PDLRT_PROTOCOL_WORKERNUMBERS_H

#include <cstdint>

namespace pdlrt {

/// Of worker `worker` of a process, from 0, where each sends by itself.
constexpr uint32_t senderOfSteps(uint32_t worker) { return worker + 1; }

/// Of what it pushes beside its steps, in a process of `workers` workers.
constexpr uint32_t senderOfPushes(uint32_t workers, uint32_t worker) {
  return workers + 3 + worker;
}

/// The sender of the steps whose gradients `sender`, one of pushes, brings.
constexpr uint32_t stepsOfPushes(uint32_t workers, uint32_t sender) {
  return senderOfSteps(sender - senderOfPushes(workers, 0));
}

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_WORKERNUMBERS_H
