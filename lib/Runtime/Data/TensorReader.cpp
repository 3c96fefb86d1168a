//===- TensorReader.cpp - Records from columns in safetensors -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RecordReader.h"
#include "pdlrt/Checkpoint/Safetensors.h"

#include <algorithm>

using namespace pdlrt;

namespace {

/// The tensors of one field; `splits` only where it is ragged.
struct FieldTensors {
  const TensorView *values = nullptr;
  const TensorView *splits = nullptr;
};

template <typename T> T elementAt(const TensorView &tensor, int64_t index) {
  T value;
  std::memcpy(&value, tensor.data + index * static_cast<int64_t>(sizeof(T)),
              sizeof(T));
  return value;
}

/// An entry of a tensor of I32, I64 or U64.
int64_t integerAt(const TensorView &tensor, int64_t index) {
  return tensor.type == TensorType::I32 ? elementAt<int32_t>(tensor, index)
                                        : elementAt<int64_t>(tensor, index);
}

class TensorReader final : public RecordReader {
public:
  TensorReader(SafetensorsFile file, int32_t fileIndex)
      : file(std::move(file)), fileIndex(fileIndex) {}

  Status bind(const RecordReaderOptions &options);
  Expected<int64_t> read(int64_t count, RecordColumns &into,
                         BadRows &badRows) override;
  Expected<int64_t> skip(int64_t count) override {
    const int64_t passed = std::min(count, rowCount - row);
    row += passed;
    return passed;
  }

private:
  Status bindPlain(const pdl_field &field, FieldTensors &tensors);
  Status bindRagged(const pdl_field &field, FieldTensors &tensors);
  Status setRowCount(const pdl_field &field, int64_t rows);
  Expected<const TensorView *> require(const std::string &name) const;
  Status error(const std::string &what) const {
    return Status::invalid(file.path() + ": " + what);
  }

  SafetensorsFile file;
  int32_t fileIndex;
  std::vector<const pdl_field *> fields;
  std::vector<FieldTensors> tensors;
  int64_t rowCount = 0;
  const pdl_field *rowCountField = nullptr;
  int64_t row = 0;
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

Status TensorReader::bindPlain(const pdl_field &field, FieldTensors &bound) {
  auto tensor = require(field.name);
  PDLRT_RETURN_IF_ERROR(tensor.status());
  const TensorView &values = **tensor;
  bound.values = &values;
  const bool shapeFits =
      (values.shape.size() == 1 && field.width == 1) ||
      (values.shape.size() == 2 && values.shape[1] == field.width);
  // Only conversions that keep every value.
  const bool typeFits =
      field.kind == PDL_FIELD_IDS
          ? values.type == TensorType::I64 || values.type == TensorType::U64 ||
                values.type == TensorType::I32
          : values.type == TensorType::F32 || (values.type == TensorType::F64 &&
                                               field.element_type == PDL_F64);
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

Status TensorReader::bindRagged(const pdl_field &field, FieldTensors &bound) {
  const std::string name = field.name;
  auto valuesTensor = require(name + ".values");
  PDLRT_RETURN_IF_ERROR(valuesTensor.status());
  auto splitsTensor = require(name + ".splits");
  PDLRT_RETURN_IF_ERROR(splitsTensor.status());
  const TensorView &values = **valuesTensor;
  const TensorView &splits = **splitsTensor;
  bound = {&values, &splits};
  if (values.shape.size() != 1 ||
      (values.type != TensorType::I64 && values.type != TensorType::U64))
    return error("tensor `" + values.name + "` is " + values.typeAndShape() +
                 ", but the ids of a ragged field are I64 [ids]");
  const int64_t entries = splits.elementCount;
  if (splits.shape.size() != 1 || entries < 1 ||
      (entries - 1) % field.width != 0 ||
      (splits.type != TensorType::I32 && splits.type != TensorType::I64))
    return error("tensor `" + splits.name + "` is " + splits.typeAndShape() +
                 ", but splits are I32 or I64 [rows * " +
                 std::to_string(field.width) + " + 1]");
  int64_t last = 0;
  for (int64_t i = 0; i < entries; ++i) {
    const int64_t split = integerAt(splits, i);
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
  for (const pdl_field *field : fields) {
    FieldTensors bound;
    PDLRT_RETURN_IF_ERROR(field->kind == PDL_FIELD_RAGGED
                              ? bindRagged(*field, bound)
                              : bindPlain(*field, bound));
    tensors.push_back(bound);
  }
  return {};
}

Expected<int64_t> TensorReader::read(int64_t count, RecordColumns &into,
                                     BadRows &) {
  count = std::min(count, rowCount - row);
  for (int64_t passed = 0; passed < count; ++passed, ++row) {
    for (size_t i = 0; i < fields.size(); ++i) {
      const int64_t width = fields[i]->width;
      const FieldTensors &source = tensors[i];
      RecordColumns::Column &column = into.column(i);
      for (int64_t slot = 0; slot < width; ++slot) {
        const int64_t at = row * width + slot;
        if (source.splits) {
          const int64_t end = integerAt(*source.splits, at + 1);
          for (int64_t o = integerAt(*source.splits, at); o < end; ++o)
            column.append(elementAt<int64_t>(*source.values, o));
          column.endBag();
        } else if (fields[i]->kind == PDL_FIELD_IDS) {
          column.append(integerAt(*source.values, at));
        } else if (source.values->type == TensorType::F64) {
          column.append(elementAt<double>(*source.values, at));
        } else if (fields[i]->element_type == PDL_F64) {
          column.append<double>(elementAt<float>(*source.values, at));
        } else {
          column.append(elementAt<float>(*source.values, at));
        }
      }
    }
    into.commitRecord(fileIndex);
  }
  return count;
}

} // namespace

Expected<std::unique_ptr<RecordReader>>
pdlrt::openTensorReader(const std::string &path, int32_t fileIndex,
                        const RecordReaderOptions &options) {
  auto file = SafetensorsFile::open(path);
  PDLRT_RETURN_IF_ERROR(file.status());
  auto reader = std::make_unique<TensorReader>(*std::move(file), fileIndex);
  PDLRT_RETURN_IF_ERROR(reader->bind(options));
  return std::unique_ptr<RecordReader>(std::move(reader));
}
