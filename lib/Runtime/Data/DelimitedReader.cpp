//===- DelimitedReader.cpp - CSV, TSV and their kin -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellParser.h"
#include "Data/CellSplitter.h"
#include "Data/ColumnMap.h"
#include "Data/FieldTexts.h"
#include "Data/RecordReader.h"
#include "Data/RowScanner.h"
#include "Data/Unpacker.h"

#include "pdlrt/Core/Log.h"
#include <algorithm>
#include <optional>

using namespace pdlrt;

namespace {

Expected<char> delimiterOf(const std::string &path,
                           const DataOptions &options) {
  if (options.delimiter)
    return options.delimiter;
  if (isStandardInput(path))
    return Status::invalid("standard input has no name that says what ends a "
                           "cell; say it with --delimiter");
  const std::string_view name = unpackedName(path);
  if (name.ends_with(".csv"))
    return ',';
  if (name.ends_with(".tsv") || name.ends_with(".txt"))
    return '\t';
  return Status::invalid(path + ": the name ends neither in .csv, .tsv or .txt "
                                "(with or without .gz or .zst) nor in "
                                ".safetensors; "
                                "say what ends a cell with --delimiter");
}

class DelimitedReader final : public RecordReader {
public:
  DelimitedReader(const std::string &file, int32_t fileIndex, char delimiter)
      : file(file), path(inputName(file)), fileIndex(fileIndex),
        delimiter(delimiter), splitter(delimiter) {}

  Status open(const RecordReaderOptions &options);
  Expected<int64_t> read(int64_t count, RecordColumns &into,
                         PassedRows &passed) override;
  Expected<int64_t> skip(int64_t count, PassedRows *passed) override;
  Expected<bool> moveTo(const RowPlace &place) override;
  RowPlace place() const override;
  Status checkNext() override;

private:
  Expected<bool> nextRow();
  void noteRow(PassedRows &passed);
  Status splitRow();
  Status parseRow(RecordColumns &into);
  std::string_view copiedCell() const;
  std::string_view copiedTexts();
  Status readHeader();
  void warnOfNames() const;
  std::string place(size_t cell) const {
    return path + ":" + std::to_string(scanner.line()) + ":" +
           std::to_string(cell + 1);
  }

  std::string file, path; ///< its name, and that in sentences
  int32_t fileIndex;
  char delimiter;
  ReadWait *wait = nullptr;
  RowScanner scanner;
  CellSplitter splitter;
  std::string_view row;
  bool rowIsWaiting = false; ///< it was looked at, not yet passed
  /// The cells of every row: those of the header, or of the first good row.
  std::optional<size_t> cellCount;
  int64_t cellCountLine = 0; ///< the line that set it
  std::vector<CellParser> parsers;
  std::vector<const pdl_field *> fields;
  std::optional<ColumnMap> map;
  bool copiesTexts = false;
  std::string texts; ///< of the current row
  std::vector<std::string> headerNames;
  /// The header's text until the first row is passed: it says how rows are to
  /// be read.
  std::string header;
  /// A row without a header before it; -1: not yet, or there is a header.
  int64_t firstLine = -1;
};

Status DelimitedReader::open(const RecordReaderOptions &options) {
  fields = fieldsOf(options.descriptor, options.program);
  for (const pdl_field *field : fields) {
    if (field->kind == PDL_FIELD_RAGGED && field->separator == delimiter)
      return Status::invalid(path + ": " + fieldText(*field) +
                             " separates its ids by the character that ends a "
                             "cell; choose another one for either");
    auto parser = CellParser::create(*field);
    PDLRT_RETURN_IF_ERROR(parser.status());
    parsers.push_back(*std::move(parser));
  }
  wait = options.wait;
  copiesTexts = options.data.copyTexts;
  PDLRT_RETURN_IF_ERROR(
      scanner.open(file, delimiter, options.data.unpackBeside, wait));

  const bool hasHeader = options.data.header;
  if (hasHeader)
    PDLRT_RETURN_IF_ERROR(readHeader());
  auto more = scanner.next(row);
  PDLRT_RETURN_IF_ERROR(more.status());
  rowIsWaiting = *more;
  // Where nothing stands there is nothing to be found.
  if (!rowIsWaiting)
    return {};
  auto created = ColumnMap::create(options, hasHeader ? &headerNames : nullptr);
  if (!created.ok())
    return std::move(created).status().withContext(
        path + ":" +
        std::to_string(hasHeader ? cellCountLine : scanner.line()));
  map = *std::move(created);
  if (hasHeader)
    return {};
  firstLine = scanner.line();
  // Every row has as many cells as the first, unless that is bad itself.
  if (splitRow().ok())
    warnOfNames();
  return {};
}

/// A header that is taken for a row is found out where it is read, unless its
/// cells are hashed, or it is among rows that are passed over: then it shifts
/// their numbers.
void DelimitedReader::warnOfNames() const {
  for (size_t i = 0; i < fields.size(); ++i)
    for (int64_t cell : map->fields()[i])
      if (splitter.cells()[size_t(cell)] == fields[i]->name)
        return logWarningOnce(place(size_t(cell)) + ": the first line has " +
                              quoteText(fields[i]->name) +
                              ", the name of a field; if it names the columns, "
                              "give --header: without, it is the first row");
}

/// The header's names, and its text.
Status DelimitedReader::readHeader() {
  auto more = scanner.next(row);
  PDLRT_RETURN_IF_ERROR(more.status());
  if (!*more)
    return {};
  if (const char *defect = splitter.split(row))
    return Status::invalid(place(splitter.cells().size()) + ": " + defect +
                           "; mend the header");
  headerNames.assign(splitter.cells().begin(), splitter.cells().end());
  header = row;
  cellCount = headerNames.size();
  cellCountLine = scanner.line();
  return {};
}

Expected<bool> DelimitedReader::nextRow() {
  if (rowIsWaiting) {
    rowIsWaiting = false;
    return true;
  }
  return scanner.next(row);
}

/// The row is passed.
void DelimitedReader::noteRow(PassedRows &passed) {
  if (!header.empty())
    passed.addPreface(PassedRows::contentOf(header.data(), header.size()));
  header.clear();
  passed.beginRow(PassedRows::contentOf(row.data(), row.size()));
}

/// Cuts the row into as many cells as rows have.
Status DelimitedReader::splitRow() {
  const char *defect = splitter.split(row);
  const std::vector<std::string_view> &cells = splitter.cells();
  if (defect)
    return Status::invalid(place(cells.size()) + ": " + defect);
  if (!cellCount) {
    if (std::string wrong = map->checkCells(int64_t(cells.size()));
        !wrong.empty())
      return Status::invalid(place(cells.size() - 1) + ": " + wrong);
    cellCount = cells.size();
    cellCountLine = scanner.line();
  }
  if (cells.size() != *cellCount)
    return Status::invalid(
        place(std::min(cells.size(), *cellCount)) + ": the row has " +
        std::to_string(cells.size()) + " cells where line " +
        std::to_string(cellCountLine) + " has " + std::to_string(*cellCount));
  return {};
}

Status DelimitedReader::parseRow(RecordColumns &into) {
  PDLRT_RETURN_IF_ERROR(splitRow());
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::vector<int64_t> &slots = map->fields()[i];
    size_t slot = 0;
    const Status status = parsers[i].append(row, splitter.cells().data(), slots,
                                            into.column(i), slot);
    if (status.ok())
      continue;
    std::string sentence = place(static_cast<size_t>(slots[slot])) + ": " +
                           fieldText(*fields[i]) + ": " + status.message();
    if (scanner.line() == firstLine)
      sentence += "; if this line names the columns, give --header";
    return Status::invalid(std::move(sentence));
  }
  return {};
}

