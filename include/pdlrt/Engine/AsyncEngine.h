//===- AsyncEngine.h - Workers that step independently ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_ASYNCENGINE_H
#define PDLRT_ENGINE_ASYNCENGINE_H

#include "pdlrt/Core/Stopwatch.h"
#include "pdlrt/Engine/AsyncPace.h"
#include "pdlrt/Engine/RecoveryParticipant.h"
#include "pdlrt/Engine/RemoteState.h"
#include "pdlrt/Engine/StepEngine.h"
#include "pdlrt/Engine/StepMetrics.h"
#include "pdlrt/Engine/StepRows.h"
#include "pdlrt/State/Updater.h"
#include "pdlrt/Table/QuiescentPoints.h"

#include <cstdint>
#include <optional>
#include <semaphore>
#include <span>
#include <thread>
#include <vector>

namespace pdlrt {

/// State of one worker that does not wait for others. The objects must outlive
/// the worker. In mode async, `state` is the worker's connection to the
/// servers, and `mirror` is its own copy of the parameters, because each worker
/// reads the servers' state at a different time. With `--hogwild`, `state` is
/// null, `mirror` is the model that all workers of the process share, and
/// `updater` is the worker's own updater of this model.
struct AsyncWorker {
  RemoteState *state = nullptr;
  Model *mirror = nullptr;
  Updater *updater = nullptr;
  /// Sends the gradients of steps in the background, in mode async. If null,
  /// each step waits for its exchange.
  PushSink *pushes = nullptr;
};

/// Trains in mode async, or with `--hogwild`. In mode async each worker pushes
/// its own gradients, which servers apply immediately. The same message pulls
/// the rows and parameters of the worker's next step.
///
/// Each worker runs on its own thread and does not wait for the others. The
/// number of workers that compute at the same time is at most the number of
/// threads of the scheduler. A step of the engine, which `next` returns,
/// consists of one step of each worker. A worker is at most `lead` steps ahead
/// of the last step that `next` has returned. Trainers do not wait for each
/// other. If the job has only one worker and no background pushes, results are
/// the same as in mode local.
///
/// With background pushes, the rows and values of step t + 1 are requested
/// before step t computes, and the gradients of step t are sent while step t +
/// 1 computes. So the state that a step reads lacks the worker's last push, and
/// earlier pushes that had not arrived at the time of the request. When the
/// engine is at rest, all pushes have arrived.
///
/// With `--hogwild` the state is in this process. Workers read and update
/// numbers without locks (Recht et al., "Hogwild!", 2011). If two workers write
/// a number at the same time, one update can be lost. Numbers are aligned, so
/// no reader sees a partly written number. Tables find and insert keys under
/// locks, so no key is lost.
class AsyncEngine final : public StepEngine,
                          private RecoveryParticipant,
                          private PreparedRows {
public:
  static constexpr int lead = 4;

  /// `workers` has one entry for each worker of `layout`, which must have one
  /// local group. The arguments must outlive the engine. Throws
  /// std::system_error if a thread cannot start.
  AsyncEngine(std::span<const AsyncWorker> workers, const pdl_program &program,
              const ReplicaLayout &layout, Scheduler &scheduler);
  /// Waits until all workers have finished their steps.
  ~AsyncEngine() override;

  Status begin(RoundSource source) override;
  Expected<std::optional<StepResult>> next(bool last) override;
  void goAhead(int64_t steps, bool last) override;
  void rest() override;
  RecoveryParticipant *recovery() override { return this; }
  /// Returns true if a shutdown was requested and `next` has returned all steps
  /// that were started.
  bool stopped() const override;
  bool sumsOverJob() const override { return false; }
  ReplicaSet &replicas() override { return replicaSet; }
  int roundsInUse() const override { return keptRounds; }
  /// Returns the costs; times of steps are means over the workers. Call only
  /// when the engine is at rest.
  StepCosts costs() const override;

private:
  static constexpr int keptRounds = lead + 1;
  static_assert(WorkerMark::maxResults == keptRounds);
  void observe(RequestObserver *newObserver) override {
    observer = newObserver;
  }
  Status resume(RoundSource source, ResumePoint point) override;
  void work(int worker);
  /// Visits the rows that prepared batches have inserted. Call when the engine
  /// is at rest: the current batch of each worker then belongs to a step that
  /// was not done yet.
  void listPrepared(const Visit &visit) const override;
  /// Ends the pass of all workers. Thread-safe.
  void fail(Status status);
  Status runPass(int worker);
  /// Prepares the first batch of a pass. Returns the number of the worker's
  /// next step, or nullopt if the worker has no step.
  Expected<std::optional<int64_t>> enterPass(int worker);
  Status stepOn(int worker, int64_t step);
  Status stepConcurrently(int worker, int64_t step);
  /// Calls `AsyncPace::waitForTurn`. If the worker would have to wait, first
  /// waits until its pushes have arrived.
  Expected<AsyncPace::Turn> awaitTurn(int worker, int64_t step);
  Status drain(int worker);
  /// Waits until it is known whether round `round` exists, and returns true if
  /// it does. Prepares the worker's batch of the round, or an empty batch if
  /// there is no round. If `following`, prepares it in the next context of the
  /// worker's ring.
  Expected<bool> prepareRound(int worker, std::optional<int64_t> round,
                              bool following = false);
  /// Computes the worker's current batch, and stores the result of step `step`.
  Status compute(int worker, int64_t step);
  RoundRequest roundRequestOf(int worker, bool following);
  /// Pushes `sum` (null: no gradients), and pulls the state for the batch that
  /// was prepared. `done` is the number of steps that the worker has done.
  /// `hasNext` is true if another round follows.
  Status exchange(int worker, int64_t done, bool hasNext,
                  const PartialSum *sum);
  Status send(int worker, const RoundRequest &roundRequest);
  /// Updates the state in this process with the gradients `sum`; null: none.
  Status apply(int worker, const PartialSum *sum);
  /// Reports that a worker no longer uses pointers to rows that it has found
  /// before its previous call. So memory of erased rows can be reused
  /// (`QuiescentPoints::pass`). `rests`: the worker uses no pointers at all
  /// until its next call. Call when a pass over the data begins, when a step
  /// has ended, and with `rests` when the pass has ended. Does nothing if the
  /// state is on servers.
  void passQuiescentPoint(int worker, bool rests);
  void readRound();
  void endThreads();

  const pdl_descriptor &descriptor;
  const pdl_program &program;
  Scheduler &scheduler;
  std::vector<AsyncWorker> workers;
  const std::vector<GradientBlock> blocks;
  ReplicaSet replicaSet;
  RoundSource source;
  RequestObserver *observer = nullptr;
  /// Data that only the worker's own thread uses during a pass.
  struct Own {
    explicit Own(const pdl_program &program)
        : metrics(program), apply(addApplySeconds(program)) {}
    /// Rows of the current batch, and of the following one.
    StepRows rows[2];
    size_t place = 0;
    /// Position of this worker in the previous incarnation of the process; the
    /// worker resumes from it.
    std::optional<WorkerMark> earlier;
    /// Metrics of the worker's thread. `StepMetrics::read` is the time for
    /// which it has waited for the reader.
    StepMetrics metrics;
    RealCounter apply;
    Stopwatch stopwatch;
  };
  std::vector<Own> owns;
  /// Indexed by round modulo `keptRounds`, then by worker.
  std::vector<std::vector<StepInput>> inputs;
  std::vector<std::vector<StepResult>> results;
  /// Quiescent points of the shared tables; used with `--hogwild`.
  QuiescentPoints points;
  /// Limits the number of threads that compute or read at the same time.
  std::counting_semaphore<> processors;
  mutable AsyncPace pace;
  std::vector<std::thread> threads;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ASYNCENGINE_H
