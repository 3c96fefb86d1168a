//===- DamagedDataTest.cpp - Broken files are refused or read, never a crash
//===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestRecord.h"

#include "pdlrt/Files/Safetensors.h"

#include <limits>
#include <random>

using namespace pdlrt;
using namespace pdlrt::test;

namespace {

class DamagedDataTest : public DataTest {
protected:
  void SetUp() override {
    DataTest::SetUp();
    auto &label = record.dense("label");
    record.setValues(label, {"no", "yes"}, {0, 1});
    auto &x = record.dense("x", 2);
    x.missing_kind = PDL_MISSING_VALUE;
    auto &id = record.ids("id");
    id.hash_kind = PDL_HASH_NONE;
    auto &bag = record.ragged("bag", 2);
    bag.separator = '|';
  }
  /// Reads everything readable. Returns the number of samples.
  int64_t readThrough(const std::string &file, bool header, int64_t window) {
    DataOptions options;
    options.files = {file};
    options.header = header;
    options.batchSize = 3;
    options.shuffleWindow = window;
    options.maxBadRows = std::numeric_limits<int64_t>::max();
    auto source =
        BatchSource::open(options, record.descriptor(), record.program());
    if (!source.ok()) {
      EXPECT_FALSE(source.status().message().empty());
      return 0;
    }
    Batch batch;
    int64_t samples = 0;
    while (true) {
      auto more = (*source)->next(0, batch);
      if (!more.ok()) {
        EXPECT_FALSE(more.status().message().empty());
        return samples;
      }
      if (!*more)
        return samples;
      samples += batch.size();
      EXPECT_EQ(batch.fields()[0].value_count, batch.size());
      EXPECT_EQ(splits(batch, 3, 2).back(), batch.fields()[3].value_count);
    }
  }
};

TEST_F(DamagedDataTest, RandomTextOfTheFormatsOwnCharacters) {
  std::mt19937 random(1);
  const std::string alphabet = "0123456789,,,,,\"\"\n\n\r\t |?.-+eyesno";
  int64_t samples = 0;
  for (int round = 0; round < 200; ++round) {
    std::string text = "yes,1,2,3,a|b,c\n";
    for (unsigned length = random() % 300; length--;)
      text += alphabet[random() % alphabet.size()];
    samples += readThrough(put("a.csv", text), round % 5 == 0, round % 3);
  }
  EXPECT_GT(samples, 150);
}

TEST_F(DamagedDataTest, FlippedBytesOfRowsAndArchives) {
  std::mt19937 random(2);
  std::string good;
  for (int i = 0; i < 30; ++i)
    good += (i % 2 ? "no,\"1.5\",?," : "yes,-2e3,7,") + std::to_string(i) +
            ",a|\"\"b,\"c,\"\"d\"\n";
  put("good.csv.gz", good);
  std::ifstream file(folder / "good.csv.gz", std::ios::binary);
  const std::string archive{std::istreambuf_iterator<char>(file), {}};
  for (int round = 0; round < 200; ++round) {
    std::string text = good, packed = archive;
    for (unsigned flips = 1 + random() % 4; flips--;) {
      text[random() % text.size()] = static_cast<char>(random());
      packed[random() % packed.size()] = static_cast<char>(random());
    }
    readThrough(put("a.csv", text), false, 0);
    const std::string path = folder / "b.csv.gz";
    std::ofstream(path, std::ios::binary)
        << packed.substr(0, 1 + random() % packed.size());
    readThrough(path, false, 4);
  }
}

TEST_F(DamagedDataTest, FlippedBytesOfTensors) {
  SafetensorsWriter writer;
  writer.setMetadata("ids", "keys");
  const std::vector<float> numbers(20, 1.f);
  const std::vector<int64_t> ids(40, 3);
  std::vector<int64_t> offsets(21);
  std::iota(offsets.begin(), offsets.end(), 0);
  ASSERT_TRUE(writer.add("label", TensorType::F32, {10}, numbers.data()).ok());
  ASSERT_TRUE(writer.add("x", TensorType::F32, {10, 2}, numbers.data()).ok());
  ASSERT_TRUE(writer.add("id", TensorType::I64, {10, 1}, ids.data()).ok());
  ASSERT_TRUE(writer.add("bag.values", TensorType::I64, {20}, ids.data()).ok());
  ASSERT_TRUE(
      writer.add("bag.splits", TensorType::I64, {21}, offsets.data()).ok());
  const std::string path = folder / "a.safetensors";
  ASSERT_TRUE(writer.write(path).ok());
  EXPECT_EQ(readThrough(path, false, 0), 10);
  std::ifstream file(path, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  std::mt19937 random(3);
  for (int round = 0; round < 250; ++round) {
    std::string bytes = good;
    for (unsigned flips = 1 + random() % 3; flips--;)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    std::ofstream(path, std::ios::binary) << bytes;
    readThrough(path, false, 0);
  }
}

} // namespace
