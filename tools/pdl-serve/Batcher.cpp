//===- Batcher.cpp - Combines requests into batches -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Batcher.h"
#include "Version.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

using namespace pdlserve;

//===----------------------------------------------------------------------===//
// Scoring on one thread
//===----------------------------------------------------------------------===//

/// Scores batches on one thread. Keeps the memory of the largest batch so far
/// for later batches.
class Batcher::Worker {
public:
  explicit Worker(ServingMetrics &metrics) : metrics(metrics) {}

  /// Scores the requests of a batch and finishes them. All must be of one lane.
  /// Returns an error only if a server did not respond.
  Outcome runGuarded(Batch &batch) noexcept;
  /// Sends the outcome of a waiting job.
  void finish(std::unique_ptr<InferenceRequest> &job);

private:
  Outcome run(Batch &batch);
  /// Concatenated inputs of several jobs.
  struct Merged {
    std::vector<char> values;
    std::vector<int32_t> splits;
    Texts texts;
  };

  Outcome scoreAlone(InferenceRequest &job);
  Outcome scoreTogether(const Batch &batch, int64_t samples);
  void merge(const Batch &batch, int32_t input, Merged &merged);
  /// `job`: any request of the batch. All have the same types.
  Outcome score(InferenceRequest &job, int64_t samples);

  ServingMetrics &metrics;
  std::vector<Merged> merged;
  std::vector<pdl_serving_input> inputs;
  std::vector<int32_t> areKeys;
  std::vector<void *> outputs;
  std::vector<std::byte> outputBytes;
};

static size_t rowBytes(const pdl_serving_tensor &output) {
  return size_t(output.width) * sizeOf(valueTypeOf(output));
}

static size_t outputSize(const pdl_serving_program &program, int64_t samples,
                         std::vector<size_t> &offsets) {
  size_t size = 0;
  offsets.clear();
  for (int32_t i = 0; i < program.output_count; ++i) {
    offsets.push_back(size);
    // Aligns each output.
    size += (size_t(samples) * rowBytes(program.outputs[i]) + 7) & ~size_t(7);
  }
  return size;
}

Outcome Batcher::Worker::score(InferenceRequest &job, int64_t samples) {
  areKeys.clear();
  for (const RequestInput &input : job.inputs)
    areKeys.push_back(input.values.type == DataType::Uint64);
  const auto begin = Clock::now();
  Outcome outcome = job.version->run(job.programIndex, samples, inputs.data(),
                                     areKeys.data(), outputs.data());
  ProgramMetrics &counts = job.version->metricsOf(job.programIndex);
  counts.runSeconds.observe(
      std::chrono::duration<double>(Clock::now() - begin).count());
  counts.batchSamples.observe(double(samples));
  return outcome;
}

static void makeOutputs(InferenceRequest &job) {
  const size_t size = outputSize(job.program(), job.batch, job.outputOffsets);
  job.outputs = std::make_unique_for_overwrite<std::byte[]>(size);
}

/// Returns an input of texts. `ends` must be a valid address even if there are
/// no texts, because an empty bag may be replaced by a text.
static pdl_serving_input textsOf(const Texts &texts, const int32_t *splits) {
  static constexpr int64_t none = 0;
  return {nullptr, splits, texts.bytes.data(),
          texts.ends.empty() ? &none : texts.ends.data()};
}

static const int32_t *splitsOf(const std::vector<int32_t> &splits) {
  return splits.empty() ? nullptr : splits.data();
}

Outcome Batcher::Worker::scoreAlone(InferenceRequest &job) {
  makeOutputs(job);
  inputs.clear();
  for (const RequestInput &input : job.inputs) {
    const Tensor &tensor = input.values;
    const int32_t *splits = splitsOf(input.splits);
    inputs.push_back(
        input.hasTexts()
            ? textsOf(tensor.texts, splits)
            : pdl_serving_input{tensor.count ? tensor.values() : nullptr,
                                splits, nullptr, nullptr});
  }
  outputs.clear();
  for (const size_t offset : job.outputOffsets)
    outputs.push_back(job.outputs.get() + offset);
  return score(job, job.batch);
}

void Batcher::Worker::merge(const Batch &batch, int32_t index, Merged &to) {
  to.values.clear();
  to.splits.clear();
  to.texts.bytes.clear();
  to.texts.ends.clear();
  int32_t elements = 0;
  for (const std::unique_ptr<InferenceRequest> &job : batch) {
    const RequestInput &input = job->inputs[index];
    const Tensor &tensor = input.values;
    if (!input.splits.empty()) {
      // Skip the first split, which equals the last split of the previous
      // request.
      if (to.splits.empty())
        to.splits.push_back(0);
      for (auto split = input.splits.begin() + 1; split != input.splits.end();
           ++split)
        to.splits.push_back(elements + *split);
      elements = to.splits.back();
    }
    if (input.hasTexts()) {
      const auto before = int64_t(to.texts.bytes.size());
      to.texts.bytes += tensor.texts.bytes;
      for (const int64_t end : tensor.texts.ends)
        to.texts.ends.push_back(before + end);
    } else {
      const char *bytes = static_cast<const char *>(tensor.values());
      to.values.insert(to.values.end(), bytes,
                       bytes + size_t(tensor.count) * sizeOf(tensor.type));
    }
  }
}

