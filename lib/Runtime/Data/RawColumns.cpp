//===- RawColumns.cpp - Rows of Parquet and Arrow, without a record -------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RawColumns.h"

#include "Data/ColumnFile.h"
#include "Data/ColumnValues.h"
#include "Data/KafkaRows.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

using namespace pdlrt;

namespace {

class RawColumns final : public RawRows {
public:
  explicit RawColumns(ColumnFile file) : file(std::move(file)) {}

  Status bind();
  Expected<bool> next() override;
  Status parse() override;
  std::span<const RawColumn> columns() const override { return found; }
  int64_t line() const override { return row; }
  std::string_view bytes() const override { return {}; }

private:
  void addValue(const ColumnValues &column, int64_t i,
                std::vector<RowValue> &into) {
    into.push_back(column.valueAt(i, texts.emplace_back()));
  }

  ColumnFile file;
  /// Columns of the file whose type can be read, and their types.
  std::vector<int32_t> selected;
  std::vector<ColumnType> types;
  std::vector<RawColumn> found;
  std::vector<std::vector<RowValue>> rowValues; ///< By column.
  std::deque<std::string> texts; ///< Of numbers that are kept as texts.
  int64_t group = -1, row = 0;   ///< Row: from 1.
  ColumnData<PdlColumnArray> batch;
  std::vector<ColumnValues> values; ///< By column.
  int64_t batchRow = 0, batchRows = 0;
};

/// The rows of messages. Their columns are found by name.
class RawMessages final : public RawRows {
public:
  explicit RawMessages(std::unique_ptr<KafkaRows> messages)
      : messages(std::move(messages)) {}

  Expected<bool> next() override;
  Status parse() override;
  std::span<const RawColumn> columns() const override { return found; }
  int64_t line() const override { return messages->current().line; }
  std::string_view bytes() const override { return {}; }

private:
  Expected<bool> openNext();

  std::unique_ptr<KafkaRows> messages;
  /// The rows of the current message; null if it cannot be read, for the reason
  /// `defect`.
  std::unique_ptr<RawColumns> current;
  Status defect;
  /// Number of rows of the message, and of the current row, from 1.
  int64_t rows = 0, row = 0;
  std::vector<RawColumn> found;
};

} // namespace

Status RawColumns::bind() {
  auto schema = file.schema();
  PDLRT_RETURN_IF_ERROR(schema.status());
  for (int64_t i = 0; i < (*schema)->childCount; ++i) {
    const PdlColumnSchema &child = *(*schema)->children[i];
    auto type = parseColumnType(child);
    // A model cannot read such a column either.
    if (!type || type->lists.size() > 1)
      continue;
    selected.push_back(int32_t(i));
    found.push_back({.name = child.name, .isAlone = type->lists.empty()});
    types.push_back(*std::move(type));
  }
  if (selected.empty())
    return Status::invalidArgument(
        file.path() +
        ": has no column that PDL can read: numbers, texts, bools "
        "and lists of them");
  rowValues.resize(selected.size());
  values.resize(selected.size());
  return {};
}

Expected<bool> RawColumns::next() {
  ++row;
  if (++batchRow < batchRows)
    return true;
  while (true) {
    if (group >= 0 && group < file.groupCount()) {
      auto loaded = file.next(0);
      PDLRT_RETURN_IF_ERROR(loaded.status());
      if ((*loaded)->length > 0) {
        batch = *std::move(loaded);
        batchRow = 0;
        batchRows = batch->length;
        for (size_t i = 0; i < selected.size(); ++i)
          values[i] = ColumnValues(types[i], *batch->children[i]);
        return true;
      }
    }
    if (++group >= file.groupCount())
      return false;
    PDLRT_RETURN_IF_ERROR(file.begin(group, selected));
  }
}

Status RawColumns::parse() {
  texts.clear();
  for (size_t i = 0; i < selected.size(); ++i) {
    const ColumnValues &column = values[i];
    rowValues[i].clear();
    found[i].isGiven = true;
    if (column.depth == 0) {
      addValue(column, batchRow, rowValues[i]);
    } else if (column.lists[0].isNull(batchRow)) {
      found[i].isGiven = false;
    } else {
      const int64_t end = column.lists[0].end(batchRow);
      for (int64_t at = column.lists[0].begin(batchRow); at < end; ++at)
        addValue(column, at, rowValues[i]);
    }
    found[i].values = rowValues[i];
  }
  return {};
}

/// Opens the next message. Returns false at the end of the topic.
Expected<bool> RawMessages::openNext() {
  // It refers to the bytes of the message.
  current.reset();
  std::string_view content;
  int64_t passed = 0;
  auto more = messages->nextMessage(content, passed);
  if (!more || !*more)
    return more;
  row = 0;
  auto file = ColumnFile::openMessage(content, messages->placeText());
  defect = file.status();
  if (file) {
    auto count = file->countRows();
    PDLRT_RETURN_IF_ERROR(count.status());
    rows = *count;
    current = std::make_unique<RawColumns>(*std::move(file));
    defect = current->bind();
  }
  if (defect.ok())
    return true;
  current.reset();
  rows = 1;
  // Without the library, no message can be read.
  if (defect.code() == PDL_DATA_LOSS || defect.code() == PDL_INVALID_ARGUMENT)
    return true;
  return defect;
}

Expected<bool> RawMessages::next() {
  while (row == rows) {
    auto more = openNext();
    if (!more || !*more)
      return more;
    if (rows == 0)
      messages->takeRows(0, 0);
  }
  if (current) {
    auto more = current->next();
    PDLRT_RETURN_IF_ERROR(more.status());
  }
  messages->takeRows(++row, rows);
  return true;
}

Status RawMessages::parse() {
  for (RawColumn &column : found) {
    column.values = {};
    column.isGiven = false;
  }
  if (!current)
    return defect;
  PDLRT_RETURN_IF_ERROR(current->parse());
  for (const RawColumn &given : current->columns()) {
    auto known = std::ranges::find(found, given.name, &RawColumn::name);
    if (known == found.end())
      known = found.insert(found.end(), {.name = given.name});
    known->values = given.values;
    known->isGiven = given.isGiven;
    known->isAlone = given.isAlone;
  }
  return {};
}

Expected<std::unique_ptr<RawRows>>
pdlrt::openRawMessages(const std::string &address,
                       const RecordReaderOptions &options) {
  auto messages = KafkaRows::open(address, options.wait);
  PDLRT_RETURN_IF_ERROR(messages.status());
  return std::unique_ptr<RawRows>(
      std::make_unique<RawMessages>(*std::move(messages)));
}

Expected<std::unique_ptr<RawRows>>
pdlrt::openRawColumns(const std::string &path, PdlColumnFormat format) {
  auto file = ColumnFile::open(path, format);
  PDLRT_RETURN_IF_ERROR(file.status());
  auto rows = std::make_unique<RawColumns>(*std::move(file));
  PDLRT_RETURN_IF_ERROR(rows->bind());
  return std::unique_ptr<RawRows>(std::move(rows));
}
