//===- PushQueue.h - Pushes in the background -------------------*- C++ -*-===//
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
#include "pdlrt/Engine/StepMetrics.h"
#include "pdlrt/Engine/SumWriter.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/ServerQueues.h"
#include "pdlrt/Sched/Scheduler.h"
#include "pdlrt/Sum/RunningSum.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace pdlrt {

/// Options of background pushes.
struct PushOptions {
  /// Maximum number of a worker's pushes in flight to one server; 0: each step
  /// waits for its own push.
  int64_t queued = 0;
  /// Maximum number of steps whose gradients one push may contain.
  int64_t maxMerge = 1;
};

/// Sends the gradients of one worker's steps to the servers in the background.
/// `push` copies the gradients. It sends them if at least one server has no
/// push of this worker in flight, and no server has `queued` of them. Otherwise
/// it keeps them, and the next calls add the gradients of further steps to
/// them, rows by key, in the order of steps, until one call or `drain` sends
/// them. If `maxMerge` steps have been added up, `push` waits until it can
/// send. All servers get the same pushes in the same order, and apply each push
/// as one step. At most `queued` + 1 pushes are in memory.
class PushQueue final : public PushSink {
public:
  /// Creates a queue for the trained program, which has index `program` in the
  /// descriptor. `servers` must have joined the job, and must not be used for
  /// other requests. `options.queued` must be at least 1. The referenced
  /// objects must outlive the queue.
  static Expected<std::unique_ptr<PushQueue>>
  create(const pdl_descriptor &descriptor, int32_t program,
         const Placement &placement, ServerGroup &servers, Scheduler &scheduler,
         const PushOptions &options);

  /// Like the functions of `ServerClient` with the same names.
  void setPacking(KeyPacking ofKeys, GradientPacking ofGradients);
  void forgetRemainders();

  Status push(const PartialSum &sum, bool stop) override;
  Status drain() override;
  bool isEmpty() const override;
  bool stopSeen() const override { return sawStop; }
  ExchangeCosts costs() const override;

private:
  struct Push;
  PushQueue(const pdl_descriptor &descriptor, ExchangeLayout layout,
            ServerGroup &servers, Scheduler &scheduler,
            const PushOptions &options);

  Status add(const PartialSum &part);
  /// Waits until no queue is full, and sends the merged push.
  Status send();
  Message payloadOf(int32_t server, const ExchangeHead &head,
                    const PartialSum &sum, const std::vector<double> &norms);
  Status takeResponses();
  Status waitForRoom();
  std::shared_ptr<Push> takePush();

  const pdl_descriptor &descriptor;
  const ExchangeLayout layout;
  const std::vector<GradientBlock> blocks;
  Scheduler &scheduler;
  const PushOptions options;
  KeyPacking keyPacking = KeyPacking::None;
  SumWriter sumWriter;
  /// Keeps pushes for reuse: a push returns here when no message refers to its
  /// memory any more.
  class Shelf;
  std::shared_ptr<Shelf> shelf;
  /// The push that is being merged; null: none.
  std::shared_ptr<Push> merging;
  /// True if the next push must report that this process was asked to shut
  /// down.
  bool requestsStop = false;
  ServerQueues queues;
  /// Sizes of pushes without a response yet, by server, the oldest push first.
  std::vector<std::vector<int64_t>> bytesUnderWay;
  int64_t bytes = 0;
  bool sawStop = false;
  ExchangeMetrics metrics;
  BackgroundMetrics background;
  Stopwatch stopwatch;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_PUSHQUEUE_H
