//===- BatchSource.cpp - Reads files as batches of a group ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Data/BatchSource.h"

#include "Data/DataFlags.h"
#include "Data/FileKind.h"
#include "Data/InputFile.h"
#include "Data/KafkaAddress.h"
#include "Data/RecordStream.h"
#include "Data/Shuffle.h"
#include "pdlrt/Core/Mutex.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Data/PartitionPlaces.h"
#include "pdlrt/Files/Store.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <unistd.h>

using namespace pdlrt;

struct BatchSource::State {
  State(const DataOptions &givenOptions, const pdl_descriptor &descriptor,
        const pdl_program &program, int32_t groups, int32_t group,
        int32_t workers)
      : options(givenOptions), group(group), workers(workers),
        wait(options.flushAfter),
        stream({options, descriptor, program, &wait}, groups, group),
        passed(options.maxBadRows), records(fieldsOf(descriptor, program)),
        waiting(static_cast<size_t>(workers)) {}

  /// A batch that was cut before its worker requested it.
  struct WaitingBatch {
    std::unique_ptr<Batch> batch;
    DataPosition start;
  };

  Expected<bool> fill(Batch &batch);
  Expected<bool> loadWindow(int64_t rows);
  DataPosition here();
  Status restorePlaces(const DataPosition &from);
  Status restart(int64_t epoch, std::shared_ptr<const EpochRest> rest)
      PDLRT_REQUIRES(mutex);
  std::unique_ptr<Batch> takeSpare() PDLRT_REQUIRES(mutex) {
    if (spares.empty())
      return std::make_unique<Batch>();
    std::unique_ptr<Batch> spare = std::move(spares.back());
    spares.pop_back();
    return spare;
  }

  const DataOptions options;
  const int32_t group;
  const int32_t workers;
  ReadWait wait;
  RecordStream stream;
  PassedRows passed;
  /// Records of window `position.window`, if it is loaded.
  RecordColumns records;
  AlignedVector<int64_t> order;
  bool windowIsLoaded = false;
  DataPosition position;
  /// Number of windows of the epoch before the rows of this pass.
  int64_t windowsBefore = 0;
  bool epochIsOver = false;

  /// Callers of the functions above hold it, so that it protects all members.
  Mutex mutex;
  /// Cut batches by worker, oldest first.
  std::vector<std::vector<WaitingBatch>> waiting PDLRT_GUARDED_BY(mutex);
  std::vector<std::unique_ptr<Batch>> spares PDLRT_GUARDED_BY(mutex);
  Status failure PDLRT_GUARDED_BY(mutex);
};

/// Loads the next window of the epoch, which has up to `rows` rows. Returns
/// false if there is none.
Expected<bool> BatchSource::State::loadWindow(int64_t rows) {
  if (windowIsLoaded)
    ++position.window;
  windowIsLoaded = false;
  position.offset = 0;
  position.start = {};
  if (position.window > 0 && !stream.isEndless()) {
    position.start = stream.place();
    position.start.digest = passed.digest();
  }
  records.clear();
  auto moved = [&] {
    const TraceSpan span("parse");
    return stream.advance(rows, &records, passed);
  }();
  PDLRT_RETURN_IF_ERROR(moved.status());
  position.digest = passed.digest();
  if (*moved == 0 && !wait.isLate())
    return false;
  windowIsLoaded = true;
  if (options.shuffleWindow)
    shuffledOrder(options.seed, position.epoch, group,
                  windowsBefore + position.window, records.recordCount(),
                  order);
  return true;
}

/// Cuts the next batch of the group. Returns false at the end of the epoch.
Expected<bool> BatchSource::State::fill(Batch &batch) {
  records.reset(batch);
  if (windowIsLoaded && position.offset < records.recordCount())
    wait.noteRow();
  while (batch.size() < options.batchSize && !epochIsOver) {
    if (!windowIsLoaded || position.offset == records.recordCount()) {
      if (wait.isLate())
        break;
      // The window of a topic without end stops with the batch, so that a
      // position is always between two windows.
      auto loaded =
          loadWindow(stream.isEndless() ? options.batchSize - batch.size()
                                        : windowRowsOf(options));
      PDLRT_RETURN_IF_ERROR(loaded.status());
      epochIsOver = !*loaded;
      continue;
    }
    const int64_t count = std::min(options.batchSize - batch.size(),
                                   records.recordCount() - position.offset);
    const int64_t *chosen =
        options.shuffleWindow ? order.data() + position.offset : nullptr;
    if (batch.size() == 0)
      batch.fileName = options.files[static_cast<size_t>(
          records.fileOf(chosen ? *chosen : position.offset))];
    PDLRT_RETURN_IF_ERROR(
        records.appendTo(batch, chosen, position.offset, count));
    position.offset += count;
  }
  wait.handOut();
  records.finish(batch);
  batch.batchIndex = position.batch;
  batch.batchEpoch = position.epoch;
  if (batch.size() == 0)
    return false;
  ++position.batch;
  return true;
}

