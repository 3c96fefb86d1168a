//===- SafetensorsTest.cpp - Headers of files with named tensors ----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/safetensors.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <variant>
#include <vector>

using namespace pdlabi;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

namespace {

using Metadata = std::map<std::string, std::string>;

TensorEntry entry(std::string name, TensorType type,
                  std::vector<int64_t> shape) {
  return {std::move(name), type, std::move(shape)};
}

SafetensorsLayout layOut(std::vector<TensorEntry> tensors,
                         const Metadata &metadata = {}) {
  auto layout = layOutSafetensors(std::move(tensors), metadata);
  if (const auto *error = std::get_if<SafetensorsError>(&layout)) {
    ADD_FAILURE() << error->message;
    return {};
  }
  return std::get<SafetensorsLayout>(layout);
}

SafetensorsError errorOf(const std::string &header, uint64_t dataBytes) {
  auto parsed = readSafetensorsHeader(header, 8 + header.size() + dataBytes);
  if (const auto *error = std::get_if<SafetensorsError>(&parsed))
    return *error;
  ADD_FAILURE() << "accepted: " << header;
  return {};
}

SafetensorsError prefixErrorOf(const std::string &prefix, uint64_t fileBytes) {
  auto size = readSafetensorsPrefix(prefix, fileBytes);
  if (const auto *error = std::get_if<SafetensorsError>(&size))
    return *error;
  ADD_FAILURE() << "accepted";
  return {};
}

std::string prefixOf(uint64_t headerBytes) {
  std::string prefix(8, '\0');
  std::memcpy(prefix.data(), &headerBytes, 8);
  return prefix;
}

TEST(SafetensorsTest, TypesHaveSizesAndNames) {
  const struct {
    TensorType type;
    const char *name;
    size_t bytes;
  } types[] = {{TensorType::F32, "F32", 4}, {TensorType::F64, "F64", 8},
               {TensorType::I32, "I32", 4}, {TensorType::I64, "I64", 8},
               {TensorType::U64, "U64", 8}, {TensorType::BF16, "BF16", 2},
               {TensorType::F16, "F16", 2}, {TensorType::U8, "U8", 1}};
  for (const auto &row : types) {
    EXPECT_STREQ(tensorTypeName(row.type), row.name);
    EXPECT_EQ(tensorElementSize(row.type), row.bytes) << row.name;
  }
  EXPECT_EQ(entry("x", TensorType::U8, {}).typeAndShape(), "U8 []");
  EXPECT_EQ(entry("x", TensorType::BF16, {2, 3}).typeAndShape(), "BF16 [2, 3]");
}

// The expected bytes were written by both halves of PDL before they shared this
// code.
TEST(SafetensorsTest, TheHeaderIsWrittenByteByByte) {
  const SafetensorsLayout layout = layOut(
      {entry("w", TensorType::F32, {2, 3}), entry("bytes", TensorType::U8, {3}),
       entry("half", TensorType::BF16, {1}),
       entry("b/\"c\"", TensorType::I64, {2})},
      {{"seed", "7"}, {"model", "a\tb \xc3\xa9"}});
  std::string header =
      R"({"__metadata__":{"model":"a\tb )"
      "\xc3\xa9"
      R"(","seed":"7"},"b/\"c\"":{"data_offsets":[0,16],"dtype":"I64",)"
      R"("shape":[2]},"bytes":{"data_offsets":[42,45],"dtype":"U8",)"
      R"("shape":[3]},"half":{"data_offsets":[40,42],"dtype":"BF16",)"
      R"("shape":[1]},"w":{"data_offsets":[16,40],"dtype":"F32",)"
      R"("shape":[2,3]}})";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(layout.head, prefixOf(header.size()) + header);
  EXPECT_EQ(layout.bytes, layout.head.size() + 45);
  EXPECT_THAT(layout.tensors, ElementsAre(Field(&TensorEntry::name, "b/\"c\""),
                                          Field(&TensorEntry::name, "w"),
                                          Field(&TensorEntry::name, "half"),
                                          Field(&TensorEntry::name, "bytes")));
  EXPECT_EQ(layout.offsetOf("half"), layout.head.size() + 40);
}

TEST(SafetensorsTest, TheLayoutDoesNotDependOnTheOrder) {
  const auto a = entry("a", TensorType::F32, {1});
  const auto b = entry("b", TensorType::F64, {1});
  const auto c = entry("c", TensorType::F32, {1});
  EXPECT_EQ(layOut({a, b, c}).head, layOut({c, b, a}).head);
}

