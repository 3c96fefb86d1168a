//===- ColumnFieldTest.cpp - Columns of Parquet and Arrow files -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arrays are made here, so that these tests need no Arrow. parquet_test.py
// reads files.
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnField.h"
#include "Data/CellParser.h"
#include "Data/ColumnType.h"
#include "Data/PartitionFolders.h"
#include "TestRecord.h"

#include "gmock/gmock.h"

#include <cmath>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace pdlrt;
using namespace pdlrt::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// An array of the C data interface, which begins at an offset in its buffers.
class MadeArray {
public:
  template <typename T>
  static MadeArray numbers(const std::vector<std::optional<T>> &values,
                           int64_t offset) {
    MadeArray made;
    made.bytes.resize(sizeof(T) * (values.size() + size_t(offset)));
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i])
        std::memcpy(made.bytes.data() + sizeof(T) * (i + size_t(offset)),
                    &*values[i], sizeof(T));
    made.finish(values, offset, {made.bytes.data()});
    return made;
  }
  static MadeArray texts(const std::vector<std::optional<std::string>> &values,
                         int64_t offset) {
    MadeArray made;
    made.ends.assign(size_t(offset) + 1, 0);
    for (const auto &value : values) {
      made.text += value.value_or("");
      made.ends.push_back(int32_t(made.text.size()));
    }
    made.finish(values, offset, {made.ends.data(), made.text.data()});
    return made;
  }
  /// An array of indices into `entries`.
  static MadeArray indices(const std::vector<std::optional<int32_t>> &values,
                           MadeArray entries, int64_t offset) {
    MadeArray made = numbers<int32_t>(values, offset);
    made.inner = std::make_unique<MadeArray>(std::move(entries));
    made.all.dictionary = &made.inner->all;
    return made;
  }
  /// Lists of `size(i)` elements of `elements`, which begins with 2 others.
  static MadeArray lists(const std::vector<std::optional<int32_t>> &sizes,
                         MadeArray elements) {
    MadeArray made;
    made.ends.assign(1, 2);
    for (const auto &size : sizes)
      made.ends.push_back(made.ends.back() + size.value_or(0));
    made.inner = std::make_unique<MadeArray>(std::move(elements));
    made.child = &made.inner->all;
    made.finish(sizes, 0, {made.ends.data()});
    made.all.childCount = 1;
    made.all.children = &made.child;
    return made;
  }

  MadeArray(MadeArray &&other) noexcept { *this = std::move(other); }
  MadeArray &operator=(MadeArray &&other) noexcept {
    bits = std::move(other.bits);
    bytes = std::move(other.bytes);
    ends = std::move(other.ends);
    // Short texts move to another address.
    text = std::move(other.text);
    buffers = std::move(other.buffers);
    inner = std::move(other.inner);
    child = other.child;
    all = other.all;
    all.buffers = buffers.data();
    if (buffers.size() == 3)
      buffers[2] = text.data();
    if (child)
      all.children = &child;
    return *this;
  }
  const PdlColumnArray &array() const { return all; }

private:
  MadeArray() = default;
  template <typename T>
  void finish(const std::vector<std::optional<T>> &values, int64_t offset,
              std::vector<const void *> own) {
    bits.assign((values.size() + size_t(offset)) / 8 + 1, 0);
    for (size_t i = 0; i < values.size(); ++i)
      if (values[i])
        bits[(i + size_t(offset)) / 8] |=
            uint8_t(1 << ((i + size_t(offset)) % 8));
      else
        ++all.nullCount;
    buffers = {bits.data()};
    buffers.insert(buffers.end(), own.begin(), own.end());
    all.length = int64_t(values.size());
    all.offset = offset;
    all.bufferCount = int64_t(buffers.size());
    all.buffers = buffers.data();
  }

  std::vector<uint8_t> bits;
  std::vector<std::byte> bytes;
  std::vector<int32_t> ends;
  std::string text;
  std::vector<const void *> buffers;
  std::unique_ptr<MadeArray> inner;
  PdlColumnArray *child = nullptr;
  PdlColumnArray all = {};
};

