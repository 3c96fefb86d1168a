//===- AsyncEngine.cpp - The step of workers by themselves ----------------===//
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

using namespace pdlrt;

static std::vector<Model *> mirrorsOf(std::span<const AsyncWorker> workers) {
  std::vector<Model *> mirrors;
  for (const AsyncWorker &worker : workers)
    mirrors.push_back(worker.mirror);
  return mirrors;
}

namespace {

/// Holds one of the processors that the flag --threads grants.
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
      owns(workers.size()),
      inputs(keptRounds, std::vector<StepInput>(workers.size())),
      results(keptRounds, std::vector<StepResult>(workers.size())),
      points(workers.size()), processors(scheduler.threadCount()),
      pace(int(workers.size()), lead) {
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

AsyncEngine::~AsyncEngine() { endThreads(); }

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
        pace.fail(std::move(status));
    } catch (const std::bad_alloc &) {
      pace.fail(Status::outOfMemory(
          "out of memory for worker " + std::to_string(worker) +
          "; use a smaller --batch-size, or fewer workers"));
    }
    passQuiescentPoint(worker, /*rests=*/true);
    pace.leavePass(worker);
  }
}

void AsyncEngine::passQuiescentPoint(int worker, bool rests) {
  if (!workers[worker].updater)
    return;
  points.pass(size_t(worker), rests,
              [&] { workers[worker].mirror->quiesce(); });
}

Expected<bool> AsyncEngine::takeUp(int worker, std::optional<int64_t> round) {
  Own &own = owns[worker];
  const bool exists = round && pace.waitForRound(*round);
  own.costs.read += own.stopwatch.lap();
  const Processor processor(processors);
  const StepInput input =
      exists ? inputs[*round % keptRounds][worker] : StepInput();
  PDLRT_RETURN_IF_ERROR(replicaSet.prepare(worker, input));
  if (!workers[worker].updater)
    PDLRT_RETURN_IF_ERROR(
        own.rows.gather(descriptor, program, replicaSet, worker, 1));
  own.costs.prepare += own.stopwatch.lap();
  return exists;
}

/// With the threads that no other worker has.
Status AsyncEngine::compute(int worker) {
  Status status;
  scheduler.parallelFor(
      1, [&](int64_t) { status = replicaSet.compute(worker); },
      replicaSet.threadsOfReplica());
  return status;
}

Status AsyncEngine::apply(int worker, const Contribution *sum) {
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
  own.costs.apply += own.stopwatch.lap();
  return {};
}

Status AsyncEngine::exchange(int worker, bool first, const Contribution *sum) {
  if (workers[worker].updater)
    return apply(worker, sum);
  RoundOffer offer;
  offer.first = first;
  offer.sum = sum;
  offer.next = owns[worker].rows.requests();
  offer.contributesNext = replicaSet[worker].current().input().samples > 0;
  offer.stop = stopSignal() != 0;
  if (!offer.sum && !offer.contributesNext)
    return {};
  Expected<RoundOutcome> outcome = workers[worker].state->exchange(offer);
  if (!outcome)
    return outcome.status();
  if (outcome->stop)
    pace.noteStop();
  return {};
}

Status AsyncEngine::runPass(int worker) {
  Own &own = owns[worker];
  own.stopwatch.lap();
  Expected<bool> more = takeUp(worker, 0);
  if (!more)
    return more.status();
  if (!*more)
    return {};
  PDLRT_RETURN_IF_ERROR(exchange(worker, /*first=*/true, nullptr));
  pace.noteDone(worker, 0);
  for (int64_t step = 0;; ++step) {
    const AsyncPace::Turn turn = pace.waitForTurn(worker, step);
    if (turn == AsyncPace::Turn::None)
      return {};
    // To wait for the turn is none of the step's cost.
    own.stopwatch.lap();
    {
      const Processor processor(processors);
      PDLRT_RETURN_IF_ERROR(compute(worker));
    }
    own.costs.compute += own.stopwatch.lap();
    ++own.costs.steps;
    const Contribution &sum = replicaSet[worker].current().contribution();
    StepResult &result = results[step % keptRounds][worker];
    result = {};
    if (sum.present)
      result.take(sum);
    std::optional<int64_t> following;
    if (turn == AsyncPace::Turn::Step)
      following = step + 1;
    more = takeUp(worker, following);
    if (!more)
      return more.status();
    PDLRT_RETURN_IF_ERROR(
        exchange(worker, /*first=*/false, sum.present ? &sum : nullptr));
    passQuiescentPoint(worker, /*rests=*/false);
    pace.noteDone(worker, step + 1);
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
    pace.fail(read.status());
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
    const StepCosts &own = owns[w].costs;
    result.steps = std::max(result.steps, own.steps);
    result.read += share * own.read;
    result.prepare += share * own.prepare;
    result.compute += share * own.compute;
    result.apply += share * own.apply;
    if (workers[w].state)
      result.exchange.add(workers[w].state->costsOf(program));
  }
  result.exchange.serialise *= share;
  result.exchange.wait *= share;
  return result;
}

Expected<std::optional<StepResult>> AsyncEngine::next(bool last) {
  pace.askForStep(last);
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
    result.samples += inputs[place][w].samples;
    result.lossSum += results[place][w].lossSum;
    result.weightSum += results[place][w].weightSum;
    result.otherWeights += results[place][w].otherWeights;
  }
  result.skipped = result.hasNoWeight();
  pace.noteTaken();
  return std::optional<StepResult>(result);
}
