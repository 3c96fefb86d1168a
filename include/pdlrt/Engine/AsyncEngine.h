//===- AsyncEngine.h - The step of workers by themselves --------*- C++ -*-===//
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
#include "pdlrt/Engine/RemoteState.h"
#include "pdlrt/Engine/StepEngine.h"
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

/// One worker that does not wait for others. Of mode async: its way to the
/// servers, and its own mirror of the parameters, because each worker sees
/// another moment. With `--hogwild`: an updater of its own, in the place of
/// `state`, of the model that all workers of the process share. Borrowed.
struct AsyncWorker {
  RemoteState *state = nullptr;
  Model *mirror = nullptr;
  Updater *updater = nullptr;
  /// Of mode async, where pushes travel beside steps: takes these; else null,
  /// and each step waits for its exchange.
  PushSink *pushes = nullptr;
};

/// Trains in mode async: each worker pushes its own gradient, which servers
/// apply at once, and pulls what it needs next with the same message. Workers
/// go on by themselves, each on a thread of its own, of which as many compute
/// at once as the scheduler has threads; a worker is at most `lead` steps ahead
/// of what `next` has returned. A step of the engine is one of each worker;
/// trainers do not wait for each other. With one worker in the job it computes
/// what one process computes.
///
/// Where pushes travel beside steps, the rows and values of step t + 1 are
/// asked for before step t computes, and its gradients leave while step t + 1
/// does. So a step reads what misses the worker's own push before it, and those
/// before that which had not arrived. At rest all have.
///
/// Where the state is in this process, workers read and update it without locks
/// (Recht et al., "Hogwild!", 2011): of two that write a number at once one
/// wins. Numbers are aligned, so that none is seen half written; tables find
/// and insert keys under locks of their own, so that none is lost.
class AsyncEngine final : public StepEngine, private PreparedRows {
public:
  static constexpr int lead = 4;

  /// All outlive the engine. `workers`: one for each worker of `layout`, which
  /// has one local group. Throws std::system_error if a thread cannot start.
  AsyncEngine(std::span<const AsyncWorker> workers, const pdl_program &program,
              const ReplicaLayout &layout, Scheduler &scheduler);
  /// Waits until all workers have ended their steps.
  ~AsyncEngine() override;

  Status begin(RoundSource source) override;
  Expected<std::optional<StepResult>> next(bool last) override;
  void goAhead(int64_t steps, bool last) override;
  void rest() override;
  void beforeRequests(const WorkerAction &action) override {
    workerAction = action;
  }
  Status resumeWorkers(RoundSource source, WorkersAt at) override;
  /// Whether servers have said that somebody was asked to stop, and all steps
  /// that were begun have been returned.
  bool stopped() const override;
  bool sumsOverJob() const override { return false; }
  ReplicaSet &replicas() override { return replicaSet; }
  int roundsInUse() const override { return keptRounds; }
  /// Means over the workers. Of an engine at rest.
  StepCosts costs() const override;

private:
  static constexpr int keptRounds = lead + 1;
  static_assert(WorkerMark::mostResults == keptRounds);
  void work(int worker);
  /// At rest the current batches are those of the steps to come.
  void listPrepared(const Visit &visit) const override;
  /// Ends the pass of all workers. By any thread.
  void fail(Status status);
  Status runPass(int worker);
  /// Takes up the first batch of a pass; the step that the worker does next, or
  /// none where it has none.
  Expected<std::optional<int64_t>> enterPass(int worker);
  Status stepOn(int worker, int64_t step);
  Status stepBeside(int worker, int64_t step);
  /// `waitForTurn`, and lets pushes arrive where the worker has to wait.
  Expected<AsyncPace::Turn> awaitTurn(int worker, int64_t step);
  Status drain(int worker);
  /// Prepares the worker's batch of a round, or none where there is no such
  /// round; whether there is one.
  Expected<bool> takeUp(int worker, std::optional<int64_t> round,
                        bool following = false);
  /// Beside the state of the next step, the result of this one.
  Status compute(int worker, int64_t step);
  RoundOffer offerOf(int worker, bool following);
  /// Pushes `sum` and pulls for what was taken up, where there is any. After
  /// `done` steps; `hasNext`: there is a round behind them.
  Status exchange(int worker, int64_t done, bool hasNext,
                  const Contribution *sum);
  Status send(int worker, const RoundOffer &offer);
  /// Updates the state of this process.
  Status apply(int worker, const Contribution *sum);
  /// A worker's step, or its pass, has ended.
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
  /// Empty: nobody wants to know.
  WorkerAction workerAction;
  /// What only a worker's own thread touches in a pass.
  struct Own {
    /// Of the batch that is computed, and of the one behind it.
    StepRows rows[2];
    size_t place = 0;
    /// Where an earlier start of this process was, until the worker is there.
    std::optional<WorkerMark> earlier;
    /// Of its thread; reading is waiting for the reader.
    StepCosts costs;
    Stopwatch stopwatch;
  };
  std::vector<Own> owns;
  /// By round modulo `keptRounds`, by worker.
  std::vector<std::vector<StepInput>> inputs;
  std::vector<std::vector<StepResult>> results;
  /// With `--hogwild`: of the tables that workers share.
  QuiescentPoints points;
  /// As many threads compute or read at once.
  std::counting_semaphore<> processors;
  mutable AsyncPace pace;
  std::vector<std::thread> threads;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_ASYNCENGINE_H
