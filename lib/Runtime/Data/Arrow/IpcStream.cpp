//===- IpcStream.cpp - Arrow IPC streams ----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpenFile.h"

#include <arrow/io/buffered.h>
#include <arrow/ipc/reader.h>

#include <algorithm>

namespace {

/// Bytes that are read at once of a file on another host.
constexpr int64_t remoteReadBytes = int64_t(4) << 20;

/// A file with the batches of a stream, which has no index at its end. Opening
/// it reads one column of all batches to find their sizes. Batches are read in
/// order; reading an earlier one begins the file again.
class IpcStream final : public PdlColumnFile {
public:
  IpcStream(std::shared_ptr<arrow::io::RandomAccessFile> opened, bool isRemote,
            BoundedPool::Reference pool)
      : PdlColumnFile(std::move(pool)), file(std::move(opened)),
        isRemote(isRemote) {}

  arrow::Status open();
  std::shared_ptr<arrow::Schema> schema() const override { return types; }
  int64_t groupCount() const override { return int64_t(rows.size()); }
  arrow::Result<int64_t> groupRows(int64_t group) override {
    return rows[size_t(group)];
  }
  arrow::Status begin(int64_t group, std::vector<int> columns) override;
  arrow::Status next(int64_t skipped, PdlColumnArray *batch) override;

private:
  using Reader = std::shared_ptr<arrow::ipc::RecordBatchStreamReader>;
  arrow::Result<Reader> openReader(std::vector<int> columns) const;

  std::shared_ptr<arrow::io::RandomAccessFile> file;
  bool isRemote;
  std::shared_ptr<arrow::Schema> types;
  std::vector<int64_t> rows; ///< By batch.
  Reader reader;             ///< Of the columns `selected`.
  std::vector<int> selected;
  int64_t nextGroup = 0; ///< The batch that `reader` reads next.
  std::shared_ptr<arrow::RecordBatch> current;
};

} // namespace

arrow::Result<IpcStream::Reader>
IpcStream::openReader(std::vector<int> columns) const {
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.use_threads = false;
  options.memory_pool = pool.get();
  options.included_fields = std::move(columns);
  ARROW_ASSIGN_OR_RAISE(const int64_t size, file->GetSize());
  ARROW_ASSIGN_OR_RAISE(auto bytes,
                        arrow::io::RandomAccessFile::GetStream(file, 0, size));
  if (isRemote) {
    ARROW_ASSIGN_OR_RAISE(bytes, arrow::io::BufferedInputStream::Create(
                                     remoteReadBytes, options.memory_pool,
                                     std::move(bytes), size));
  }
  return arrow::ipc::RecordBatchStreamReader::Open(std::move(bytes), options);
}

arrow::Status IpcStream::open() {
  ARROW_ASSIGN_OR_RAISE(const Reader whole, openReader({}));
  types = whole->schema();
  const auto &fields = types->fields();
  if (fields.empty())
    return arrow::Status::Invalid("it has no columns");
  const auto small = std::ranges::find_if(fields, [](const auto &field) {
    return arrow::is_fixed_width(field->type()->id());
  });
  const auto column = small == fields.end() ? 0 : int(small - fields.begin());
  ARROW_ASSIGN_OR_RAISE(const Reader counter, openReader({column}));
  while (true) {
    std::shared_ptr<arrow::RecordBatch> batch;
    ARROW_RETURN_NOT_OK(counter->ReadNext(&batch));
    if (!batch)
      return arrow::Status::OK();
    rows.push_back(batch->num_rows());
  }
}

arrow::Status IpcStream::begin(int64_t group, std::vector<int> columns) {
  if (!reader || columns != selected || group < nextGroup) {
    ARROW_ASSIGN_OR_RAISE(reader, openReader(columns));
    selected = std::move(columns);
    nextGroup = 0;
  }
  for (; nextGroup <= group; ++nextGroup) {
    ARROW_RETURN_NOT_OK(reader->ReadNext(&current));
    if (!current || current->num_rows() != rows[size_t(nextGroup)])
      return arrow::Status::Invalid("it was changed while it was read");
  }
  // The reader checks neither ends nor indices of damaged files.
  return current->ValidateFull();
}

arrow::Status IpcStream::next(int64_t skipped, PdlColumnArray *batch) {
  const auto rest = std::move(current);
  current = nullptr;
  if (!rest || skipped >= rest->num_rows())
    return arrow::Status::OK();
  return exportBatch(skipped > 0 ? *rest->Slice(skipped) : *rest, batch);
}

arrow::Result<std::unique_ptr<PdlColumnFile>>
openIpcStream(std::shared_ptr<arrow::io::RandomAccessFile> file, bool isRemote,
              BoundedPool::Reference pool) {
  auto opened =
      std::make_unique<IpcStream>(std::move(file), isRemote, std::move(pool));
  ARROW_RETURN_NOT_OK(opened->open());
  return opened;
}
