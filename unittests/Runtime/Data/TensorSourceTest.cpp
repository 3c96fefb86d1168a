//===- TensorSourceTest.cpp - Safetensors as data, and batches as safetensors
//===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestRecord.h"

#include "pdlabi/hash.h"
#include "pdlrt/Data/BatchDump.h"
#include "pdlrt/Files/Safetensors.h"
#include "gmock/gmock.h"

#include <cmath>
#include <limits>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class TensorSourceTest : public DataTest {
protected:
  void SetUp() override {
    DataTest::SetUp();
    record.dense("x", 2);
    record.ids("id");
    record.ragged("bag", 2);
    path = folder / "d.safetensors";
    writer.setMetadata("ids", "keys");
  }
  template <typename T>
  void tensor(const char *name, TensorType type, std::vector<int64_t> shape,
              const std::vector<T> &values) {
    ASSERT_TRUE(
        writer.addCopy(name, type, std::move(shape), values.data()).ok());
  }
  /// Creates tensors of three rows.
  void fill(bool withBags = true) {
    tensor<float>("x", TensorType::F32, {3, 2}, {1, 2, 3, 4, 5, 0.1f});
    tensor<int64_t>("id", TensorType::I64, {3, 1}, {INT64_MIN, 0, -1});
    if (!withBags)
      return;
    tensor<int64_t>("bag.values", TensorType::I64, {4}, {10, 11, 12, 13});
    tensor<int32_t>("bag.splits", TensorType::I32, {7}, {0, 2, 2, 2, 3, 3, 4});
  }
  std::string error() {
    EXPECT_TRUE(writer.write(path).ok());
    DataOptions options;
    options.files = {path};
    return errorOf(options);
  }

  SafetensorsWriter writer;
  std::string path;
};

TEST_F(TensorSourceTest, ValuesAreTakenAsTheyAre) {
  fill();
  ASSERT_TRUE(writer.write(path).ok());
  DataOptions options;
  options.files = {path};
  options.batchSize = 2;
  auto source = open(options);
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values<int64_t>(batch, 1), ElementsAre(INT64_MIN, 0));
  EXPECT_THAT(values<int64_t>(batch, 2), ElementsAre(10, 11, 12));
  EXPECT_THAT(splits(batch, 2, 2), ElementsAre(0, 2, 2, 2, 3));
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(5, 0.1f));
  EXPECT_THAT(values<int64_t>(batch, 2), ElementsAre(13));
  EXPECT_THAT(splits(batch, 2, 2), ElementsAre(0, 0, 1));
  EXPECT_FALSE(*source->next(0, batch));
}

TEST_F(TensorSourceTest, RowRangesAndUnreadFields) {
  fill(/*withBags=*/false);
  ASSERT_TRUE(writer.write(path).ok());
  DataOptions options;
  options.files = {path};
  options.rows = *RowRange::parse("34%:");
  auto source = open(options, &record.program({1}));
  Batch batch;
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_THAT(values<int64_t>(batch, 0), ElementsAre(0, -1));
  EXPECT_THAT(errorOf(options), HasSubstr("has no tensor `bag.values`"));
}

// An id that the program does not read is copied, with all 64 bits.
TEST_F(TensorSourceTest, AnIdIsLetThrough) {
  fill();
  tensor<uint64_t>("row", TensorType::U64, {3}, {7, UINT64_MAX, 0});
  record.ids("row");
  ASSERT_TRUE(writer.write(path).ok());
  const auto idsLetThrough = [&](const char *field) {
    DataOptions options;
    options.files = {path};
    options.idField = field;
    auto source = open(options, &record.program({0}));
    Batch batch;
    std::vector<std::string> ids;
    while (*source->next(0, batch))
      for (int64_t i = 0; i < batch.size(); ++i)
        ids.emplace_back(batch.copiedCell(i));
    return ids;
  };
  EXPECT_THAT(idsLetThrough("row"),
              ElementsAre("7", "18446744073709551615", "0"));
  EXPECT_THAT(idsLetThrough("id"),
              ElementsAre("-9223372036854775808", "0", "-1"));
}

