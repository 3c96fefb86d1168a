//===- DelimitedReader.cpp - Reads CSV, TSV and similar files -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellParser.h"
#include "Data/CellSplitter.h"
#include "Data/CellSyntax.h"
#include "Data/ColumnMap.h"
#include "Data/CommonHeader.h"
#include "Data/FieldTexts.h"
#include "Data/KafkaAddress.h"
#include "Data/QuotedColumns.h"
#include "Data/RecordReader.h"
#include "Data/RowDefect.h"
#include "Data/RowScanner.h"

#include "pdlrt/Core/Log.h"
#include "pdlrt/Core/Mutex.h"
#include <algorithm>
#include <optional>
#include <set>

using namespace pdlrt;

/// Logs a warning once for each field of each file, independent of the number
/// of readers and passes.
static void warnOncePerField(const std::string &path, const pdl_field &field,
                             const std::string &what) {
  static Mutex mutex;
  static std::set<std::string> warned;
  const std::string begin = path + ": " + fieldText(field) + ": ";
  const MutexLock lock(mutex);
  if (warned.insert(begin).second)
    logWarning(begin + what);
}

namespace {

class DelimitedReader final : public RecordReader, public PartitionReader {
public:
  DelimitedReader(const std::string &file, int32_t fileIndex, CellSyntax syntax)
      : file(file), path(inputName(file)), fileIndex(fileIndex), syntax(syntax),
        splitter(syntax) {}
  ~DelimitedReader() override { warnOfDecimalIds(); }

  Status open(const RecordReaderOptions &options);
  Expected<int64_t> read(int64_t count, RecordColumns &into,
                         PassedRows &passed) override;
  Expected<int64_t> skip(int64_t count, PassedRows *passed) override;
  Expected<bool> moveTo(const RowPlace &place) override;
  RowPlace place() const override;
  std::vector<KafkaPlace> places() const override { return scanner.places(); }
  Status checkNext() override;

private:
  Expected<bool> nextRow();
  Expected<bool> scanRow();
  void noteRow(PassedRows &passed);
  Status splitRow();
  Status parseRow(RecordColumns &into);
  std::string_view copiedCells();
  std::string_view copiedTexts();
  Status readHeader();
  Status checkHeader(const RecordReaderOptions &options) const;
  void warnOfNames() const;
  void warnOfQuotes(bool atEnd);
  std::string quoteHint(std::string_view cell) const;
  std::string quoteHintOfRow() const;
  void warnOfDecimalIds() const;
  std::string place(size_t cell) const {
    return scanner.placeText() + ":" + std::to_string(cell + 1);
  }

