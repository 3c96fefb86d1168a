//===- DelimitedReader.cpp - CSV, TSV and their kin -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellParser.h"
#include "Data/CellSplitter.h"
#include "Data/RecordReader.h"
#include "Data/RowScanner.h"

#include <algorithm>
#include <limits>

using namespace pdlrt;

namespace {

/// For each field that is read, the column of each of its slots.
using ColumnMap = std::vector<std::vector<int64_t>>;

std::string fieldText(const pdl_field &field) {
  return std::string("field `") + field.name + "`";
}

/// Finds the columns of a field by its names in the header.
Status columnsByName(const pdl_field &field,
                     const std::vector<std::string_view> *header,
                     std::vector<int64_t> &columns) {
  if (!header)
    return Status::invalid(fieldText(field) +
                           " finds its columns by name, but the file is read "
                           "without a header; pass --header");
  for (int64_t i = 0; i < field.width; ++i) {
    const std::string_view name = trim(field.column_names[i]);
    auto found = std::find(header->begin(), header->end(), name);
    if (found == header->end())
      return Status::invalid("the header has no column " + quoteText(name) +
                             ", which " + fieldText(field) + " reads");
    if (std::find(found + 1, header->end(), name) != header->end())
      return Status::invalid("the header names two columns " + quoteText(name) +
                             ", which " + fieldText(field) + " reads");
    columns.push_back(found - header->begin());
  }
  return {};
}

/// True if the file holds just the columns of the fields that are read: rows to
/// predict come without labels, and every field stands in declaration order.
bool holdsOnlyReadFields(const pdl_descriptor &descriptor,
                         const std::vector<bool> &isRead, int64_t cellCount) {
  int64_t all = 0, read = 0;
  for (int32_t i = 0; i < descriptor.field_count; ++i) {
    const pdl_field &field = descriptor.fields[i];
    if (field.column_count)
      return false;
    all += field.width;
    read += isRead[static_cast<size_t>(i)] ? field.width : 0;
  }
  return read == cellCount && read < all;
}

/// Finds the columns of all fields that `program` reads in a file whose rows
/// have `cellCount` cells.
Expected<ColumnMap> mapColumns(const pdl_descriptor &descriptor,
                               const pdl_program &program,
                               const std::vector<std::string_view> *header,
                               int64_t cellCount) {
  std::vector<bool> isRead(static_cast<size_t>(descriptor.field_count), false);
  for (int32_t i = 0; i < program.field_count; ++i)
    isRead[static_cast<size_t>(program.fields[i])] = true;
  const bool onlyRead = holdsOnlyReadFields(descriptor, isRead, cellCount);

  std::vector<std::vector<int64_t>> byField(isRead.size());
  int64_t following = 0;
  const pdl_field *unknownBefore = nullptr;
  for (size_t i = 0; i < isRead.size(); ++i) {
    const pdl_field &field = descriptor.fields[i];
    std::vector<int64_t> &columns = byField[i];
    if (onlyRead && !isRead[i])
      continue;
    if (field.column_count && field.column_positions) {
      columns.assign(field.column_positions,
                     field.column_positions + field.width);
    } else if (field.column_count && field.column_names) {
      Status status = columnsByName(field, header, columns);
      if (!status.ok() && isRead[i])
        return status;
      if (!status.ok()) {
        // Nobody reads it; only its followers' places are unknown.
        unknownBefore = &field;
        continue;
      }
    } else {
      if (unknownBefore && isRead[i])
        return Status::invalid(fieldText(field) + " follows the columns of " +
                               fieldText(*unknownBefore) +
                               ", which the file does not have; give " +
                               fieldText(field) + " columns of its own");
      if (unknownBefore)
        continue;
      for (int64_t slot = 0; slot < field.width; ++slot)
        columns.push_back(following + slot);
    }
    unknownBefore = nullptr;
    following = columns.empty() ? following : columns.back() + 1;
  }

  ColumnMap map;
  for (int32_t i = 0; i < program.field_count; ++i) {
    map.push_back(byField[static_cast<size_t>(program.fields[i])]);
    for (int64_t column : map.back())
      if (column < 0 || column >= cellCount)
        return Status::invalid(
            "a row has " + std::to_string(cellCount) + " cells, but " +
            fieldText(descriptor.fields[program.fields[i]]) + " reads cell " +
            std::to_string(column + 1) +
            "; check the delimiter (--delimiter) and the record's columns");
  }
  return map;
}

Expected<char> delimiterOf(const std::string &path,
                           const DataOptions &options) {
  if (options.delimiter)
    return options.delimiter;
  std::string_view name = path;
  if (name.ends_with(".gz"))
    name.remove_suffix(3);
  if (name.ends_with(".csv"))
    return ',';
  if (name.ends_with(".tsv"))
    return '\t';
  return Status::invalid(path + ": the name ends neither in .csv nor in .tsv "
                                "(with or without .gz) nor in .safetensors; "
                                "say what ends a cell with --delimiter");
}

class DelimitedReader final : public RecordReader {
public:
  DelimitedReader(std::string path, int32_t fileIndex, char delimiter)
      : path(std::move(path)), fileIndex(fileIndex), delimiter(delimiter),
        splitter(delimiter) {}

