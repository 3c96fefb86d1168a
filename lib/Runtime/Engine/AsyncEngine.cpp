//===- AsyncEngine.cpp - Workers that step independently ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/AsyncEngine.h"
#include "pdlrt/Core/BlockedSignals.h"

#include "pdlrt/Core/StopSignal.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

using namespace pdlrt;

static std::vector<Model *> mirrorsOf(std::span<const AsyncWorker> workers) {
  std::vector<Model *> mirrors;
  for (const AsyncWorker &worker : workers)
    mirrors.push_back(worker.mirror);
  return mirrors;
}

namespace {

/// Occupies one of the processors that --threads allows, until it is destroyed.
class Processor {
public:
  explicit Processor(std::counting_semaphore<> &all) : all(all) {
    all.acquire();
  }
  ~Processor() { all.release(); }
  Processor(const Processor &) = delete;
  Processor &operator=(const Processor &) = delete;

private:
  std::counting_semaphore<> &all;
};

} // namespace

AsyncEngine::AsyncEngine(std::span<const AsyncWorker> workers,
                         const pdl_program &program,
                         const ReplicaLayout &layout, Scheduler &scheduler)
    : descriptor(workers.front().mirror->descriptor()), program(program),
      scheduler(scheduler), workers(workers.begin(), workers.end()),
      blocks(gradientBlocks(descriptor, program)),
      replicaSet(mirrorsOf(workers), program, layout, /*ringSize=*/2,
                 scheduler),
      inputs(keptRounds, std::vector<StepInput>(workers.size())),
      results(keptRounds, std::vector<StepResult>(workers.size())),
      points(workers.size()), processors(scheduler.threadCount()),
      pace(int(workers.size()), lead) {
  for (size_t w = 0; w < workers.size(); ++w)
    owns.emplace_back(program);
  if (!program.frozen)
    for (const AsyncWorker &worker : workers)
      worker.mirror->setPrepared(this);
  try {
    const BlockedSignals blocked;
    for (int w = 0; w < int(workers.size()); ++w)
      threads.emplace_back([this, w] { work(w); });
  } catch (const std::system_error &error) {
    endThreads();
    throw std::system_error(error.code(),
                            "a thread of a worker cannot be started; give "
                            "fewer workers (--replicas)");
  } catch (...) {
    endThreads();
    throw;
  }
}

AsyncEngine::~AsyncEngine() {
  endThreads();
  for (const AsyncWorker &worker : workers)
    if (worker.mirror->prepared() == this)
      worker.mirror->setPrepared(nullptr);
}

void AsyncEngine::listPrepared(const Visit &visit) const {
  for (int r = 0; r < replicaSet.count(); ++r)
    replicaSet[r].current().listNewRows(visit);
}

