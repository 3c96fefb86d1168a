//===- TextWriters.cpp - Writes delimited text and JSON lines -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Input.h"
#include "RowWriter.h"

#include <fmt/format.h>
#include <utility>

using namespace pdlrt;

namespace {

class CellWriter final : public RowWriter {
public:
  CellWriter(Output &output, char delimiter, bool header)
      : output(output), delimiter(delimiter), header(header) {}

  Status begin(const std::vector<WrittenField> &given) override;
  Status write(const WrittenRow &row) override;

private:
  Status appendCell(const WrittenField &field, std::string_view cell);

  Output &output;
  char delimiter;
  bool header;
  std::vector<WrittenField> fields;
  /// Indexed by column of the file: field, and its slot in a row; no field: an
  /// empty cell.
  std::vector<std::pair<const WrittenField *, size_t>> cells;
  std::string line, storage, joined;
};

} // namespace

Status CellWriter::begin(const std::vector<WrittenField> &given) {
  fields = given;
  size_t slot = 0, next = 0;
  for (const WrittenField &field : fields) {
    for (int64_t i = 0; i < field.width; ++i, ++slot) {
      if (!field.columnPositions.empty())
        next = size_t(field.columnPositions[size_t(i)]);
      if (header && !field.columnPositions.empty())
        return cannotWrite(field, "has positions of columns, so the file needs "
                                  "no header; leave --header out");
      if (!header && !field.columnNames.empty())
        return cannotWrite(field, "has names of columns, which are in a "
                                  "header; give --header");
      if (next >= cells.size())
        cells.resize(next + 1);
      if (cells[next].first)
        return cannotWrite(field, fmt::format("and field `{}` have the same "
                                              "column",
                                              cells[next].first->name));
      cells[next++] = {&field, slot};
    }
  }
  if (!header)
    return {};
  line.clear();
  for (size_t i = 0, first = 0; i < cells.size(); ++i) {
    if (i && cells[i].first != cells[i - 1].first)
      first = i;
    if (i)
      line += delimiter;
    PDLRT_RETURN_IF_ERROR(appendCell(
        *cells[i].first, cells[i].first->slotName(int64_t(i - first))));
  }
  return output.write(line + "\n");
}

/// Appends a cell, in quotes as in RFC 4180 if it needs them.
Status CellWriter::appendCell(const WrittenField &field,
                              std::string_view cell) {
  const bool mayQuote = delimiter == ',' || delimiter == ';';
  const bool isSpecial = cell.find(delimiter) != std::string_view::npos ||
                         cell.find_first_of("\r\n") != std::string_view::npos ||
                         (mayQuote && cell.find('"') != std::string_view::npos);
  if (!isSpecial) {
    line += cell;
    return {};
  }
  if (!mayQuote)
    return cannotWrite(field, fmt::format("`{}` has a delimiter or a line "
                                          "break, and this file has no quotes; "
                                          "write .csv",
                                          cell));
  line += '"';
  for (const char c : cell)
    line += c == '"' ? std::string("\"\"") : std::string(1, c);
  line += '"';
  return {};
}

Status CellWriter::write(const WrittenRow &row) {
  line.clear();
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i)
      line += delimiter;
    const auto [field, slot] = cells[i];
    if (!field)
      continue;
    const std::vector<RowValue> &values = row[slot].values;
    if (values.size() > 1 && !field->separator)
      return cannotWrite(*field, fmt::format("a row has {} values, but the "
                                             "field has no separator(...) for "
                                             "the values of a cell",
                                             values.size()));
    joined.clear();
    for (size_t v = 0; v < values.size(); ++v) {
      const std::string_view text = writtenTextOf(values[v], storage);
      if (field->separator && text.find(field->separator) != text.npos)
        return cannotWrite(*field, fmt::format("`{}` has the character that "
                                               "separates values",
                                               text));
      if (v)
        joined += field->separator;
      joined += text;
    }
    // A separator at the end ends the last value.
    if (field->keepsMissing && values.size() > 1 && isMissing(values.back()))
      joined += field->separator;
    PDLRT_RETURN_IF_ERROR(appendCell(*field, joined));
  }
  return output.write(line + "\n");
}

