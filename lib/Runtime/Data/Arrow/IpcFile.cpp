//===- IpcFile.cpp - Arrow IPC files --------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpenFile.h"

#include <arrow/buffer.h>
#include <arrow/ipc/reader.h>

#include <algorithm>
#include <string_view>

namespace {

class IpcFile final : public PdlColumnFile {
public:
  IpcFile(std::shared_ptr<arrow::io::RandomAccessFile> opened,
          BoundedPool::Reference pool)
      : PdlColumnFile(std::move(pool)), file(std::move(opened)) {}

  arrow::Status open() {
    ARROW_ASSIGN_OR_RAISE(
        whole, arrow::ipc::RecordBatchFileReader::Open(file, optionsFor({})));
    rows.assign(size_t(whole->num_record_batches()), -1);
    return arrow::Status::OK();
  }
  std::shared_ptr<arrow::Schema> schema() const override {
    return whole->schema();
  }
  int64_t groupCount() const override { return int64_t(rows.size()); }
  arrow::Result<int64_t> groupRows(int64_t group) override;
  arrow::Status begin(int64_t group, std::vector<int> columns) override;
  arrow::Status next(int64_t skipped, PdlColumnArray *batch) override;

private:
  arrow::ipc::IpcReadOptions optionsFor(std::vector<int> columns) const {
    auto options = arrow::ipc::IpcReadOptions::Defaults();
    options.memory_pool = pool.get();
    options.use_threads = false;
    options.included_fields = std::move(columns);
    return options;
  }

  std::shared_ptr<arrow::io::RandomAccessFile> file;
  /// Reader of all columns, which reads no batches.
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> whole;
  /// Readers of the columns `selected`, and of one column to count rows.
  std::shared_ptr<arrow::ipc::RecordBatchFileReader> reader, counter;
  std::vector<int> selected;
  std::vector<int64_t> rows; ///< By batch; -1: unknown.
  std::shared_ptr<arrow::RecordBatch> current;
};

/// Returns true if arrays of a type are small for their number of rows.
bool isSmall(const arrow::DataType &type) {
  return arrow::is_fixed_width(type.id()) || type.id() == arrow::Type::NA;
}

arrow::Result<int64_t> IpcFile::groupRows(int64_t group) {
  int64_t &count = rows[size_t(group)];
  if (count >= 0)
    return count;
  if (!counter) {
    const auto &fields = schema()->fields();
    if (fields.empty())
      return arrow::Status::Invalid("it has no columns");
    const auto small = std::ranges::find_if(
        fields, [](const auto &field) { return isSmall(*field->type()); });
    const auto column = small == fields.end() ? 0 : int(small - fields.begin());
    ARROW_ASSIGN_OR_RAISE(counter, arrow::ipc::RecordBatchFileReader::Open(
                                       file, optionsFor({column})));
  }
  ARROW_ASSIGN_OR_RAISE(const auto batch, counter->ReadRecordBatch(int(group)));
  return count = batch->num_rows();
}

arrow::Status IpcFile::begin(int64_t group, std::vector<int> columns) {
  if (!reader || columns != selected) {
    ARROW_ASSIGN_OR_RAISE(reader, arrow::ipc::RecordBatchFileReader::Open(
                                      file, optionsFor(columns)));
    selected = std::move(columns);
  }
  ARROW_ASSIGN_OR_RAISE(current, reader->ReadRecordBatch(int(group)));
  rows[size_t(group)] = current->num_rows();
  // The reader does not check the ends of lists and the indices of
  // dictionaries, which are wrong in damaged files.
  return current->ValidateFull();
}

arrow::Status IpcFile::next(int64_t skipped, PdlColumnArray *batch) {
  const auto rest = std::move(current);
  current = nullptr;
  if (!rest || skipped >= rest->num_rows())
    return arrow::Status::OK();
  return exportBatch(skipped > 0 ? *rest->Slice(skipped) : *rest, batch);
}

} // namespace

arrow::Result<std::unique_ptr<PdlColumnFile>>
openIpcFile(std::shared_ptr<arrow::io::RandomAccessFile> file, bool isRemote,
            BoundedPool::Reference pool) {
  // Streams begin with the mark of a message instead of the file's.
  constexpr std::string_view messageMark = "\xff\xff\xff\xff";
  ARROW_ASSIGN_OR_RAISE(const auto mark,
                        file->ReadAt(0, int64_t(messageMark.size())));
  if (mark->ToString() == messageMark)
    return openIpcStream(std::move(file), isRemote, std::move(pool));
  auto opened = std::make_unique<IpcFile>(std::move(file), std::move(pool));
  ARROW_RETURN_NOT_OK(opened->open());
  return opened;
}
