//===- FileWriter.cpp - Writes files of columns ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FileWriter.h"

#include <arrow/io/interfaces.h>
#include <arrow/ipc/writer.h>
#include <arrow/table.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>

#include <algorithm>
#include <utility>

namespace {

/// Writes through the function of a sink.
class SinkStream final : public arrow::io::OutputStream {
public:
  explicit SinkStream(const PdlColumnSink &sink) : sink(sink) {}

  arrow::Status Close() override {
    isClosed = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return isClosed; }
  arrow::Result<int64_t> Tell() const override { return position; }
  using arrow::io::OutputStream::Write;
  arrow::Status Write(const void *bytes, int64_t count) override {
    position += count;
    return sink.write(sink.context, bytes, count)
               ? arrow::Status::OK()
               : arrow::Status::IOError("it cannot be written");
  }

private:
  const PdlColumnSink sink;
  int64_t position = 0;
  bool isClosed = false;
};

class ParquetWriter final : public PdlColumnWriter {
public:
  ParquetWriter(std::shared_ptr<arrow::Schema> types,
                std::unique_ptr<parquet::arrow::FileWriter> opened)
      : types(std::move(types)), writer(std::move(opened)) {}

  const std::shared_ptr<arrow::Schema> &schema() const override {
    return types;
  }
  arrow::Status write(const arrow::RecordBatch &batch) override {
    ARROW_ASSIGN_OR_RAISE(
        const auto table,
        arrow::Table::FromRecordBatches(
            types, {arrow::RecordBatch::Make(types, batch.num_rows(),
                                             batch.columns())}));
    return writer->WriteTable(*table, std::max<int64_t>(batch.num_rows(), 1));
  }
  arrow::Status finish() override { return writer->Close(); }

private:
  std::shared_ptr<arrow::Schema> types;
  std::unique_ptr<parquet::arrow::FileWriter> writer;
};

class IpcWriter final : public PdlColumnWriter {
public:
  IpcWriter(std::shared_ptr<arrow::Schema> types,
            std::shared_ptr<arrow::ipc::RecordBatchWriter> opened)
      : types(std::move(types)), writer(std::move(opened)) {}

  const std::shared_ptr<arrow::Schema> &schema() const override {
    return types;
  }
  arrow::Status write(const arrow::RecordBatch &batch) override {
    return writer->WriteRecordBatch(batch);
  }
  arrow::Status finish() override { return writer->Close(); }

private:
  std::shared_ptr<arrow::Schema> types;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer;
};

} // namespace

arrow::Result<std::unique_ptr<PdlColumnWriter>>
makeFileWriter(const PdlColumnSink &sink, PdlColumnFormat format,
               std::shared_ptr<arrow::Schema> schema) {
  auto stream = std::make_shared<SinkStream>(sink);
  if (format == PdlParquetFile) {
    const auto properties = parquet::WriterProperties::Builder()
                                .compression(parquet::Compression::ZSTD)
                                ->enable_page_checksum()
                                ->build();
    ARROW_ASSIGN_OR_RAISE(
        auto writer,
        parquet::arrow::FileWriter::Open(*schema, arrow::default_memory_pool(),
                                         std::move(stream), properties));
    return std::make_unique<ParquetWriter>(std::move(schema),
                                           std::move(writer));
  }
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(auto writer, arrow::ipc::MakeFileWriter(
                                         std::move(stream), schema, options));
  return std::make_unique<IpcWriter>(std::move(schema), std::move(writer));
}