TEST(SafetensorsTest, AHeaderIsReadAsItWasWritten) {
  const Metadata metadata = {{"model", "ctr \"quoted\" \xc3\xa9"}};
  const SafetensorsLayout layout =
      layOut({entry("scalar", TensorType::F64, {}),
              entry("empty", TensorType::I32, {INT64_MAX, 4, 0}),
              entry("a", TensorType::F16, {3, 5})},
             metadata);
  auto size = readSafetensorsPrefix(layout.head.substr(0, 8), layout.bytes);
  ASSERT_TRUE(std::holds_alternative<uint64_t>(size));
  EXPECT_EQ(std::get<uint64_t>(size), layout.head.size() - 8);
  auto parsed = readSafetensorsHeader(layout.head.substr(8), layout.bytes);
  ASSERT_TRUE(std::holds_alternative<SafetensorsHeader>(parsed));
  const auto &header = std::get<SafetensorsHeader>(parsed);
  EXPECT_EQ(header.metadata, metadata);
  ASSERT_EQ(header.tensors.size(), 3u);
  EXPECT_EQ(header.tensors[0].name, "a");
  EXPECT_EQ(header.tensors[0].typeAndShape(), "F16 [3, 5]");
  EXPECT_EQ(header.tensors[0].offset, layout.offsetOf("a"));
  EXPECT_EQ(header.tensors[0].byteSize(), 30u);
  EXPECT_EQ(header.tensors[1].name, "empty");
  EXPECT_EQ(header.tensors[1].elementCount, 0);
  EXPECT_EQ(header.tensors[2].elementCount, 1);
}

TEST(SafetensorsTest, DamageOfThePrefixIsNamed) {
  EXPECT_THAT(prefixErrorOf("1234567", 7).message, HasSubstr("too short"));
  EXPECT_THAT(prefixErrorOf("", 0).message, HasSubstr("too short"));
  EXPECT_THAT(prefixErrorOf(prefixOf(11), 18).message,
              HasSubstr("the header claims 11 bytes, but the file has 10"));
  // A larger header is not read, even if the file is long enough.
  EXPECT_THAT(prefixErrorOf(prefixOf(100'000'001), 1ull << 40).message,
              HasSubstr("the header claims 100000001 bytes"));
  EXPECT_TRUE(prefixErrorOf("", 0).isDamage);
}

TEST(SafetensorsTest, DefectsOfAHeaderAreNamed) {
  const struct {
    const char *header;
    uint64_t dataBytes;
    const char *message;
  } cases[] = {
      {"", 0, "not a JSON object"},
      {"[1]", 0, "not a JSON object"},
      {"{\"a\xff\":1}", 0, "not a JSON object"},
      {"{\"a\":", 0, "not a JSON object"},
      {R"({"a":1})", 0, "`a` has no proper dtype"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "`a` has no proper dtype"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4,
       "`a` has no proper dtype"},
      {R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4,
       "dimension that is not a size"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4,
       "dimension that is not a size"},
      {R"({"a":{"dtype":"F32","shape":[9223372036854775808],)"
       R"("data_offsets":[0,4]}})",
       4, "dimension that is not a size"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4.0]}})", 4,
       "data_offsets that are not sizes"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4,
       "lies at bytes 4 to 0 of 4"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 4,
       "lies at bytes 0 to 8 of 4"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4,
       "F32 [2] has 4 bytes"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],)"
       R"("data_offsets":[0,0]}})",
       0, "too many elements"},
      {R"({"a":{"dtype":"F32","shape":[4611686018427387904],)"
       R"("data_offsets":[0,0]}})",
       0, "has 0 bytes"},
      {R"({"a":{"dtype":"F64","shape":[2305843009213693952],)"
       R"("data_offsets":[0,0]}})",
       0, "has 0 bytes"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8,
       "follows a gap"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       4, "overlaps"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5,
       "1 bytes at the end"},
      {R"({"__metadata__":[]})", 0, "`__metadata__` is not an object"},
      {R"({"__metadata__":{"a":1}})", 0, "`a` is not a text"},
  };
  for (const auto &each : cases) {
    const SafetensorsError error = errorOf(each.header, each.dataBytes);
    EXPECT_THAT(error.message, HasSubstr(each.message)) << each.header;
    EXPECT_THAT(error.message, HasSubstr("; the file is damaged"));
    EXPECT_TRUE(error.isDamage) << each.header;
  }
  // Such a file is intact.
  const SafetensorsError error = errorOf(
      R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,1]}})", 1);
  EXPECT_THAT(error.message, HasSubstr("has the type F8_E4M3; convert it"));
  EXPECT_FALSE(error.isDamage);
}

// A parser that calls itself for each bracket would exhaust the stack.
TEST(SafetensorsTest, DeepNestingIsNamed) {
  EXPECT_THAT(errorOf(std::string(100000, '['), 0).message,
              HasSubstr("not a JSON object"));
}

TEST(SafetensorsTest, TensorsThatNoFileCanContainAreNotWritten) {
  const auto refusal = [](const TensorEntry &tensor,
                          const Metadata &metadata = {}) {
    auto layout = layOutSafetensors({tensor}, metadata);
    const auto *error = std::get_if<SafetensorsError>(&layout);
    return error ? error->message : "";
  };
  const auto good = entry("a", TensorType::F32, {1});
  EXPECT_EQ(refusal(good), "");
  EXPECT_THAT(refusal(entry("__metadata__", TensorType::F32, {1})),
              HasSubstr("which the safetensors format reserves"));
  EXPECT_THAT(refusal(entry("b", TensorType::F32, {-1})),
              HasSubstr("`b` has a dimension that is not a size"));
  EXPECT_THAT(refusal(entry("b", TensorType::F32, {INT64_MAX, 8})),
              HasSubstr("`b` has a dimension that is not a size"));
  EXPECT_THAT(refusal(entry("\xff", TensorType::F32, {1})),
              HasSubstr("not UTF-8"));
  EXPECT_THAT(refusal(good, {{"k", "\xff"}}), HasSubstr("not UTF-8"));
}

} // namespace