void AsyncEngine::endThreads() {
  pace.quit();
  for (std::thread &thread : threads)
    thread.join();
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

void AsyncEngine::work(int worker) {
  Trace::nameThread("worker " + std::to_string(worker));
  while (pace.waitForPass(worker)) {
    try {
      passQuiescentPoint(worker, /*rests=*/false);
      Status status = runPass(worker);
      if (!status.ok())
        fail(std::move(status));
    } catch (const std::bad_alloc &) {
      fail(Status::outOfMemory(
          "out of memory for worker " + std::to_string(worker) +
          "; use a smaller --batch-size, or fewer workers"));
    }
    passQuiescentPoint(worker, /*rests=*/true);
    pace.leavePass(worker);
  }
}

void AsyncEngine::fail(Status status) {
  pace.fail(std::move(status));
  // With --max-staleness, servers delay responses to other workers until this
  // worker has continued. It never will, so the other workers must stop
  // waiting.
  for (const AsyncWorker &each : workers)
    if (each.state)
      each.state->giveUp();
}

void AsyncEngine::passQuiescentPoint(int worker, bool rests) {
  if (!workers[worker].updater)
    return;
  points.pass(size_t(worker), rests,
              [&] { workers[worker].mirror->quiesce(); });
}

Expected<bool> AsyncEngine::prepareRound(int worker,
                                         std::optional<int64_t> round,
                                         bool following) {
  Own &own = owns[worker];
  const bool exists = round && pace.waitForRound(*round);
  own.metrics.read += own.stopwatch.lap();
  const Processor processor(processors);
  const StepInput input =
      exists ? inputs[*round % keptRounds][worker] : StepInput();
  PDLRT_RETURN_IF_ERROR(following ? replicaSet.prepareFollowing(worker, input)
                                  : replicaSet.prepare(worker, input));
  if (!workers[worker].updater)
    PDLRT_RETURN_IF_ERROR(
        own.rows[following ? 1 - own.place : own.place].gather(
            descriptor, program, replicaSet, worker, 1, following));
  own.metrics.prepare += own.stopwatch.lap();
  return exists;
}

/// Computes a step of a worker. Uses also the threads that no other worker uses
/// now.
Status AsyncEngine::compute(int worker, int64_t step) {
  Own &own = owns[worker];
  // Exclude the wait before the step from its costs.
  own.stopwatch.lap();
  Status status;
  {
    const Processor processor(processors);
    scheduler.parallelFor(
        1, [&](int64_t) { status = replicaSet.compute(worker); },
        replicaSet.threadsOfReplica());
  }
  PDLRT_RETURN_IF_ERROR(std::move(status));
  own.metrics.compute += own.stopwatch.lap();
  ++own.metrics.steps;
  const PartialSum &sum = replicaSet[worker].current().contribution();
  StepResult &result = results[step % keptRounds][worker];
  result = {};
  result.samples = replicaSet[worker].current().input().samples;
  own.metrics.samples += result.samples;
  if (sum.present)
    result.take(sum);
  return {};
}

Status AsyncEngine::apply(int worker, const PartialSum *sum) {
  if (stopSignal() != 0)
    pace.noteStop();
  if (!sum || !sum->hasWeight())
    return {};
  Own &own = owns[worker];
  own.stopwatch.lap();
  const Processor processor(processors);
  if (hasSmallWeight(*sum))
    PDLRT_RETURN_IF_ERROR(checkFiniteSums(descriptor, blocks, *sum));
  PDLRT_RETURN_IF_ERROR(workers[worker].updater->apply(*sum));
  own.apply += own.stopwatch.lap();
  return {};
}

RoundRequest AsyncEngine::roundRequestOf(int worker, bool following) {
  Own &own = owns[worker];
  Replica &replica = replicaSet[worker];
  const BatchContext &next =
      following ? replica.following() : replica.current();
  RoundRequest roundRequest;
  roundRequest.next =
      own.rows[following ? 1 - own.place : own.place].requests();
  roundRequest.hasNextBatch = next.input().samples > 0;
  roundRequest.stop = stopSignal() != 0;
  return roundRequest;
}

Status AsyncEngine::exchange(int worker, int64_t done, bool hasNext,
                             const PartialSum *sum) {
  if (workers[worker].updater)
    return apply(worker, sum);
  RoundRequest roundRequest = roundRequestOf(worker, /*following=*/false);
  roundRequest.first = done == 0;
  roundRequest.sum = sum;
  if (!roundRequest.sum && !roundRequest.hasNextBatch)
    return {};
  if (observer) {
    WorkerMark mark = {done, hasNext, {}};
    for (int64_t step = std::max<int64_t>(0, done - WorkerMark::maxResults);
         step < done; ++step)
      mark.results.push_back(results[step % keptRounds][worker]);
    observer->beforeRequest(worker, mark);
  }
  return send(worker, roundRequest);
}

Status AsyncEngine::send(int worker, const RoundRequest &roundRequest) {
  Expected<RoundOutcome> outcome =
      workers[worker].state->exchange(roundRequest);
  if (!outcome)
    return outcome.status();
  if (outcome->stop)
    pace.noteStop();
  return {};
}

Expected<AsyncPace::Turn> AsyncEngine::awaitTurn(int worker, int64_t step) {
  AsyncPace::Turn turn = pace.waitForTurn(worker, step);
  if (turn != AsyncPace::Turn::Drain)
    return turn;
  PDLRT_RETURN_IF_ERROR(drain(worker));
  pace.noteDone(worker, step);
  return pace.waitForTurn(worker, step);
}

Status AsyncEngine::drain(int worker) {
  PushSink &pushes = *workers[worker].pushes;
  PDLRT_RETURN_IF_ERROR(pushes.drain());
  if (pushes.stopSeen())
    pace.noteStop();
  return {};
}

Status AsyncEngine::runPass(int worker) {
  owns[worker].stopwatch.lap();
  const Expected<std::optional<int64_t>> step = enterPass(worker);
  if (!step)
    return step.status();
  if (!*step)
    return {};
  return workers[worker].pushes ? stepConcurrently(worker, **step)
                                : stepOn(worker, **step);
}

Expected<std::optional<int64_t>> AsyncEngine::enterPass(int worker) {
  const std::optional<WorkerMark> earlier =
      std::exchange(owns[worker].earlier, std::nullopt);
  const bool repeats = earlier && earlier->done >= 0;
  const int64_t done = repeats ? earlier->done : 0;
  std::optional<int64_t> round;
  if (!repeats || earlier->hasNext)
    round = done;
  const Expected<bool> more = prepareRound(worker, round);
  if (!more)
    return more.status();
  if (!repeats && !*more)
    return std::optional<int64_t>();
  if (repeats) {
    // The previous incarnation of this process has sent this request already.
    // It is sent again, and servers repeat their response.
    RoundRequest roundRequest = roundRequestOf(worker, /*following=*/false);
    roundRequest.first = done == 0;
    PDLRT_RETURN_IF_ERROR(send(worker, roundRequest));
  } else {
    PDLRT_RETURN_IF_ERROR(exchange(worker, 0, *more, nullptr));
  }
  pace.noteDone(worker, done);
  return *more ? std::optional(done) : std::nullopt;
}

Status AsyncEngine::stepOn(int worker, int64_t step) {
  for (;; ++step) {
    const AsyncPace::Turn turn = pace.waitForTurn(worker, step);
    if (turn == AsyncPace::Turn::None)
      return {};
    PDLRT_RETURN_IF_ERROR(compute(worker, step));
    std::optional<int64_t> following;
    if (turn == AsyncPace::Turn::Step)
      following = step + 1;
    const PartialSum &sum = replicaSet[worker].current().contribution();
    const Expected<bool> more = prepareRound(worker, following);
    if (!more)
      return more.status();
    PDLRT_RETURN_IF_ERROR(
        exchange(worker, step + 1, *more, sum.present ? &sum : nullptr));
    passQuiescentPoint(worker, /*rests=*/false);
    pace.noteDone(worker, step + 1);
    if (!*more)
      return {};
  }
}

Status AsyncEngine::stepConcurrently(int worker, int64_t step) {
  RemoteState &state = *workers[worker].state;
  PushSink &pushes = *workers[worker].pushes;
  for (;; ++step) {
    const Expected<AsyncPace::Turn> turn = awaitTurn(worker, step);
    if (!turn)
      return turn.status();
    if (*turn == AsyncPace::Turn::None)
      return {};
    owns[worker].stopwatch.lap();
    std::optional<int64_t> following;
    if (*turn == AsyncPace::Turn::Step)
      following = step + 1;
    const Expected<bool> more =
        prepareRound(worker, following, /*following=*/true);
    if (!more)
      return more.status();
    const RoundRequest roundRequest =
        roundRequestOf(worker, /*following=*/true);
    if (roundRequest.hasNextBatch)
      PDLRT_RETURN_IF_ERROR(state.beginPull(roundRequest));
    PDLRT_RETURN_IF_ERROR(compute(worker, step));
    const PartialSum &sum = replicaSet[worker].current().contribution();
    if (sum.present)
      PDLRT_RETURN_IF_ERROR(pushes.push(sum, roundRequest.stop));
    if (roundRequest.hasNextBatch) {
      const Expected<RoundOutcome> outcome = state.endPull(roundRequest);
      if (!outcome)
        return outcome.status();
      if (outcome->stop)
        pace.noteStop();
    }
    if (pushes.stopSeen())
      pace.noteStop();
    replicaSet.advance(worker);
    owns[worker].place = 1 - owns[worker].place;
    if (!*more)
      PDLRT_RETURN_IF_ERROR(drain(worker));
    pace.noteDone(worker, step + 1, !pushes.isEmpty());
    if (!*more)
      return {};
  }
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

void AsyncEngine::readRound() {
  const int64_t round = pace.roundsRead();
  Expected<std::span<const StepInput>> read = [this] {
    const Processor processor(processors);
    return source();
  }();
  if (!read) {
    fail(read.status());
    return;
  }
  std::vector<StepInput> &place = inputs[round % keptRounds];
  std::copy(read->begin(), read->end(), place.begin());
  pace.noteRead(!read->empty());
}

Status AsyncEngine::begin(RoundSource newSource) {
  pace.beginPass();
  source = std::move(newSource);
  rest();
  return pace.failure();
}

Status AsyncEngine::resume(RoundSource newSource, ResumePoint point) {
  const auto *given = std::get_if<WorkersAt>(&point);
  if (!given)
    return Status::internal("this engine does not continue within a step");
  const WorkersAt &at = *given;
  AsyncPace::PassAt pass = {at.taken, at.taken, at.firstRound, at.allowed,
                            at.last};
  for (size_t w = 0; w < owns.size(); ++w) {
    const WorkerMark &mark = at.marks[w];
    pass.begun = std::max(pass.begun, mark.done);
    int64_t step = mark.done - int64_t(mark.results.size());
    for (const StepResult &result : mark.results) {
      if (step >= at.taken)
        results[step % keptRounds][w] = result;
      ++step;
    }
  }
  // Workers must have left the previous pass before they see these marks.
  pace.abandon();
  for (size_t w = 0; w < owns.size(); ++w)
    owns[w].earlier = at.marks[w];
  source = std::move(newSource);
  pace.resumePass(pass);
  rest();
  return pace.failure();
}

void AsyncEngine::goAhead(int64_t steps, bool last) { pace.allow(steps, last); }

void AsyncEngine::rest() {
  while (pace.waitForRest() == AsyncPace::Event::Read)
    readRound();
}

bool AsyncEngine::stopped() const { return pace.isOver(); }

StepCosts AsyncEngine::costs() const {
  StepCosts result;
  const double share = 1 / double(workers.size());
  for (size_t w = 0; w < workers.size(); ++w) {
    const StepCosts own = owns[w].metrics.costs();
    result.steps = std::max(result.steps, own.steps);
    result.read += share * own.read;
    result.prepare += share * own.prepare;
    result.compute += share * own.compute;
    result.apply += share * owns[w].apply.value();
    if (workers[w].state)
      result.exchange.add(workers[w].state->costsOf(program));
    if (workers[w].pushes)
      result.exchange.add(workers[w].pushes->costs());
  }
  result.exchange.serialize *= share;
  result.exchange.wait *= share;
  return result;
}

Expected<std::optional<StepResult>> AsyncEngine::next(bool last) {
  pace.requestStep(last);
  AsyncPace::Event event;
  while ((event = pace.waitForStep()) == AsyncPace::Event::Read)
    readRound();
  if (event == AsyncPace::Event::Failed)
    return pace.failure();
  if (event == AsyncPace::Event::OutOfData)
    return std::optional<StepResult>();
  const size_t place = size_t(pace.taken() % keptRounds);
  StepResult result;
  for (size_t w = 0; w < workers.size(); ++w) {
    result.samples += results[place][w].samples;
    result.lossSum += results[place][w].lossSum;
    result.weightSum += results[place][w].weightSum;
    result.otherWeights += results[place][w].otherWeights;
  }
  result.skipped = result.hasNoWeight();
  owns.front().metrics.skippedUpdates += result.skipped;
  pace.noteTaken();
  return std::optional<StepResult>(result);
}
