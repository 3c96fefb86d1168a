//===- TestRecord.h - Records and files for the tests -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDL_UNITTESTS_RUNTIME_DATA_TESTRECORD_H
#define PDL_UNITTESTS_RUNTIME_DATA_TESTRECORD_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Data/BatchSource.h"

#include "gtest/gtest.h"

#include <deque>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <unistd.h>
#include <vector>
#include <zlib.h>
#include <zstd.h>

namespace pdlrt::test {

/// A descriptor whose fields a test declares one by one.
class TestRecord {
public:
  /// Adds a field. The returned field may be changed until `descriptor` is
  /// called.
  pdl_field &add(const char *name, pdl_field_kind kind, int64_t width = 1) {
    pdl_field field{};
    field.struct_size = sizeof(field);
    field.name = name;
    field.kind = kind;
    field.element_type = kind == PDL_FIELD_DENSE ? PDL_F32 : PDL_I64;
    field.width = width;
    field.hash_kind = PDL_HASH_XXH64;
    if (kind == PDL_FIELD_RAGGED)
      field.missing_kind = PDL_MISSING_EMPTY;
    fields.push_back(field);
    return fields.back();
  }
  pdl_field &dense(const char *name, int64_t width = 1) {
    return add(name, PDL_FIELD_DENSE, width);
  }
  pdl_field &ids(const char *name, int64_t width = 1) {
    return add(name, PDL_FIELD_IDS, width);
  }
  pdl_field &ragged(const char *name, int64_t width = 1) {
    return add(name, PDL_FIELD_RAGGED, width);
  }
  pdl_field &raggedNumbers(const char *name, int64_t width = 1,
                           int32_t elementType = PDL_F32) {
    pdl_field &field = add(name, PDL_FIELD_RAGGED, width);
    field.element_type = elementType;
    field.hash_kind = PDL_HASH_NONE;
    return field;
  }
  void setPositions(pdl_field &field, std::vector<int64_t> positions) {
    positionLists.push_back(std::move(positions));
    field.column_count = field.width;
    field.column_positions = positionLists.back().data();
  }
  void setNames(pdl_field &field, std::vector<const char *> names) {
    nameLists.push_back(std::move(names));
    field.column_count = field.width;
    field.column_names = nameLists.back().data();
  }
  void setValues(pdl_field &field, std::vector<const char *> texts,
                 std::vector<double> numbers) {
    nameLists.push_back(std::move(texts));
    numberLists.push_back(std::move(numbers));
    field.value_count = static_cast<int64_t>(nameLists.back().size());
    field.value_texts = nameLists.back().data();
    field.value_numbers = numberLists.back().data();
  }

  const pdl_descriptor &descriptor() {
    contiguous.assign(fields.begin(), fields.end());
    built.struct_size = sizeof(built);
    built.model_name = "test";
    built.field_count = static_cast<int32_t>(contiguous.size());
    built.fields = contiguous.data();
    return built;
  }
  /// Returns a program that reads the fields with these indices; default: all.
  const pdl_program &program(std::vector<int32_t> indices = {}) {
    if (indices.empty()) {
      indices.resize(fields.size());
      std::iota(indices.begin(), indices.end(), 0);
    }
    indexLists.push_back(std::move(indices));
    pdl_program program{};
    program.struct_size = sizeof(program);
    program.name = "train";
    program.field_count = static_cast<int32_t>(indexLists.back().size());
    program.fields = indexLists.back().data();
    programs.push_back(program);
    return programs.back();
  }

private:
  std::deque<pdl_field> fields;
  std::vector<pdl_field> contiguous;
  std::deque<std::vector<int64_t>> positionLists;
  std::deque<std::vector<const char *>> nameLists;
  std::deque<std::vector<double>> numberLists;
  std::deque<std::vector<int32_t>> indexLists;
  std::deque<pdl_program> programs;
  pdl_descriptor built{};
};

/// Returns one zstd frame with a checksum.
inline std::string packedByZstd(const std::string &text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  ZSTD_CCtx *context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  packed.resize(ZSTD_compress2(context, packed.data(), packed.size(),
                               text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return packed;
}

/// A fixture with its own folder.
class DataTest : public testing::Test {
protected:
  void SetUp() override {
    const auto *info = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::temp_directory_path() /
             ("pdl-data-" + std::to_string(getpid()) + "-" + info->name());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  /// Writes a file, compressed if its name ends in .gz or .zst. Returns its
  /// path.
  std::string put(const std::string &name, const std::string &text) {
    const std::string path = folder / name;
    if (!name.ends_with(".gz")) {
      std::ofstream(path, std::ios::binary)
          << (name.ends_with(".zst") ? packedByZstd(text) : text);
      return path;
    }
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  }

  std::unique_ptr<BatchSource> open(const DataOptions &options,
                                    const pdl_program *program = nullptr,
                                    int32_t groups = 1, int32_t group = 0,
                                    int32_t workers = 1) {
    auto source = BatchSource::open(options, record.descriptor(),
                                    program ? *program : record.program(),
                                    groups, group, workers);
    EXPECT_TRUE(source.ok()) << source.status().message();
    return source.ok() ? *std::move(source) : nullptr;
  }
  /// Returns the error of opening a source, or of reading it to the end.
  std::string errorOf(const DataOptions &options,
                      const pdl_program *program = nullptr) {
    auto source = BatchSource::open(options, record.descriptor(),
                                    program ? *program : record.program());
    if (!source.ok())
      return source.status().message();
    Batch batch;
    while (true) {
      auto more = (*source)->next(0, batch);
      if (!more.ok())
        return more.status().message();
      if (!*more)
        return "";
    }
  }

  /// Returns the elements of a field of a batch.
  template <typename T>
  static std::vector<T> values(const Batch &batch, size_t field) {
    const pdl_field_data &data = batch.fields()[field];
    const T *begin = static_cast<const T *>(data.values);
    return {begin, begin + data.value_count};
  }
  static std::vector<int32_t> splits(const Batch &batch, size_t field,
                                     int64_t width = 1) {
    const int32_t *begin = batch.fields()[field].splits;
    return {begin, begin + batch.size() * width + 1};
  }

  std::filesystem::path folder;
  TestRecord record;
};

} // namespace pdlrt::test

#endif // PDL_UNITTESTS_RUNTIME_DATA_TESTRECORD_H
