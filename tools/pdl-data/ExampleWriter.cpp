//===- ExampleWriter.cpp - Writes TFRecord files of tf.train.Example ------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/RecordFraming.h"
#include "Input.h"
#include "RowWriter.h"

using namespace pdlrt;

/// Numbers of fields in TensorFlow's example.proto and feature.proto.
enum ProtoField : uint64_t {
  ListValue = 1,
  BytesList = 1,
  FloatList = 2,
  FeaturesEntry = 1,
  EntryKey = 1,
  EntryValue = 2,
  ExampleFeatures = 1
};

namespace {

class ExampleWriter final : public RowWriter {
public:
  explicit ExampleWriter(Output &output) : output(output) {}

  Status begin(const std::vector<WrittenField> &given) override;
  Status write(const WrittenRow &row) override;

private:
  void appendFeature(const std::string &name, bool areFloats,
                     const std::vector<const RowValue *> &values);

  Output &output;
  std::vector<WrittenField> fields;
  std::string features;
};

} // namespace

Status ExampleWriter::begin(const std::vector<WrittenField> &given) {
  fields = given;
  for (const WrittenField &field : fields)
    if (!field.columnPositions.empty())
      return cannotWrite(field, "has positions of columns, but features of "
                                "TFRecord have names; give names in "
                                "columns(...)");
  return {};
}

void ExampleWriter::appendFeature(const std::string &name, bool areFloats,
                                  const std::vector<const RowValue *> &values) {
  std::string list, storage, feature, entry;
  if (areFloats) {
    std::string packed;
    for (const RowValue *value : values)
      packed += bytesOf(float(value->number));
    appendBytes(ListValue, packed, list);
  } else {
    for (const RowValue *value : values)
      appendBytes(ListValue, writtenTextOf(*value, storage), list);
  }
  appendBytes(areFloats ? FloatList : BytesList, list, feature);
  appendBytes(EntryKey, name, entry);
  appendBytes(EntryValue, feature, entry);
  appendBytes(FeaturesEntry, entry, features);
}

Status ExampleWriter::write(const WrittenRow &row) {
  features.clear();
  size_t slot = 0;
  std::vector<const RowValue *> values;
  for (const WrittenField &field : fields) {
    // Numbers of all columns are one list; other slots have lists of their own.
    const bool isWhole =
        field.isNumber && !field.isBag && field.columnNames.empty();
    values.clear();
    for (int64_t i = 0; i < field.width; ++i, ++slot) {
      if (!isWhole)
        values.clear();
      for (const RowValue &value : row[slot].values)
        values.push_back(&value);
      if (!isWhole)
        appendFeature(field.slotName(i), field.isNumber && !field.isF64,
                      values);
    }
    if (isWhole)
      appendFeature(field.name, !field.isF64, values);
  }
  std::string example;
  appendBytes(ExampleFeatures, features, example);
  return output.write(framedRecord(example));
}

std::unique_ptr<RowWriter> makeExampleWriter(Output &output) {
  return std::make_unique<ExampleWriter>(output);
}