class ColumnFieldTest : public DataTest {
protected:
  static constexpr int64_t rows = 200;

  /// Returns null with that probability, otherwise the value.
  template <typename T> std::optional<T> maybe(double share, T value) {
    return std::uniform_real_distribution<>()(random) < share
               ? std::nullopt
               : std::optional<T>(value);
  }
  template <typename T> std::vector<std::optional<T>> draw(double share) {
    std::vector<std::optional<T>> values;
    for (int64_t i = 0; i < rows; ++i)
      values.push_back(maybe<T>(share, T(int64_t(random() % 201) - 100)));
    return values;
  }

  /// Converts rows [begin, end) of a column at once, and one by one. Both must
  /// have the same values. Returns false if they were not converted at once.
  bool convert(const pdl_field &field, const ColumnType &type,
               const PdlColumnArray &array, int64_t begin, int64_t end) {
    const std::vector<ColumnValues> columns = {ColumnValues(type, array)};
    ColumnField fast(field, {0}, field.width == 1);
    fast.beginBatch(columns, {true});
    RecordColumns atOnce({&field}), single({&field});
    if (!fast.append(columns, begin, end - begin, atOnce.column(0)))
      return false;
    auto parser = CellParser::create(field);
    EXPECT_TRUE(parser.ok());
    for (int64_t row = begin; row < end; ++row) {
      std::vector<RowValue> values;
      std::deque<std::string> texts;
      if (type.lists.empty()) {
        values.push_back(columns[0].valueAt(row, texts.emplace_back()));
      } else if (!columns[0].lists[0].isNull(row)) {
        for (int64_t i = columns[0].lists[0].begin(row);
             i < columns[0].lists[0].end(row); ++i)
          values.push_back(columns[0].valueAt(i, texts.emplace_back()));
      }
      const std::span<const RowValue> slot = values;
      size_t failed = 0;
      const Status status =
          parser->append({&slot, 1}, single.column(0), failed);
      EXPECT_TRUE(status.ok()) << status.message();
    }
    expectSame(atOnce.column(0), single.column(0));
    return true;
  }

  static void expectSame(const RecordColumns::Column &a,
                         const RecordColumns::Column &b) {
    ASSERT_EQ(a.values.size(), b.values.size());
    EXPECT_EQ(std::memcmp(a.values.data(), b.values.data(), a.values.size()),
              0);
    ASSERT_EQ(a.splits.size(), b.splits.size());
    for (size_t i = 0; i < a.splits.size(); ++i)
      EXPECT_EQ(a.splits[i], b.splits[i]);
  }

  /// Converts numbers of a type for each kind of field.
  template <typename T> void convertNumbers(ElementType type, bool areIds) {
    for (const double share : {0.0, 0.3}) {
      const MadeArray made = MadeArray::numbers<T>(draw<T>(share), 5);
      const ColumnType column = {{}, type};
      EXPECT_TRUE(convert(number, column, made.array(), 3, rows));
      EXPECT_EQ(convert(wide, column, made.array(), 0, rows), share == 0);
      EXPECT_EQ(convert(hashed, column, made.array(), 0, rows), areIds);
      EXPECT_EQ(convert(raw, column, made.array(), 0, rows),
                areIds && share == 0);
      EXPECT_EQ(convert(bag, column, made.array(), 7, rows - 1), areIds);
      EXPECT_TRUE(convert(numberBag, column, made.array(), 7, rows));
    }
  }

  void SetUp() override {
    DataTest::SetUp();
    number.missing_kind = PDL_MISSING_VALUE;
    number.missing_value = -7.5;
    wide.element_type = PDL_F64;
    hashed.missing_kind = PDL_MISSING_TOKEN;
    hashed.missing_token = "none";
    hashed.salt = 11;
    raw.hash_kind = PDL_HASH_NONE;
  }

