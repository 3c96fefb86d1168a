//===- RecordStream.cpp - The rows of a group, over all its files ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RecordStream.h"

#include "Data/KafkaAddress.h"
#include "Data/KafkaRows.h"
#include "Data/Shuffle.h"
#include "pdlrt/Core/Log.h"
#include "pdlrt/Files/Store.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>
#include <system_error>
#include <utility>

using namespace pdlrt;

static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

Expected<std::vector<int64_t>> RecordStream::countRows() const {
  std::vector<int64_t> counts;
  for (size_t i = 0; i < options.data.files.size(); ++i) {
    const std::string &path = options.data.files[i];
    if (!canBeReadAgain(path))
      return Status::invalidArgument(
          onceText(path) + ", while --rows by percent, or over several files, "
                           "has to count the rows first; write it to a file");
    auto counted = openRecordReader(path, static_cast<int32_t>(i), options);
    PDLRT_RETURN_IF_ERROR(counted.status());
    auto count = (*counted)->skip(unlimited, nullptr);
    PDLRT_RETURN_IF_ERROR(count.status());
    counts.push_back(*count);
  }
  return counts;
}

/// Returns the size of a regular file.
static std::optional<std::uintmax_t> regularSize(const std::string &path) {
  // All passes read one version of an object (`openPinned`), so its size does
  // not change.
  if (isInObjectStore(path)) {
    const auto info = pinnedInfo(path);
    return info ? std::optional<std::uintmax_t>(info->bytes) : std::nullopt;
  }
  std::error_code error;
  if (!canBeReadAgain(path) || !std::filesystem::is_regular_file(path, error))
    return std::nullopt;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? std::nullopt : std::optional(size);
}

/// Returns an error if a file's size has changed. Missing files are reported
/// when they are opened.
Status RecordStream::checkSizes() {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string &path = options.data.files[i];
    const auto size = regularSize(path);
    const auto &before = sizes[i];
    if (size && before && *size != *before)
      return Status::failedPrecondition(
          path + ": has " + std::to_string(*size) + " bytes, but had " +
          std::to_string(*before) +
          " when the data were read first: each epoch reads the same data; "
          "start again for the new ones (with --resume, where a checkpoint "
          "has been saved), and do not change files that are read");
  }
  return {};
}

/// Compares the headers of all files of the group, and of the first file of all
/// groups, before the first pass. Headers of pipes are compared when they are
/// read.
Status RecordStream::checkHeaders() {
  options.headers = &headers;
  const std::vector<std::string> &files = options.data.files;
  if (!options.data.header)
    return {};
  if (!options.data.headerFile.empty())
    PDLRT_RETURN_IF_ERROR(checkHeaderOf(options.data.headerFile, options));
  else if (files.size() < 2)
    return {};
  for (size_t i = 0; i < files.size(); ++i)
    if ((i == 0 || dealsBlocks || options.data.shuffleFiles ||
         int32_t(i % size_t(groups)) == group) &&
        canBeReadAgain(files[i]))
      PDLRT_RETURN_IF_ERROR(checkHeaderOf(files[i], options));
  return {};
}

/// Returns an error if groups share a file that still has rows but can be read
/// only once. Each of these groups would have to read all of its rows.
Status RecordStream::checkShared(int64_t fileCount) const {
  if (fileCount >= groups)
    return {};
  for (size_t i = 0; i < options.data.files.size(); ++i) {
    const std::string &path = options.data.files[i];
    const bool isLeft =
        !rest || std::ranges::any_of(rest->runs, [&](const RowRun &run) {
          return run.file == int64_t(i);
        });
    if (isLeft && !canBeReadAgain(path))
      return Status::invalidArgument(
          onceText(path) + ", while " + std::to_string(groups) +
          " groups of replicas share it; write it to a file, or give each "
          "group its own");
  }
  return {};
}

/// Returns an error if the order of files is drawn, and some can be read only
/// once.
Status RecordStream::checkShuffle() const {
  if (!options.data.shuffleFiles)
    return {};
  for (const std::string &path : options.data.files)
    if (!canBeReadAgain(path))
      return Status::invalidArgument(
          onceText(path) + ", while --shuffle-files reads files in another "
                           "order; leave it out, or write the rows to a file");
  return {};
}

