//===- AsyncEngineTest.cpp - Workers that step independently --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function replaces the servers, because these tests cover when a worker may
// continue.
//
//===----------------------------------------------------------------------===//

#include "Support/ErasedRow.h"
#include "Support/GroupBatches.h"
#include "Support/HandWrittenProgram.h"

#include "pdlrt/Engine/AsyncEngine.h"

#include "gmock/gmock.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

const pdl_descriptor &program() {
  return *handWrittenProgram(
      {PDL_F32, PDL_UNTOUCHED_LAZY, false, PDL_MODE_ASYNC, PDL_ROLE_TRAINER});
}

/// Result of an exchange of a worker that has made `before` exchanges in this
/// job. Called on the worker's thread.
using Exchange =
    std::function<Expected<RoundOutcome>(int worker, int64_t before)>;

class FakeServers final : public RemoteState {
public:
  FakeServers(int worker, const Exchange &exchanged)
      : worker(worker), exchanged(exchanged) {}
  Expected<RoundOutcome> exchange(const RoundRequest &roundRequest) override {
    for (const RowRequest &request : roundRequest.next)
      std::memset(request.rows, 0, size_t(request.keyCount) * rowBytes);
    Expected<RoundOutcome> outcome = exchanged(worker, done);
    ++done;
    return outcome;
  }
  Status beginPull(const RoundRequest &roundRequest) override {
    EXPECT_FALSE(pulls);
    EXPECT_TRUE(roundRequest.hasNextBatch && !roundRequest.sum);
    pulls = true;
    return {};
  }
  Expected<RoundOutcome> endPull(const RoundRequest &roundRequest) override {
    EXPECT_TRUE(pulls);
    pulls = false;
    return exchange(roundRequest);
  }
  Status pull(const pdl_program &, bool, std::span<const RowRequest>,
              std::span<uint8_t *const>) override {
    return Status::internal("nobody pulls here");
  }
  ExchangeCosts costsOf(const pdl_program &) const override { return {}; }

  /// The first exchange of a pass carries only keys.
  std::atomic<int64_t> done = 0;

private:
  const size_t rowBytes =
      size_t(program().symbols[SymbolTable].row_width) * sizeof(float);
  int worker;
  const Exchange &exchanged;
  bool pulls = false;
};

/// Accepts pushes. A push arrives only when the engine waits for it.
class FakePushes final : public PushSink {
public:
  Status push(const PartialSum &sum, bool) override {
    EXPECT_TRUE(sum.present);
    ++pushed;
    underWay = true;
    return failing;
  }
  Status drain() override {
    ++drains;
    underWay = false;
    return {};
  }
  bool isEmpty() const override { return !underWay; }
  bool stopSeen() const override { return stops; }
  ExchangeCosts costs() const override { return {}; }

  std::atomic<int64_t> pushed = 0, drains = 0;
  std::atomic<bool> underWay = false, stops = false;
  Status failing;
};

/// One trainer.
class Trainer {
public:
  explicit Trainer(int workers, int threads, Exchange exchange,
                   bool isConcurrent = false)
      : exchanged(std::move(exchange)), layout{1, workers, 0, 1},
        scheduler(threads) {
    std::vector<AsyncWorker> all;
    for (int w = 0; w < workers; ++w) {
      servers.push_back(std::make_unique<FakeServers>(w, exchanged));
      mirrors.push_back(
          std::make_unique<Model>(program(), 1, StateLocation::Servers));
      sinks.push_back(std::make_unique<FakePushes>());
      all.push_back({.state = servers.back().get(),
                     .mirror = mirrors.back().get(),
                     .pushes = isConcurrent ? sinks.back().get() : nullptr});
    }
    engine = std::make_unique<AsyncEngine>(all, program().programs[0], layout,
                                           scheduler);
  }
  Status begin(int rounds) {
    batches = std::make_unique<GroupBatches<float>>(layout, rounds);
    reads = 0;
    return engine->begin([this] {
      ++reads;
      EXPECT_EQ(std::this_thread::get_id(), driver);
      return batches->read();
    });
  }
  int64_t pushes(int worker) const { return servers[worker]->done - 1; }
  FakeServers &state(int worker) { return *servers[worker]; }
  FakePushes &sink(int worker) { return *sinks[worker]; }