namespace {

class JsonWriter final : public RowWriter {
public:
  explicit JsonWriter(Output &output) : output(output) {}

  Status begin(const std::vector<WrittenField> &given) override;
  Status write(const WrittenRow &row) override;

private:
  void appendText(std::string_view text);
  void appendValue(const RowValue &value);
  void appendSlot(const WrittenField &field, const WrittenSlot &slot);
  void appendName(std::string_view name) {
    line += line.size() > 1 ? ", " : "";
    appendText(name);
    line += ": ";
  }

  Output &output;
  std::vector<WrittenField> fields;
  std::string line, storage;
};

} // namespace

Status JsonWriter::begin(const std::vector<WrittenField> &given) {
  fields = given;
  for (const WrittenField &field : fields)
    if (!field.columnPositions.empty())
      return cannotWrite(field, "has positions of columns, but values of JSON "
                                "lines have names; give names in columns(...)");
  return {};
}

void JsonWriter::appendText(std::string_view text) {
  line += '"';
  for (const char c : text)
    if (c == '"' || c == '\\')
      line += std::string("\\") + c;
    else if (static_cast<unsigned char>(c) < 0x20)
      line += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      line += c;
  line += '"';
}

/// Returns true for numbers of JSON that are read as the same text.
static bool isJsonNumber(std::string_view text) {
  const auto digits = [&] {
    const size_t count =
        std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (text == "-0")
    return false;
  if (text.starts_with('-'))
    text.remove_prefix(1);
  const bool isZero = text.starts_with('0');
  const size_t whole = digits();
  if (whole == 0 || (isZero && whole > 1))
    return false;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0)
      return false;
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    if (text.starts_with('+') || text.starts_with('-'))
      text.remove_prefix(1);
    if (digits() == 0)
      return false;
  }
  return text.empty();
}

void JsonWriter::appendValue(const RowValue &value) {
  const std::string_view text = writtenTextOf(value, storage);
  if (isMissing(value) || text.empty())
    line += "null";
  else if (value.kind == RowValue::Kind::Truth || isJsonNumber(text))
    line += text;
  else
    appendText(text);
}

void JsonWriter::appendSlot(const WrittenField &field,
                            const WrittenSlot &slot) {
  if (!field.isBag && slot.values.size() <= 1) {
    appendValue(slot.values.empty() ? RowValue() : slot.values.front());
    return;
  }
  if (slot.isAlone && slot.values.size() == 1) {
    appendValue(slot.values.front());
    return;
  }
  line += '[';
  for (size_t i = 0; i < slot.values.size(); ++i) {
    line += i ? ", " : "";
    appendValue(slot.values[i]);
  }
  line += ']';
}

Status JsonWriter::write(const WrittenRow &row) {
  line = "{";
  size_t slot = 0;
  for (const WrittenField &field : fields) {
    if (field.width == 1 || !field.columnNames.empty()) {
      for (int64_t i = 0; i < field.width; ++i) {
        appendName(field.slotName(i));
        appendSlot(field, row[slot++]);
      }
      continue;
    }
    appendName(field.name);
    line += '[';
    for (int64_t i = 0; i < field.width; ++i) {
      line += i ? ", " : "";
      appendSlot(field, row[slot++]);
    }
    line += ']';
  }
  return output.write(line + "}\n");
}

std::unique_ptr<RowWriter> makeCellWriter(Output &output, char delimiter,
                                          bool header) {
  return std::make_unique<CellWriter>(output, delimiter, header);
}

std::unique_ptr<RowWriter> makeJsonWriter(Output &output) {
  return std::make_unique<JsonWriter>(output);
}
