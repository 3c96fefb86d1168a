//===- TFRecordFormat.cpp - TFRecord files of tf.train.Example ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/CellSplitter.h"
#include "Data/FileFormat.h"
#include "Data/RowReader.h"
#include "Data/TFRecordFile.h"
#include "Data/WireFormat.h"

#include <bit>
#include <cstring>

using namespace pdlrt;

namespace {

/// Numbers of fields in TensorFlow's example.proto and feature.proto.
enum ExampleField : uint64_t { exampleFeatures = 1, sequenceLists = 2 };
enum FeaturesField : uint64_t { featuresEntry = 1 };
enum EntryField : uint64_t { entryKey = 1, entryValue = 2 };
enum FeatureField : uint64_t { bytesList = 1, floatList = 2, int64List = 3 };
enum ListField : uint64_t { listValue = 1 };

/// Decodes a tf.train.Example into named values.
class ExampleParser final : public RowParser {
public:
  Status parse(std::string_view example, RowAssembler &into,
               size_t &column) override;

private:
  Status parseFeatures(std::string_view features);
  Status parseEntry(std::string_view entry);
  Status parseFeature(std::string_view feature, int32_t column);
  Status parseList(uint64_t kind, std::string_view list, int32_t column);
  Status parseNumbers(const WireReader::Field &field, int32_t column);
  Status parseIntegers(const WireReader::Field &field, int32_t column);

  RowAssembler *row = nullptr;
};

} // namespace

static Status noExample() {
  return Status::invalidArgument(
      "the record is no tf.train.Example; only these are "
      "read");
}

Status ExampleParser::parse(std::string_view example, RowAssembler &into,
                            size_t &column) {
  row = &into;
  WireReader reader(example);
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.number == sequenceLists)
      return Status::invalidArgument(
          "the record is a tf.train.SequenceExample; write "
          "a tf.train.Example, with bags as lists");
    if (field.number == exampleFeatures && field.type == WireReader::Bytes)
      PDLRT_RETURN_IF_ERROR(parseFeatures(field.bytes));
  }
  return reader.isDamaged() ? noExample() : Status();
}

Status ExampleParser::parseFeatures(std::string_view features) {
  WireReader reader(features);
  WireReader::Field field;
  while (reader.next(field))
    if (field.number == featuresEntry && field.type == WireReader::Bytes)
      PDLRT_RETURN_IF_ERROR(parseEntry(field.bytes));
  return reader.isDamaged() ? noExample() : Status();
}

Status ExampleParser::parseEntry(std::string_view entry) {
  WireReader reader(entry);
  WireReader::Field field;
  std::string_view key, feature;
  while (reader.next(field)) {
    if (field.type != WireReader::Bytes)
      continue;
    if (field.number == entryKey)
      key = field.bytes;
    else if (field.number == entryValue)
      feature = field.bytes;
  }
  if (reader.isDamaged())
    return noExample();
  const int32_t column = row->columnOf(key);
  if (column < 0)
    return {};
  if (row->isGiven(column))
    return Status::invalidArgument("the example has the feature " +
                                   quoteText(key) + " twice; write it once");
  row->begin(column);
  return parseFeature(feature, column);
}

Status ExampleParser::parseFeature(std::string_view feature, int32_t column) {
  WireReader reader(feature);
  WireReader::Field field;
  while (reader.next(field))
    if (field.number >= bytesList && field.number <= int64List &&
        field.type == WireReader::Bytes)
      PDLRT_RETURN_IF_ERROR(parseList(field.number, field.bytes, column));
  return reader.isDamaged() ? noExample() : Status();
}