  std::mt19937_64 random{1};
  pdl_field &number = record.dense("number");
  pdl_field &wide = record.dense("wide");
  pdl_field &hashed = record.ids("hashed");
  pdl_field &raw = record.ids("raw");
  pdl_field &bag = record.ragged("bag");
  pdl_field &numberBag = record.raggedNumbers("numbers");
};

TEST_F(ColumnFieldTest, NumbersAreConvertedAsOneByOne) {
  convertNumbers<int8_t>(ElementType::Int8, true);
  convertNumbers<int16_t>(ElementType::Int16, true);
  convertNumbers<int32_t>(ElementType::Int32, true);
  convertNumbers<int64_t>(ElementType::Int64, true);
  convertNumbers<uint8_t>(ElementType::UInt8, true);
  convertNumbers<uint32_t>(ElementType::UInt32, true);
  convertNumbers<uint64_t>(ElementType::UInt64, true);
  convertNumbers<float>(ElementType::Float, false);
  convertNumbers<double>(ElementType::Double, false);
}

TEST_F(ColumnFieldTest, TextsAndDictionariesAreConvertedAsOneByOne) {
  std::vector<std::optional<std::string>> entries;
  for (int i = 0; i < 20; ++i)
    entries.emplace_back(" w" + std::to_string(i * i));
  entries.emplace_back("?");
  std::vector<std::optional<std::string>> texts;
  std::vector<std::optional<int32_t>> indices;
  for (int64_t i = 0; i < rows; ++i) {
    indices.push_back(maybe<int32_t>(0.1, int32_t(random() % entries.size())));
    texts.push_back(indices.back() ? entries[size_t(*indices.back())]
                                   : std::nullopt);
  }
  const MadeArray plain = MadeArray::texts(texts, 3);
  const MadeArray coded =
      MadeArray::indices(indices, MadeArray::texts(entries, 1), 9);
  const ColumnType type = {{}, ElementType::Text32};
  for (const MadeArray *made : {&plain, &coded}) {
    EXPECT_TRUE(convert(hashed, type, made->array(), 2, rows));
    EXPECT_TRUE(convert(bag, type, made->array(), 0, rows - 3));
    EXPECT_FALSE(convert(raw, type, made->array(), 0, rows));
    EXPECT_FALSE(convert(number, type, made->array(), 0, rows));
  }
  // CellParser counts such ids.
  texts[5] = "7.0";
  const MadeArray decimal = MadeArray::texts(texts, 0);
  EXPECT_FALSE(convert(hashed, type, decimal.array(), 0, rows));
  EXPECT_TRUE(convert(hashed, type, decimal.array(), 6, rows));
}

TEST_F(ColumnFieldTest, ListsAreConvertedAsOneByOne) {
  std::vector<std::optional<int32_t>> sizes;
  int32_t total = 2;
  for (int64_t i = 0; i < rows; ++i) {
    sizes.push_back(maybe<int32_t>(0.2, int32_t(random() % 5)));
    total += sizes.back().value_or(0);
  }
  std::vector<std::optional<int64_t>> ids(size_t(total), 0);
  for (auto &id : ids)
    id = int64_t(random() % 1000);
  const MadeArray lists =
      MadeArray::lists(sizes, MadeArray::numbers<int64_t>(ids, 4));
  const ColumnType type = {{{ListLayout::Ends32}}, ElementType::Int64};
  EXPECT_TRUE(convert(bag, type, lists.array(), 0, rows));
  EXPECT_TRUE(convert(bag, type, lists.array(), 33, 150));
  EXPECT_TRUE(convert(numberBag, type, lists.array(), 1, rows));
  // An empty bag needs a replacement.
  bag.missing_kind = PDL_MISSING_TOKEN;
  bag.missing_token = "gap";
  EXPECT_FALSE(convert(bag, type, lists.array(), 0, rows));
  bag.missing_kind = PDL_MISSING_EMPTY;
  // A missing element is left out, or makes the row bad.
  ids.back() = std::nullopt;
  const MadeArray gap =
      MadeArray::lists(sizes, MadeArray::numbers<int64_t>(ids, 0));
  EXPECT_FALSE(convert(bag, type, gap.array(), 0, rows));
}

