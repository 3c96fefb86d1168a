//===- ColumnDamageTest.cpp - Damaged sizes in files of columns -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compressed buffers store their size before compression. If it is damaged, the
// reader must report damage instead of a lack of memory. Arrow writes the
// files.
//
//===----------------------------------------------------------------------===//

#include "Data/ColumnFile.h"
#include "Support/TestFolder.h"
#include "pdlabi/abi.h"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <arrow/util/compression.h>
#include <parquet/arrow/writer.h>

#include "gmock/gmock.h"

#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace pdlrt;
using testing::HasSubstr;

namespace {

enum class Container { File, Stream, Message, Parquet };

/// Rows of a column of zeros. Its size of 1,200,056 bytes has 4 bytes in a page
/// header, and so does a size of up to 128 MiB.
constexpr int64_t rowCount = 150'007;
constexpr int64_t columnBytes = rowCount * int64_t(sizeof(int64_t));

std::shared_ptr<arrow::RecordBatch> zeros(int64_t rows) {
  auto buffer = arrow::AllocateBuffer(rows * int64_t(sizeof(int64_t)));
  std::memset((*buffer)->mutable_data(), 0, size_t((*buffer)->size()));
  auto column = std::make_shared<arrow::Int64Array>(
      rows, std::shared_ptr<arrow::Buffer>(*std::move(buffer)));
  auto schema =
      arrow::schema({arrow::field("x", arrow::int64(), /*nullable=*/false)});
  return arrow::RecordBatch::Make(std::move(schema), rows, {std::move(column)});
}

arrow::Status write(Container container, arrow::Compression::type codec,
                    const arrow::RecordBatch &batch,
                    const std::shared_ptr<arrow::io::OutputStream> &sink) {
  if (container == Container::Parquet) {
    auto properties = parquet::WriterProperties::Builder()
                          .compression(codec)
                          ->disable_dictionary()
                          ->data_pagesize(int64_t(1) << 30)
                          ->max_rows_per_page(batch.num_rows())
                          ->write_batch_size(batch.num_rows())
                          ->build();
    ARROW_ASSIGN_OR_RAISE(const auto table,
                          arrow::Table::FromRecordBatches({batch.Slice(0)}));
    return parquet::arrow::WriteTable(*table, arrow::default_memory_pool(),
                                      sink, batch.num_rows(), properties);
  }
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  ARROW_ASSIGN_OR_RAISE(options.codec, arrow::util::Codec::Create(codec));
  const auto make = [&] {
    return container == Container::File
               ? arrow::ipc::MakeFileWriter(sink, batch.schema(), options)
               : arrow::ipc::MakeStreamWriter(sink, batch.schema(), options);
  };
  ARROW_ASSIGN_OR_RAISE(const auto writer, make());
  ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(batch));
  return writer->Close();
}

std::string bytesOf(Container container, arrow::Compression::type codec,
                    int64_t rows = rowCount) {
  auto sink = *arrow::io::BufferOutputStream::Create();
  const arrow::Status status = write(container, codec, *zeros(rows), sink);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return (*sink->Finish())->ToString();
}

/// Returns how a container stores the size of a buffer: a number of 64 bits, or
/// the varint of a page header.
std::string stored(Container container, int64_t size) {
  std::string bytes;
  if (container != Container::Parquet) {
    bytes.resize(sizeof(size));
    std::memcpy(bytes.data(), &size, sizeof(size));
    return bytes;
  }
  for (auto rest = uint64_t(size) << 1; rest > 0; rest >>= 7)
    bytes += char((rest & 127) | (rest > 127 ? 128 : 0));
  return bytes;
}

class ColumnDamageTest : public testing::TestWithParam<Container> {
protected:
  /// Reads all rows of the first column.
  Expected<int64_t> readRows(ColumnFile file) {
    int64_t rows = 0;
    const int32_t column = 0;
    for (int64_t group = 0; group < file.groupCount(); ++group) {
      PDLRT_RETURN_IF_ERROR(file.begin(group, {&column, 1}));
      while (true) {
        auto batch = file.next(0);
        PDLRT_RETURN_IF_ERROR(batch.status());
        if ((*batch)->length == 0)
          break;
        rows += (*batch)->length;
      }
    }
    return rows;
  }