  Exchange exchanged;

private:
  const std::thread::id driver = std::this_thread::get_id();
  ReplicaLayout layout;
  Scheduler scheduler;
  std::vector<std::unique_ptr<FakeServers>> servers;
  std::vector<std::unique_ptr<FakePushes>> sinks;
  std::vector<std::unique_ptr<Model>> mirrors;
  std::unique_ptr<GroupBatches<float>> batches;

public:
  /// Engine of the trainer. Its models outlive it.
  std::unique_ptr<AsyncEngine> engine;
  int reads = 0;
};

Expected<RoundOutcome> respond(bool stop = false) {
  RoundOutcome outcome;
  outcome.stop = stop;
  return outcome;
}

/// Waits until another thread has fulfilled the condition. Returns false on a
/// timeout.
bool comesTrue(const std::function<bool()> &condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition())
    if (std::chrono::steady_clock::now() > end)
      return false;
    else
      std::this_thread::yield();
  return true;
}

} // namespace

// Each worker's push once waits until the others are three steps ahead.
TEST(AsyncEngine, WorkersDoNotWaitForEachOther) {
  for (int threads : {1, 2, 4}) {
    constexpr int workers = 3;
    std::atomic<int64_t> done[workers] = {};
    Trainer trainer(workers, threads, [&](int worker, int64_t before) {
      if (before == 2 + 5 * worker) {
        EXPECT_TRUE(comesTrue([&] {
          for (int other = 0; other < workers; ++other)
            if (other != worker && done[other] < before + 3)
              return false;
          return true;
        }));
      }
      done[worker] = before + 1;
      return respond();
    });
    ASSERT_TRUE(trainer.begin(30).ok());
    trainer.engine->goAhead(30, true);
    for (int step = 0; step < 30; ++step) {
      Expected<std::optional<StepResult>> result = trainer.engine->next(false);
      ASSERT_TRUE(result.ok() && *result);
    }
    // Replica w has rounds - w batches.
    for (int w = 0; w < workers; ++w)
      EXPECT_EQ(trainer.pushes(w), 30 - w);
    EXPECT_EQ(trainer.engine->costs().steps, 30);
  }
}

TEST(AsyncEngine, LeadIsBounded) {
  constexpr int64_t lead = AsyncEngine::lead;
  std::atomic<int64_t> taken = 0, done = 0;
  Trainer trainer(2, 2, [&](int worker, int64_t before) {
    // This is the push of step `before` - 1. The engine may have returned from
    // one more step than the test has recorded.
    if (worker == 0) {
      EXPECT_LE(before - 1, taken + lead);
      done = before;
    }
    // While one worker waits in its third step, the other one gets equally far.
    if (worker == 1 && before == 3) {
      EXPECT_TRUE(comesTrue([&] { return done == 2 + lead; }));
    }
    return respond();
  });
  ASSERT_TRUE(trainer.begin(40).ok());
  trainer.engine->goAhead(39, true);
  for (; taken < 39; ++taken)
    ASSERT_TRUE(trainer.engine->next(false).ok());
  EXPECT_EQ(trainer.pushes(0), 39);
}

// Without permission workers do one step at a time; with it, as many as
// allowed.
TEST(AsyncEngine, NoWorkerGoesFurtherThanAllowed) {
  Trainer trainer(2, 2, [](int, int64_t) { return respond(); });
  ASSERT_TRUE(trainer.begin(40).ok());
  EXPECT_EQ(trainer.reads, 1);
  for (int step = 1; step <= 3; ++step) {
    ASSERT_TRUE(trainer.engine->next(false).ok());
    EXPECT_EQ(trainer.pushes(0), step);
    EXPECT_EQ(trainer.pushes(1), step);
    EXPECT_EQ(trainer.reads, step + 1);
  }
  for (int step = 3; step < 20; ++step) {
    trainer.engine->goAhead(20 - step, false);
    ASSERT_TRUE(trainer.engine->next(false).ok());
  }
  EXPECT_EQ(trainer.pushes(0), 20);
  EXPECT_EQ(trainer.pushes(1), 20);
  EXPECT_EQ(trainer.reads, 21);
  // The last step of a pass reads nothing ahead.
  for (int step = 20; step < 30; ++step) {
    trainer.engine->goAhead(30 - step, true);
    ASSERT_TRUE(trainer.engine->next(step == 29).ok());
  }
  EXPECT_EQ(trainer.pushes(1), 30);
  EXPECT_EQ(trainer.reads, 30);
  // Start another pass.
  ASSERT_TRUE(trainer.begin(3).ok());
  for (int step = 0; step < 3; ++step) {
    Expected<std::optional<StepResult>> result = trainer.engine->next(false);
    ASSERT_TRUE(result.ok() && *result);
    EXPECT_EQ(result->value_or(StepResult()).samples, step < 2 ? 33 : 16);
  }
  EXPECT_FALSE((*trainer.engine->next(false)).has_value());
}