Status RecordStream::open() {
  const DataOptions &data = options.data;
  const auto isEndlessTopic = [](const std::string &file) {
    return isKafkaAddress(file) && !kafkaHasEnd(file);
  };
  endless = std::ranges::all_of(data.files, isEndlessTopic);
  if (!endless && std::ranges::any_of(data.files, isEndlessTopic))
    return Status::invalidArgument(
        "--data names a topic without end and other data, which would never be "
        "reached; give the topic alone, or add end= to its address");
  dealsBlocks = int64_t(data.files.size()) < groups;
  isSpent.assign(data.files.size(), 0);
  for (const std::string &path : data.files)
    sizes.push_back(regularSize(path));
  PDLRT_RETURN_IF_ERROR(checkShuffle());
  PDLRT_RETURN_IF_ERROR(checkShared(int64_t(data.files.size())));
  PDLRT_RETURN_IF_ERROR(checkHeaders());
  PDLRT_RETURN_IF_ERROR(findSelected());
  return rewind();
}

/// Warns that a row range ends after the last row of the data.
static void warnOfMissingRows(int64_t end, int64_t rows) {
  logWarningOnce("the row range ends at row " + std::to_string(end) +
                 ", but the data have " + std::to_string(rows) +
                 " rows; it ends with them");
}

/// Determines the selected rows of each file. Row numbers are consecutive over
/// all files, so the start of a file is known only when all earlier files are
/// counted.
Status RecordStream::findSelected() {
  const DataOptions &data = options.data;
  const int32_t fileCount = static_cast<int32_t>(data.files.size());
  std::vector<int64_t> counts(data.files.size(), unlimited);
  int64_t begin = 0, end = unlimited;
  if (!data.rows.isAll()) {
    int64_t total = unlimited;
    if (fileCount > 1 || data.rows.needsTotal()) {
      auto counted = countRows();
      PDLRT_RETURN_IF_ERROR(counted.status());
      counts = *std::move(counted);
      total = std::accumulate(counts.begin(), counts.end(), int64_t(0));
    }
    begin = data.rows.begin.resolve(total);
    end = data.rows.end.resolve(total);
    if (!data.rows.end.isPercent && end < data.rows.end.row)
      warnOfMissingRows(data.rows.end.row, total);
    if (begin >= end)
      return Status::invalidArgument(
          "the row range selects none of the " +
          (total == unlimited ? "" : std::to_string(total) + " ") +
          "rows of the data; widen it");
  }
  int64_t fileBegin = 0;
  for (int32_t i = 0; i < fileCount; ++i) {
    const int64_t count = counts[static_cast<size_t>(i)];
    const int64_t first = std::clamp<int64_t>(begin - fileBegin, 0, count);
    const int64_t last = std::clamp<int64_t>(end - fileBegin, 0, count);
    if (count != unlimited)
      fileBegin += count;
    if (first < last)
      selected.push_back({i, first, last});
  }
  return {};
}

/// Returns the position of each file in the order of the epoch.
std::vector<int64_t> RecordStream::placesOfFiles() const {
  const std::vector<int64_t> order = fileOrderOf(options.data, epoch);
  std::vector<int64_t> places(order.size());
  for (size_t place = 0; place < order.size(); ++place)
    places[size_t(order[place])] = int64_t(place);
  return places;
}

/// Finds the group's segments of the running pass.
Status RecordStream::divide() {
  const std::vector<int64_t> order = placesOfFiles();
  if (rest && !rest->runs.empty() &&
      rest->runs.back().file >= int64_t(order.size()))
    return Status::failedPrecondition(
        "the rows that are left are of more files than "
        "--data has; give the same files to resume in the "
        "middle of an epoch");
  std::vector<Segment> all = rest ? rest->runs : selected;
  std::ranges::sort(all, {}, [&](const Segment &segment) {
    return std::pair(order[size_t(segment.file)], segment.begin);
  });
  // Files of a rest are numbered among those that are left. Streams were opened
  // by the groups that own them.
  const bool isStream =
      rest && !std::ranges::all_of(options.data.files, canBeReadAgain);
  std::vector<int64_t> places = order;
  auto files = int64_t(order.size());
  if (rest && !isStream) {
    places.assign(order.size(), -1);
    files = 0;
    for (const Segment &segment : all)
      if (int64_t &place = places[size_t(segment.file)]; place < 0)
        place = files++;
  }
  if (rest)
    PDLRT_RETURN_IF_ERROR(checkShared(files));
  dealsBlocks = files < groups;
  segments.clear();
  for (const Segment &segment : all)
    if (dealsBlocks || places[size_t(segment.file)] % groups == group)
      segments.push_back(segment);
  return {};
}