  Expected<int64_t> read(const std::string &bytes) {
    if (GetParam() == Container::Message) {
      auto opened = ColumnFile::openMessage(bytes, "topic[0]@3");
      PDLRT_RETURN_IF_ERROR(opened.status());
      return readRows(*std::move(opened));
    }
    const std::string path = folder.write("data", bytes);
    auto opened = ColumnFile::open(
        path, GetParam() == Container::Parquet ? PdlParquetFile : PdlArrowFile);
    PDLRT_RETURN_IF_ERROR(opened.status());
    return readRows(*std::move(opened));
  }

  /// Reads a file whose column declares another size.
  Status readDamaged(arrow::Compression::type codec, int64_t size) {
    std::string bytes = bytesOf(GetParam(), codec);
    const std::string before = stored(GetParam(), columnBytes);
    const size_t at = bytes.find(before);
    EXPECT_NE(at, std::string::npos);
    const std::string after = stored(GetParam(), size);
    EXPECT_EQ(after.size(), before.size());
    bytes.replace(at, after.size(), after);
    return read(bytes).status();
  }

  TestFolder folder;
};

TEST_P(ColumnDamageTest, WholeFilesAreRead) {
  for (const auto codec :
       {arrow::Compression::ZSTD, arrow::Compression::LZ4_FRAME}) {
    // Parquet has its own variant of LZ4.
    if (GetParam() == Container::Parquet && codec != arrow::Compression::ZSTD)
      continue;
    const auto rows = read(bytesOf(GetParam(), codec));
    ASSERT_TRUE(rows.ok()) << rows.status().message();
    EXPECT_EQ(*rows, rowCount);
  }
}

TEST_P(ColumnDamageTest, ColumnsOfOneValueMayBeLarge) {
  const int64_t rows = 8'000'000; // 61 MiB.
  const std::string bytes = bytesOf(GetParam(), arrow::Compression::ZSTD, rows);
  EXPECT_LT(bytes.size() * 2048, size_t(rows) * sizeof(int64_t));
  const auto read = this->read(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, rows);
}

TEST_P(ColumnDamageTest, LargeSizesAreDamage) {
  const int64_t mebibyte = int64_t(1) << 20;
  std::vector<int64_t> sizes = {127 * mebibyte};
  if (GetParam() != Container::Parquet)
    sizes.insert(sizes.end(), {int64_t(1) << 36, int64_t(1) << 44,
                               std::numeric_limits<int64_t>::max()});
  for (const int64_t size : sizes) {
    const Status status = readDamaged(arrow::Compression::ZSTD, size);
    EXPECT_EQ(status.code(), PDL_DATA_LOSS) << status.message();
    EXPECT_THAT(status.message(),
                HasSubstr(GetParam() == Container::Message ? "topic[0]@3: "
                                                           : "/data: "));
    EXPECT_THAT(status.message(), HasSubstr("is damaged, incomplete"));
    // Arrow refuses the largest size before it asks for memory.
    EXPECT_THAT(status.message(),
                HasSubstr(size == std::numeric_limits<int64_t>::max()
                              ? "declares a buffer that is too large"
                              : "declares a buffer of " + std::to_string(size) +
                                    " bytes"));
  }
}

TEST_P(ColumnDamageTest, OtherWrongSizesAreDamage) {
  std::vector<int64_t> sizes = {columnBytes - 8, columnBytes + 8,
                                int64_t(60) << 20};
  if (GetParam() != Container::Parquet)
    sizes.insert(sizes.end(), {-7, std::numeric_limits<int64_t>::min()});
  for (const int64_t size : sizes) {
    const Status status = readDamaged(arrow::Compression::ZSTD, size);
    EXPECT_EQ(status.code(), PDL_DATA_LOSS) << size << status.message();
    EXPECT_THAT(status.message(), HasSubstr("is damaged, incomplete"));
  }
}

std::string nameOf(const testing::TestParamInfo<Container> &container) {
  constexpr const char *names[] = {"File", "Stream", "Message", "Parquet"};
  return names[size_t(container.param)];
}

INSTANTIATE_TEST_SUITE_P(Containers, ColumnDamageTest,
                         testing::Values(Container::File, Container::Stream,
                                         Container::Message,
                                         Container::Parquet),
                         nameOf);

} // namespace
