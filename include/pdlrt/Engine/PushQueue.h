//===- PushQueue.h - Pushes beside a worker's steps -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_PUSHQUEUE_H
#define PDLRT_ENGINE_PUSHQUEUE_H

#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Engine/RemoteState.h"
#include "pdlrt/Engine/SumWriter.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/ServerQueues.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Sum/RunningSum.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pdlrt {

/// How pushes travel beside steps.
struct PushOptions {
  /// Pushes of a worker that may be under way to one server; 0: each step waits
  /// for its own.
  int64_t queued = 0;
  /// Steps that one push may have the gradients of.
  int64_t maxMerge = 1;
};

/// The pushes of one worker, with a sender of their own. A step's gradients are
/// copied, and leave as soon as some server has nothing else of this worker to
/// do and no queue is full. Until then they merge with those of the next steps,
/// rows by key, in the order of steps; where `maxMerge` have, the worker waits.
/// Each server gets the same pushes in the same order, and applies each as one
/// step. At most `queued` + 1 pushes are in memory.
class PushQueue final : public PushSink {
public:
  /// All outlive the queue. `program`: index of the descriptor's program that
  /// is trained. `servers`: joined, and nothing else is sent over them.
  /// `options.queued` is at least 1.
  static Expected<std::unique_ptr<PushQueue>>
  create(const pdl_descriptor &descriptor, int32_t program,
         const Placement &placement, ServerGroup &servers, Scheduler &scheduler,
         const PushOptions &options);

  /// As of `ServerClient`.
  void setPacking(KeyPacking ofKeys, GradientPacking ofGradients);
  void forgetRemainders();

  Status push(const Contribution &sum, bool stop) override;
  Status drain() override;
  bool isEmpty() const override;
  bool stopSeen() const override { return sawStop; }
  ExchangeCosts costs() const override;

private:
  struct Push;
  PushQueue(const pdl_descriptor &descriptor, ExchangeLayout layout,
            ServerGroup &servers, Scheduler &scheduler,
            const PushOptions &options);

  Status add(const Contribution &part);
  /// Sends what has been merged, once no queue is full.
  Status send();
  Message payloadOf(int32_t server, const ExchangeHead &head,
                    const Contribution &sum, const std::vector<double> &norms);
  Status takeAnswers();
  Status waitForRoom();
  std::shared_ptr<Push> takePush();

  const pdl_descriptor &descriptor;
  const ExchangeLayout layout;
  const std::vector<GradientBlock> blocks;
  Scheduler &scheduler;
  const PushOptions options;
  KeyPacking keyPacking = KeyPacking::None;
  SumWriter sumWriter;
  /// Pushes whose memory may be used again once nobody else has it.
  class Shelf;
  std::shared_ptr<Shelf> shelf;
  /// What merges; null: nothing.
  std::shared_ptr<Push> merging;
  /// The next push says that this process was asked to stop.
  bool asksToStop = false;
  ServerQueues queues;
  /// Bytes of the pushes to each server that were not answered yet, the oldest
  /// first.
  std::vector<std::vector<int64_t>> bytesUnderWay;
  int64_t bytes = 0;
  bool sawStop = false;
  ExchangeCosts ownCosts;
  Stopwatch stopwatch;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_PUSHQUEUE_H
