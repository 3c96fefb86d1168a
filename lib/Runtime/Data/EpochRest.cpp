//===- EpochRest.cpp - The remaining rows of an epoch ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Data/EpochRest.h"

#include "Data/RecordStream.h"
#include "Data/Shuffle.h"
#include "pdlrt/Data/PartitionPlaces.h"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

using namespace pdlrt;

namespace {

/// A group of the previous division.
struct Share {
  Share(const DataPosition &position,
        const std::vector<const pdl_field *> &fields)
      : position(position), passed(0), records(fields) {}

  bool isDone() const { return toPass + toRead == 0; }

  DataPosition position;
  PassedRows passed;
  /// Records of its running window.
  RecordColumns records;
  /// Numbers of its next rows: rows before the window, if the position does not
  /// contain the window's start, and rows of the window.
  int64_t toPass = 0, toRead = 0;
  /// File of the last row that was read.
  int64_t file = -1;
};

/// Reads the running windows of all groups, and collects the rows that no group
/// has returned.
class RestFinder {
public:
  RestFinder(const DataOptions &given, const pdl_descriptor &descriptor,
             const pdl_program &program, const DividedEpoch &divided)
      : options(withoutCache(given)), divided(divided),
        fields(fieldsOf(descriptor, program)),
        groups(int32_t(divided.positions.size())),
        stream({options, descriptor, program}, 1, 0), reported(log) {}

  Expected<EpochRest> find();

private:
  /// Disables the cache, because byte positions are known only when text is
  /// read.
  static DataOptions withoutCache(DataOptions data) {
    data.cache.clear();
    data.unpackInBackground = false;
    return data;
  }
  Status prepare();
  bool groupsShareFiles() const;
  Status goTo(const DataPosition &position);
  Expected<int64_t> pass(Share &share, int64_t file, int64_t count);
  Status walkFiles();
  Status walkBlocks();
  void addRun(int64_t sample, int64_t rows) {
    const int64_t row = rowOfSample(sample);
    rest.runs.push_back({fileOfSample(sample), row, row + rows});
  }
  void addPlace(const WindowStart &start);
  void addRowsAhead();
  Status addWindow(const Share &share, int32_t group);
  void choosePlaces();

  const DataOptions options;
  const DividedEpoch &divided;
  const std::vector<const pdl_field *> fields;
  const int32_t groups;
  RecordStream stream;
  std::vector<Share> shares;
  /// Describes the rows that were read last, with the preface of their file.
  RowLog log;
  PassedRows reported;
  int64_t fileOfLog = -1;
  EpochRest rest;
};

} // namespace

Status RestFinder::prepare() {
  for (const DataPosition &position : divided.positions) {
    Share &share = shares.emplace_back(position, fields);
    share.toRead = windowRowsOf(options);
    rest.windows = std::max(rest.windows, position.window + 1);
    if (position.window < 0 || position.offset < 0 ||
        position.start.digest < 0 || position.start.selected < 0)
      return positionNotFound(position);
    if (position.start.row > 0)
      share.file = position.start.file;
    if (position.start != WindowStart())
      share.passed.clear(0, position.start.digest);
    else if (__builtin_mul_overflow(position.window, share.toRead,
                                    &share.toPass))
      return positionNotFound(position);
  }
  if (divided.rest)
    rest.windows += divided.rest->windows;
  return {};
}

bool RestFinder::groupsShareFiles() const {
  int64_t files = int64_t(options.files.size());
  if (divided.rest) {
    files = 0;
    int64_t last = -1;
    for (const RowRun &run : divided.rest->runs)
      files += std::exchange(last, run.file) != run.file;
  }
  return files < groups;
}

/// Moves to the running window, or to the start of the pass.
Status RestFinder::goTo(const DataPosition &position) {
  PDLRT_RETURN_IF_ERROR(stream.rewind(divided.rest));
  if (position.start == WindowStart())
    return {};
  auto moved = stream.moveTo(position.start);
  PDLRT_RETURN_IF_ERROR(moved.status());
  return *moved ? Status() : positionNotFound(position);
}

