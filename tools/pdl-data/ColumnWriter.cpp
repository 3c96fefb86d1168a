//===- ColumnWriter.cpp - Writes Parquet and Arrow IPC files --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellParser.h"
#include "Data/ColumnFileWriter.h"
#include "Input.h"
#include "RowWriter.h"

#include <cmath>
#include <fmt/format.h>
#include <optional>

using namespace pdlrt;

/// Rows of a row group, or fewer if they have so many bytes.
static constexpr int64_t groupRows = 65536;
static constexpr size_t groupBytes = size_t(64) << 20;

/// Returns true if a text is UTF-8, as the format promises to other programs.
static bool isUtf8(std::string_view text) {
  const auto *at =
      reinterpret_cast<const unsigned char *>(text.data()); // NOLINT
  const unsigned char *const end = at + text.size();
  while (at < end) {
    const unsigned lead = *at++;
    if (lead < 0x80)
      continue;
    const int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || end - at < more)
      return false;
    // Overlong forms, surrogates, and characters after the last one.
    const unsigned low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (*at < low || *at > high)
      return false;
    for (int i = 0; i < more; ++i)
      if ((*at++ & 0xc0) != 0x80)
        return false;
  }
  return true;
}

/// Returns the integer in a text that the trainer reads as one.
static std::optional<int64_t> integerOf(std::string_view text) {
  int64_t value = 0;
  return parseInteger(text, value) ? std::optional(value) : std::nullopt;
}

namespace {

/// Collects the values of one column in the layout of Arrow.
class ColumnBuilder {
public:
  enum class Type { Float, Double, Integer, Truth, Text };

  ColumnBuilder(const WrittenField &field, std::string name, bool isList);

  Status add(const RowValue &value);
  /// Ends the values of a row. A column without lists has one value per row.
  /// `isGiven`: the row has a list, even if it is empty.
  void endRow(bool isGiven) {
    if (!isList)
      return;
    setBit(givenLists, int64_t(listEnds.size()) - 1, isGiven);
    nullLists += !isGiven;
    listEnds.push_back(int32_t(count));
  }
  void clear();
  size_t bytes() const { return text.size() + size_t(count) * valueBytes; }

  /// Return the type and the values, which refer to this object.
  PdlColumnSchema &schema();
  PdlColumnArray &array();

private:
  static constexpr size_t valueBytes = 8;
  static void setBit(std::vector<uint8_t> &bits, int64_t index, bool value) {
    if (index % 8 == 0)
      bits.push_back(0);
    bits.back() |= uint8_t(uint8_t(value) << (index % 8));
  }
  Status addText(const RowValue &value);

  WrittenField field;
  std::string name;
  Type type;
  bool isList;
  int64_t count = 0, nulls = 0, nullLists = 0;
  std::vector<uint8_t> valid, truths, givenLists;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int64_t> integers;
  std::vector<int32_t> textEnds, listEnds;
  std::string text, storage;

  PdlColumnSchema valueType = {}, listType = {};
  PdlColumnSchema *childType = nullptr;
  PdlColumnArray values = {}, lists = {};
  PdlColumnArray *childValues = nullptr;
  const void *buffers[3] = {}, *listBuffers[2] = {};
};

class ColumnWriter final : public RowWriter {
public:
  ColumnWriter(Output &output, PdlColumnFormat format)
      : output(output), format(format) {}

  Status begin(const std::vector<WrittenField> &given) override;
  Status write(const WrittenRow &row) override;
  Status end() override;

private:
  Status flush();

  Output &output;
  PdlColumnFormat format;
  std::vector<WrittenField> fields;
  std::vector<ColumnBuilder> columns;
  int64_t rows = 0;
  std::unique_ptr<ColumnFileWriter> writer;
};

} // namespace