TEST_F(TensorSourceTest, AnIdIsThereAndOneASample) {
  fill();
  ASSERT_TRUE(writer.write(path).ok());
  record.ids("row");
  DataOptions options;
  options.files = {path};
  const auto error = [&](const char *field) {
    options.idField = field;
    return BatchSource::open(options, record.descriptor(), record.program({0}))
        .status()
        .message();
  };
  EXPECT_THAT(error("row"), HasSubstr("d.safetensors: has no tensor `row`"));
  for (const char *field : {"x", "bag"})
    EXPECT_THAT(error(field),
                HasSubstr("which is not one id a sample; an id is a field of "
                          "type tensor<?x1xi64>"))
        << field;
  EXPECT_THAT(error("nobody"),
              HasSubstr("but the record has no such field, only id, row"));
}

TEST_F(TensorSourceTest, OnlyExactConversions) {
  tensor<double>("x", TensorType::F64, {1, 2}, {0.1, 0.2});
  tensor<int64_t>("id", TensorType::I64, {1}, {1});
  EXPECT_THAT(error(),
              HasSubstr("d.safetensors: tensor `x` is F64 [1, 2], but the "
                        "field wants F32 [rows, 2]"));
  // The other direction is exact.
  TestRecord wide;
  wide.dense("x").element_type = PDL_F64;
  SafetensorsWriter narrow;
  const float value = 0.1f;
  ASSERT_TRUE(narrow.add("x", TensorType::F32, {1}, &value).ok());
  ASSERT_TRUE(narrow.write(path).ok());
  DataOptions options;
  options.files = {path};
  auto source = BatchSource::open(options, wide.descriptor(), wide.program());
  ASSERT_TRUE(source.ok());
  Batch batch;
  ASSERT_TRUE(*(*source)->next(0, batch));
  EXPECT_THAT(values<double>(batch, 0), ElementsAre(double(0.1f)));
}

// As in text, a row with a NaN or an infinity is a bad row.
TEST_F(TensorSourceTest, NumbersThatAreNotFiniteMakeTheirRowsBad) {
  const float infinity = std::numeric_limits<float>::infinity();
  tensor<float>("x", TensorType::F32, {4, 2},
                {1, 2, 3, std::nanf(""), 5, 6, -infinity, 8});
  tensor<int64_t>("id", TensorType::I64, {4, 1}, {10, 11, 12, 13});
  tensor<int64_t>("bag.values", TensorType::I64, {4}, {20, 21, 22, 23});
  tensor<int32_t>("bag.splits", TensorType::I32, {9},
                  {0, 1, 1, 2, 2, 3, 3, 4, 4});
  ASSERT_TRUE(writer.write(path).ok());
  DataOptions options;
  options.files = {path};
  Batch batch;
  EXPECT_THAT(open(options)->next(0, batch).status().message(),
              AllOf(HasSubstr("d.safetensors: tensor `x` has nan in row 1, "
                              "column 1, counted from 0"),
                    HasSubstr("--max-bad-rows")));
  options.maxBadRows = 2;
  auto source = open(options);
  ASSERT_TRUE(*source->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 2, 5, 6));
  EXPECT_THAT(values<int64_t>(batch, 1), ElementsAre(10, 12));
  EXPECT_THAT(values<int64_t>(batch, 2), ElementsAre(20, 22));
  EXPECT_EQ(batch.row(1), 2);
  EXPECT_EQ(source->badRowCount(), 2);
  EXPECT_THAT(source->badRowMessages()[1],
              HasSubstr("has an infinite value in row 3, column 0"));
  // The program does not read it.
  auto ids = open(options, &record.program({1}));
  ASSERT_TRUE(*ids->next(0, batch));
  EXPECT_EQ(batch.size(), 4);
}

// As in text, NaN is a missing number.
TEST_F(TensorSourceTest, MissingNumbersBecomeWhatTheFieldSays) {
  TestRecord missing;
  for (pdl_field *field : {&missing.dense("x", 2), &missing.raggedNumbers("w"),
                           &missing.raggedNumbers("v", 1, PDL_F64)}) {
    field->missing_kind = PDL_MISSING_VALUE;
    field->missing_value = 0.5;
  }
  SafetensorsWriter numbers;
  const float nan = std::nanf("");
  const float x[] = {nan, 1, 2, nan}, w[] = {3, nan, nan};
  const double v[] = {std::nan(""), 4, std::nan("")};
  const int64_t bags[] = {0, 2, 3};
  const std::vector<int64_t> three = {3};
  ASSERT_TRUE(numbers.add("x", TensorType::F32, {2, 2}, x).ok());
  ASSERT_TRUE(numbers.add("w.values", TensorType::F32, three, w).ok());
  ASSERT_TRUE(numbers.add("w.splits", TensorType::I64, three, bags).ok());
  ASSERT_TRUE(numbers.add("v.values", TensorType::F64, three, v).ok());
  ASSERT_TRUE(numbers.add("v.splits", TensorType::I64, three, bags).ok());
  ASSERT_TRUE(numbers.write(path).ok());
  DataOptions options;
  options.files = {path};
  auto source =
      BatchSource::open(options, missing.descriptor(), missing.program());
  ASSERT_TRUE(source.ok());
  Batch batch;
  ASSERT_TRUE(*(*source)->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(0.5, 1, 2, 0.5));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(3, 0.5, 0.5));
  EXPECT_THAT(values<double>(batch, 2), ElementsAre(0.5, 4, 0.5));
}

