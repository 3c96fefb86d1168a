//===- SstFilesTest.cpp - Exported files in RocksDB -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SstFiles.h"
#include "Support/TestFolder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/sst_file_writer.h>

#include <array>
#include <cstring>
#include <memory>

using namespace pdlrt;
using testing::AllOf;
using testing::HasSubstr;

namespace {

constexpr RowElements elements = {TensorType::F32, 3};
using Row = std::array<float, 3>;

/// Keys in byte order.
constexpr int64_t keys[] = {0, 1, 255, 256, INT64_MAX, INT64_MIN, -256, -1};

Row rowOf(int64_t key) {
  return {float(key), -0.0F, 1.0F / (3 + float(key % 7))};
}

const std::byte *bytesOf(const Row &row) {
  return reinterpret_cast<const std::byte *>(row.data());
}

void write(const std::string &path) {
  Expected<std::unique_ptr<KeyValueWriter>> writer =
      sstFormat().create(path, elements);
  ASSERT_TRUE(writer.ok()) << writer.status().message();
  for (int64_t key : keys)
    ASSERT_TRUE((*writer)->add(key, bytesOf(rowOf(key))).ok());
  const Expected<FileDigest> digest = (*writer)->finish();
  ASSERT_TRUE(digest.ok()) << digest.status().message();
  EXPECT_EQ(*digest, *digestOfFile(path));
  EXPECT_EQ(digest->bytes, std::filesystem::file_size(path));
}

/// Returns the error message of reading a file; "" if it has the expected rows.
std::string readAll(const std::string &path) {
  Expected<std::unique_ptr<KeyValueReader>> reader =
      sstFormat().open(path, elements);
  if (!reader)
    return reader.status().message();
  for (size_t i = 0;; ++i) {
    const Expected<bool> more = (*reader)->next();
    if (!more)
      return more.status().message();
    if (!*more)
      return i == std::size(keys) ? "" : "rows are missing";
    const Row row = rowOf(keys[i]);
    if ((*reader)->key() != keys[i] ||
        std::memcmp((*reader)->values(), bytesOf(row), sizeof(row)) != 0)
      return "another row";
  }
}

} // namespace

TEST(SstFiles, AreIngestedAsTheyAre) {
  TestFolder folder;
  write(folder.file("rows.sst"));
  EXPECT_EQ(readAll(folder.file("rows.sst")), "");
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB *opened = nullptr;
  rocksdb::Status status =
      rocksdb::DB::Open(options, folder.file("db"), &opened);
  ASSERT_TRUE(status.ok()) << status.ToString();
  const std::unique_ptr<rocksdb::DB> database(opened);
  status = database->IngestExternalFile({folder.file("rows.sst")}, {});
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (int64_t key : keys) {
    std::string value;
    status = database->Get({}, bytesOfKey(key), &value);
    ASSERT_TRUE(status.ok()) << key << ": " << status.ToString();
    const Row row = rowOf(key);
    EXPECT_EQ(value, std::string(reinterpret_cast<const char *>(row.data()),
                                 sizeof(row)));
  }
  std::string none;
  EXPECT_TRUE(database->Get({}, bytesOfKey(7), &none).IsNotFound());
}

TEST(SstFiles, SayWhatIsWrong) {
  TestFolder folder;
  const std::string path = folder.file("rows.sst");
  write(path);
  // RocksDB itself requires the order.
  Expected<std::unique_ptr<KeyValueWriter>> writer =
      sstFormat().create(folder.file("other.sst"), elements);
  ASSERT_TRUE(writer.ok());
  const Row row = rowOf(1);
  EXPECT_TRUE((*writer)->add(-1, bytesOf(row)).ok());
  EXPECT_THAT(
      (*writer)->add(1, bytesOf(row)).message(),
      AllOf(HasSubstr("other.sst: cannot be written: "), HasSubstr("order")));
  EXPECT_THAT(
      sstFormat().create(folder.file("no/such"), elements).status().message(),
      HasSubstr("cannot be written"));
  EXPECT_THAT(readAll(folder.file("none.sst")), HasSubstr("cannot be read"));
  const std::string content = folder.read("rows.sst");
  folder.write("rows.sst", content.substr(0, content.size() / 2));
  EXPECT_THAT(readAll(path), HasSubstr("cannot be read"));
  std::string changed = content;
  changed[20] ^= 1;
  folder.write("rows.sst", changed);
  EXPECT_THAT(readAll(path), HasSubstr("cannot be read"));
  // Files of another width, or with keys of another kind.
  rocksdb::SstFileWriter other{rocksdb::EnvOptions(), rocksdb::Options()};
  ASSERT_TRUE(other.Open(path).ok());
  ASSERT_TRUE(other.Put("key", "value").ok());
  ASSERT_TRUE(other.Finish().ok());
  EXPECT_THAT(readAll(path),
              HasSubstr("has a key of 3 bytes with a value of 5, where 8 and "
                        "12 belong"));
}