Outcome Batcher::Worker::scoreTogether(const Batch &batch, int64_t samples) {
  InferenceRequest &first = *batch.front();
  const pdl_serving_program &program = first.program();
  if (merged.size() < first.inputs.size())
    merged.resize(first.inputs.size());
  inputs.clear();
  for (int32_t i = 0; i < program.input_count; ++i) {
    Merged &all = merged[i];
    merge(batch, i, all);
    const int32_t *splits = splitsOf(all.splits);
    inputs.push_back(first.inputs[i].hasTexts()
                         ? textsOf(all.texts, splits)
                         : pdl_serving_input{
                               all.values.empty() ? nullptr : all.values.data(),
                               splits, nullptr, nullptr});
  }
  std::vector<size_t> &offsets = first.outputOffsets;
  const size_t size = outputSize(program, samples, offsets);
  if (outputBytes.size() < size)
    outputBytes.resize(size);
  outputs.clear();
  for (const size_t offset : offsets)
    outputs.push_back(outputBytes.data() + offset);
  if (Outcome outcome = score(first, samples); !outcome.ok())
    return outcome;
  int64_t begin = 0;
  for (const std::unique_ptr<InferenceRequest> &job : batch) {
    makeOutputs(*job);
    for (int32_t i = 0; i < program.output_count; ++i) {
      const size_t row = rowBytes(program.outputs[i]);
      std::memcpy(job->outputs.get() + job->outputOffsets[i],
                  static_cast<const std::byte *>(outputs[i]) +
                      size_t(begin) * row,
                  size_t(job->batch) * row);
    }
    begin += job->batch;
  }
  return {};
}

void Batcher::Worker::finish(std::unique_ptr<InferenceRequest> &job) {
  metrics.waitingSamples().add(-double(job->batch));
  finishRequest(std::move(job));
}

Outcome Batcher::Worker::run(Batch &batch) {
  const auto now = Clock::now();
  int64_t samples = 0;
  for (std::unique_ptr<InferenceRequest> &job : batch) {
    job->version->metricsOf(job->programIndex)
        .waiting.observe(
            std::chrono::duration<double>(now - job->arrived).count());
    if (job->isCancelled()) {
      job->outcome = clientLeft();
      finish(job);
    } else {
      samples += job->batch;
    }
  }
  std::erase(batch, nullptr);
  const bool isTogether = batch.size() > 1;
  Outcome together;
  if (isTogether)
    together = guarded([&] { return scoreTogether(batch, samples); });
  Outcome unavailable;
  if (together.code == Code::Unavailable)
    unavailable = together;
  for (std::unique_ptr<InferenceRequest> &job : batch) {
    // If servers did not respond to one request of the batch, the other
    // requests fail at once, and do not wait for these servers again.
    if (!unavailable.ok())
      job->outcome = unavailable;
    // One faulty request must not make the others fail.
    else if (!isTogether || !together.ok())
      job->outcome = guarded([&] { return scoreAlone(*job); });
    if (job->outcome.code == Code::Unavailable)
      unavailable = job->outcome;
    finish(job);
  }
  return unavailable;
}