/// Reads up to `count` rows of a group, before or in its window. Previously,
/// each group had its own reader, so each one's digest includes the headers.
Expected<int64_t> RestFinder::pass(Share &share, int64_t file, int64_t count) {
  int64_t &left = share.toPass > 0 ? share.toPass : share.toRead;
  RecordColumns *into = share.toPass > 0 ? nullptr : &share.records;
  log.contents.clear();
  log.bad.clear();
  if (std::exchange(fileOfLog, file) != file)
    log.preface.reset();
  auto moved = stream.advanceHere(std::min(count, left), into, &reported);
  PDLRT_RETURN_IF_ERROR(moved.status());
  left -= *moved;
  if (*moved > 0 && std::exchange(share.file, file) != file && log.preface)
    share.passed.addPreface(*log.preface);
  for (size_t i = 0; i < log.contents.size(); ++i)
    share.passed.beginRow(log.contents[i]);
  return moved;
}

/// Collects the rows after the running windows, if each group has its own
/// files. Also reads the windows, whose remaining records `addWindow` collects.
Status RestFinder::walkFiles() {
  for (int32_t g = 0; g < groups; ++g) {
    Share &share = shares[size_t(g)];
    stream.setGroup(groups, g);
    PDLRT_RETURN_IF_ERROR(goTo(share.position));
    addPlace(share.position.start);
    while (!share.isDone()) {
      auto stretch = stream.nextStretch();
      PDLRT_RETURN_IF_ERROR(stretch.status());
      if (stretch->rows == 0)
        break;
      PDLRT_RETURN_IF_ERROR(
          pass(share, fileOfSample(stretch->sample), stretch->rows).status());
    }
    addRowsAhead();
  }
  return {};
}

/// Collects the rows after the running windows, if blocks of rows are assigned
/// to the groups in turn. Also reads the windows, whose remaining records
/// `addWindow` collects. Reads each row once, from the first running window
/// (the start of the pass if its position does not contain the start of the
/// window) to the end of the last window.
Status RestFinder::walkBlocks() {
  const auto selectedOf = [](const Share &share) {
    return share.position.start.selected;
  };
  const Share &first = *std::ranges::min_element(shares, {}, selectedOf);
  stream.setGroup(1, 0);
  PDLRT_RETURN_IF_ERROR(goTo(first.position));
  addPlace(first.position.start);
  int64_t selected = selectedOf(first);
  while (!std::ranges::all_of(shares, &Share::isDone)) {
    auto stretch = stream.nextStretch();
    PDLRT_RETURN_IF_ERROR(stretch.status());
    if (stretch->rows == 0)
      break;
    const int64_t block = selected / options.batchSize;
    Share &owner = shares[size_t(block % groups)];
    int64_t count =
        std::min(stretch->rows, (block + 1) * options.batchSize - selected);
    const bool isTrained = selected < selectedOf(owner);
    const bool isLeft = !isTrained && owner.isDone();
    if (isTrained)
      count = std::min(count, selectedOf(owner) - selected);
    auto moved = isTrained || isLeft
                     ? stream.advanceHere(count, nullptr, nullptr)
                     : pass(owner, fileOfSample(stretch->sample), count);
    PDLRT_RETURN_IF_ERROR(moved.status());
    if (isLeft && *moved > 0)
      addRun(stretch->sample, *moved);
    selected += *moved;
  }
  addRowsAhead();
  return {};
}

/// Records a row whose byte position is known, so that earlier rows need not be
/// read.
void RestFinder::addPlace(const WindowStart &start) {
  if (start.byte > 0)
    rest.places.push_back({start.file, start.row, start.byte, start.line});
}

void RestFinder::addRowsAhead() {
  const std::vector<RowRun> ahead = stream.rowsAhead();
  if (!ahead.empty())
    addPlace(stream.place());
  rest.runs.insert(rest.runs.end(), ahead.begin(), ahead.end());
}

