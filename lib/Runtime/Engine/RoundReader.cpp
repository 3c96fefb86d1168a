//===- RoundReader.cpp - Batches of all replicas --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/RoundReader.h"
#include "pdlrt/Core/BlockedSignals.h"

#include "pdlrt/Core/Trace.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

using namespace pdlrt;

static constexpr size_t keptMessages = 5;

RoundReader::RoundReader(int groups, int workers, int keptRounds)
    : workers(workers), kept(keptRounds) {
  const auto makeRoom = [&](Round &round) {
    round.batches.resize(groups * workers);
    round.inputs.resize(groups * workers);
    round.ends.resize(groups);
  };
  for (Round &round : kept)
    makeRoom(round);
  makeRoom(back);
}

Expected<std::unique_ptr<RoundReader>>
RoundReader::open(const DataOptions &options, const pdl_descriptor &descriptor,
                  const pdl_program &program, const ReplicaLayout &layout,
                  bool readAhead, int keptRounds) {
  std::unique_ptr<RoundReader> reader(
      new RoundReader(layout.localGroups, layout.workers, keptRounds));
  DataOptions data = options;
  data.unpackInBackground = readAhead;
  for (int g = 0; g < layout.localGroups; ++g) {
    auto source = BatchSource::open(data, descriptor, program, layout.groups,
                                    layout.firstGroup + g, layout.workers);
    if (!source)
      return std::move(source).status();
    reader->sources.push_back(std::move(*source));
  }
  if (readAhead) {
    reader->readAhead = true;
    try {
      const BlockedSignals blocked;
      reader->thread =
          std::thread([self = reader.get()] { self->readInBackground(); });
    } catch (const std::system_error &error) {
      return Status::outOfMemory(
          std::string("the thread that reads ahead cannot be started: ") +
          error.what() + "; give --threads 1");
    }
  }
  return reader;
}

RoundReader::~RoundReader() {
  if (!thread.joinable())
    return;
  {
    const MutexLock lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  // The reader may be waiting for data from a pipe.
  for (const std::unique_ptr<BatchSource> &source : sources)
    source->endWaiting();
  thread.join();
}

Status RoundReader::fill(Round &round) {
  const TraceSpan span("read");
  round.samples = 0;
  try {
    for (size_t r = 0; r < round.batches.size(); ++r) {
      Batch &batch = round.batches[r];
      Expected<bool> more =
          sources[r / workers]->next(int32_t(r % workers), batch);
      if (!more)
        return std::move(more).status();
      round.inputs[r] = {};
      if (!*more)
        continue;
      round.inputs[r] = {batch.fields(), batch.size(), batch.index(),
                         batch.file(), &batch};
      round.samples += batch.size();
    }
    noteBadRows(round);
    round.settled.count = sources.front()->settledRows();
    round.settled.copiedCells = sources.front()->takeCopiedCellsOfBadRows();
    round.isLast = std::ranges::all_of(
        sources, [](const auto &source) { return source->isAtEnd(); });
    for (size_t g = 0; g < sources.size(); ++g)
      round.ends[g] = sources[g]->position();
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory(
        "out of memory while reading a batch; use a smaller --batch-size or "
        "--shuffle-window");
  }
  return {};
}

void RoundReader::readInBackground() {
  Trace::nameThread("reader");
  MutexLock lock(mutex);
  while (true) {
    changed.wait(
        lock, [this]() PDLRT_REQUIRES(mutex) { return stopping || filling; });
    if (stopping)
      return;
    lock.unlock();
    Status status = fill(back);
    lock.lock();
    backStatus = std::move(status);
    filling = false;
    ready = true;
    changed.notify_all();
  }
}

void RoundReader::waitUntilIdle() {
  MutexLock lock(mutex);
  if (!filling)
    return;
  const TraceSpan span("wait for the reader");
  changed.wait(lock, [this]() PDLRT_REQUIRES(mutex) { return !filling; });
}

void RoundReader::requestFill() {
  if (!readAhead)
    return;
  {
    const MutexLock lock(mutex);
    filling = true;
    ready = false;
  }
  changed.notify_all();
}

void RoundReader::noteBadRows(Round &round) const {
  round.badRows = 0;
  for (const std::unique_ptr<BatchSource> &source : sources)
    round.badRows += source->badRowCount();
  round.messages.clear();
  for (const std::unique_ptr<BatchSource> &source : sources)
    for (const std::string &message : source->badRowMessages())
      if (round.messages.size() < keptMessages)
        round.messages.push_back(message);
}

Status RoundReader::beginEpoch(int64_t epoch) {
  waitUntilIdle();
  badRowOffset = 0;
  front().badRows = 0;
  front().messages.clear();
  Status status;
  for (size_t g = 0; g < sources.size(); ++g) {
    if (status.ok())
      status = sources[g]->beginEpoch(epoch);
    // Position before the first round, also if its data cannot be read.
    front().ends[g] = {};
    front().ends[g].epoch = epoch;
  }
  PDLRT_RETURN_IF_ERROR(std::move(status));
  requestFill();
  return {};
}

void RoundReader::stayAt(const std::vector<DataPosition> &positions,
                         int64_t badRows) {
  waitUntilIdle();
  front().ends = positions;
  front().badRows = 0;
  front().messages.clear();
  badRowOffset = badRows;
}

Status RoundReader::restore(const std::vector<DataPosition> &positions,
                            int64_t badRows,
                            const std::shared_ptr<const EpochRest> &rest) {
  waitUntilIdle();
  if (positions.size() != sources.size())
    return Status::failedPrecondition(
        "there are positions of " + std::to_string(positions.size()) +
        " groups of replicas to go on from, but " +
        std::to_string(sources.size()) + " groups; give the same --replicas");
  try {
    for (size_t g = 0; g < sources.size(); ++g)
      PDLRT_RETURN_IF_ERROR(sources[g]->restore(positions[g], rest));
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory(
        "out of memory while reading up to the checkpoint's position; use a "
        "machine with more memory");
  }
  front().ends = positions;
  noteBadRows(front());
  badRowOffset = badRows - front().badRows;
  requestFill();
  return {};
}

Expected<bool> RoundReader::next() {
  if (!readAhead) {
    // If the data cannot be read, the previous round remains the current one.
    const size_t next = following();
    PDLRT_RETURN_IF_ERROR(fill(kept[next]));
    current = next;
    return front().samples > 0 || !front().isLast;
  }
  waitUntilIdle();
  {
    const MutexLock lock(mutex);
    if (!ready)
      return false;
    // The error is kept: later calls return it again.
    if (!backStatus.ok())
      return backStatus;
    ready = false;
  }
  current = following();
  std::swap(front(), back);
  if (front().samples == 0 && front().isLast)
    return false;
  requestFill();
  return true;
}

bool RoundReader::isNextReady() {
  const MutexLock lock(mutex);
  return ready && backStatus.ok() && back.samples > 0;
}