  std::string file, path; ///< The path, and its form in messages.
  int32_t fileIndex;
  CellSyntax syntax;
  ReadWait *wait = nullptr;
  RowScanner scanner;
  CellSplitter splitter;
  std::string_view row;
  bool rowIsWaiting = false; ///< The row was read ahead, but not yet passed.
  /// Number of cells in every row, from the header or the first good row.
  std::optional<size_t> cellCount;
  int64_t cellCountLine = 0;  ///< Line of the header.
  std::string cellCountPlace; ///< Row that determined the number, for messages.
  std::vector<CellParser> parsers;
  std::vector<const pdl_field *> fields;
  const pdl_program *program = nullptr;
  /// Null until the columns are found.
  std::unique_ptr<ColumnMap> map;
  bool hasQuoteFlag = false;
  bool looksForQuotes = false;
  QuotedColumns quotedColumns;
  bool copiesTexts = false;
  std::string texts; ///< Copied texts of the current row.
  std::vector<std::string_view> ids;
  std::vector<std::string> headerNames;
  /// Text of the header, until the first row is passed. It determines how rows
  /// are read.
  std::string header;
  /// Line of the first row if there is no header; -1: not read yet, or there is
  /// a header.
  int64_t firstLine = -1;
};

Status DelimitedReader::open(const RecordReaderOptions &options) {
  fields = fieldsOf(options.descriptor, options.program);
  program = &options.program;
  for (const pdl_field *field : fields) {
    if (field->kind == PDL_FIELD_RAGGED && field->separator == syntax.delimiter)
      return Status::invalidArgument(
          path + ": " + fieldText(*field) +
          " separates its ids by the character that ends a "
          "cell; choose another one for either");
    auto parser = CellParser::create(*field);
    PDLRT_RETURN_IF_ERROR(parser.status());
    parsers.push_back(*std::move(parser));
  }
  wait = options.wait;
  copiesTexts = options.data.copyTexts;
  hasQuoteFlag = options.data.quote.has_value();
  looksForQuotes = !hasQuoteFlag && !syntax.quote;
  PDLRT_RETURN_IF_ERROR(scanner.open(file, syntax, InputOptions::of(options)));

  const bool hasHeader = options.data.header;
  if (hasHeader) {
    PDLRT_RETURN_IF_ERROR(readHeader());
    if (!cellCount)
      return {};
  }
  auto created = ColumnMap::create(options, hasHeader ? &headerNames : nullptr);
  Status mapStatus = created.status();
  if (created.ok())
    map = std::make_unique<ColumnMap>(*std::move(created));
  if (hasHeader && map)
    PDLRT_RETURN_IF_ERROR(checkHeader(options));
  auto more = scanRow();
  PDLRT_RETURN_IF_ERROR(more.status());
  rowIsWaiting = *more;
  // A file without rows needs no columns.
  if (!rowIsWaiting)
    return {};
  if (!map)
    return std::move(mapStatus).withContext(
        hasHeader ? path + ":" + std::to_string(cellCountLine)
                  : scanner.placeText());
  if (hasHeader)
    return {};
  if (!scanner.hasMessages())
    firstLine = scanner.line();
  // The first row determines the number of cells, unless it is bad itself.
  if (splitRow().ok() && !scanner.hasMessages())
    warnOfNames();
  return {};
}

Status DelimitedReader::checkHeader(const RecordReaderOptions &options) const {
  if (options.headers)
    return options.headers->check(path, headerNames, *map);
  CommonHeader alone;
  return alone.check(path, headerNames, *map);
}

/// Returns a hint to --quote if a cell cannot be read and may be enclosed in
/// quotes that are ordinary text by default.
std::string DelimitedReader::quoteHint(std::string_view cell) const {
  const char mark = cell.empty() ? '\0' : cell.front();
  if (hasQuoteFlag || mark == syntax.quote || (mark != '"' && mark != '\''))
    return "";
  return std::string("; ") + (mark == '"' ? "double" : "single") +
         " quotes are text where " + characterText(syntax.delimiter) +
         " ends a cell: if they enclose cells, give --quote " +
         (mark == '"' ? "'\"'" : "\"'\"");
}

/// Returns the same hint for a row with too many cells. A delimiter inside
/// quotes may have divided a cell.
std::string DelimitedReader::quoteHintOfRow() const {
  for (const std::string_view cell : splitter.cells())
    if (cell.starts_with('"') && cell.find('"', 1) == std::string_view::npos)
      if (std::string hint = quoteHint(cell); !hint.empty())
        return hint;
  return "";
}

void DelimitedReader::warnOfQuotes(bool atEnd) {
  if (const std::optional<size_t> column = quotedColumns.take(atEnd))
    logWarningOnce(path + ": each cell of column " +
                   std::to_string(*column + 1) +
                   " stands in quotes, which are text where " +
                   characterText(syntax.delimiter) +
                   " ends a cell; if they are no part of the values, give "
                   "--quote '\"', else --quote none");
}

/// Warns about ids that end in `.0`. Programs that keep ids as floats, because
/// some are missing, write them in this form.
void DelimitedReader::warnOfDecimalIds() const {
  for (size_t i = 0; i < parsers.size(); ++i)
    if (parsers[i].decimalIds() > 0)
      warnOncePerField(path, *fields[i],
                       std::to_string(parsers[i].decimalIds()) +
                           " ids end in `.0`, such as `" +
                           parsers[i].firstDecimalId() +
                           "`, which is another id than the same without it; "
                           "write them as whole numbers");
}

/// Warns about a header that is read as a row. Its parsing usually fails, but
/// not if its cells are hashed. If it is among skipped rows, it changes their
/// numbers.
void DelimitedReader::warnOfNames() const {
  for (size_t i = 0; i < fields.size(); ++i)
    for (int64_t cell : map->fields()[i])
      if (splitter.cells()[size_t(cell)] == fields[i]->name)
        return logWarningOnce(place(size_t(cell)) + ": the first line has " +
                              quoteText(fields[i]->name) +
                              ", the name of a field; if it names the columns, "
                              "give --header: without, it is the first row");
}

/// Reads the header's names and its text.
Status DelimitedReader::readHeader() {
  auto more = scanner.next(row, RowScanner::BlankLines::Ignored);
  PDLRT_RETURN_IF_ERROR(more.status());
  if (!*more)
    return {};
  if (const char *defect = splitter.split(row))
    return Status::invalidArgument(place(splitter.cells().size()) + ": " +
                                   defect + "; mend the header");
  headerNames.assign(splitter.cells().begin(), splitter.cells().end());
  if (looksForQuotes) {
    QuotedColumns quoted;
    quoted.note(splitter.cells());
    if (quoted.take(/*atEnd=*/true))
      logWarningOnce(path +
                     ": names in the first line stand in quotes, which "
                     "are text where " +
                     characterText(syntax.delimiter) +
                     " ends a cell; if they are no part of the names, give "
                     "--quote '\"', else --quote none");
  }
  header = row;
  cellCount = headerNames.size();
  cellCountLine = scanner.line();
  cellCountPlace = "line " + std::to_string(cellCountLine);
  return {};
}

Expected<bool> DelimitedReader::nextRow() {
  if (rowIsWaiting) {
    rowIsWaiting = false;
    return true;
  }
  return scanRow();
}

/// Moves to the next row. If rows have one cell, a blank line is a row with an
/// empty cell.
Expected<bool> DelimitedReader::scanRow() {
  const bool hasOneCell =
      cellCount ? *cellCount == 1 : map && map->checkCells(1).empty();
  auto more = scanner.next(row, hasOneCell ? RowScanner::BlankLines::Rows
                                           : RowScanner::BlankLines::EndFiles);
  if (looksForQuotes && more.ok() && !*more)
    warnOfQuotes(/*atEnd=*/true);
  return more;
}

/// Records that the row is passed.
void DelimitedReader::noteRow(PassedRows &passed) {
  if (!header.empty())
    passed.addPreface(PassedRows::contentOf(header.data(), header.size()));
  header.clear();
  if (const auto sample = scanner.sample())
    passed.continueAt(*sample);
  passed.beginRow(PassedRows::contentOf(row.data(), row.size()));
}

/// Splits the row, and checks the number of cells.
Status DelimitedReader::splitRow() {
  const char *defect = splitter.split(row);
  const std::vector<std::string_view> &cells = splitter.cells();
  if (defect)
    return Status::invalidArgument(place(cells.size()) + ": " + defect);
  const bool isBlank = cells.size() == 1 && cells.front().empty();
  if (isBlank && (cellCount ? *cellCount > 1 : !map->checkCells(1).empty()))
    return Status::invalidArgument(
        place(0) + ": the line is blank, and rows follow it; only at "
                   "the end of a file may blank lines stand");
  if (!cellCount) {
    if (std::string wrong = map->checkCells(int64_t(cells.size()));
        !wrong.empty())
      return Status::invalidArgument(place(cells.size() - 1) + ": " + wrong +
                                     quoteHintOfRow());
    cellCount = cells.size();
    cellCountPlace = scanner.hasMessages()
                         ? scanner.placeText()
                         : "line " + std::to_string(scanner.line());
  }
  if (cells.size() != *cellCount)
    return Status::invalidArgument(
        place(std::min(cells.size(), *cellCount)) + ": the row has " +
        std::to_string(cells.size()) + " cells where " + cellCountPlace +
        " has " + std::to_string(*cellCount) + quoteHintOfRow());
  if (looksForQuotes) {
    quotedColumns.note(cells);
    warnOfQuotes(/*atEnd=*/false);
  }
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
    std::string message = place(static_cast<size_t>(slots[slot])) + ": " +
                          fieldText(*fields[i]) + ": " + status.message() +
                          quoteHint(splitter.cells()[size_t(slots[slot])]);
    if (scanner.line() == firstLine)
      message += "; if this line names the columns, give --header";
    return Status::invalidArgument(std::move(message));
  }
  if (program->joined_count == 0 && program->id_range_count == 0)
    return {};
  if (const auto found =
          findRowDefect(*program, into, [this](size_t field, int64_t slot) {
            return parsers[field].leftOutOf(size_t(slot));
          }))
    return Status::invalidArgument(
        place(size_t(map->fields()[found->field][size_t(found->slot)])) + ": " +
        found->text);
  return {};
}