// As in text, a bag without values is missing, and so is a bag whose only value
// is missing.
TEST_F(TensorSourceTest, MissingBagsBecomeWhatTheFieldSays) {
  TestRecord missing;
  pdl_field &ids = missing.ragged("ids", 2);
  pdl_field &weights = missing.raggedNumbers("w", 2);
  SafetensorsWriter numbers;
  const float nan = std::nanf("");
  const float w[] = {nan, 3, nan, nan};
  const uint64_t keys[] = {5, 6};
  const int64_t bags[] = {0, 0, 1, 1, 4}, idBags[] = {0, 0, 1, 1, 2};
  ASSERT_TRUE(numbers.add("w.values", TensorType::F32, {4}, w).ok());
  ASSERT_TRUE(numbers.add("w.splits", TensorType::I64, {5}, bags).ok());
  ASSERT_TRUE(numbers.add("ids.values", TensorType::U64, {2}, keys).ok());
  ASSERT_TRUE(numbers.add("ids.splits", TensorType::I64, {5}, idBags).ok());
  ASSERT_TRUE(numbers.write(path).ok());
  DataOptions options;
  options.files = {path};
  Batch batch;
  const auto read = [&] {
    auto source =
        BatchSource::open(options, missing.descriptor(), missing.program());
    ASSERT_TRUE(source.ok()) << source.status().message();
    ASSERT_TRUE(*(*source)->next(0, batch));
  };
  weights.missing_element_kind = PDL_MISSING_VALUE;
  weights.missing_element_value = -1;
  read();
  EXPECT_THAT(splits(batch, 0, 2), ElementsAre(0, 0, 1, 1, 2));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(3, -1, -1));
  EXPECT_THAT(splits(batch, 1, 2), ElementsAre(0, 0, 0, 0, 3));
  ids.missing_kind = PDL_MISSING_TOKEN;
  ids.missing_token = "none";
  ids.salt_kind = PDL_SALT_SLOT;
  weights.missing_kind = PDL_MISSING_VALUE;
  weights.missing_value = 7;
  read();
  const auto none = int64_t(pdlabi::hashText("none", 0));
  EXPECT_THAT(values<int64_t>(batch, 0), ElementsAre(none, 5, none, 6));
  EXPECT_THAT(splits(batch, 0, 2), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(values<float>(batch, 1), ElementsAre(7, 7, 7, 3, -1, -1));
  EXPECT_THAT(splits(batch, 1, 2), ElementsAre(0, 1, 2, 3, 6));
  ids.hash_kind = PDL_HASH_NONE;
  EXPECT_THAT(
      BatchSource::open(options, missing.descriptor(), missing.program())
          .status()
          .message(),
      HasSubstr("its token for missing ones is `none`"));
}

