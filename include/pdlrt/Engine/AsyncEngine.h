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

/// State of one worker that does not wait for others. All members are borrowed.
/// In mode async: its connection to the servers, and its own mirror of the
/// parameters, because each worker reads the state at a different time. With
/// `--hogwild`: its own updater of the model that all workers of the process
/// share; `state` is then null.
struct AsyncWorker {
  RemoteState *state = nullptr;
  Model *mirror = nullptr;
  Updater *updater = nullptr;
  /// Mode async with background pushes: receives the gradients of the steps. If
  /// null, each step waits for its exchange.
  PushSink *pushes = nullptr;
};

/// Trains in mode async, or with `--hogwild`. In mode async each worker pushes
/// its own gradients, which servers apply at once, and pulls the rows and
/// parameters of its next step with the same message.
///
/// Each worker runs on its own thread and does not wait for the others. At most
/// as many of them compute at a time as the scheduler has threads. A worker is
/// at most `lead` steps ahead of the last step that `next` has returned. A step
/// of the engine consists of one step of each worker; trainers do not wait for
/// each other. With one worker in the job, the result equals that of one
/// process.
///
/// With background pushes, the rows and values of step t + 1 are requested
/// before step t computes, and the gradients of step t are sent while step t +
/// 1 computes. The state that a step reads therefore lacks the worker's
/// previous push, and earlier ones that had not arrived at that time. When the
/// engine is at rest, all pushes have arrived.
///
/// With `--hogwild` the state is in this process, and workers read and update
/// it without locks (Recht et al., "Hogwild!", 2011): if two workers write a
/// number at the same time, one update is lost. Numbers are aligned, so that no
/// reader sees a partial write. Tables find and insert keys under their own
/// locks, so that no key is lost.
class AsyncEngine final : public StepEngine,
                          private RecoveryParticipant,
                          private PreparedRows {
public:
  static constexpr int lead = 4;

  /// The arguments must outlive the engine. `workers`: one for each worker of
  /// `layout`, which has one local group. Throws std::system_error if a thread
  /// cannot start.
  AsyncEngine(std::span<const AsyncWorker> workers, const pdl_program &program,
              const ReplicaLayout &layout, Scheduler &scheduler);
  /// Waits until all workers have finished their steps.
  ~AsyncEngine() override;

  Status begin(RoundSource source) override;
  Expected<std::optional<StepResult>> next(bool last) override;
  void goAhead(int64_t steps, bool last) override;
  void rest() override;
  RecoveryParticipant *recovery() override { return this; }
  /// Returns true if servers have reported a shutdown request and all steps
  /// that were started have been returned.
  bool stopped() const override;
  bool sumsOverJob() const override { return false; }
  ReplicaSet &replicas() override { return replicaSet; }
  int roundsInUse() const override { return keptRounds; }
  /// Returns means over the workers. Call only when the engine is at rest.
  StepCosts costs() const override;

private:
  static constexpr int keptRounds = lead + 1;
  static_assert(WorkerMark::maxResults == keptRounds);
  void observe(RequestObserver *newObserver) override {
    observer = newObserver;
  }
  Status resume(RoundSource source, ResumePoint point) override;
  void work(int worker);
  /// Lists the rows of all prepared batches. When the engine is at rest, the
  /// current ones belong to future steps.
  void listPrepared(const Visit &visit) const override;
  /// Ends the pass of all workers. Thread-safe.
  void fail(Status status);
  Status runPass(int worker);
  /// Prepares the first batch of a pass. Returns the number of the worker's
  /// next step, or nothing if there is none.
  Expected<std::optional<int64_t>> enterPass(int worker);
  Status stepOn(int worker, int64_t step);
  Status stepConcurrently(int worker, int64_t step);
  /// Calls `waitForTurn`; if the worker has to wait, first lets its pushes
  /// arrive.
  Expected<AsyncPace::Turn> awaitTurn(int worker, int64_t step);
  Status drain(int worker);
  /// Prepares the worker's batch of a round, or no batch if the round does not
  /// exist. Returns true if it exists.
  Expected<bool> prepareRound(int worker, std::optional<int64_t> round,
                              bool following = false);
  /// Computes the worker's current batch, and stores the result of the step.
  Status compute(int worker, int64_t step);
  RoundRequest roundRequestOf(int worker, bool following);
  /// Pushes `sum`, and pulls the state for the batch that was prepared, if
  /// there is one. Called after `done` steps; `hasNext`: another round follows.
  Status exchange(int worker, int64_t done, bool hasNext,
                  const PartialSum *sum);
  Status send(int worker, const RoundRequest &roundRequest);
  /// Updates the state in this process.
  Status apply(int worker, const PartialSum *sum);
  /// Called when a worker's step, or its pass, has ended.
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
    /// Position of the previous incarnation of this process, until the worker
    /// reaches it.
    std::optional<WorkerMark> earlier;
    /// Metrics of the worker's thread; `read` is the time spent waiting for
    /// the reader.
    StepMetrics metrics;
    RealCounter apply;
    Stopwatch stopwatch;
  };
  std::vector<Own> owns;
  /// Indexed by round modulo `keptRounds`, then by worker.
  std::vector<std::vector<StepInput>> inputs;
  std::vector<std::vector<StepResult>> results;
  /// Quiescent points of the shared tables, with `--hogwild`.
  QuiescentPoints points;
  /// Limits the number of threads that compute or read at the same time.
  std::counting_semaphore<> processors;
  mutable AsyncPace pace;
  std::vector<std::thread> threads;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ASYNCENGINE_H
