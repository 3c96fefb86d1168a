//===- TFRecordTest.cpp - TFRecord files of tf.train.Example --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DelimitedFixture.h"

#include "Data/TFRecordFile.h"
#include "Data/WireFormat.h"

#include "gmock/gmock.h"

#include <cstring>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A file of two examples that the Python package tfrecord 1.14 wrote:
///   label (1, int), x ([0.5, -1.25], float), bag ([7, -3, 123456789012], int),
///   id (b"a b", byte), other (b"zzz", byte)
///   label (0.0, float), x ([3.0, 1e-8], float), bag ([b"u", b"v"], byte),
///   id (5, int)
constexpr char golden[] =
    "\x64\x00\x00\x00\x00\x00\x00\x00\x43\x5f\x1c\xdf\x0a\x62\x0a\x0e"
    "\x0a\x05\x6c\x61\x62\x65\x6c\x12\x05\x1a\x03\x0a\x01\x01\x0a\x0d"
    "\x0a\x02\x69\x64\x12\x07\x0a\x05\x0a\x03\x61\x20\x62\x0a\x11\x0a"
    "\x01\x78\x12\x0c\x12\x0a\x0a\x08\x00\x00\x00\x3f\x00\x00\xa0\xbf"
    "\x0a\x10\x0a\x05\x6f\x74\x68\x65\x72\x12\x07\x0a\x05\x0a\x03\x7a"
    "\x7a\x7a\x0a\x1c\x0a\x03\x62\x61\x67\x12\x15\x1a\x13\x0a\x11\x07"
    "\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01\x94\xb4\xe4\xf4\xcb\x03"
    "\x98\x2f\x33\x79\x46\x00\x00\x00\x00\x00\x00\x00\x72\x35\xb9\xa5"
    "\x0a\x44\x0a\x11\x0a\x05\x6c\x61\x62\x65\x6c\x12\x08\x12\x06\x0a"
    "\x04\x00\x00\x00\x00\x0a\x0b\x0a\x02\x69\x64\x12\x05\x1a\x03\x0a"
    "\x01\x05\x0a\x11\x0a\x01\x78\x12\x0c\x12\x0a\x0a\x08\x00\x00\x40"
    "\x40\x77\xcc\x2b\x32\x0a\x0f\x0a\x03\x62\x61\x67\x12\x08\x0a\x06"
    "\x0a\x01\x75\x0a\x01\x76\x49\xac\x61\x78";

std::string goldenText() { return {golden, sizeof(golden) - 1}; }

class TFRecordTest : public DelimitedFixture {
protected:
  void SetUp() override {
    DelimitedFixture::SetUp();
    record.dense("label");
    record.dense("x", 2);
    record.ragged("bag");
    record.ids("id");
  }
};

/// Returns the bytes of a record of a TFRecord file.
std::string framed(const std::string &record) {
  const auto number = [](auto value) {
    std::string bytes(sizeof(value), '\0');
    std::memcpy(bytes.data(), &value, sizeof(value));
    return bytes;
  };
  const std::string size = number(uint64_t(record.size()));
  return size + number(maskedCrc32c(size)) + record +
         number(maskedCrc32c(record));
}

// The check value of CRC-32C, and the mask that TensorFlow documents.
TEST(Crc32cTest, CheckValue) {
  constexpr uint32_t crc = 0xe3069283;
  EXPECT_EQ(maskedCrc32c("123456789"),
            ((crc >> 15) | (crc << 17)) + 0xa282ead8);
}

TEST_F(TFRecordTest, FileOfAnotherWriter) {
  for (const char *name : {"a.tfrecord", "a.tfrecords.gz", "a.tfrecord.zst"}) {
    const Batch batch = readAll(put(name, goldenText()));
    ASSERT_EQ(batch.size(), 2) << name;
    EXPECT_THAT(values<float>(batch, 0), ElementsAre(1, 0));
    EXPECT_THAT(values<float>(batch, 1), ElementsAre(0.5, -1.25, 3, 1e-8f));
    // Integers are hashed as their decimal text.
    EXPECT_THAT(values<int64_t>(batch, 2),
                ElementsAre(hashOf("7"), hashOf("-3"), hashOf("123456789012"),
                            hashOf("u"), hashOf("v")));
    EXPECT_THAT(splits(batch, 2), ElementsAre(0, 3, 5));
    EXPECT_THAT(values<int64_t>(batch, 3),
                ElementsAre(hashOf("a b"), hashOf("5")));
  }
}

