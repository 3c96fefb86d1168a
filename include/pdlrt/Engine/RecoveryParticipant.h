//===- RecoveryParticipant.h - Engines whose passes resume ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_RECOVERYPARTICIPANT_H
#define PDLRT_ENGINE_RECOVERYPARTICIPANT_H

#include "pdlrt/Core/Status.h"
#include "pdlrt/Engine/StepEngine.h"

#include <cstdint>
#include <variant>
#include <vector>

namespace pdlrt {

/// A step of this process whose round is in progress.
struct PendingStep {
  /// Number of samples of this process's replicas.
  int64_t samples = 0;
  /// True if this process reported that it was asked to shut down.
  bool stop = false;
};

/// Position of an independent worker in a pass, as its next request will report
/// it.
struct WorkerMark {
  /// Maximum number of results that are kept: one more than the number of steps
  /// that a worker may be ahead of `next`.
  static constexpr int64_t maxResults = 5;

  /// Number of steps whose gradients the worker has sent, including this
  /// request; -1: it has sent nothing in this pass.
  int64_t done = -1;
  /// True if another round follows, whose keys the request may include.
  bool hasNext = false;
  /// Results of its last steps, up to `done`.
  std::vector<StepResult> results;
};

/// Position of all independent workers of a process in a pass.
struct WorkersAt {
  /// Indexed by worker. The worker first repeats the request that came with its
  /// mark.
  std::vector<WorkerMark> marks;
  /// The minimum number of steps that any worker has done. The first round of
  /// the source belongs to the step after these.
  int64_t firstRound = 0;
  /// Number of steps of the pass that `next` has returned.
  int64_t taken = 0;
  /// Arguments of `goAhead` at that time.
  int64_t allowed = 0;
  bool last = false;
};

/// Point at which a pass resumes: a step of all workers, or the marks of
/// independent workers.
using ResumePoint = std::variant<PendingStep, WorkersAt>;

/// Is called by an engine before it sends a request. Engines call only the
/// function that matches their requests.
class RequestObserver {
public:
  virtual ~RequestObserver();

  /// Called before each round of all processes. `step` is the step whose
  /// gradients are sent, or null in a round that sends only keys. At that time
  /// its metrics have been observed, and the following round has been read.
  virtual void beforeRound(const PendingStep *step) = 0;
  /// Called before each request of an independent worker, on the worker's own
  /// thread. The replica's metrics then cover the steps in the mark.
  virtual void beforeRequest(int worker, const WorkerMark &mark) = 0;
};

/// Engine whose pass can resume after a restart of the process. Not
/// thread-safe.
class RecoveryParticipant {
public:
  virtual ~RecoveryParticipant();

  /// From the next `StepEngine::begin` or `resume` on, calls `observer` before
  /// each request to other processes. Null: none. The observer must outlive the
  /// passes.
  virtual void observe(RequestObserver *observer) = 0;
  /// Replaces `StepEngine::begin` if the previous incarnation of this process
  /// has sent the request of `point` to all servers. In a step of all workers,
  /// the next call of `next` finishes that step with the servers' responses,
  /// and the first round of `source` belongs to the step after it. Returns an
  /// error if the point is not of the engine's kind.
  virtual Status resume(RoundSource source, ResumePoint point) = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_RECOVERYPARTICIPANT_H