void RecordStream::setEpoch(int64_t newEpoch) {
  hasMoved |= options.data.shuffleFiles && newEpoch != epoch;
  epoch = newEpoch;
}

void RecordStream::setGroup(int32_t ofGroups, int32_t newGroup) {
  groups = ofGroups;
  group = newGroup;
  hasMoved = true;
}

Status RecordStream::rewind(std::shared_ptr<const EpochRest> from) {
  if (!hasMoved && from == rest)
    return {};
  rest = std::move(from);
  PDLRT_RETURN_IF_ERROR(divide());
  nextSegment = 0;
  remainingInSegment = 0;
  selectedRow = 0;
  if (endless) {
    // Opened at the first row, because a position may follow.
    reader.reset();
    divideEndless();
    hasMoved = false;
    return {};
  }
  if (hasMoved) {
    reader.reset();
    PDLRT_RETURN_IF_ERROR(checkSizes());
  }
  // Finds a missing or unsuitable file now, not in the middle of an epoch.
  auto opened = openSegment();
  PDLRT_RETURN_IF_ERROR(opened.status());
  hasMoved = false;
  // If bad rows may be skipped, the first row may be bad too.
  return *opened && options.data.maxBadRows == 0 ? reader->checkNext()
                                                 : Status();
}

Expected<std::unique_ptr<RecordReader>> RecordStream::openFile(int32_t file) {
  const std::string &path = options.data.files[size_t(file)];
  if (!canBeReadAgain(path)) {
    if (isSpent[size_t(file)])
      return Status::invalidArgument(
          onceText(path) + ", and is needed again; write it to a file");
    isSpent[size_t(file)] = 1;
  }
  return openRecordReader(path, file, options);
}

/// Returns true if the reader is in that file, at or before that row.
bool RecordStream::isIn(int64_t file, int64_t row) const {
  return reader && fileOfSample(nextSample) == file &&
         rowOfSample(nextSample) <= row;
}

/// Finds the places at which the group's partitions start.
void RecordStream::divideEndless() {
  startPlaces.clear();
  for (const Segment &segment : segments) {
    StartPlace &place = startPlaces.emplace_back();
    place.file = segment.file;
    if (!rest)
      continue;
    const auto known =
        std::ranges::find(rest->places, segment.file, &StartPlace::file);
    if (known != rest->places.end())
      place = *known;
  }
}

/// Opens all partitions of the group.
Expected<bool> RecordStream::openEndless() {
  std::vector<std::string> addresses;
  std::vector<KafkaPlace> starts;
  for (const StartPlace &place : startPlaces) {
    addresses.push_back(options.data.files[size_t(place.file)]);
    starts.push_back(
        {place.byte - 1, std::max<int64_t>(place.line, 1), place.row});
  }
  auto joined = joinKafkaAddresses(addresses, std::move(starts));
  PDLRT_RETURN_IF_ERROR(joined.status());
  const int64_t file = startPlaces.front().file;
  auto opened = openRecordReader(*joined, int32_t(file), options);
  PDLRT_RETURN_IF_ERROR(opened.status());
  reader = *std::move(opened);
  nextSegment = segments.size();
  remainingInSegment = unlimited;
  nextSample = file << sampleRowBits;
  return true;
}

