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

/// A step of this process whose gradients were sent, but whose round is not
/// complete.
struct PendingStep {
  /// Number of samples of this process's replicas.
  int64_t samples = 0;
  /// True if this process reported that it was asked to shut down.
  bool stop = false;
};

/// Position in a pass of a worker that steps independently of others. It is
/// recorded with each request of the worker.
struct WorkerMark {
  /// Maximum number of entries in `results`: one more than the number of steps
  /// that a worker may be ahead of `StepEngine::next`.
  static constexpr int64_t maxResults = 5;

  /// Number of steps of the pass whose gradients the worker has sent, including
  /// this request. -1: it has sent no request in this pass.
  int64_t done = -1;
  /// True if another round follows. The request may include the keys of that
  /// round.
  bool hasNext = false;
  /// Results of the worker's last steps, up to step `done` - 1, oldest first.
  std::vector<StepResult> results;
};

/// Positions of all independent workers of a process in a pass.
struct WorkersAt {
  /// Position of each worker. After a restart, a worker first repeats the
  /// request with which its position was recorded.
  std::vector<WorkerMark> marks;
  /// Minimum over the workers of the number of steps that they have done. The
  /// first round of the source belongs to the step after these.
  int64_t firstRound = 0;
  /// Number of steps of the pass that `StepEngine::next` has returned.
  int64_t taken = 0;
  /// Arguments of the last `StepEngine::goAhead` at that time.
  int64_t allowed = 0;
  bool last = false;
};

/// Point at which a pass resumes. PendingStep: a step of all workers together.
/// WorkersAt: the positions of independent workers.
using ResumePoint = std::variant<PendingStep, WorkersAt>;

/// Interface that engines call before they send requests, so that the position
/// is recorded. Engines whose workers step together call `beforeRound`; engines
/// with independent workers call `beforeRequest`.
class RequestObserver {
public:
  virtual ~RequestObserver();

  /// Called before each round of all processes. `step` is the step whose
  /// gradients are sent, or null if the round only sends keys. At the time of
  /// the call, the metrics of this step have been observed, and the data of the
  /// next step has been read.
  virtual void beforeRound(const PendingStep *step) = 0;
  /// Called before each request of an independent worker, on the worker's own
  /// thread. At the time of the call, the metrics of the worker's replica cover
  /// `mark.done` steps.
  virtual void beforeRequest(int worker, const WorkerMark &mark) = 0;
};

/// Engine whose pass can resume after a restart of the process. Not
/// thread-safe.
class RecoveryParticipant {
public:
  virtual ~RecoveryParticipant();

  /// Sets the observer that the engine calls before each request to other
  /// processes, beginning with the next `StepEngine::begin` or `resume`; null:
  /// none. The observer must outlive the passes.
  virtual void observe(RequestObserver *observer) = 0;
  /// Call in place of `StepEngine::begin` if the previous incarnation of this
  /// process has sent the request of `point` to all servers. If `point` is a
  /// PendingStep, the next call of `next` finishes this step with the servers'
  /// responses, and the first round of `source` belongs to the step after it.
  /// Returns an error if the type of `point` does not match the engine.
  virtual Status resume(RoundSource source, ResumePoint point) = 0;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_RECOVERYPARTICIPANT_H
