//===- RawRows.cpp - Rows of files that are read without a record ---------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RawRows.h"

#include "Data/CellSplitter.h"
#include "Data/CellSyntax.h"
#include "Data/FileFormat.h"
#include "Data/FileKind.h"
#include "Data/InputFile.h"
#include "Data/RowReader.h"
#include "Data/RowScanner.h"

#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

/// Rows whose values have names or numbers.
class NamedRawRows final : public RawRows {
public:
  NamedRawRows(const std::string &path, std::unique_ptr<RowSource> source,
               std::unique_ptr<RowParser> parser, RowAssembler row)
      : path(inputName(path)), source(std::move(source)),
        parser(std::move(parser)), row(std::move(row)) {}

  Expected<bool> next() override { return source->next(rowBytes); }
  Status parse() override;
  std::span<const RawColumn> columns() const override { return found; }
  int64_t line() const override { return source->current().line; }
  std::string_view bytes() const override { return rowBytes; }

private:
  std::string path;
  std::unique_ptr<RowSource> source;
  std::unique_ptr<RowParser> parser;
  RowAssembler row;
  std::string_view rowBytes;
  std::vector<RawColumn> found;
};

} // namespace

Status NamedRawRows::parse() {
  row.clear();
  size_t column = 0;
  const Status status = parser->parse(rowBytes, row, column);
  const std::vector<std::string> &names = row.columns().names();
  for (size_t i = found.size(); i < names.size(); ++i)
    found.push_back({.name = names[i]});
  for (size_t i = 0; i < found.size(); ++i) {
    found[i].isGiven = status.ok() && row.isGiven(int32_t(i));
    found[i].isAlone = row.isAlone(int32_t(i));
    found[i].values = found[i].isGiven ? row.valuesOf(int32_t(i))
                                       : std::span<const RowValue>();
  }
  if (status.ok())
    return {};
  return Status::invalidArgument(
      path + ":" + std::to_string(line()) + ":" +
      (column ? std::to_string(column) + ": " : " ") + status.message());
}

std::unique_ptr<RawRows> pdlrt::makeRawRows(const std::string &path,
                                            std::unique_ptr<RowSource> source,
                                            std::unique_ptr<RowParser> parser,
                                            RowAssembler row) {
  return std::make_unique<NamedRawRows>(path, std::move(source),
                                        std::move(parser), std::move(row));
}

Expected<std::unique_ptr<RawRows>>
pdlrt::openRawLines(const std::string &path, const RecordReaderOptions &options,
                    std::unique_ptr<RowParser> parser, RowAssembler row,
                    char comment) {
  auto source = openLineSource(path, options, comment);
  PDLRT_RETURN_IF_ERROR(source.status());
  return makeRawRows(path, *std::move(source), std::move(parser),
                     std::move(row));
}

namespace {

/// Rows of delimited text.
class RawCells final : public RawRows {
public:
  RawCells(const std::string &path, CellSyntax syntax)
      : path(inputName(path)), splitter(syntax) {}

  Status open(const std::string &file, CellSyntax syntax,
              const RecordReaderOptions &options);
  Expected<bool> next() override;
  Status parse() override;
  std::span<const RawColumn> columns() const override { return found; }
  int64_t line() const override { return scanner.line(); }
  std::string_view bytes() const override { return row; }
  std::string_view header() const override { return headerText; }

private:
  Status bad(size_t cell, const std::string &what) const {
    return Status::invalidArgument(path + ":" + std::to_string(line()) + ":" +
                                   std::to_string(cell + 1) + ": " + what);
  }
  void setColumns(size_t count);

  std::string path;
  RowScanner scanner;
  CellSplitter splitter;
  std::string_view row;
  std::string headerText;
  /// Line of the row that determined the number of cells; 0: none yet.
  int64_t columnsLine = 0;
  std::vector<RawColumn> found;
  std::vector<RowValue> values;
};

} // namespace

void RawCells::setColumns(size_t count) {
  columnsLine = line();
  found.resize(count);
  values.resize(count);
  for (size_t i = 0; i < count; ++i)
    found[i] = {.name = std::to_string(i),
                .values = {&values[i], 1},
                .isGiven = true,
                .isAlone = true};
}

Status RawCells::open(const std::string &file, CellSyntax syntax,
                      const RecordReaderOptions &options) {
  PDLRT_RETURN_IF_ERROR(scanner.open(file, syntax, InputOptions::of(options)));
  if (!options.data.header)
    return {};
  auto more = scanner.next(row, RowScanner::BlankLines::Ignored);
  PDLRT_RETURN_IF_ERROR(more.status());
  if (!*more)
    return {};
  headerText = row;
  if (const char *defect = splitter.split(row))
    return bad(splitter.cells().size(),
               std::string(defect) + "; mend the header");
  setColumns(splitter.cells().size());
  for (size_t i = 0; i < found.size(); ++i)
    found[i].name = splitter.cells()[i];
  return {};
}

Expected<bool> RawCells::next() {
  return scanner.next(row, found.size() == 1
                               ? RowScanner::BlankLines::Rows
                               : RowScanner::BlankLines::EndFiles);
}

Status RawCells::parse() {
  for (RawColumn &column : found)
    column.isGiven = false;
  const char *defect = splitter.split(row);
  const std::vector<std::string_view> &cells = splitter.cells();
  if (defect)
    return bad(cells.size(), defect);
  if (!columnsLine)
    setColumns(cells.size());
  if (cells.size() != found.size())
    return bad(std::min(cells.size(), found.size()),
               "the row has " + std::to_string(cells.size()) +
                   " cells where line " + std::to_string(columnsLine) +
                   " has " + std::to_string(found.size()));
  for (size_t i = 0; i < cells.size(); ++i) {
    values[i] = RowValue::ofText(cells[i]);
    found[i].isGiven = true;
  }
  return {};
}

Expected<std::unique_ptr<RawRows>>
pdlrt::openRawCells(const std::string &path,
                    const RecordReaderOptions &options) {
  const Expected<CellSyntax> syntax = cellSyntaxOf(path, options.data);
  PDLRT_RETURN_IF_ERROR(syntax.status());
  auto rows = std::make_unique<RawCells>(path, *syntax);
  PDLRT_RETURN_IF_ERROR(rows->open(path, *syntax, options));
  return std::unique_ptr<RawRows>(std::move(rows));
}

Expected<std::unique_ptr<RawRows>> pdlrt::openRawRows(const std::string &path,
                                                      const DataOptions &data) {
  static const pdl_descriptor noRecord = {};
  static const pdl_program noProgram = {};
  if (data.pipe.empty())
    PDLRT_RETURN_IF_ERROR(
        checkFileKind(path, data.delimiter != 0 || !data.format.empty()));
  const FileFormat &format = fileFormatOf(path, data);
  PDLRT_RETURN_IF_ERROR(format.checkFlags(path, data));
  return format.openRaw(
      path, {.data = data, .descriptor = noRecord, .program = noProgram});
}