/// Adds the records of the running window that were not returned. Its bad rows
/// have already been counted.
Status RestFinder::addWindow(const Share &share, int32_t group) {
  const DataPosition &position = share.position;
  const RecordColumns &records = share.records;
  if (position.digest != 0 && position.digest != share.passed.digest())
    return Status::failedPrecondition(
        "the data are not those that were read before: the rows of " +
        options.files.front() +
        (options.files.size() > 1 ? " and the other files" : "") +
        " before the checkpoint have another content; give the same files to "
        "resume in the middle of an epoch");
  if (share.toPass > 0 || position.offset > records.recordCount())
    return positionNotFound(position);
  AlignedVector<int64_t> order;
  if (options.shuffleWindow)
    shuffledOrder(options.seed, position.epoch, group,
                  (divided.rest ? divided.rest->windows : 0) + position.window,
                  records.recordCount(), order);
  for (int64_t i = position.offset; i < records.recordCount(); ++i)
    addRun(records.sampleOf(options.shuffleWindow ? order[size_t(i)] : i), 1);
  return {};
}

static void joinRuns(EpochRest &rest) {
  std::ranges::sort(rest.runs, {}, [](const RowRun &run) {
    return std::pair(run.file, run.begin);
  });
  std::vector<RowRun> joined;
  for (const RowRun &run : rest.runs)
    if (!joined.empty() && joined.back().file == run.file &&
        joined.back().end == run.begin)
      joined.back().end = run.end;
    else
      joined.push_back(run);
  rest.runs = std::move(joined);
}

/// Keeps, for each file, the last place at or before the first remaining row.
void RestFinder::choosePlaces() {
  std::vector<StartPlace> chosen;
  std::ranges::sort(rest.places, {}, [](const StartPlace &place) {
    return std::pair(place.file, place.row);
  });
  for (const StartPlace &place : rest.places) {
    const auto first =
        std::ranges::lower_bound(rest.runs, place.file, {}, &RowRun::file);
    if (first == rest.runs.end() || first->file != place.file ||
        first->begin < place.row)
      continue;
    if (!chosen.empty() && chosen.back().file == place.file)
      chosen.pop_back();
    chosen.push_back(place);
  }
  rest.places = std::move(chosen);
}

Expected<EpochRest> RestFinder::find() {
  PDLRT_RETURN_IF_ERROR(prepare());
  if (!divided.positions.empty())
    stream.setEpoch(divided.positions.front().epoch);
  PDLRT_RETURN_IF_ERROR(stream.open());
  PDLRT_RETURN_IF_ERROR(groupsShareFiles() ? walkBlocks() : walkFiles());
  for (int32_t g = 0; g < groups; ++g)
    PDLRT_RETURN_IF_ERROR(addWindow(shares[size_t(g)], g));
  joinRuns(rest);
  choosePlaces();
  return std::move(rest);
}

namespace {

/// Finds the remaining rows of streams. They are not read, because their
/// readers have already opened them.
class StreamRest {
public:
  StreamRest(const DataOptions &options, const DividedEpoch &divided,
             std::string name)
      : options(options), divided(divided), name(std::move(name)),
        files(divided.files > 0 ? divided.files
                                : int64_t(options.files.size())),
        groups(int64_t(divided.positions.size())) {}

  Expected<EpochRest> find();

private:
  std::vector<RowRun> runsBefore() const;
  Status addRowsOf(int64_t group, const std::vector<RowRun> &own);
  std::vector<RowRun> dealtAnew() const;

  const DataOptions &options;
  const DividedEpoch &divided;
  const std::string name;
  const int64_t files, groups;
  EpochRest rest;
};

} // namespace

/// Returns all rows of the previous division.
std::vector<RowRun> StreamRest::runsBefore() const {
  if (divided.rest)
    return divided.rest->runs;
  std::vector<RowRun> runs;
  for (int64_t file = 0; file < files; ++file)
    runs.push_back({file, 0, RowRun::endOfFile});
  return runs;
}