Outcome Batcher::Worker::runGuarded(Batch &batch) noexcept {
  Outcome outcome = guarded([&] { return run(batch); });
  // Requests are left only if memory was exhausted between two of them.
  for (std::unique_ptr<InferenceRequest> &job : batch)
    if (job) {
      job->outcome = outOfMemory();
      finish(job);
    }
  return outcome.code == Code::Unavailable ? std::move(outcome) : Outcome();
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

Batcher::Batcher(BatchOptions options, ServingMetrics &metrics)
    : options(options), metrics(metrics) {
  for (unsigned i = 0; i < options.workers; ++i)
    threads.emplace_back([this] { work(); });
}

void Batcher::hurry() {
  {
    const pdlrt::MutexLock lock(mutex);
    isHurrying = true;
  }
  changed.notify_all();
}

Batcher::~Batcher() {
  {
    const pdlrt::MutexLock lock(mutex);
    isHurrying = isEnding = true;
  }
  changed.notify_all();
  threads.clear();
}

Lane &Batcher::laneOf(InferenceRequest &job) {
  const auto isSame = [&](const std::unique_ptr<Lane> &lane) {
    for (size_t i = 0; i < job.inputs.size(); ++i)
      if (lane->types[i] != job.inputs[i].values.type)
        return false;
    return true;
  };
  auto &lanes = job.version->lanes[job.programIndex];
  if (const auto found = std::ranges::find_if(lanes, isSame);
      found != lanes.end())
    return **found;
  auto lane = std::make_unique<Lane>();
  std::shared_ptr<Seats> &asking = job.version->seats;
  if (job.version->isConnected() && !asking)
    asking = std::make_shared<Seats>();
  lane->seats = job.version->isConnected() ? asking : ownSeats;
  for (const RequestInput &input : job.inputs)
    lane->types.push_back(input.values.type);
  lanes.push_back(std::move(lane));
  return *lanes.back();
}

void Batcher::submit(std::unique_ptr<InferenceRequest> job) {
  const Outcome refused = guarded([&] {
    const pdlrt::MutexLock lock(mutex);
    Lane &lane = laneOf(*job);
    if (lane.seats->waiting >= options.maxWaiting)
      return Outcome(
          Code::Unavailable,
          fmt::format("{} requests wait already, as many as may; send this one "
                      "later, or to another server",
                      options.maxWaiting));
    const bool wasEmpty = lane.jobs.empty(),
               wasFull = lane.samples >= options.maxSamples;
    const int64_t samples = job->batch;
    // Make the calls that may throw first, so that nothing has changed after an
    // exception.
    filled.reserve(filled.size() + 1);
    lane.jobs.push_back(std::move(job));
    metrics.waitingSamples().add(double(samples));
    lane.samples += samples;
    ++lane.seats->waiting;
    if (wasEmpty)
      filled.push_back(&lane);
    if (wasEmpty || (!wasFull && lane.samples >= options.maxSamples))
      wakeOne();
    return Outcome();
  });
  if (job) {
    job->outcome = refused;
    finishRequest(std::move(job));
  }
}

/// Wakes a waiting thread. If all threads are busy but a lane may run a further
/// batch, starts another thread: the busy ones may be waiting for servers. The
/// mutex must be locked.
void Batcher::wakeOne() {
  changed.notify_one();
  const auto hasSeat = [&](const Lane *lane) {
    return lane->seats->taken < options.workers;
  };
  if (isEnding || running < threads.size() ||
      std::ranges::none_of(filled, hasSeat))
    return;
  try {
    threads.emplace_back([this] { work(); });
  } catch (const std::exception &) {
    // One of the existing threads will take the batch later.
  }
}

Lane *Batcher::findRipe(Clock::time_point now, Clock::time_point &until) const {
  Lane *oldest = nullptr;
  until = Clock::time_point::max();
  for (Lane *lane : filled) {
    if (lane->seats->taken >= options.workers)
      continue;
    const auto arrived = lane->jobs.front()->arrived;
    if (!isHurrying && lane->samples < options.maxSamples &&
        arrived + options.delay > now)
      until = std::min(until, arrived + options.delay);
    else if (!oldest || arrived < oldest->jobs.front()->arrived)
      oldest = lane;
  }
  return oldest;
}

void Batcher::takeBatch(Lane &lane, Batch &batch) {
  int64_t samples = 0;
  while (!lane.jobs.empty() &&
         (batch.empty() ||
          samples + lane.jobs.front()->batch <= options.maxSamples)) {
    const int64_t more = lane.jobs.front()->batch;
    try {
      batch.push_back(std::move(lane.jobs.front()));
    } catch (const std::bad_alloc &) {
      // The next batch contains the rest.
      break;
    }
    lane.jobs.pop_front();
    samples += more;
  }
  lane.samples -= samples;
  lane.seats->waiting -= batch.size();
  if (lane.jobs.empty())
    std::erase(filled, &lane);
}

std::unique_ptr<InferenceRequest>
Batcher::takeEarlier(const Seats &seats, Clock::time_point since) {
  for (Lane *lane : filled) {
    if (lane->seats.get() != &seats || lane->jobs.front()->arrived >= since)
      continue;
    std::unique_ptr<InferenceRequest> job = std::move(lane->jobs.front());
    lane->jobs.pop_front();
    lane->samples -= job->batch;
    --lane->seats->waiting;
    if (lane->jobs.empty())
      std::erase(filled, lane);
    return job;
  }
  return nullptr;
}

void Batcher::work() {
  Worker worker(metrics);
  Batch batch;
  batch.reserve(1);
  pdlrt::MutexLock lock(mutex);
  for (;;) {
    Clock::time_point until;
    const auto now = Clock::now();
    if (Lane *lane = findRipe(now, until)) {
      // The lane may be destroyed together with its version.
      const std::shared_ptr<Seats> seats = lane->seats;
      takeBatch(*lane, batch);
      ++seats->taken;
      ++running;
      // The wake-up of a waiting thread may have been meant for this batch.
      if (!filled.empty())
        wakeOne();
      lock.unlock();
      const Outcome unavailable = worker.runGuarded(batch);
      batch.clear();
      lock.lock();
      --seats->taken;
      --running;
      if (unavailable.ok())
        continue;
      // Requests that were waiting already fail at once. Otherwise each would
      // wait for the same servers again.
      while (std::unique_ptr<InferenceRequest> job = takeEarlier(*seats, now)) {
        lock.unlock();
        job->outcome = guarded([&] { return unavailable; });
        worker.finish(job);
        lock.lock();
      }
    } else if (isEnding) {
      // Threads that have a seat score the requests that wait for one.
      return;
    } else if (until == Clock::time_point::max()) {
      changed.wait(lock);
    } else {
      changed.wait_until(lock, until);
    }
  }
}