/// Returns the copied text of the row that was split.
std::string_view DelimitedReader::copiedCells() {
  const std::vector<int64_t> &columns = map->copied();
  const auto cellOf = [&](int64_t column) {
    return size_t(column) < splitter.cells().size()
               ? splitter.cells()[size_t(column)]
               : std::string_view();
  };
  if (columns.size() < 2)
    return columns.empty() ? std::string_view() : cellOf(columns.front());
  texts.clear();
  for (const int64_t column : columns)
    appendFieldText(cellOf(column), texts);
  return texts;
}

std::string_view DelimitedReader::copiedTexts() {
  texts.clear();
  for (size_t i = 0; i < fields.size(); ++i)
    if (hasTexts(*fields[i]))
      for (const int64_t cell : map->fields()[i]) {
        ids.clear();
        splitFieldText(*fields[i], splitter.cells()[size_t(cell)], ids);
        beginFieldTexts(ids.size(), texts);
        for (const std::string_view id : ids)
          appendFieldText(id, texts);
      }
  return texts;
}

Status DelimitedReader::checkNext() {
  if (!rowIsWaiting) {
    auto more = scanRow();
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
                        copiesTexts ? copiedTexts() : copiedCells());
      continue;
    }
    into.rollbackRecord();
    PDLRT_RETURN_IF_ERROR(passed.addBad(status.message(), copiedCells()));
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
  auto syntax = cellSyntaxOf(path, options.data);
  PDLRT_RETURN_IF_ERROR(syntax.status());
  auto reader = std::make_unique<DelimitedReader>(path, fileIndex, *syntax);
  PDLRT_RETURN_IF_ERROR(reader->open(options));
  return std::unique_ptr<RecordReader>(std::move(reader));
}

Status pdlrt::checkHeaderOf(const std::string &path,
                            const RecordReaderOptions &options) {
  DataOptions data = options.data;
  data.unpackInBackground = false;
  RecordReaderOptions own{data, options.descriptor, options.program};
  own.headers = options.headers;
  return openDelimitedReader(path, 0, own).status();
}