/// Adds a group's rows from its next one on.
Status StreamRest::addRowsOf(int64_t group, const std::vector<RowRun> &own) {
  const DataPosition &position = divided.positions[size_t(group)];
  rest.windows = std::max(rest.windows, position.window + 1);
  if (position.next <= 0)
    return Status::failedPrecondition(
        name + ", but the checkpoint is in the middle of a shuffle window, "
               "whose rows would be read twice to divide the rest of the epoch "
               "among other replicas; resume with the same --replicas and as "
               "many trainers as before, or without --shuffle-window from the "
               "next epoch on");
  const int64_t sample = position.next - 1;
  const int64_t file = fileOfSample(sample), row = rowOfSample(sample);
  for (const RowRun &run : own)
    if (run.file > file || (run.file == file && run.end > row))
      rest.runs.push_back(
          {run.file, run.file == file ? std::max(run.begin, row) : run.begin,
           run.end});
  return {};
}

/// Returns the same rows of the data, distributed among the current number of
/// files.
std::vector<RowRun> StreamRest::dealtAnew() const {
  const int64_t now = int64_t(options.files.size());
  // `whole`: the row from which all rows remain. `first`: the first remaining
  // row.
  int64_t whole = 0, first = RowRun::endOfFile;
  for (const RowRun &run : rest.runs) {
    first = std::min(first, run.begin);
    whole = std::max(whole, run.end == RowRun::endOfFile ? run.begin : run.end);
  }
  const auto isLeft = [&](int64_t number) {
    const int64_t file = number % files, row = number / files;
    return std::ranges::any_of(rest.runs, [&](const RowRun &run) {
      return run.file == file && run.begin <= row && row < run.end;
    });
  };
  std::vector<RowRun> runs;
  const int64_t end = whole * files;
  for (int64_t file = 0; !rest.runs.empty() && file < now; ++file) {
    int64_t row = first * files / now;
    for (; row * now + file < end; ++row)
      if (isLeft(row * now + file))
        runs.push_back({file, row, row + 1});
    runs.push_back({file, row, RowRun::endOfFile});
  }
  return runs;
}

Expected<EpochRest> StreamRest::find() {
  std::vector<std::vector<RowRun>> own(static_cast<size_t>(groups));
  for (const RowRun &run : runsBefore())
    own[size_t(run.file % groups)].push_back(run);
  if (files < groups || !options.rows.isAll())
    return Status::failedPrecondition(
        name + ", so the rest of an epoch is divided among other "
               "replicas only where all of its rows are read, and "
               "each group has files of its own");
  for (int64_t g = 0; g < groups; ++g)
    PDLRT_RETURN_IF_ERROR(addRowsOf(g, own[size_t(g)]));
  if (divided.rest)
    rest.windows += divided.rest->windows;
  if (files != int64_t(options.files.size()))
    rest.runs = dealtAnew();
  joinRuns(rest);
  return std::move(rest);
}

/// Returns the remaining rows of a topic without end: those after the places of
/// all groups. None for other data.
static std::optional<EpochRest> restOfPlaces(const DividedEpoch &divided) {
  EpochRest rest;
  for (const DataPosition &position : divided.positions) {
    rest.windows = std::max(rest.windows, position.window + 1);
    for (const StartPlace &place : position.places) {
      rest.runs.push_back({place.file, 0, RowRun::endOfFile});
      rest.places.push_back(place);
    }
  }
  if (rest.runs.empty())
    return std::nullopt;
  if (divided.rest)
    rest.windows += divided.rest->windows;
  std::ranges::sort(rest.runs, {}, &RowRun::file);
  std::ranges::sort(rest.places, {}, &StartPlace::file);
  return rest;
}

Expected<EpochRest> pdlrt::restOfEpoch(const DataOptions &options,
                                       const pdl_descriptor &descriptor,
                                       const pdl_program &program,
                                       const DividedEpoch &divided) {
  try {
    if (std::optional<EpochRest> rest = restOfPlaces(divided))
      return *std::move(rest);
    const auto once = std::ranges::find_if_not(options.files, canBeReadAgain);
    if (once != options.files.end())
      return StreamRest(options, divided, onceText(*once)).find();
    return RestFinder(options, descriptor, program, divided).find();
  } catch (const std::bad_alloc &) {
    return Status::outOfMemory(
        "there is no memory for the shuffle windows of all groups that the "
        "checkpoint is of; resume with the same --replicas and trainers, or on "
        "a machine with more memory");
  }
}