TEST_F(TFRecordTest, DamageIsFound) {
  const std::string text = goldenText();
  for (size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = char(damaged[at] ^ 0x10);
    EXPECT_THAT(errorOfText(damaged, "bad.tfrecord"),
                HasSubstr("bad.tfrecord: record "))
        << at;
    const std::string cut = errorOfText(text.substr(0, at), "bad.tfrecord");
    const bool isWhole = at == 0 || at == framed(std::string(100, ' ')).size();
    EXPECT_EQ(cut.find("is cut") == std::string::npos, isWhole) << at << cut;
  }
}

TEST_F(TFRecordTest, OtherRecordsAreBadRows) {
  DataOptions options;
  // Field 2 of the outer message makes it a SequenceExample.
  const std::string sequence("\x12\x00", 2), noise = "\xff\xff\xff";
  const std::string text = goldenText();
  options.files = {put("a.tfrecord", framed(sequence) + framed(noise) + text)};
  EXPECT_THAT(errorOf(options),
              HasSubstr("a.tfrecord:1: the record is a tf.train.Sequence"));
  options.maxBadRows = 1;
  EXPECT_THAT(errorOf(options),
              HasSubstr("a.tfrecord:2: the record is no tf.train.Example"));
  options.maxBadRows = 2;
  EXPECT_EQ(readAll(options).size(), 2);
}

TEST_F(TFRecordTest, PositionsAreExact) {
  DataOptions options;
  std::string text;
  for (int i = 0; i < 9; ++i)
    text += goldenText();
  options.files = {put("a.tfrecord", text), put("b.tfrecord.gz", text)};
  options.batchSize = 3;
  options.shuffleWindow = 5;
  auto source = open(options);
  std::vector<std::vector<float>> all;
  Batch batch;
  while (*source->next(0, batch))
    all.push_back(values<float>(batch, 1));
  ASSERT_EQ(all.size(), 12u);
  for (size_t passed = 0; passed <= all.size(); ++passed) {
    ASSERT_TRUE(source->beginEpoch(0).ok());
    for (size_t i = 0; i < passed; ++i)
      ASSERT_TRUE(*source->next(0, batch));
    auto resumed = open(options);
    const Status restored = resumed->restore(source->position());
    ASSERT_TRUE(restored.ok()) << restored.message();
    for (size_t i = passed; i < all.size(); ++i) {
      ASSERT_TRUE(*resumed->next(0, batch));
      EXPECT_EQ(values<float>(batch, 1), all[i]);
    }
    EXPECT_FALSE(*resumed->next(0, batch));
  }
}

TEST_F(TFRecordTest, FloatsAreNoIds) {
  record = {};
  record.ids("x");
  EXPECT_THAT(errorOfText(goldenText(), "a.tfrecord"),
              HasSubstr("a.tfrecord:1: field `x`: an id is a float"));
}

TEST(WireReaderTest, DamagedFields) {
  const auto isDamaged = [](std::string_view bytes) {
    WireReader reader(bytes);
    WireReader::Field field;
    while (reader.next(field)) {
    }
    return reader.isDamaged();
  };
  EXPECT_FALSE(isDamaged(""));
  EXPECT_FALSE(isDamaged("\x08\x01"));
  EXPECT_FALSE(isDamaged(std::string_view("\x0d\0\0\0\0", 5)));
  // Cut numbers, groups, field 0, and more bytes than there are.
  EXPECT_TRUE(isDamaged("\x08"));
  EXPECT_TRUE(isDamaged("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"));
  EXPECT_TRUE(isDamaged("\x0b"));
  EXPECT_TRUE(isDamaged("\x02\x01"));
  EXPECT_TRUE(isDamaged("\x0a\x05 abc"));
  EXPECT_TRUE(isDamaged("\x0d\x01"));
}

} // namespace