TEST_F(ColumnFieldTest, NumbersThatAreNotFiniteNeedCellParser) {
  std::vector<std::optional<double>> values(size_t(rows), 1.5);
  values[50] = std::nan("");
  values[100] = 1e39;
  values[150] = INFINITY;
  const MadeArray made = MadeArray::numbers<double>(values, 0);
  const ColumnType type = {{}, ElementType::Double};
  EXPECT_TRUE(convert(number, type, made.array(), 0, 100));
  EXPECT_FALSE(convert(number, type, made.array(), 0, 101));
  EXPECT_FALSE(convert(wide, type, made.array(), 0, 100));
  EXPECT_TRUE(convert(wide, type, made.array(), 51, 150));
  EXPECT_FALSE(convert(wide, type, made.array(), 51, 151));
}

TEST_F(ColumnFieldTest, HalfFloatsAreExact) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = int(bits >> 10 & 0x1f), fraction = int(bits & 0x3ff);
    const float found = HalfFloat{uint16_t(bits)};
    if (exponent == 0x1f) {
      EXPECT_EQ(std::isnan(found), fraction != 0) << bits;
      EXPECT_EQ(std::isinf(found), fraction == 0) << bits;
      continue;
    }
    const double size = exponent == 0
                            ? std::ldexp(fraction, -24)
                            : std::ldexp(1024 + fraction, exponent - 25);
    EXPECT_EQ(found, float(bits & 0x8000 ? -size : size)) << bits;
  }
}

TEST_F(ColumnFieldTest, TypesAreFoundOrRefused) {
  const auto parse = [](std::vector<const char *> formats) {
    std::vector<PdlColumnSchema> levels(formats.size());
    std::vector<PdlColumnSchema *> children(formats.size());
    for (size_t i = 0; i < formats.size(); ++i) {
      levels[i].format = formats[i];
      if (i + 1 == formats.size())
        continue;
      children[i] = &levels[i + 1];
      levels[i].children = &children[i];
      levels[i].childCount = 1;
    }
    return parseColumnType(levels[0]);
  };
  EXPECT_EQ(parse({"L"})->element, ElementType::UInt64);
  const auto lists = parse({"+vl", "+w:3", "vu"});
  ASSERT_TRUE(lists.ok());
  EXPECT_EQ(lists->element, ElementType::TextView);
  EXPECT_EQ(lists->lists[0].layout, ListLayout::Views32);
  EXPECT_EQ(lists->lists[1].size, 3);
  EXPECT_EQ(columnTypeText(*lists), "a list of lists of strings");
  for (const auto &[format, reason] :
       {std::pair("tsu:", "a timestamp"), std::pair("tdD", "a date"),
        std::pair("ttu", "a time"), std::pair("tDs", "a duration"),
        std::pair("d:10,2", "a decimal"), std::pair("w:16", "a binary value"),
        std::pair("+s", "a struct"), std::pair("+m", "a map"),
        std::pair("+r", "the type with the Arrow format `+r`")})
    EXPECT_THAT(parse({format}).status().message(), HasSubstr(reason));
  EXPECT_THAT(parse({"+l", "+l", "+l", "i"}).status().message(),
              HasSubstr("lists of lists of lists"));
}

TEST_F(ColumnFieldTest, FoldersHaveValues) {
  const auto values =
      partitionValuesOf("x=0/day=2026-11-29/t=%3a%4/x=a b/"
                        "none=__HIVE_DEFAULT_PARTITION__/=1/file=2.parquet");
  EXPECT_THAT(
      values,
      ElementsAre(
          std::pair<const std::string, std::optional<std::string>>(
              "day", "2026-11-29"),
          std::pair<const std::string, std::optional<std::string>>(
              "none", std::nullopt),
          std::pair<const std::string, std::optional<std::string>>("t", ":%4"),
          std::pair<const std::string, std::optional<std::string>>("x",
                                                                   "a b")));
}

} // namespace