  Status open(const RecordReaderOptions &options);
  Expected<int64_t> read(int64_t count, RecordColumns &into,
                         BadRows &badRows) override;
  Expected<int64_t> skip(int64_t count) override;

private:
  Expected<bool> nextRow();
  Status parseRow(RecordColumns &into);
  Status readHeader(std::vector<std::string> &names);
  std::string place(size_t cell) const {
    return path + ":" + std::to_string(scanner.line()) + ":" +
           std::to_string(cell + 1);
  }

  std::string path;
  int32_t fileIndex;
  char delimiter;
  RowScanner scanner;
  CellSplitter splitter;
  std::string_view row;
  bool rowIsWaiting = false; ///< the first row was looked at, not yet passed
  size_t cellCount = 0;
  int64_t cellCountLine = 0; ///< the line that set it
  std::vector<CellParser> parsers;
  std::vector<const pdl_field *> fields;
  ColumnMap columns;
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
  PDLRT_RETURN_IF_ERROR(scanner.open(path, delimiter));

  std::vector<std::string> names;
  if (options.data.header)
    PDLRT_RETURN_IF_ERROR(readHeader(names));
  auto more = scanner.next(row);
  PDLRT_RETURN_IF_ERROR(more.status());
  if (!*more)
    return {};
  rowIsWaiting = true;
  if (!options.data.header) {
    if (const char *defect = splitter.split(row))
      return Status::invalid(place(splitter.cells().size()) + ": " + defect +
                             "; mend the first row, which tells the number of "
                             "cells");
    cellCount = splitter.cells().size();
    cellCountLine = scanner.line();
  }
  std::vector<std::string_view> nameViews(names.begin(), names.end());
  auto map = mapColumns(options.descriptor, options.program,
                        options.data.header ? &nameViews : nullptr,
                        static_cast<int64_t>(cellCount));
  if (!map.ok())
    return std::move(map).status().withContext(path + ":" +
                                               std::to_string(cellCountLine));
  columns = *std::move(map);
  return {};
}

Status DelimitedReader::readHeader(std::vector<std::string> &names) {
  auto more = scanner.next(row);
  PDLRT_RETURN_IF_ERROR(more.status());
  if (!*more)
    return {};
  if (const char *defect = splitter.split(row))
    return Status::invalid(place(splitter.cells().size()) + ": " + defect +
                           "; mend the header");
  names.assign(splitter.cells().begin(), splitter.cells().end());
  cellCount = names.size();
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

Status DelimitedReader::parseRow(RecordColumns &into) {
  const char *defect = splitter.split(row);
  const std::vector<std::string_view> &cells = splitter.cells();
  if (defect)
    return Status::invalid(place(cells.size()) + ": " + defect);
  if (cells.size() != cellCount)
    return Status::invalid(
        place(std::min(cells.size(), cellCount)) + ": the row has " +
        std::to_string(cells.size()) + " cells where line " +
        std::to_string(cellCountLine) + " has " + std::to_string(cellCount));
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::vector<int64_t> &slots = columns[i];
    for (size_t slot = 0; slot < slots.size(); ++slot) {
      const size_t cell = static_cast<size_t>(slots[slot]);
      Status status = parsers[i].append(cells[cell], static_cast<int64_t>(slot),
                                        into.column(i));
      if (!status.ok())
        return std::move(status).withContext(place(cell) + ": " +
                                             fieldText(*fields[i]));
    }
  }
  return {};
}

Expected<int64_t> DelimitedReader::read(int64_t count, RecordColumns &into,
                                        BadRows &badRows) {
  for (int64_t passed = 0; passed < count; ++passed) {
    auto more = nextRow();
    PDLRT_RETURN_IF_ERROR(more.status());
    if (!*more)
      return passed;
    Status status = parseRow(into);
    if (status.ok()) {
      into.commitRecord(fileIndex);
      continue;
    }
    into.rollbackRecord();
    PDLRT_RETURN_IF_ERROR(badRows.add(status.message()));
  }
  return count;
}

Expected<int64_t> DelimitedReader::skip(int64_t count) {
  for (int64_t passed = 0; passed < count; ++passed) {
    auto more = nextRow();
    PDLRT_RETURN_IF_ERROR(more.status());
    if (!*more)
      return passed;
  }
  return count;
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