/// Of the row that was split.
std::string_view DelimitedReader::copiedCell() const {
  const std::optional<int64_t> &column = map->copied();
  return column && size_t(*column) < splitter.cells().size()
             ? splitter.cells()[size_t(*column)]
             : std::string_view();
}

std::string_view DelimitedReader::copiedTexts() {
  texts.clear();
  for (size_t i = 0; i < fields.size(); ++i)
    if (hasTexts(*fields[i]))
      for (const int64_t cell : map->fields()[i])
        appendFieldText(splitter.cells()[size_t(cell)], texts);
  return texts;
}

Status DelimitedReader::checkNext() {
  if (!rowIsWaiting) {
    auto more = scanner.next(row);
    PDLRT_RETURN_IF_ERROR(more.status());
    rowIsWaiting = *more;
  }
  return rowIsWaiting ? splitRow() : Status();
}

Expected<int64_t> DelimitedReader::read(int64_t count, RecordColumns &into,
                                        PassedRows &passed) {
  for (int64_t i = 0; i < count; ++i) {
    auto more = nextRow();
    if (!more && wait && wait->isLate())
      return i;
    PDLRT_RETURN_IF_ERROR(more.status());
    if (!*more)
      return i;
    noteRow(passed);
    if (wait)
      wait->noteRow();
    Status status = parseRow(into);
    if (status.ok()) {
      into.commitRecord(fileIndex, passed.current(), passed.currentSample(),
                        copiesTexts ? copiedTexts() : copiedCell());
      continue;
    }
    into.rollbackRecord();
    PDLRT_RETURN_IF_ERROR(passed.addBad(status.message(), copiedCell()));
  }
  return count;
}

Expected<int64_t> DelimitedReader::skip(int64_t count, PassedRows *passed) {
  for (int64_t i = 0; i < count; ++i) {
    auto more = nextRow();
    PDLRT_RETURN_IF_ERROR(more.status());
    if (!*more)
      return i;
    if (passed)
      noteRow(*passed);
  }
  return count;
}

RowPlace DelimitedReader::place() const {
  return rowIsWaiting
             ? RowPlace{0, scanner.rowByte(), scanner.line()}
             : RowPlace{0, scanner.nextByte(), scanner.followingLine()};
}

Expected<bool> DelimitedReader::moveTo(const RowPlace &place) {
  header.clear();
  if (place.byte > 0) {
    rowIsWaiting = false;
    return scanner.moveTo(place.byte, place.line);
  }
  auto skipped = skip(place.row, nullptr);
  PDLRT_RETURN_IF_ERROR(skipped.status());
  return *skipped == place.row;
}

} // namespace

Expected<std::unique_ptr<RecordReader>>
pdlrt::openDelimitedReader(const std::string &path, int32_t fileIndex,
                           const RecordReaderOptions &options) {
  auto delimiter = delimiterOf(path, options.data);
  PDLRT_RETURN_IF_ERROR(delimiter.status());
  auto reader = std::make_unique<DelimitedReader>(path, fileIndex, *delimiter);
  PDLRT_RETURN_IF_ERROR(reader->open(options));
  return std::unique_ptr<RecordReader>(std::move(reader));
}