ColumnBuilder::ColumnBuilder(const WrittenField &field, std::string name,
                             bool isList)
    : field(field), name(std::move(name)),
      type(field.isF64       ? Type::Double
           : field.isNumber  ? Type::Float
           : field.isInteger ? Type::Integer
           : field.isTruth   ? Type::Truth
                             : Type::Text),
      isList(isList) {
  clear();
}

void ColumnBuilder::clear() {
  count = nulls = nullLists = 0;
  valid.clear();
  givenLists.clear();
  truths.clear();
  floats.clear();
  doubles.clear();
  integers.clear();
  text.clear();
  textEnds.assign(1, 0);
  listEnds.assign(1, 0);
}

Status ColumnBuilder::addText(const RowValue &value) {
  const std::string_view written = writtenTextOf(value, storage);
  if (!isUtf8(written))
    return cannotWrite(field, "a text is not UTF-8, which texts of this format "
                              "are; write another format");
  text += written;
  return {};
}

Status ColumnBuilder::add(const RowValue &value) {
  const bool isNull =
      isMissing(value) ||
      (value.kind == RowValue::Kind::Number && std::isnan(value.number));
  switch (type) {
  case Type::Float:
    floats.push_back(isNull ? 0 : float(value.number));
    break;
  case Type::Double:
    doubles.push_back(isNull ? 0
                      : value.kind == RowValue::Kind::Integer
                          ? double(value.integer)
                          : value.number);
    break;
  case Type::Integer: {
    const auto integer = isNull ? int64_t(0)
                         : value.kind == RowValue::Kind::Integer
                             ? std::optional(value.integer)
                             : integerOf(value.text);
    if (!integer)
      return cannotWrite(
          field, fmt::format("`{}` is no integer, but the ids of "
                             "the field are; correct the row, or write a text "
                             "format",
                             value.text));
    integers.push_back(*integer);
    break;
  }
  case Type::Truth:
    setBit(truths, count, !isNull && value.integer != 0);
    break;
  case Type::Text:
    if (!isNull)
      PDLRT_RETURN_IF_ERROR(addText(value));
    textEnds.push_back(int32_t(text.size()));
    break;
  }
  setBit(valid, count, !isNull);
  nulls += isNull;
  ++count;
  return {};
}

static void releaseType(PdlColumnSchema *type) { type->release = nullptr; }
static void releaseArray(PdlColumnArray *array) { array->release = nullptr; }

PdlColumnSchema &ColumnBuilder::schema() {
  static constexpr const char *formats[] = {"f", "g", "l", "b", "u"};
  constexpr int64_t isNullable = 2;
  valueType = {.format = formats[size_t(type)],
               .name = isList ? "element" : name.c_str(),
               .metadata = nullptr,
               .flags = isNullable,
               .childCount = 0,
               .children = nullptr,
               .dictionary = nullptr,
               .release = releaseType,
               .owner = nullptr};
  if (!isList)
    return valueType;
  childType = &valueType;
  listType = valueType;
  listType.format = "+l";
  listType.name = name.c_str();
  listType.childCount = 1;
  listType.children = &childType;
  return listType;
}

PdlColumnArray &ColumnBuilder::array() {
  buffers[0] = valid.data();
  buffers[1] =
      type == Type::Float     ? static_cast<const void *>(floats.data())
      : type == Type::Double  ? static_cast<const void *>(doubles.data())
      : type == Type::Integer ? static_cast<const void *>(integers.data())
      : type == Type::Truth   ? static_cast<const void *>(truths.data())
                              : textEnds.data();
  buffers[2] = text.data();
  values = {.length = count,
            .nullCount = nulls,
            .offset = 0,
            .bufferCount = type == Type::Text ? 3 : 2,
            .childCount = 0,
            .buffers = buffers,
            .children = nullptr,
            .dictionary = nullptr,
            .release = releaseArray,
            .owner = nullptr};
  if (!isList)
    return values;
  childValues = &values;
  listBuffers[0] = givenLists.data();
  listBuffers[1] = listEnds.data();
  lists = {.length = int64_t(listEnds.size()) - 1,
           .nullCount = nullLists,
           .offset = 0,
           .bufferCount = 2,
           .childCount = 1,
           .buffers = listBuffers,
           .children = &childValues,
           .dictionary = nullptr,
           .release = releaseArray,
           .owner = nullptr};
  return lists;
}