TEST(AsyncEngine, AtRestAllHaveDoneTheSameSteps) {
  Trainer trainer(3, 2, [](int, int64_t) { return respond(); });
  ASSERT_TRUE(trainer.begin(200).ok());
  for (int step = 0; step < 100; ++step) {
    trainer.engine->goAhead(150, false);
    ASSERT_TRUE(trainer.engine->next(false).ok());
    trainer.engine->rest();
    const int64_t done = trainer.pushes(0);
    EXPECT_EQ(trainer.pushes(1), done);
    EXPECT_EQ(trainer.pushes(2), done);
    EXPECT_GE(done, step + 1);
    EXPECT_LE(done, step + 1 + AsyncEngine::lead);
    EXPECT_EQ(trainer.reads, done + 1);
  }
}

TEST(AsyncEngine, ARequestToStopEndsAllAfterTheSameStep) {
  for (int64_t at : {0, 1, 7}) {
    Trainer trainer(3, 2, [at](int worker, int64_t before) {
      return respond(worker == 1 && before >= at);
    });
    ASSERT_TRUE(trainer.begin(100).ok());
    int64_t taken = 0;
    while (!trainer.engine->stopped()) {
      trainer.engine->goAhead(100, true);
      Expected<std::optional<StepResult>> step = trainer.engine->next(false);
      ASSERT_TRUE(step.ok() && *step);
      ++taken;
    }
    EXPECT_GE(taken, at);
    EXPECT_LE(taken, at + 1 + AsyncEngine::lead);
    for (int w = 0; w < 3; ++w)
      EXPECT_EQ(trainer.pushes(w), taken);
    EXPECT_EQ(trainer.reads, taken + 1);
  }
}

TEST(AsyncEngine, AFailureOfOneEndsTheStepsOfAll) {
  Trainer trainer(3, 2, [](int worker, int64_t before) {
    return worker == 2 && before == 4
               ? Expected<RoundOutcome>(
                     Status::invalidArgument("the cable is cut"))
               : respond();
  });
  ASSERT_TRUE(trainer.begin(100).ok());
  Status status;
  while (status.ok()) {
    trainer.engine->goAhead(100, true);
    status = trainer.engine->next(false).status();
  }
  EXPECT_THAT(status.message(), HasSubstr("the cable is cut"));
  // No worker continues.
  const int64_t first = trainer.pushes(0), second = trainer.pushes(1);
  trainer.engine->rest();
  EXPECT_EQ(trainer.pushes(0), first);
  EXPECT_EQ(trainer.pushes(1), second);
  EXPECT_FALSE(trainer.begin(3).ok());
}

TEST(AsyncEngine, AnErrorOfTheReaderIsReported) {
  Trainer trainer(2, 2, [](int, int64_t) { return respond(); });
  GroupBatches<float> batches({1, 2, 0, 1}, 50);
  int reads = 0;
  ASSERT_TRUE(trainer.engine
                  ->begin([&]() -> Expected<std::span<const StepInput>> {
                    if (++reads == 6)
                      return Status::invalidArgument("line 7 is no record");
                    return batches.read();
                  })
                  .ok());
  Status status;
  while (status.ok()) {
    trainer.engine->goAhead(50, true);
    status = trainer.engine->next(false).status();
  }
  EXPECT_EQ(status.message(), "line 7 is no record");
  EXPECT_EQ(reads, 6);
}