/// Returns the start of the next batch.
DataPosition BatchSource::State::here() {
  DataPosition now = position;
  if (stream.isEndless()) {
    now.window += windowIsLoaded;
    now.offset = now.digest = 0;
    now.start = {};
    now.start.digest = passed.digest();
    now.places = stream.places();
    return now;
  }
  const bool isWithin =
      windowIsLoaded && position.offset < records.recordCount();
  if (isWithin && options.shuffleWindow > 0)
    return now;
  if (isWithin) {
    now.next = records.sampleOf(position.offset) + 1;
    return now;
  }
  const WindowStart place = stream.place();
  now.next = (place.file << sampleRowBits) + place.row + 1;
  return now;
}

/// Starts a pass over all rows, or over those of `rest`.
Status BatchSource::State::restart(int64_t epoch,
                                   std::shared_ptr<const EpochRest> rest) {
  for (std::vector<WaitingBatch> &queue : waiting) {
    for (WaitingBatch &entry : queue)
      spares.push_back(std::move(entry.batch));
    queue.clear();
  }
  failure = {};
  passed.clear();
  records.clear();
  windowIsLoaded = false;
  epochIsOver = false;
  wait.handOut();
  position = {};
  position.epoch = epoch;
  windowsBefore = rest ? rest->windows : 0;
  stream.setEpoch(epoch);
  return stream.rewind(std::move(rest));
}

static Status checkOptions(const DataOptions &options) {
  if (options.files.empty())
    return Status::invalidArgument(
        "no data files are given; name at least one");
  if (options.batchSize < 1)
    return Status::invalidArgument("the batch size is " +
                                   std::to_string(options.batchSize) +
                                   "; it must be at least 1");
  if (options.shuffleWindow < 0)
    return Status::invalidArgument("the shuffle window is " +
                                   std::to_string(options.shuffleWindow) +
                                   " rows; give 0 for no shuffling, or more");
  if (options.maxBadRows < 0)
    return Status::invalidArgument("the number of bad rows to skip is " +
                                   std::to_string(options.maxBadRows) +
                                   "; give 0 or more");
  // With a command, `files` are its arguments and need not exist.
  if (!options.pipe.empty())
    return {};
  for (const std::string &file : options.files)
    if (!isKafkaAddress(file))
      PDLRT_RETURN_IF_ERROR(checkFileKind(file, options.delimiter != 0 ||
                                                    !options.format.empty()));
  for (const std::string &file : options.files)
    if (isInObjectStore(file))
      PDLRT_RETURN_IF_ERROR(pinnedInfo(file).status());
    else if (!isStandardInput(file) && !isKafkaAddress(file) &&
             ::access(file.c_str(), R_OK) != 0)
      return Status::ofErrno(
          errno, file + ": cannot be read: " + std::strerror(errno) +
                     "; name a file that can");
  return {};
}

Expected<std::unique_ptr<BatchSource>>
BatchSource::open(const DataOptions &options, const pdl_descriptor &descriptor,
                  const pdl_program &program, int32_t groups, int32_t group,
                  int32_t workers) {
  if (groups < 1 || workers < 1 || group < 0 || group >= groups)
    return Status::invalidArgument("group " + std::to_string(group) + " of " +
                                   std::to_string(groups) + " with " +
                                   std::to_string(workers) +
                                   " workers does not exist; give at least 1x1 "
                                   "replicas");
  if (options.flushAfter && (groups * workers > 1 || options.shuffleWindow > 0))
    return Status::internal("batches that do not wait until they are full are "
                            "for one replica, and without a shuffle window");
  PDLRT_RETURN_IF_ERROR(checkDataFlags(options, descriptor, program));
  PDLRT_RETURN_IF_ERROR(checkOptions(options));
  try {
    auto state = std::make_unique<State>(options, descriptor, program, groups,
                                         group, workers);
    PDLRT_RETURN_IF_ERROR(state->stream.open());
    return std::unique_ptr<BatchSource>(new BatchSource(std::move(state)));
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory("there is no memory to read data with");
  }
}

BatchSource::BatchSource(std::unique_ptr<State> state)
    : state(std::move(state)) {}
BatchSource::~BatchSource() = default;

