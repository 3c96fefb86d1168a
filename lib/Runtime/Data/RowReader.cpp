//===- RowReader.cpp - Reads rows that a parser names ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RowReader.h"

#include "Data/InputFile.h"
#include "Data/KafkaAddress.h"
#include "Data/RowScanner.h"

using namespace pdlrt;

namespace {

class RowReader : public RecordReader {
public:
  /// `lines`: the scanner that finds the rows, if they are lines; else null.
  RowReader(const std::string &path, int32_t fileIndex, ReadWait *wait,
            std::unique_ptr<RowSource> source,
            std::unique_ptr<RowParser> parser, RowAssembler row,
            const RowScanner *lines = nullptr)
      : lines(lines), path(inputName(path)), fileIndex(fileIndex), wait(wait),
        source(std::move(source)), parser(std::move(parser)),
        row(std::move(row)) {}
  ~RowReader() override { row.warn(path); }

  Expected<int64_t> read(int64_t count, RecordColumns &into,
                         PassedRows &passed) override;
  Expected<int64_t> skip(int64_t count, PassedRows *passed) override;
  Expected<bool> moveTo(const RowPlace &place) override;
  RowPlace place() const override {
    return isWaiting ? source->current() : source->following();
  }
  Status checkNext() override;

private:
  Expected<bool> nextRow() {
    if (isWaiting) {
      isWaiting = false;
      return true;
    }
    return source->next(bytes);
  }
  Status parse();
  Status convert(RecordColumns &into);
  std::string placeText() const {
    return (lines ? lines->placeText()
                  : path + ":" + std::to_string(source->current().line)) +
           ":";
  }
  void beginRow(PassedRows &passed) {
    if (const auto sample = lines ? lines->sample() : std::nullopt)
      passed.continueAt(*sample);
    passed.beginRow(PassedRows::contentOf(bytes.data(), bytes.size()));
  }

protected:
  const RowScanner *const lines;

private:
  std::string path;
  int32_t fileIndex;
  ReadWait *wait;
  std::unique_ptr<RowSource> source;
  std::unique_ptr<RowParser> parser;
  RowAssembler row;
  std::string_view bytes;
  bool isWaiting = false; ///< The row was read ahead, but not yet passed.
};

Status RowReader::parse() {
  row.clear();
  size_t column = 0;
  Status status = parser->parse(bytes, row, column);
  if (status.ok())
    return status;
  return Status::invalidArgument(
      placeText() + (column ? std::to_string(column) + ": " : " ") +
      status.message());
}

Status RowReader::convert(RecordColumns &into) {
  PDLRT_RETURN_IF_ERROR(parse());
  const Status status = row.append(into);
  return status.ok()
             ? Status()
             : Status::invalidArgument(placeText() + " " + status.message());
}

Status RowReader::checkNext() {
  if (!isWaiting) {
    auto more = source->next(bytes);
    PDLRT_RETURN_IF_ERROR(more.status());
    isWaiting = *more;
  }
  return isWaiting ? parse() : Status();
}

Expected<int64_t> RowReader::read(int64_t count, RecordColumns &into,
                                  PassedRows &passed) {
  for (int64_t i = 0; i < count; ++i) {
    auto more = nextRow();
    if (!more && wait && wait->isLate())
      return i;
    PDLRT_RETURN_IF_ERROR(more.status());
    if (!*more)
      return i;
    beginRow(passed);
    if (wait)
      wait->noteRow();
    const Status status = convert(into);
    if (status.ok()) {
      into.commitRecord(fileIndex, passed.current(), passed.currentSample(),
                        row.copied(/*isGood=*/true));
      continue;
    }
    into.rollbackRecord();
    PDLRT_RETURN_IF_ERROR(
        passed.addBad(status.message(), row.copied(/*isGood=*/false)));
  }
  return count;
}

Expected<int64_t> RowReader::skip(int64_t count, PassedRows *passed) {
  for (int64_t i = 0; i < count; ++i) {
    auto more = nextRow();
    PDLRT_RETURN_IF_ERROR(more.status());
    if (!*more)
      return i;
    if (passed)
      beginRow(*passed);
  }
  return count;
}

Expected<bool> RowReader::moveTo(const RowPlace &place) {
  if (place.byte > 0) {
    isWaiting = false;
    return source->moveTo(place);
  }
  auto skipped = skip(place.row, nullptr);
  PDLRT_RETURN_IF_ERROR(skipped.status());
  return *skipped == place.row;
}

/// Reader of rows that are lines.
class LineReader final : public RowReader, public PartitionReader {
public:
  using RowReader::RowReader;
  std::vector<KafkaPlace> places() const override { return lines->places(); }
};

class LineSource final : public RowSource {
public:
  explicit LineSource(char comment) : comment(comment) {}
  Status open(const std::string &path, const RecordReaderOptions &options) {
    return scanner.open(path, {.delimiter = '\0', .quote = '\0'},
                        InputOptions::of(options));
  }
  Expected<bool> next(std::string_view &row) override {
    while (true) {
      auto more = scanner.next(row, RowScanner::BlankLines::EndFiles);
      if (!more || !*more || !comment || !row.starts_with(comment))
        return more;
    }
  }
  RowPlace current() const override {
    return {0, scanner.rowByte(), scanner.line()};
  }
  RowPlace following() const override {
    return {0, scanner.nextByte(), scanner.followingLine()};
  }
  Expected<bool> moveTo(const RowPlace &place) override {
    return scanner.moveTo(place.byte, place.line);
  }
  const RowScanner &rows() const { return scanner; }

private:
  char comment;
  RowScanner scanner;
};

} // namespace

std::unique_ptr<RecordReader>
pdlrt::makeRowReader(const std::string &path, int32_t fileIndex,
                     const RecordReaderOptions &options,
                     std::unique_ptr<RowSource> source,
                     std::unique_ptr<RowParser> parser, RowAssembler row) {
  return std::make_unique<RowReader>(path, fileIndex, options.wait,
                                     std::move(source), std::move(parser),
                                     std::move(row));
}

Expected<std::unique_ptr<RowSource>>
pdlrt::openLineSource(const std::string &path,
                      const RecordReaderOptions &options, char comment) {
  auto source = std::make_unique<LineSource>(comment);
  PDLRT_RETURN_IF_ERROR(source->open(path, options));
  return std::unique_ptr<RowSource>(std::move(source));
}

Expected<std::unique_ptr<RecordReader>>
pdlrt::openLineReader(const std::string &path, int32_t fileIndex,
                      const RecordReaderOptions &options,
                      std::unique_ptr<RowParser> parser, RowAssembler row,
                      char comment) {
  auto source = std::make_unique<LineSource>(comment);
  PDLRT_RETURN_IF_ERROR(source->open(path, options));
  const RowScanner &lines = source->rows();
  return std::unique_ptr<RecordReader>(std::make_unique<LineReader>(
      path, fileIndex, options.wait, std::move(source), std::move(parser),
      std::move(row), &lines));
}

Status pdlrt::refuseCellFlags(const std::string &path, const DataOptions &data,
                              const std::string &reason, bool mayListColumns) {
  const bool isWrong = data.header || data.quote || data.delimiter ||
                       (!mayListColumns && !data.columns.empty());
  if (!isWrong)
    return {};
  return Status::invalidArgument(inputName(path) + ": " + reason +
                                 (mayListColumns
                                      ? ": --header, --delimiter and "
                                        "--quote are for delimited text"
                                      : ": --header, --delimiter, --quote "
                                        "and --columns are for delimited "
                                        "text") +
                                 "; if the file is that, give --format text");
}
