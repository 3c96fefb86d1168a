//===- RecordStream.cpp - The rows of a group, over all its files ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RecordStream.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <numeric>
#include <system_error>

using namespace pdlrt;

static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();

/// The number of a sample is that of its file, and that of its row in these low
/// bits: files are numbered above all rows that one of them can have.
static constexpr int sampleRowBits = 40;

Expected<std::vector<int64_t>> RecordStream::countRows() const {
  std::vector<int64_t> counts;
  for (size_t i = 0; i < options.data.files.size(); ++i) {
    const std::string &path = options.data.files[i];
    if (!canBeReadAgain(path))
      return Status::invalid(
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

/// The bytes of a regular file.
static std::optional<std::uintmax_t> regularSize(const std::string &path) {
  std::error_code error;
  if (!canBeReadAgain(path) || !std::filesystem::is_regular_file(path, error))
    return std::nullopt;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? std::nullopt : std::optional(size);
}

/// One that is not there any more is for who opens it.
Status RecordStream::checkSizes() {
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string &path = options.data.files[i];
    const auto size = regularSize(path);
    if (size && sizes[i] && *size != *sizes[i])
      return Status::invalid(
          path + ": has " + std::to_string(*size) + " bytes, but had " +
          std::to_string(*sizes[i]) +
          " when the data were read first: each epoch reads the same data; "
          "start again for the new ones (with --resume, where a checkpoint "
          "has been saved), and do not change files that are read");
  }
  return {};
}

/// Compares the headers of all files of the group, and that of the first file
/// of all, before the first pass. Those of pipes are compared when they come.
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
    if ((i == 0 || dealsBlocks || int32_t(i % size_t(groups)) == group) &&
        canBeReadAgain(files[i]))
      PDLRT_RETURN_IF_ERROR(checkHeaderOf(files[i], options));
  return {};
}

Status RecordStream::open() {
  const DataOptions &data = options.data;
  const int32_t fileCount = static_cast<int32_t>(data.files.size());
  dealsBlocks = fileCount < groups;
  isSpent.assign(data.files.size(), 0);
  for (const std::string &path : data.files)
    sizes.push_back(regularSize(path));
  for (const std::string &path : data.files)
    if (dealsBlocks && !canBeReadAgain(path))
      return Status::invalid(
          onceText(path) + ", while " + std::to_string(groups) +
          " groups of replicas share it; write it to a file, or give each "
          "group its own");

  PDLRT_RETURN_IF_ERROR(checkHeaders());

  // Row numbers run over all files, so where one file begins is known only
  // when those before it are counted.
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
    if (begin >= end)
      return Status::invalid(
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
    if (first < last && (dealsBlocks || i % groups == group))
      segments.push_back({i, first, last});
  }
  return rewind();
}

Status RecordStream::rewind() {
  if (!hasMoved)
    return {};
  nextSegment = 0;
  reader.reset();
  remainingInSegment = 0;
  selectedRow = 0;
  PDLRT_RETURN_IF_ERROR(checkSizes());
  // A missing or unsuitable file is found now, not in the middle of an epoch.
  auto opened = openSegment();
  PDLRT_RETURN_IF_ERROR(opened.status());
  hasMoved = false;
  // Where bad rows may be skipped, a first one is no worse than another.
  return *opened && options.data.maxBadRows == 0 ? reader->checkNext()
                                                 : Status();
}

Expected<std::unique_ptr<RecordReader>> RecordStream::openFile(int32_t file) {
  const std::string &path = options.data.files[size_t(file)];
  if (!canBeReadAgain(path)) {
    if (isSpent[size_t(file)])
      return Status::invalid(onceText(path) +
                             ", and is needed again; write it to a file");
    isSpent[size_t(file)] = 1;
  }
  return openRecordReader(path, file, options);
}

/// False if there is no segment left.
Expected<bool> RecordStream::openSegment() {
  reader.reset();
  if (nextSegment == segments.size())
    return false;
  const Segment &segment = segments[nextSegment++];
  auto opened = openFile(segment.file);
  PDLRT_RETURN_IF_ERROR(opened.status());
  reader = *std::move(opened);
  remainingInSegment =
      segment.end == unlimited ? unlimited : segment.end - segment.begin;
  auto skipped = reader->skip(segment.begin, nullptr);
  nextSample = (int64_t(segment.file) << sampleRowBits) + segment.begin;
  PDLRT_RETURN_IF_ERROR(skipped.status());
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
  start.file = nextSample >> sampleRowBits;
  start.row = nextSample - (start.file << sampleRowBits);
  start.byte = next.byte;
  start.line = next.line;
  return start;
}

Expected<bool> RecordStream::moveTo(const WindowStart &start) {
  const auto found =
      std::find_if(segments.begin(), segments.end(),
                   [&](const Segment &s) { return s.file == start.file; });
  const auto index = size_t(found - segments.begin());
  if (start.selected < 0 ||
      (found == segments.end() &&
       (start.row != 0 || start.file != int64_t(options.data.files.size()))))
    return false;
  hasMoved = true;
  selectedRow = start.selected;
  if (start.row == 0) {
    // It is opened when its first row is wanted.
    nextSegment = index;
    reader.reset();
    return true;
  }
  if (start.row < found->begin || start.row > found->end || start.byte < 0)
    return false;
  // That of the first segment is open, and at its begin.
  int64_t passed = found->begin;
  if (!reader || nextSegment != index + 1) {
    auto opened = openFile(found->file);
    PDLRT_RETURN_IF_ERROR(opened.status());
    reader = *std::move(opened);
    passed = 0;
  }
  nextSegment = index + 1;
  remainingInSegment =
      found->end == unlimited ? unlimited : found->end - start.row;
  nextSample = (start.file << sampleRowBits) + start.row;
  return reader->moveTo({start.row - passed, start.byte, start.line});
}

/// How many rows from `selectedRow` on belong to other groups.
int64_t RecordStream::rowsOfOtherGroups() const {
  if (!dealsBlocks)
    return 0;
  const int64_t block = selectedRow / options.data.batchSize;
  const int64_t ahead = (group - block % groups + groups) % groups;
  return ahead == 0 ? 0
                    : (block + ahead) * options.data.batchSize - selectedRow;
}

/// Whether to open the next file may take until somebody writes to it.
bool RecordStream::wouldWait() const {
  return nextSegment < segments.size() &&
         !canBeReadAgain(
             options.data.files[size_t(segments[nextSegment].file)]);
}

Expected<int64_t> RecordStream::advance(int64_t count, RecordColumns *into,
                                        PassedRows &passedRows) {
  int64_t passed = 0;
  hasMoved |= count > 0;
  ReadWait *wait = options.wait;
  const auto isLate = [&] { return wait && wait->isLate(); };
  while (passed < count && !isLate()) {
    if (!reader && wait && wait->holdsRows() && wouldWait()) {
      wait->noteLate();
      break;
    }
    if (!reader) {
      auto opened = openSegment();
      PDLRT_RETURN_IF_ERROR(opened.status());
      if (!*opened)
        break;
    }
    const int64_t others = rowsOfOtherGroups();
    int64_t wanted = others ? others : count - passed;
    if (dealsBlocks && !others)
      wanted = std::min(wanted, options.data.batchSize -
                                    selectedRow % options.data.batchSize);
    wanted = std::min(wanted, remainingInSegment);
    passedRows.continueAt(nextSample);
    auto moved = into && !others
                     ? reader->read(wanted, *into, passedRows)
                     : reader->skip(wanted, others ? nullptr : &passedRows);
    PDLRT_RETURN_IF_ERROR(moved.status());
    nextSample += *moved;
    if (dealsBlocks)
      selectedRow += *moved;
    if (!others)
      passed += *moved;
    remainingInSegment -= *moved;
    const bool isOver = *moved < wanted && !isLate();
    if (isOver || remainingInSegment == 0) {
      reader->finish();
      reader.reset();
    }
  }
  return passed;
}