// A pull for the next step precedes this one, and a push follows it. All have
// arrived when the driver may inspect the state.
TEST(AsyncEngine, PushesTravelDuringSteps) {
  Trainer trainer(
      2, 2, [](int, int64_t) { return respond(); },
      /*isConcurrent=*/true);
  ASSERT_TRUE(trainer.begin(30).ok());
  int64_t taken = 0;
  for (const int64_t until : {5, 20}) {
    for (; taken < until; ++taken) {
      trainer.engine->goAhead(until - taken, false);
      ASSERT_TRUE(trainer.engine->next(false).ok());
    }
    for (int w = 0; w < 2; ++w) {
      EXPECT_EQ(trainer.sink(w).pushed, until);
      EXPECT_TRUE(trainer.sink(w).isEmpty());
      // The worker has done the first exchange of the pass, and one for each
      // step.
      EXPECT_EQ(trainer.state(w).done, until + 1);
    }
  }
  // The worker waits for pushes only when it must, not at each step.
  EXPECT_LE(trainer.sink(0).drains, 20);
  trainer.engine->goAhead(3, false);
  ASSERT_TRUE(trainer.engine->next(false).ok());
  trainer.engine->rest();
  EXPECT_TRUE(trainer.sink(0).isEmpty() && trainer.sink(1).isEmpty());
  EXPECT_EQ(trainer.sink(0).pushed, trainer.sink(1).pushed);
  // Up to the end of the data: worker 1 has one batch less.
  for (;;) {
    trainer.engine->goAhead(100, false);
    Expected<std::optional<StepResult>> step = trainer.engine->next(false);
    ASSERT_TRUE(step.ok()) << step.status().message();
    if (!*step)
      break;
  }
  EXPECT_EQ(trainer.sink(0).pushed, 30);
  EXPECT_EQ(trainer.sink(1).pushed, 29);
  EXPECT_TRUE(trainer.sink(0).isEmpty() && trainer.sink(1).isEmpty());
}

TEST(AsyncEngine, ResponsesToPushesCanEndTheSteps) {
  Trainer stopped(2, 2, [](int, int64_t) { return respond(); }, true);
  ASSERT_TRUE(stopped.begin(1000).ok());
  stopped.sink(1).stops = true;
  int64_t taken = 0;
  for (; !stopped.engine->stopped(); ++taken) {
    stopped.engine->goAhead(1000, true);
    ASSERT_TRUE(stopped.engine->next(false).ok());
  }
  EXPECT_LE(taken, 2 + AsyncEngine::lead);
  for (int w = 0; w < 2; ++w) {
    EXPECT_EQ(stopped.sink(w).pushed, taken);
    EXPECT_TRUE(stopped.sink(w).isEmpty());
  }
  Trainer failed(2, 2, [](int, int64_t) { return respond(); }, true);
  ASSERT_TRUE(failed.begin(100).ok());
  failed.sink(0).failing = Status::invalidArgument("the cable is cut");
  Status status;
  while (status.ok()) {
    failed.engine->goAhead(100, true);
    status = failed.engine->next(false).status();
  }
  EXPECT_EQ(status.message(), "the cable is cut");
}

namespace {

/// Calls a function before each request of a worker.
class WorkerObserver final : public RequestObserver {
public:
  using Action = std::function<void(int worker, const WorkerMark &mark)>;
  explicit WorkerObserver(Action action) : action(std::move(action)) {}

  void beforeRound(const PendingStep * /*step*/) override {
    ADD_FAILURE() << "workers send by themselves";
  }
  void beforeRequest(int worker, const WorkerMark &mark) override {
    action(worker, mark);
  }

private:
  const Action action;
};

} // namespace