Status ExampleParser::parseList(uint64_t kind, std::string_view list,
                                int32_t column) {
  WireReader reader(list);
  WireReader::Field field;
  while (reader.next(field)) {
    if (field.number != listValue)
      continue;
    if (kind == bytesList && field.type == WireReader::Bytes)
      row->add(column, RowValue::ofText(trim(field.bytes)));
    else if (kind == floatList)
      PDLRT_RETURN_IF_ERROR(parseNumbers(field, column));
    else if (kind == int64List)
      PDLRT_RETURN_IF_ERROR(parseIntegers(field, column));
  }
  return reader.isDamaged() ? noExample() : Status();
}

/// Reads a packed list of floats, or one float.
Status ExampleParser::parseNumbers(const WireReader::Field &field,
                                   int32_t column) {
  if (field.type == WireReader::Fixed32)
    row->add(column,
             RowValue::ofNumber(std::bit_cast<float>(uint32_t(field.integer))));
  if (field.type != WireReader::Bytes)
    return {};
  if (field.bytes.size() % sizeof(float) != 0)
    return noExample();
  for (size_t i = 0; i < field.bytes.size(); i += sizeof(float)) {
    float number;
    std::memcpy(&number, field.bytes.data() + i, sizeof(number));
    row->add(column, RowValue::ofNumber(number));
  }
  return {};
}

/// Reads a packed list of integers, or one integer.
Status ExampleParser::parseIntegers(const WireReader::Field &field,
                                    int32_t column) {
  if (field.type == WireReader::Varint)
    row->add(column, RowValue::ofInteger(int64_t(field.integer)));
  if (field.type != WireReader::Bytes)
    return {};
  WireReader reader(field.bytes);
  uint64_t integer;
  while (reader.nextVarint(integer))
    row->add(column, RowValue::ofInteger(int64_t(integer)));
  return reader.isDamaged() ? noExample() : Status();
}

namespace {

class TFRecordSource final : public RowSource {
public:
  Status open(const std::string &path, const RecordReaderOptions &options) {
    return file.open(path, InputOptions::of(options));
  }
  Expected<bool> next(std::string_view &row) override { return file.next(row); }
  RowPlace current() const override {
    return {0, file.recordByte(), file.number()};
  }
  RowPlace following() const override {
    return {0, file.nextByte(), file.number() + 1};
  }
  Expected<bool> moveTo(const RowPlace &place) override {
    return file.moveTo(place.byte, place.line);
  }

private:
  TFRecordFile file;
};

class TFRecordFormat final : public FileFormat {
public:
  std::string_view name() const override { return "TFRecord"; }
  std::string_view flag() const override { return "tfrecord"; }

  std::span<const std::string_view> suffixes() const override {
    static constexpr std::string_view all[] = {".tfrecord", ".tfrecords"};
    return all;
  }

  const FormatTraits &traits() const override { return namedValueTraits; }

  Status checkFlags(const std::string &path,
                    const DataOptions &data) const override {
    return refuseCellFlags(path, data, "its features have names");
  }

  Expected<std::unique_ptr<RecordReader>>
  open(const std::string &path, int32_t fileIndex,
       const RecordReaderOptions &options) const override {
    auto row = RowAssembler::create(options, [&](size_t field) {
      return namesLikeField(options.descriptor.fields[field], name());
    });
    if (!row)
      return std::move(row).status().withContext(path);
    auto source = std::make_unique<TFRecordSource>();
    PDLRT_RETURN_IF_ERROR(source->open(path, options));
    return makeRowReader(path, fileIndex, options, std::move(source),
                         std::make_unique<ExampleParser>(), *std::move(row));
  }

  Expected<std::unique_ptr<RawRows>>
  openRaw(const std::string &path,
          const RecordReaderOptions &options) const override {
    auto source = std::make_unique<TFRecordSource>();
    PDLRT_RETURN_IF_ERROR(source->open(path, options));
    return makeRawRows(path, std::move(source),
                       std::make_unique<ExampleParser>(),
                       RowAssembler::discovering());
  }
};

} // namespace

namespace pdlrt {

const FileFormat &tfRecordFormat() {
  static const TFRecordFormat format;
  return format;
}

} // namespace pdlrt
