//===- IpcMessage.cpp - Arrow IPC streams in memory -----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpenFile.h"

#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>

namespace {

/// A stream in memory, whose batches were all checked. Its groups are the
/// batches.
class IpcMessage final : public PdlColumnFile {
public:
  using PdlColumnFile::PdlColumnFile;

  arrow::Status open(const void *bytes, int64_t byteCount);
  std::shared_ptr<arrow::Schema> schema() const override { return types; }
  int64_t groupCount() const override { return int64_t(batches.size()); }
  arrow::Result<int64_t> groupRows(int64_t group) override {
    return batches[size_t(group)]->num_rows();
  }
  arrow::Status begin(int64_t group, std::vector<int> columns) override {
    ARROW_ASSIGN_OR_RAISE(current,
                          batches[size_t(group)]->SelectColumns(columns));
    return arrow::Status::OK();
  }
  arrow::Status next(int64_t skipped, PdlColumnArray *batch) override {
    const auto rest = std::move(current);
    current = nullptr;
    if (!rest || skipped >= rest->num_rows())
      return arrow::Status::OK();
    return exportBatch(*rest->Slice(skipped), batch);
  }

private:
  std::shared_ptr<arrow::Schema> types;
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
  std::shared_ptr<arrow::RecordBatch> current;
};

} // namespace

arrow::Status IpcMessage::open(const void *bytes, int64_t byteCount) {
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  options.memory_pool = pool.get();
  // A message may begin at any address.
  options.ensure_alignment = arrow::ipc::Alignment::kDataTypeSpecificAlignment;
  auto input =
      std::make_shared<arrow::io::BufferReader>(std::make_shared<arrow::Buffer>(
          static_cast<const uint8_t *>(bytes), byteCount));
  ARROW_ASSIGN_OR_RAISE(const auto reader,
                        arrow::ipc::RecordBatchStreamReader::Open(
                            std::move(input), std::move(options)));
  types = reader->schema();
  if (types->num_fields() == 0)
    return arrow::Status::Invalid("it has no columns");
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(reader->ReadNext(&batch));
    if (!batch)
      return arrow::Status::OK();
    // The reader checks neither ends nor indices of damaged messages.
    ARROW_RETURN_NOT_OK(batch->ValidateFull());
    batches.push_back(std::move(batch));
    // All batches are in memory at once, so their sum is limited, too.
    if (pool->bytes_allocated() > BoundedPool::limitFor(byteCount))
      return arrow::Status::Invalid("it has ", byteCount,
                                    " bytes, but its batches need ",
                                    pool->bytes_allocated());
  }
}

arrow::Result<std::unique_ptr<PdlColumnFile>>
openIpcMessage(const void *bytes, int64_t byteCount) {
  auto opened = std::make_unique<IpcMessage>(BoundedPool::create(byteCount));
  ARROW_RETURN_NOT_OK(opened->open(bytes, byteCount));
  return opened;
}