// A restart resumes each worker at its last recovery record.
TEST(AsyncEngine, WorkersRejoinWhereTheyWere) {
  std::vector<WorkerMark> last(2);
  std::mutex mutex;
  WorkerObserver note([&](int worker, const WorkerMark &mark) {
    const std::lock_guard lock(mutex);
    last[worker] = mark;
  });
  std::atomic<int64_t> least = 100;
  WorkerObserver noteLeast([&](int worker, const WorkerMark &mark) {
    if (worker == 1)
      least = std::min<int64_t>(least, mark.done);
  });
  // Engines end before their data and while they are idle.
  GroupBatches<float> before({1, 2, 0, 1}, 40), batches({1, 2, 0, 1}, 40);
  // Worker 1 is held in its third step.
  std::atomic<bool> isHeld = true;
  Trainer first(2, 2, [&](int worker, int64_t before) {
    while (worker == 1 && before == 3 && isHeld)
      std::this_thread::yield();
    return respond();
  });
  first.engine->recovery()->observe(&note);
  ASSERT_TRUE(first.engine->begin(before.source()).ok());
  first.engine->goAhead(30, false);
  ASSERT_TRUE(first.engine->next(false).ok());
  ASSERT_TRUE(first.engine->next(false).ok());
  // This thread reads for the worker that continues.
  std::thread third([&] { EXPECT_TRUE(first.engine->next(false).ok()); });
  const int64_t ahead = 2 + AsyncEngine::lead;
  std::vector<WorkerMark> marks;
  // One worker runs ahead, and the other one reaches the step in which it is
  // held.
  EXPECT_TRUE(comesTrue([&] {
    const bool isAhead = first.pushes(0) == ahead;
    const std::lock_guard lock(mutex);
    marks = last;
    return isAhead && marks[1].done == 3;
  }));
  isHeld = false;
  third.join();
  first.engine->rest();
  EXPECT_EQ(marks[0].done, ahead);
  EXPECT_EQ(int64_t(marks[0].results.size()), WorkerMark::maxResults);
  // All servers have the request of the third step.
  Trainer second(2, 2, [](int, int64_t) { return respond(); });
  second.engine->recovery()->observe(&noteLeast);
  for (int64_t round = 0; round < 3; ++round)
    ASSERT_TRUE(batches.read().ok());
  WorkersAt at;
  at.marks = marks;
  at.firstRound = 3;
  at.taken = 2;
  at.allowed = 28;
  const Status status = second.engine->recovery()->resume(batches.source(), at);
  ASSERT_TRUE(status.ok()) << status.message();
  int64_t samples = 0, steps = 0;
  for (second.engine->goAhead(28, false); steps < 28; ++steps) {
    Expected<std::optional<StepResult>> step = second.engine->next(false);
    ASSERT_TRUE(step.ok() && *step);
    samples += step->value_or(StepResult()).samples;
    second.engine->goAhead(27 - steps, false);
  }
  // The batches have 16 and 17 samples.
  EXPECT_EQ(samples, 28 * 33);
  EXPECT_EQ(least, 4);
  // One step is repeated, the others are new.
  EXPECT_EQ(second.state(0).done, 30 - ahead + 1);
  EXPECT_EQ(second.state(1).done, 30 - 3 + 1);
}

TEST(AsyncEngine, ResumesOnlyAtTheMarksOfWorkers) {
  Trainer trainer(2, 2, [](int, int64_t) { return respond(); });
  GroupBatches<float> batches({1, 2, 0, 1}, 40);
  const Status status =
      trainer.engine->recovery()->resume(batches.source(), PendingStep());
  EXPECT_THAT(status.message(), HasSubstr("does not continue within a step"));
}

// With --hogwild there is no time at which a step has ended for all workers.
TEST(AsyncEngine, WorkersThatShareTablesPassQuiescentPoints) {
  const pdl_descriptor &descriptor =
      *handWrittenProgram({PDL_F32, PDL_UNTOUCHED_LAZY, false});
  const pdl_program &train = descriptor.programs[0];
  const ReplicaLayout layout{1, 2, 0, 1};
  Model model(descriptor, 1);
  // One thread: races between workers on each other's updates are intended in
  // this mode.
  Scheduler own(1), scheduler(1);
  Updater updaters[] = {{model, train, own}, {model, train, own}};
  std::vector<AsyncWorker> workers;
  for (Updater &updater : updaters)
    workers.push_back({nullptr, &model, &updater});
  AsyncEngine engine(workers, train, layout, scheduler);
  test::ErasedRow row(*model.table(SymbolTable));
  EXPECT_FALSE(row.isUsedAgain());
  GroupBatches<float> batches(layout, 12);
  ASSERT_TRUE(engine.begin(batches.source()).ok());
  for (Expected<std::optional<StepResult>> step = engine.next(false);;
       step = engine.next(false)) {
    ASSERT_TRUE(step.ok()) << step.status().message();
    if (!*step)
      break;
  }
  EXPECT_TRUE(row.isUsedAgain());
}
