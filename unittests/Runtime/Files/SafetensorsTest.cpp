//===- SafetensorsTest.cpp - Reading and writing named tensors ------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Files/Safetensors.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace pdlrt;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class SafetensorsTest : public testing::Test {
protected:
  void SetUp() override {
    const auto *info = testing::UnitTest::GetInstance()->current_test_info();
    folder =
        std::filesystem::temp_directory_path() /
        ("pdl-safetensors-" + std::to_string(getpid()) + "-" + info->name());
    std::filesystem::create_directories(folder);
    path = folder / "t.safetensors";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void put(const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  std::string get() {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Writes a file with the header `header` and `dataSize` zero bytes.
  void putHeader(const std::string &header, size_t dataSize) {
    const uint64_t size = header.size();
    std::string bytes(reinterpret_cast<const char *>(&size), 8);
    put(bytes + header + std::string(dataSize, '\0'));
  }
  std::string errorOf() {
    auto file = SafetensorsFile::open(path);
    EXPECT_FALSE(file.ok());
    return file.status().message();
  }

  std::filesystem::path folder, path;
};

template <typename T> std::vector<T> valuesOf(const TensorView &tensor) {
  std::vector<T> values(static_cast<size_t>(tensor.elementCount));
  EXPECT_TRUE(tensor.copyTo(values.data()).ok());
  return values;
}

// Output of Python's safetensors 0.x for {"weights": float32 [[1.5, -2, .25]],
// "ids": int64 [1, -2], "empty": float64 (0, 4)} with metadata {"seed": "7"}.
const char pythonHeader[] =
    R"({"__metadata__":{"seed":"7"},"ids":{"dtype":"I64","shape":[2)"
    R"(],"data_offsets":[0,16]},"empty":{"dtype":"F64","shape":[0,4)"
    R"(],"data_offsets":[16,16]},"weights":{"dtype":"F32","shape":[)"
    R"(1,3],"data_offsets":[16,28]}}       )";
const unsigned char pythonData[] = {0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
                                    0x00, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0x00, 0x00, 0xc0, 0x3f, 0x00,
                                    0x00, 0x00, 0xc0, 0x00, 0x00, 0x80, 0x3e};

TEST_F(SafetensorsTest, ReadsWhatPythonWrote) {
  const uint64_t size = sizeof(pythonHeader) - 1;
  std::string bytes(reinterpret_cast<const char *>(&size), 8);
  put(bytes + pythonHeader +
      std::string(reinterpret_cast<const char *>(pythonData),
                  sizeof(pythonData)));
  auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  ASSERT_EQ(file->tensors().size(), 3u);
  EXPECT_EQ(file->metadata().at("seed"), "7");
  const TensorView *weights = file->find("weights");
  ASSERT_TRUE(weights);
  EXPECT_EQ(weights->typeAndShape(), "F32 [1, 3]");
  EXPECT_EQ(valuesOf<float>(*weights), (std::vector<float>{1.5f, -2.f, .25f}));
  EXPECT_EQ(valuesOf<int64_t>(*file->find("ids")),
            (std::vector<int64_t>{1, -2}));
  EXPECT_EQ(file->find("empty")->typeAndShape(), "F64 [0, 4]");
  EXPECT_EQ(file->find("weight"), nullptr);
}

TEST_F(SafetensorsTest, WritesAllTypesAndReadsThemBack) {
  const std::vector<float> f32{1.5f, -0.f, 3e38f};
  const std::vector<double> f64{1e-308, 2};
  const std::vector<int32_t> i32{-5};
  const std::vector<int64_t> i64{INT64_MIN, INT64_MAX};
  SafetensorsWriter writer;
  ASSERT_TRUE(writer.add("a", TensorType::F32, {3}, f32.data()).ok());
  ASSERT_TRUE(writer.add("b/c.d", TensorType::F64, {2, 1}, f64.data()).ok());
  ASSERT_TRUE(writer.add("scalar", TensorType::I32, {}, i32.data()).ok());
  ASSERT_TRUE(writer.add("e", TensorType::I64, {2}, i64.data()).ok());
  {
    const uint64_t gone = UINT64_MAX;
    ASSERT_TRUE(writer.addCopy("u", TensorType::U64, {1}, &gone).ok());
  }
  ASSERT_TRUE(writer.add("none", TensorType::F32, {0, 7}, nullptr).ok());
  ASSERT_TRUE(writer.add("bytes", TensorType::U8, {3}, "\x80 b").ok());
  writer.setMetadata("model", "ctr \"quoted\" \xc3\xa9");
  ASSERT_TRUE(writer.write(path).ok());

  auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(valuesOf<float>(*file->find("a")), f32);
  EXPECT_TRUE(std::signbit(valuesOf<float>(*file->find("a"))[1]));
  EXPECT_EQ(valuesOf<double>(*file->find("b/c.d")), f64);
  EXPECT_EQ(valuesOf<int32_t>(*file->find("scalar")), i32);
  EXPECT_TRUE(file->find("scalar")->shape.empty());
  EXPECT_EQ(valuesOf<int64_t>(*file->find("e")), i64);
  EXPECT_EQ(valuesOf<uint64_t>(*file->find("u"))[0], UINT64_MAX);
  EXPECT_EQ(valuesOf<uint8_t>(*file->find("bytes")),
            (std::vector<uint8_t>{0x80, ' ', 'b'}));
  EXPECT_EQ(file->metadata().at("model"), "ctr \"quoted\" \xc3\xa9");
  for (const TensorView &tensor : file->tensors())
    EXPECT_EQ(tensor.offset % tensorElementSize(tensor.type), 0u)
        << tensor.name;
  // Only the file itself remains.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

// Pieces must be requested in order.
TEST_F(SafetensorsTest, RowsAreMadeAsTheyAreWritten) {
  constexpr int64_t rows = 100000, width = 7;
  int64_t next = 0, largest = 0;
  SafetensorsWriter writer;
  ASSERT_TRUE(writer
                  .addRows("rows", TensorType::F32, {rows, width},
                           [&](int64_t first, int64_t count, std::byte *out) {
                             EXPECT_EQ(first, next);
                             next = first + count;
                             largest = std::max(largest, count);
                             for (int64_t i = 0; i < count * width; ++i) {
                               const auto value = float(first * width + i);
                               std::memcpy(out + i * sizeof(float), &value,
                                           sizeof(float));
                             }
                           })
                  .ok());
  ASSERT_TRUE(writer
                  .addRows("none", TensorType::F32, {0, width},
                           [](int64_t, int64_t, std::byte *) {
                             ADD_FAILURE() << "there is no row";
                           })
                  .ok());
  ASSERT_TRUE(writer.write(path).ok());
  EXPECT_EQ(next, rows);
  EXPECT_LT(largest, rows);
  auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  std::vector<float> expected(rows * width);
  std::iota(expected.begin(), expected.end(), 0.f);
  EXPECT_EQ(valuesOf<float>(*file->find("rows")), expected);
  EXPECT_EQ(file->find("none")->elementCount, 0);
}

TEST_F(SafetensorsTest, WriterRefusesWhatNoFileCanHold) {
  SafetensorsWriter writer;
  const float value = 1;
  ASSERT_TRUE(writer.add("a", TensorType::F32, {1}, &value).ok());
  EXPECT_THAT(writer.add("a", TensorType::F32, {1}, &value).message(),
              HasSubstr("two tensors have the name `a`"));
  EXPECT_FALSE(writer.add("__metadata__", TensorType::F32, {1}, &value).ok());
  EXPECT_FALSE(writer.add("b", TensorType::F32, {-1}, &value).ok());
  EXPECT_THAT(writer.write(folder / "absent" / "x").message(),
              HasSubstr("cannot be created"));
  ASSERT_TRUE(writer.add("\xff", TensorType::F32, {1}, &value).ok());
  EXPECT_THAT(writer.write(path).message(), HasSubstr("not UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

// unittests/ABI/SafetensorsTest.cpp tests all defects of headers.
TEST_F(SafetensorsTest, TheErrorOfADefectNamesTheFile) {
  EXPECT_THAT(errorOf(), HasSubstr("cannot be opened: No such file"));
  put("1234567");
  EXPECT_THAT(errorOf(), HasSubstr("t.safetensors: is too short"));
  put("user,item,click\n1,2,0\n");
  EXPECT_THAT(errorOf(), HasSubstr("is not a safetensors file, but a text that "
                                   "begins with 'user,ite'"));
  put(std::string(8, '\xff'));
  EXPECT_THAT(errorOf(), HasSubstr("t.safetensors: the header claims"));
  putHeader(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 5);
  EXPECT_THAT(errorOf(), AllOf(HasSubstr("t.safetensors: "),
                               HasSubstr("1 bytes at the end")));
  putHeader(R"({"a":{"dtype":"F8_E4M3","shape":[1],"data_offsets":[0,2]}})", 2);
  EXPECT_THAT(errorOf(), AllOf(HasSubstr("t.safetensors: "),
                               HasSubstr("has the type F8_E4M3; convert it")));
  path = folder;
  EXPECT_THAT(errorOf(), HasSubstr("not a regular file"));
}

TEST_F(SafetensorsTest, DamagedFilesAreReadOrRefusedButNeverCrash) {
  std::vector<float> values(64, 1.f);
  SafetensorsWriter writer;
  ASSERT_TRUE(writer.add("a", TensorType::F32, {8, 4}, values.data()).ok());
  ASSERT_TRUE(writer.add("b", TensorType::F64, {4}, values.data()).ok());
  writer.setMetadata("k", "v");
  ASSERT_TRUE(writer.write(path).ok());
  const std::string good = get();
  std::mt19937 random(11);
  int refused = 0;
  auto tryRead = [&](const std::string &bytes) {
    put(bytes);
    auto file = SafetensorsFile::open(path);
    if (!file.ok()) {
      ++refused;
      EXPECT_FALSE(file.status().message().empty());
      return;
    }
    // Every byte of a listed tensor is readable.
    for (const TensorView &tensor : file->tensors()) {
      std::vector<std::byte> copy(tensor.byteSize());
      EXPECT_TRUE(tensor.copyTo(copy.data()).ok());
    }
  };
  for (size_t length = 0; length < good.size(); ++length)
    tryRead(good.substr(0, length));
  EXPECT_EQ(refused, static_cast<int>(good.size()));
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = good;
    for (unsigned flips = 1 + random() % 3; flips--;)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    tryRead(bytes);
  }
}

// With a mapped file, a failing disk would have caused a signal, and so would
// this.
TEST_F(SafetensorsTest, AFileThatIsCutWhileItIsReadIsAnError) {
  const std::vector<float> values(1 << 20, 1.f);
  SafetensorsWriter writer;
  ASSERT_TRUE(writer.add("w", TensorType::F32, {1 << 20}, values.data()).ok());
  ASSERT_TRUE(writer.write(path).ok());
  auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok()) << file.status().message();
  std::filesystem::resize_file(path, 1 << 20);
  const TensorView &tensor = *file->find("w");
  std::vector<float> copy(1 << 20);
  for (const Status &status :
       {tensor.copyTo(copy.data()), file->digest().status(),
        TensorWindow(tensor).at(1 << 19, 1).status()}) {
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find(path.string()), std::string::npos)
        << status.message();
    EXPECT_NE(status.message().find(": ends at byte "), std::string::npos)
        << status.message();
  }
  // The existing part is readable.
  EXPECT_TRUE(tensor.read(0, 1000, copy.data()).ok());
  EXPECT_EQ(copy[999], 1.f);
}

TEST_F(SafetensorsTest, AWindowReadsAnyPiece) {
  std::vector<int64_t> values(300000);
  std::iota(values.begin(), values.end(), 7);
  SafetensorsWriter writer;
  ASSERT_TRUE(writer.add("w", TensorType::I64, {300000}, values.data()).ok());
  ASSERT_TRUE(writer.write(path).ok());
  auto file = SafetensorsFile::open(path);
  ASSERT_TRUE(file.ok());
  TensorWindow window(*file->find("w"));
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    const auto first = int64_t(random() % 300000);
    const auto count = std::min<int64_t>(random() % (round % 10 ? 50 : 200000),
                                         300000 - first);
    Expected<const std::byte *> piece = window.at(first, count);
    ASSERT_TRUE(piece.ok());
    std::vector<int64_t> got(count);
    if (count > 0)
      std::memcpy(got.data(), *piece, count * sizeof(int64_t));
    ASSERT_TRUE(std::equal(got.begin(), got.end(), values.begin() + first));
  }
  ASSERT_TRUE(window.at(300000, 0).ok());
}

TEST_F(SafetensorsTest, OnlyRegularFilesAreRead) {
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(errorOf(), HasSubstr("not a regular file"));
}

} // namespace