// Otherwise it is unclear whether an integer is a key or some other number.
TEST_F(TensorSourceTest, IntegersOfHashedFieldsAreDeclaredToBeKeys) {
  TestRecord hashed;
  hashed.ids("id");
  hashed.ragged("bag");
  const std::vector<int64_t> ids = {7, -8}, splits = {0, 1, 2};
  const auto refusal = [&](TensorType type, TensorType bagType,
                           const char *declared) {
    SafetensorsWriter file;
    if (declared)
      file.setMetadata("ids", declared);
    EXPECT_TRUE(file.add("id", type, {2}, ids.data()).ok());
    EXPECT_TRUE(file.add("bag.values", bagType, {2}, ids.data()).ok());
    EXPECT_TRUE(
        file.add("bag.splits", TensorType::I64, {3}, splits.data()).ok());
    EXPECT_TRUE(file.write(path).ok());
    DataOptions options;
    options.files = {path};
    auto source =
        BatchSource::open(options, hashed.descriptor(), hashed.program());
    if (!source.ok())
      return source.status().message();
    Batch batch;
    EXPECT_TRUE(*(*source)->next(0, batch));
    EXPECT_THAT(values<int64_t>(batch, 0), ElementsAre(7, -8));
    EXPECT_THAT(values<int64_t>(batch, 1), ElementsAre(7, -8));
    return std::string();
  };
  EXPECT_THAT(refusal(TensorType::I64, TensorType::U64, nullptr),
              HasSubstr("tensor `id` is I64 [2], but field `id` hashes texts"));
  EXPECT_THAT(refusal(TensorType::U64, TensorType::I64, "texts"),
              HasSubstr("tensor `bag.values` is I64 [2], but field `bag` "
                        "hashes texts"));
  EXPECT_EQ(refusal(TensorType::U64, TensorType::U64, nullptr), "");
  EXPECT_EQ(refusal(TensorType::I64, TensorType::I64, "keys"), "");
}

TEST_F(TensorSourceTest, NumbersOfF64ThatAreNotFinite) {
  TestRecord wide;
  wide.dense("x").element_type = PDL_F64;
  SafetensorsWriter numbers;
  const double value[] = {1e300, std::nan("")};
  ASSERT_TRUE(numbers.add("x", TensorType::F64, {2}, value).ok());
  ASSERT_TRUE(numbers.write(path).ok());
  DataOptions options;
  options.files = {path};
  options.maxBadRows = 1;
  auto source = BatchSource::open(options, wide.descriptor(), wide.program());
  ASSERT_TRUE(source.ok());
  Batch batch;
  ASSERT_TRUE(*(*source)->next(0, batch));
  EXPECT_THAT(values<double>(batch, 0), ElementsAre(1e300));
}

TEST_F(TensorSourceTest, BagsOfNumbers) {
  TestRecord bags;
  bags.raggedNumbers("w");
  bags.raggedNumbers("v", 1, PDL_F64);
  SafetensorsWriter numbers;
  const float narrow[] = {1, 0.1f, std::nanf(""), 3, 4};
  const double wide[] = {0.1, 2, 3, 3, 1e300};
  const int64_t splits[] = {0, 2, 2, 4, 5};
  const std::vector<int64_t> five = {5};
  ASSERT_TRUE(numbers.add("w.values", TensorType::F32, five, narrow).ok());
  ASSERT_TRUE(numbers.add("w.splits", TensorType::I64, five, splits).ok());
  ASSERT_TRUE(numbers.add("v.values", TensorType::F64, five, wide).ok());
  ASSERT_TRUE(numbers.add("v.splits", TensorType::I64, five, splits).ok());
  ASSERT_TRUE(numbers.write(path).ok());
  DataOptions options;
  options.files = {path};
  options.maxBadRows = 1;
  auto source = BatchSource::open(options, bags.descriptor(), bags.program());
  ASSERT_TRUE(source.ok());
  Batch batch;
  ASSERT_TRUE(*(*source)->next(0, batch));
  EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 0.1f, 4));
  EXPECT_THAT(DataTest::splits(batch, 0), ElementsAre(0, 2, 2, 3));
  EXPECT_THAT(values<double>(batch, 1), ElementsAre(0.1, 2, 1e300));
  EXPECT_THAT((*source)->badRowMessages()[0],
              HasSubstr("tensor `w.values` has nan in row 2, column 0"));

  // A dump of the batches can be read as well.
  BatchDump dump(bags.descriptor(), bags.program());
  ASSERT_TRUE(dump.add(batch, 0, 0, 0).ok());
  const std::string dumped = path + ".dump";
  ASSERT_TRUE(dump.write(dumped).ok());
  auto file = SafetensorsFile::open(dumped);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file).find("batch0/w.values"));
  EXPECT_EQ((*file).find("batch0/w.values")->typeAndShape(), "F32 [3]");
  EXPECT_EQ((*file).find("batch0/v.values")->typeAndShape(), "F64 [3]");

  // Nothing is narrowed, and ids are not numbers.
  for (TensorType type : {TensorType::F64, TensorType::I64}) {
    SafetensorsWriter other;
    ASSERT_TRUE(other.add("w.values", type, five, wide).ok());
    ASSERT_TRUE(other.add("w.splits", TensorType::I64, five, splits).ok());
    ASSERT_TRUE(other.write(path).ok());
    auto refused =
        BatchSource::open(options, bags.descriptor(), bags.program({0}));
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.status().message(),
                HasSubstr("but the numbers of this ragged field are F32"));
  }
}

