//===- TensorReader.cpp - Reads records from safetensors files ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellParser.h"
#include "Data/RecordReader.h"
#include "Data/RowDefect.h"
#include "pdlrt/Core/Finite.h"
#include "pdlrt/Files/Safetensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

using namespace pdlrt;

namespace {

/// The tensors of one field; `splits` is null unless the field is ragged.
struct FieldTensors {
  std::unique_ptr<TensorWindow> values, splits;
};

template <typename T> T elementAt(const std::byte *elements, int64_t index) {
  T value;
  std::memcpy(&value, elements + index * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

/// Returns an element of a tensor of I32, I64 or U64.
int64_t integerAt(TensorType type, const std::byte *elements, int64_t index) {
  return type == TensorType::I32 ? elementAt<int32_t>(elements, index)
                                 : elementAt<int64_t>(elements, index);
}

class TensorReader final : public RecordReader {
public:
  TensorReader(SafetensorsFile file, int32_t fileIndex)
      : file(std::move(file)), fileIndex(fileIndex) {}

  Status bind(const RecordReaderOptions &options);
  Expected<int64_t> read(int64_t count, RecordColumns &into,
                         PassedRows &passed) override;
  Expected<int64_t> skip(int64_t count, PassedRows *passed) override;
  Expected<bool> moveTo(const RowPlace &place) override {
    if (place.row > rowCount - row)
      return false;
    row += place.row;
    return true;
  }

private:
  Status readRagged(const pdl_field &field, FieldTensors &from,
                    RecordColumns::Column &column);
  Status readPlain(const pdl_field &field, FieldTensors &from,
                   RecordColumns::Column &column);
  Status bindPlain(const pdl_field &field, FieldTensors &tensors);
  Status checkKeys(const pdl_field &field, const TensorView &values) const;
  Status bindRagged(const pdl_field &field, FieldTensors &tensors);
  Expected<std::string_view> readId();
  Status noteRow(PassedRows &passed);
  Status refuseChanged(const TensorView &values) const;
  void noteDefect(const TensorView &tensor, const std::byte *values,
                  int64_t slot);
  Status setRowCount(const pdl_field &field, int64_t rows);
  Expected<const TensorView *> require(const std::string &name) const;
  Status error(const std::string &what) const {
    return Status::invalidArgument(file.path() + ": " + what);
  }

  SafetensorsFile file;
  int32_t fileIndex;
  std::vector<const pdl_field *> fields;
  const pdl_program *program = nullptr;
  std::vector<FieldTensors> tensors;
  /// The copied ids, and the current one.
  FieldTensors ids;
  std::string idText;
  int64_t rowCount = 0;
  const pdl_field *rowCountField = nullptr;
  int64_t row = 0;
  /// Message about the current row; empty if there is no error.
  std::string defect;
};

Expected<const TensorView *>
TensorReader::require(const std::string &name) const {
  if (const TensorView *tensor = file.find(name))
    return tensor;
  return error("has no tensor `" + name + "`, which the program reads");
}

Status TensorReader::setRowCount(const pdl_field &field, int64_t rows) {
  if (rowCountField && rows != rowCount)
    return error(std::string("field `") + field.name + "` has " +
                 std::to_string(rows) + " rows, but field `" +
                 rowCountField->name + "` has " + std::to_string(rowCount));
  rowCountField = &field;
  rowCount = rows;
  return {};
}

/// Returns true if a field of floats can represent every value of that type.
static bool fitsNumbers(TensorType type, const pdl_field &field) {
  return type == TensorType::F32 ||
         (type == TensorType::F64 && field.element_type == PDL_F64);
}

Status TensorReader::bindPlain(const pdl_field &field, FieldTensors &bound) {
  auto tensor = require(field.name);
  PDLRT_RETURN_IF_ERROR(tensor.status());
  const TensorView &values = **tensor;
  bound.values = std::make_unique<TensorWindow>(values);
  const bool shapeFits =
      (values.shape.size() == 1 && field.width == 1) ||
      (values.shape.size() == 2 && values.shape[1] == field.width);
  // Only lossless conversions are allowed.
  const bool typeFits = field.kind == PDL_FIELD_IDS
                            ? values.type == TensorType::I64 ||
                                  values.type == TensorType::U64 ||
                                  values.type == TensorType::I32
                            : fitsNumbers(values.type, field);
  if (!shapeFits || !typeFits) {
    const char *wanted = field.kind == PDL_FIELD_IDS     ? "I64"
                         : field.element_type == PDL_F64 ? "F64"
                                                         : "F32";
    return error("tensor `" + values.name + "` is " + values.typeAndShape() +
                 ", but the field wants " + wanted + " [rows, " +
                 std::to_string(field.width) + "]");
  }
  return setRowCount(field, values.shape[0]);
}

/// Returns an error for integers in a field that hashes texts, unless the file
/// declares them as keys, by their type or in its metadata.
Status TensorReader::checkKeys(const pdl_field &field,
                               const TensorView &values) const {
  const auto ids = file.metadata().find("ids");
  if (field.element_type != PDL_I64 || field.hash_kind == PDL_HASH_NONE ||
      values.type == TensorType::U64 ||
      (ids != file.metadata().end() && ids->second == "keys"))
    return {};
  return error("tensor `" + values.name + "` is " + values.typeAndShape() +
               ", but field `" + field.name +
               "` hashes texts; give texts in a CSV or TSV file, or ready keys "
               "(pdl.key of Python): as U64, or with the metadata `ids` = "
               "`keys`");
}

Status TensorReader::bindRagged(const pdl_field &field, FieldTensors &bound) {
  const std::string name = field.name;
  auto valuesTensor = require(name + ".values");
  PDLRT_RETURN_IF_ERROR(valuesTensor.status());
  auto splitsTensor = require(name + ".splits");
  PDLRT_RETURN_IF_ERROR(splitsTensor.status());
  const TensorView &values = **valuesTensor;
  const TensorView &splits = **splitsTensor;
  bound.values = std::make_unique<TensorWindow>(values);
  bound.splits = std::make_unique<TensorWindow>(splits);
  const bool isFloat = field.element_type != PDL_I64;
  if (values.shape.size() != 1 ||
      !(isFloat
            ? fitsNumbers(values.type, field)
            : values.type == TensorType::I64 || values.type == TensorType::U64))
    return error("tensor `" + values.name + "` is " + values.typeAndShape() +
                 (!isFloat ? ", but the ids of a ragged field are I64 [ids]"
                  : field.element_type == PDL_F64
                      ? ", but the numbers of this ragged field are F64 "
                        "[numbers]"
                      : ", but the numbers of this ragged field are F32 "
                        "[numbers]"));
  // Returns an error if the token is not an id of the field.
  PDLRT_RETURN_IF_ERROR(CellParser::create(field).status());
  const int64_t entries = splits.elementCount;
  if (splits.shape.size() != 1 || entries < 1 ||
      (entries - 1) % field.width != 0 ||
      (splits.type != TensorType::I32 && splits.type != TensorType::I64))
    return error("tensor `" + splits.name + "` is " + splits.typeAndShape() +
                 ", but splits are I32 or I64 [rows * " +
                 std::to_string(field.width) + " + 1]");
  int64_t last = 0;
  for (int64_t i = 0; i < entries; ++i) {
    Expected<const std::byte *> entry = bound.splits->at(i, 1);
    if (!entry)
      return entry.status();
    const int64_t split = integerAt(splits.type, *entry, 0);
    if (split < last || (i == 0 && split != 0) || split > values.elementCount)
      return error("tensor `" + splits.name + "` has " + std::to_string(split) +
                   " at " + std::to_string(i) +
                   "; splits begin at 0 and ascend to the number of ids");
    last = split;
  }
  if (last != values.elementCount)
    return error("tensor `" + splits.name + "` ends at " +
                 std::to_string(last) + ", but there are " +
                 std::to_string(values.elementCount) + " ids");
  return setRowCount(field, (entries - 1) / field.width);
}

Status TensorReader::bind(const RecordReaderOptions &options) {
  fields = fieldsOf(options.descriptor, options.program);
  program = &options.program;
  for (const pdl_field *field : fields) {
    FieldTensors bound;
    PDLRT_RETURN_IF_ERROR(field->kind == PDL_FIELD_RAGGED
                              ? bindRagged(*field, bound)
                              : bindPlain(*field, bound));
    PDLRT_RETURN_IF_ERROR(checkKeys(*field, bound.values->view()));
    tensors.push_back(std::move(bound));
  }
  if (const std::optional<size_t> id = idFieldOf(options))
    return bindPlain(options.descriptor.fields[*id], ids);
  return {};
}

/// Returns the copied text of the current row; empty if there is none.
Expected<std::string_view> TensorReader::readId() {
  if (!ids.values)
    return std::string_view();
  Expected<const std::byte *> value = ids.values->at(row, 1);
  if (!value)
    return value.status();
  const TensorType type = ids.values->view().type;
  const int64_t id = integerAt(type, *value, 0);
  idText = type == TensorType::U64 ? std::to_string(uint64_t(id))
                                   : std::to_string(id);
  return std::string_view(idText);
}

/// Returns true if ids [begin, end) exist. They did when the file was opened,
/// so otherwise the file has changed.
static bool areSplits(int64_t begin, int64_t end, const TensorView &values) {
  return begin >= 0 && end >= begin && end <= values.elementCount;
}

Status TensorReader::refuseChanged(const TensorView &values) const {
  return error("tensor `" + values.name +
               "` was changed while it was read; do not change a file "
               "that is read");
}

static int32_t elementTypeOf(TensorType type) {
  return type == TensorType::F64 ? PDL_F64 : PDL_F32;
}

/// Appends a number of a tensor of that type, widened to the field's type. NaN
/// is a missing number and is replaced.
static void appendNumber(const pdl_field &field, TensorType type,
                         const std::byte *values, int64_t index,
                         RecordColumns::Column &column) {
  double number = type == TensorType::F64 ? elementAt<double>(values, index)
                                          : elementAt<float>(values, index);
  if (std::isnan(number))
    number = missingNumberOf(field).value_or(number);
  if (field.element_type == PDL_F64)
    column.append(number);
  else
    column.append(static_cast<float>(number));
}

/// Returns true if a number of a tensor of that type is missing.
static bool isNaNAt(TensorType type, const std::byte *values, int64_t index) {
  return std::isnan(type == TensorType::F64 ? elementAt<double>(values, index)
                                            : elementAt<float>(values, index));
}

/// Appends the replacement of a missing bag in that slot: one value, or none.
static void appendMissingBag(const pdl_field &field, int64_t slot,
                             RecordColumns::Column &column) {
  if (field.missing_kind == PDL_MISSING_TOKEN) {
    int64_t key = 0;
    // The conversion succeeds, because the token was checked when the file was
    // opened.
    (void)keyOfText(field, field.missing_token, slot, key);
    column.append(key);
  } else if (field.missing_kind == PDL_MISSING_VALUE) {
    if (field.element_type == PDL_F64)
      column.append(field.missing_value);
    else
      column.append(static_cast<float>(field.missing_value));
  }
  column.endBag();
}

/// Returns the index of the first of `count` numbers that is not allowed, or
/// `count` if there is none. A NaN is a missing number, which may have a
/// replacement.
static int64_t firstBad(const pdl_field &field, TensorType type, int64_t count,
                        const std::byte *values) {
  const int64_t size = int64_t(tensorElementSize(type));
  for (int64_t begin = 0; begin < count;) {
    const int64_t at =
        begin + firstNonFinite(elementTypeOf(type), count - begin,
                               values + begin * size);
    const bool isMissing = at < count && isNaNAt(type, values, at);
    if (!isMissing || !missingNumberOf(field))
      return at;
    begin = at + 1;
  }
  return count;
}

Status TensorReader::readRagged(const pdl_field &field, FieldTensors &from,
                                RecordColumns::Column &column) {
  const int64_t width = field.width;
  Expected<const std::byte *> splits = from.splits->at(row * width, width + 1);
  if (!splits)
    return splits.status();
  const TensorView &values = from.values->view();
  for (int64_t slot = 0; slot < width; ++slot) {
    const TensorType type = from.splits->view().type;
    const int64_t begin = integerAt(type, *splits, slot);
    const int64_t end = integerAt(type, *splits, slot + 1);
    if (!areSplits(begin, end, values))
      return refuseChanged(values);
    Expected<const std::byte *> ids = from.values->at(begin, end - begin);
    if (!ids)
      return ids.status();
    // A bag is missing if its only value is, as in text cells.
    const bool isNumber = field.element_type != PDL_I64;
    if (begin == end ||
        (isNumber && end - begin == 1 && isNaNAt(values.type, *ids, 0))) {
      appendMissingBag(field, slot, column);
      continue;
    }
    if (isNumber) {
      const int64_t bad = firstBad(field, values.type, end - begin, *ids);
      if (bad < end - begin) {
        noteDefect(values, *ids, bad);
        return {};
      }
    }
    for (int64_t i = 0; i < end - begin; ++i)
      if (isNumber)
        appendNumber(field, values.type, *ids, i, column);
      else
        column.append(elementAt<int64_t>(*ids, i));
    column.endBag();
  }
  return {};
}

/// Records a message about one of a row's values that is not finite.
void TensorReader::noteDefect(const TensorView &tensor, const std::byte *values,
                              int64_t slot) {
  const double value = tensor.type == TensorType::F64
                           ? elementAt<double>(values, slot)
                           : elementAt<float>(values, slot);
  defect = file.path() + ": tensor `" + tensor.name + "` has " +
           (std::isnan(value) ? "nan" : "an infinite value") + " in row " +
           std::to_string(row) + ", column " + std::to_string(slot) +
           ", counted from 0; numbers of a field are finite";
}

Status TensorReader::readPlain(const pdl_field &field, FieldTensors &from,
                               RecordColumns::Column &column) {
  const int64_t width = field.width;
  Expected<const std::byte *> values = from.values->at(row * width, width);
  if (!values)
    return values.status();
  const TensorType type = from.values->view().type;
  if (field.kind == PDL_FIELD_DENSE) {
    const int64_t slot = firstBad(field, type, width, *values);
    if (slot < width) {
      noteDefect(from.values->view(), *values, slot);
      return {};
    }
  }
  for (int64_t slot = 0; slot < width; ++slot)
    if (field.kind == PDL_FIELD_IDS)
      column.append(integerAt(type, *values, slot));
    else
      appendNumber(field, type, *values, slot, column);
  return {};
}

/// Records that row `row` is passed, with the digest of its values.
Status TensorReader::noteRow(PassedRows &passed) {
  uint64_t content = 0;
  for (size_t f = 0; f < fields.size(); ++f) {
    TensorWindow &values = *tensors[f].values;
    const int64_t width = fields[f]->width;
    int64_t begin = row * width, end = begin + width;
    if (TensorWindow *splits = tensors[f].splits.get()) {
      Expected<const std::byte *> offsets = splits->at(begin, width + 1);
      if (!offsets)
        return offsets.status();
      const TensorType type = splits->view().type;
      for (int64_t slot = 0; slot < width; ++slot) {
        const int64_t ids = integerAt(type, *offsets, slot + 1) -
                            integerAt(type, *offsets, slot);
        content = PassedRows::contentOf(&ids, sizeof(ids), content);
      }
      begin = integerAt(type, *offsets, 0);
      end = integerAt(type, *offsets, width);
      if (!areSplits(begin, end, values.view()))
        return refuseChanged(values.view());
    }
    Expected<const std::byte *> bytes = values.at(begin, end - begin);
    if (!bytes)
      return bytes.status();
    content = PassedRows::contentOf(
        *bytes, size_t(end - begin) * tensorElementSize(values.view().type),
        content);
  }
  passed.beginRow(content);
  return {};
}

Expected<int64_t> TensorReader::skip(int64_t count, PassedRows *passed) {
  count = std::min(count, rowCount - row);
  if (!passed) {
    row += count;
    return count;
  }
  for (int64_t i = 0; i < count; ++i, ++row)
    PDLRT_RETURN_IF_ERROR(noteRow(*passed));
  return count;
}

Expected<int64_t> TensorReader::read(int64_t count, RecordColumns &into,
                                     PassedRows &passed) {
  count = std::min(count, rowCount - row);
  for (int64_t i = 0; i < count; ++i, ++row) {
    PDLRT_RETURN_IF_ERROR(noteRow(passed));
    defect.clear();
    for (size_t f = 0; f < fields.size() && defect.empty(); ++f) {
      RecordColumns::Column &column = into.column(f);
      PDLRT_RETURN_IF_ERROR(tensors[f].splits
                                ? readRagged(*fields[f], tensors[f], column)
                                : readPlain(*fields[f], tensors[f], column));
    }
    if (defect.empty())
      if (const auto found = findRowDefect(*program, into, nullptr))
        defect = file.path() + ": row " + std::to_string(row) +
                 ", counted from 0: " + found->text;
    Expected<std::string_view> id = readId();
    if (!id)
      return id.status();
    if (defect.empty()) {
      into.commitRecord(fileIndex, passed.current(), passed.currentSample(),
                        *id);
      continue;
    }
    into.rollbackRecord();
    PDLRT_RETURN_IF_ERROR(passed.addBad(defect, *id));
  }
  return count;
}

} // namespace

Expected<std::unique_ptr<RecordReader>>
pdlrt::openTensorReader(const std::string &path, int32_t fileIndex,
                        const RecordReaderOptions &options) {
  if (!canBeReadAgain(path))
    return Status::invalidArgument(path +
                                   ": is a pipe or a device, but safetensors "
                                   "are read from a file; write it to one");
  auto file = SafetensorsFile::open(path);
  PDLRT_RETURN_IF_ERROR(file.status());
  auto reader = std::make_unique<TensorReader>(*std::move(file), fileIndex);
  PDLRT_RETURN_IF_ERROR(reader->bind(options));
  return std::unique_ptr<RecordReader>(std::move(reader));
}