PartitionPlaces RecordStream::places() const {
  std::vector<StartPlace> places = startPlaces;
  const auto *const partitions =
      dynamic_cast<const PartitionReader *>(reader.get());
  if (!partitions)
    return PartitionPlaces(std::move(places));
  const std::vector<KafkaPlace> now = partitions->places();
  for (size_t i = 0; i < places.size(); ++i) {
    places[i].byte = now[i].offset + 1;
    places[i].line = now[i].line;
    places[i].row = now[i].time;
  }
  return PartitionPlaces(std::move(places));
}

bool RecordStream::moveTo(const PartitionPlaces &places) {
  if (!std::ranges::equal(places, startPlaces, {}, &StartPlace::file,
                          &StartPlace::file) ||
      std::ranges::any_of(places, [](const StartPlace &place) {
        return place.byte < 0 || place.line < 0 || place.row < 0;
      }))
    return false;
  reader.reset();
  startPlaces.assign(places.begin(), places.end());
  hasMoved = true;
  return true;
}

/// Opens the next segment. Returns false if there is none.
Expected<bool> RecordStream::openSegment() {
  if (endless)
    return openEndless();
  if (nextSegment == segments.size()) {
    reader.reset();
    return false;
  }
  const Segment &segment = segments[nextSegment++];
  int64_t row = 0;
  bool isKnown = true;
  if (isIn(segment.file, segment.begin)) {
    row = rowOfSample(nextSample);
  } else {
    auto opened = openFile(int32_t(segment.file));
    PDLRT_RETURN_IF_ERROR(opened.status());
    reader = *std::move(opened);
  }
  if (rest) {
    const auto place =
        std::ranges::find(rest->places, segment.file, &StartPlace::file);
    if (place != rest->places.end() && place->row > row &&
        place->row <= segment.begin) {
      auto moved = reader->moveTo({place->row - row, place->byte, place->line});
      PDLRT_RETURN_IF_ERROR(moved.status());
      isKnown = *moved;
      row = place->row;
    }
  }
  remainingInSegment =
      segment.end == unlimited ? unlimited : segment.end - segment.begin;
  auto skipped = reader->skip(segment.begin - row, nullptr);
  PDLRT_RETURN_IF_ERROR(skipped.status());
  nextSample = (segment.file << sampleRowBits) + segment.begin;
  // The file may have ended where it was last read.
  const bool isShort =
      segment.end != unlimited && *skipped < segment.begin - row;
  if (rest && (!isKnown || isShort))
    return Status::failedPrecondition(
        options.data.files[size_t(segment.file)] + ": has no row " +
        std::to_string(segment.begin) +
        ", which was left to train; give the same files to "
        "resume in the middle of an epoch");
  return true;
}

WindowStart RecordStream::place() const {
  WindowStart start;
  start.selected = selectedRow;
  if (!reader) {
    start.file = nextSegment < segments.size()
                     ? segments[nextSegment].file
                     : int64_t(options.data.files.size());
    return start;
  }
  const RowPlace next = reader->place();
  start.file = fileOfSample(nextSample);
  start.row = rowOfSample(nextSample);
  start.byte = next.byte;
  start.line = next.line;
  return start;
}

Expected<bool> RecordStream::moveTo(const WindowStart &start) {
  const auto found = std::find_if(
      segments.begin(), segments.end(), [&](const Segment &segment) {
        return segment.file == start.file && start.row <= segment.end;
      });
  const auto index = size_t(found - segments.begin());
  if (start.selected < 0 ||
      (found == segments.end() &&
       (start.row != 0 || start.file != int64_t(options.data.files.size()))))
    return false;
  hasMoved = true;
  selectedRow = start.selected;
  if (start.row == 0) {
    // The file is opened when its first row is needed.
    nextSegment = index;
    remainingInSegment = 0;
    if (found == segments.end() || !isIn(start.file, 0))
      reader.reset();
    return true;
  }
  if (start.row < found->begin || start.byte < 0)
    return false;
  // The file of the first segment is already open at its start.
  int64_t passed = 0;
  if (isIn(start.file, start.row)) {
    passed = rowOfSample(nextSample);
  } else {
    auto opened = openFile(int32_t(found->file));
    PDLRT_RETURN_IF_ERROR(opened.status());
    reader = *std::move(opened);
  }
  nextSegment = index + 1;
  remainingInSegment =
      found->end == unlimited ? unlimited : found->end - start.row;
  nextSample = (start.file << sampleRowBits) + start.row;
  return reader->moveTo({start.row - passed, start.byte, start.line});
}