TEST_F(TensorSourceTest, WrongShapesAreNamed) {
  tensor<float>("x", TensorType::F32, {2, 3}, std::vector<float>(6));
  EXPECT_THAT(error(), HasSubstr("F32 [2, 3], but the field wants F32 [rows, "
                                 "2]"));
}

TEST_F(TensorSourceTest, FieldsMustHaveTheSameRows) {
  fill(/*withBags=*/false);
  tensor<int64_t>("bag.values", TensorType::I64, {0}, {});
  tensor<int64_t>("bag.splits", TensorType::I64, {5}, {0, 0, 0, 0, 0});
  EXPECT_THAT(error(),
              HasSubstr("field `bag` has 2 rows, but field `id` has 3"));
}

TEST_F(TensorSourceTest, SplitsMustAscendToTheNumberOfIds) {
  const std::vector<std::vector<int64_t>> badSplits = {
      {0, 2, 1, 2, 3, 3, 4}, {1, 2, 2, 2, 3, 3, 4},  {0, 2, 2, 2, 3, 3, 5},
      {0, 0, 0, 0, 0, 0, 3}, {-1, 0, 0, 0, 0, 0, 4}, {0, 0, 0, 0, 0, 4}};
  for (const auto &bad : badSplits) {
    writer = SafetensorsWriter();
    writer.setMetadata("ids", "keys");
    fill(/*withBags=*/false);
    tensor<int64_t>("bag.values", TensorType::I64, {4}, {10, 11, 12, 13});
    tensor<int64_t>("bag.splits", TensorType::I64,
                    {static_cast<int64_t>(bad.size())}, bad);
    EXPECT_THAT(error(), HasSubstr("tensor `bag.splits`"));
  }
}

TEST_F(TensorSourceTest, DumpedBatchesAreTheBatches) {
  fill();
  ASSERT_TRUE(writer.write(path).ok());
  DataOptions options;
  options.files = {path};
  options.batchSize = 2;
  const pdl_program &program = record.program();
  auto source = open(options, &program);
  BatchDump dump(record.descriptor(), program);
  Batch batch;
  for (int64_t round = 0; *source->next(0, batch); ++round)
    ASSERT_TRUE(dump.add(batch, round, 4, 5).ok());
  const std::string dumpPath = folder / "dump.safetensors";
  ASSERT_TRUE(dump.write(dumpPath).ok());

  auto file = SafetensorsFile::open(dumpPath);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(file->metadata().at("batches"), "2");
  EXPECT_EQ(file->metadata().at("model"), "test");
  EXPECT_EQ(file->metadata().at("program"), "train");
  auto read = [&](const char *name, auto sample) {
    const TensorView *tensor = file->find(name);
    EXPECT_TRUE(tensor) << name;
    std::vector<decltype(sample)> out(
        static_cast<size_t>(tensor ? tensor->elementCount : 0));
    if (tensor)
      EXPECT_TRUE(tensor->copyTo(out.data()).ok());
    return out;
  };
  EXPECT_EQ(file->find("batch0/x")->typeAndShape(), "F32 [2, 2]");
  EXPECT_THAT(read("batch0/x", 0.f), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(file->find("batch1/id")->typeAndShape(), "I64 [1, 1]");
  EXPECT_THAT(read("batch1/id", int64_t()), ElementsAre(-1));
  EXPECT_THAT(read("batch0/bag.values", int64_t()), ElementsAre(10, 11, 12));
  EXPECT_THAT(read("batch0/bag.splits", int32_t()), ElementsAre(0, 2, 2, 2, 3));
  EXPECT_THAT(read("batch1.place", int64_t()), ElementsAre(1, 4, 5));
  EXPECT_THAT(read("batch0.samples", int64_t()), ElementsAre(0, 1));
  EXPECT_THAT(read("batch1.samples", int64_t()), ElementsAre(2));
  EXPECT_THAT(read("batch1.epoch", int64_t()), ElementsAre(0));
  EXPECT_EQ(file->tensors().size(), 14u);
}

} // namespace