Expected<bool> BatchSource::next(int32_t worker, Batch &batch) {
  State &s = *state;
  const MutexLock lock(s.mutex);
  std::vector<State::WaitingBatch> &own =
      s.waiting[static_cast<size_t>(worker)];
  if (!own.empty()) {
    std::swap(batch, *own.front().batch);
    s.spares.push_back(std::move(own.front().batch));
    own.erase(own.begin());
    return true;
  }
  try {
    while (true) {
      PDLRT_RETURN_IF_ERROR(s.failure);
      const size_t owner = static_cast<size_t>(s.position.batch % s.workers);
      const bool isOwn = owner == static_cast<size_t>(worker);
      const DataPosition start = s.here();
      std::unique_ptr<Batch> spare = isOwn ? nullptr : s.takeSpare();
      auto filled = s.fill(isOwn ? batch : *spare);
      if (!filled.ok()) {
        s.failure = filled.status();
        return s.failure;
      }
      if (!isOwn && *filled) {
        s.waiting[owner].push_back({std::move(spare), start});
        continue;
      }
      if (!isOwn) {
        s.spares.push_back(std::move(spare));
        s.records.reset(batch);
        s.records.finish(batch);
      }
      return *filled;
    }
  } catch (const std::bad_alloc &) {
    s.failure = Status::outOfMemory(
        "there is no memory for the next batch; choose a smaller batch size or "
        "shuffle window");
    return s.failure;
  }
}

Status BatchSource::beginEpoch(int64_t epoch) {
  const MutexLock lock(state->mutex);
  return state->restart(epoch, nullptr);
}

DataPosition BatchSource::position() const {
  const MutexLock lock(state->mutex);
  DataPosition earliest = state->here();
  for (const auto &queue : state->waiting)
    if (!queue.empty() && queue.front().start.batch < earliest.batch)
      earliest = queue.front().start;
  return earliest;
}

Status pdlrt::positionNotFound(const DataPosition &position) {
  return Status::failedPrecondition(
      "the data end before the position to continue from, or are not those "
      "that were read before (epoch " +
      std::to_string(position.epoch) + ", window " +
      std::to_string(position.window) + ", record " +
      std::to_string(position.offset) +
      "); give the same files, rows, batch size and shuffle window as before");
}

/// Continues at the places of a topic without end.
Status BatchSource::State::restorePlaces(const DataPosition &from) {
  if (!stream.isEndless() || from.start.digest < 0 || from.offset != 0 ||
      !stream.moveTo(from.places))
    return positionNotFound(from);
  passed.clear(0, from.start.digest);
  position = from;
  position.start = {};
  position.next = 0;
  position.places = {};
  return {};
}

Status BatchSource::restore(const DataPosition &given,
                            std::shared_ptr<const EpochRest> rest) {
  DataPosition position = given;
  position.next = 0;
  State &s = *state;
  const MutexLock lock(s.mutex);
  const Status impossible = positionNotFound(position);
  if (position.epoch < 0 || position.window < 0 || position.offset < 0 ||
      position.batch < 0)
    return impossible;
  PDLRT_RETURN_IF_ERROR(s.restart(position.epoch, std::move(rest)));
  if (!position.places.empty())
    return s.restorePlaces(position);
  if (position == s.position)
    return {};
  int64_t rows;
  if (__builtin_mul_overflow(position.window, windowRowsOf(s.options), &rows))
    return impossible;
  const WindowStart &start = position.start;
  if (start != WindowStart()) {
    auto moved = s.stream.moveTo(start);
    PDLRT_RETURN_IF_ERROR(moved.status());
    if (!*moved || start.digest < 0)
      return impossible;
    s.passed.clear(rows, start.digest);
  } else {
    auto moved = s.stream.advance(rows, nullptr, s.passed);
    PDLRT_RETURN_IF_ERROR(moved.status());
    if (*moved < rows && position.offset > 0)
      return impossible;
  }
  s.position = position;
  s.position.offset = 0;
  auto loaded = s.loadWindow(windowRowsOf(s.options));
  PDLRT_RETURN_IF_ERROR(loaded.status());
  // Keep the given start: a cache has no byte positions, but the text may be
  // needed later.
  if (start != WindowStart())
    s.position.start = start;
  s.epochIsOver = !*loaded;
  if (position.digest != 0 && position.digest != s.position.digest)
    return Status::failedPrecondition(
        "the data are not those that were read before: the first " +
        std::to_string(s.passed.count()) + " rows of " +
        s.options.files.front() +
        (s.options.files.size() > 1 ? " and the other files" : "") +
        " have another content; give the same files to go on in the middle of "
        "an epoch");
  if (position.offset > s.records.recordCount())
    return impossible;
  s.position.offset = position.offset;
  return {};
}

int64_t BatchSource::badRowCount() const { return state->passed.badCount(); }
const std::vector<std::string> &BatchSource::badRowMessages() const {
  return state->passed.badMessages();
}

bool BatchSource::isAtEnd() const { return state->epochIsOver; }

int64_t BatchSource::settledRows() const {
  const int64_t next = state->position.offset;
  return state->windowIsLoaded && next < state->records.recordCount()
             ? state->records.rowOf(next)
             : state->passed.count();
}

std::map<int64_t, std::string> BatchSource::takeCopiedCellsOfBadRows() {
  return state->passed.takeCopiedCells(settledRows());
}

void BatchSource::endWaiting() { state->wait.end(); }