/// Returns true if all slots of a field are one column with lists.
static bool isWhole(const WrittenField &field) {
  return field.isNumber && !field.isBag && field.width > 1 &&
         field.columnNames.empty();
}

Status ColumnWriter::begin(const std::vector<WrittenField> &given) {
  fields = given;
  for (const WrittenField &field : fields) {
    if (!field.columnPositions.empty())
      return cannotWrite(field, "has positions of columns, but columns of "
                                "Parquet and Arrow files have names; give "
                                "names in columns(...)");
    if (isWhole(field)) {
      columns.emplace_back(field, field.name, /*isList=*/true);
      continue;
    }
    for (int64_t i = 0; i < field.width; ++i)
      columns.emplace_back(field, field.slotName(i), field.isBag);
  }
  std::vector<PdlColumnSchema *> types;
  for (ColumnBuilder &column : columns)
    types.push_back(&column.schema());
  PdlColumnSchema schema = {.format = "+s",
                            .name = "",
                            .metadata = nullptr,
                            .flags = 0,
                            .childCount = int64_t(types.size()),
                            .children = types.data(),
                            .dictionary = nullptr,
                            .release = releaseType,
                            .owner = nullptr};
  auto created =
      ColumnFileWriter::create(format, schema, [this](std::string_view bytes) {
        return output.write(bytes);
      });
  PDLRT_RETURN_IF_ERROR(created.status());
  writer = *std::move(created);
  return {};
}

/// Returns true if a row has no list in a column of lists.
static bool lacksList(const WrittenSlot &slot) {
  return !slot.isGiven || (slot.isAlone && slot.values.size() == 1 &&
                           isMissing(slot.values.front()));
}

Status ColumnWriter::write(const WrittenRow &row) {
  size_t slot = 0, next = 0, bytes = 0;
  for (const WrittenField &field : fields) {
    const bool whole = isWhole(field);
    for (int64_t i = 0; i < field.width; ++i, ++slot) {
      ColumnBuilder &column = columns[next];
      const std::vector<RowValue> &values = row[slot].values;
      const bool isNull = field.isBag && lacksList(row[slot]);
      for (size_t v = 0; v < values.size() && !isNull; ++v)
        PDLRT_RETURN_IF_ERROR(column.add(values[v]));
      if (values.empty() && !field.isBag)
        PDLRT_RETURN_IF_ERROR(column.add({}));
      if (whole && i + 1 < field.width)
        continue;
      column.endRow(!isNull);
      bytes += column.bytes();
      ++next;
    }
  }
  return ++rows == groupRows || bytes >= groupBytes ? flush() : Status();
}

Status ColumnWriter::flush() {
  std::vector<PdlColumnArray *> arrays;
  for (ColumnBuilder &column : columns)
    arrays.push_back(&column.array());
  const void *noNulls[1] = {};
  PdlColumnArray batch = {.length = rows,
                          .nullCount = 0,
                          .offset = 0,
                          .bufferCount = 1,
                          .childCount = int64_t(arrays.size()),
                          .buffers = noNulls,
                          .children = arrays.data(),
                          .dictionary = nullptr,
                          .release = releaseArray,
                          .owner = nullptr};
  PDLRT_RETURN_IF_ERROR(writer->write(batch));
  rows = 0;
  for (ColumnBuilder &column : columns)
    column.clear();
  return {};
}

Status ColumnWriter::end() {
  if (rows > 0)
    PDLRT_RETURN_IF_ERROR(flush());
  return writer->finish();
}

std::unique_ptr<RowWriter> makeColumnWriter(Output &output,
                                            PdlColumnFormat format) {
  return std::make_unique<ColumnWriter>(output, format);
}