/// Returns the number of rows from `selectedRow` on that belong to other
/// groups.
int64_t RecordStream::rowsOfOtherGroups() const {
  if (!dealsBlocks)
    return 0;
  const int64_t block = selectedRow / options.data.batchSize;
  const int64_t ahead = (group - block % groups + groups) % groups;
  return ahead == 0 ? 0
                    : (block + ahead) * options.data.batchSize - selectedRow;
}

/// Returns true if opening the next file may wait until another process writes
/// to it.
bool RecordStream::wouldWait() const {
  return nextSegment < segments.size() &&
         !canBeReadAgain(
             options.data.files[size_t(segments[nextSegment].file)]);
}

/// Ends a segment. If the next one is in the open file, that file stays open.
void RecordStream::leaveSegment(bool fileIsOver) {
  remainingInSegment = 0;
  const int64_t file = fileOfSample(nextSample);
  const auto follows = [&] {
    return nextSegment < segments.size() && segments[nextSegment].file == file;
  };
  while (fileIsOver && follows())
    ++nextSegment;
  if (follows())
    return;
  reader->finish();
  reader.reset();
}

Expected<RecordStream::Stretch> RecordStream::nextStretch() {
  if (!reader || remainingInSegment == 0) {
    auto opened = openSegment();
    PDLRT_RETURN_IF_ERROR(opened.status());
    if (!*opened)
      return Stretch();
  }
  return Stretch{nextSample, remainingInSegment};
}

Expected<int64_t> RecordStream::advanceHere(int64_t count, RecordColumns *into,
                                            PassedRows *passedRows) {
  hasMoved |= count > 0;
  if (passedRows)
    passedRows->continueAt(nextSample);
  auto moved = into ? reader->read(count, *into, *passedRows)
                    : reader->skip(count, passedRows);
  PDLRT_RETURN_IF_ERROR(moved.status());
  nextSample += *moved;
  remainingInSegment -= *moved;
  const bool isOver =
      *moved < count && !(options.wait && options.wait->isLate());
  // The rows of several files were counted.
  if (isOver && !rest && options.data.files.size() == 1 &&
      segments[nextSegment - 1].end != unlimited &&
      rowOfSample(nextSample) > segments[nextSegment - 1].begin)
    warnOfMissingRows(segments[nextSegment - 1].end, rowOfSample(nextSample));
  if (isOver || remainingInSegment == 0)
    leaveSegment(isOver);
  return moved;
}

std::vector<RowRun> RecordStream::rowsAhead() const {
  std::vector<RowRun> ahead;
  if (reader && remainingInSegment > 0) {
    const Segment &current = segments[nextSegment - 1];
    ahead.push_back({current.file, rowOfSample(nextSample), current.end});
  }
  ahead.insert(ahead.end(), segments.begin() + int64_t(nextSegment),
               segments.end());
  return ahead;
}

Expected<int64_t> RecordStream::advance(int64_t count, RecordColumns *into,
                                        PassedRows &passedRows) {
  int64_t passed = 0;
  hasMoved |= count > 0;
  ReadWait *wait = options.wait;
  while (passed < count && !(wait && wait->isLate())) {
    if (!reader && wait && wait->holdsRows() && wouldWait()) {
      wait->noteLate();
      break;
    }
    auto stretch = nextStretch();
    PDLRT_RETURN_IF_ERROR(stretch.status());
    if (stretch->rows == 0)
      break;
    const int64_t others = rowsOfOtherGroups();
    int64_t wanted = others ? others : count - passed;
    if (dealsBlocks && !others)
      wanted = std::min(wanted, options.data.batchSize -
                                    selectedRow % options.data.batchSize);
    wanted = std::min(wanted, stretch->rows);
    auto moved = advanceHere(wanted, others ? nullptr : into,
                             others ? nullptr : &passedRows);
    PDLRT_RETURN_IF_ERROR(moved.status());
    if (dealsBlocks)
      selectedRow += *moved;
    if (!others)
      passed += *moved;
  }
  return passed;
}
