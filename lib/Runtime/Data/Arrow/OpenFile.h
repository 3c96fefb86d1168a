//===- OpenFile.h - A file that the Arrow library reads ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_ARROW_OPENFILE_H
#define LIB_RUNTIME_DATA_ARROW_OPENFILE_H

#include "BoundedPool.h"
#include "Data/ColumnFileApi.h"

#include <arrow/io/interfaces.h>
#include <arrow/record_batch.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <arrow/type.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

/// A file of columns. Functions may throw, which the callers in Library.cpp
/// convert into errors. Not thread-safe.
struct PdlColumnFile {
  explicit PdlColumnFile(BoundedPool::Reference pool) : pool(std::move(pool)) {}
  virtual ~PdlColumnFile() = default;
  virtual std::shared_ptr<arrow::Schema> schema() const = 0;
  virtual int64_t groupCount() const = 0;
  virtual arrow::Result<int64_t> groupRows(int64_t group) = 0;
  virtual arrow::Status begin(int64_t group, std::vector<int> columns) = 0;
  /// Skips `skipped` rows. Exports the rows after them; a length of 0 at the
  /// end of the group.
  virtual arrow::Status next(int64_t skipped, PdlColumnArray *batch) = 0;

protected:
  /// Pool for all buffers. Is destroyed after the readers that use it.
  const BoundedPool::Reference pool;
};

/// Exports a batch in the layout of the C data interface.
arrow::Status exportBatch(const arrow::RecordBatch &batch, PdlColumnArray *out);

/// Opens a file that the caller of the library reads. Takes the ownership of
/// `source.context` and a reference to `pool`, because reads in the background
/// may begin after the column file was closed.
std::shared_ptr<arrow::io::RandomAccessFile>
openSourceFile(const PdlColumnSource &source, BoundedPool &pool);

/// `isRemote`: each read is a request to another host, so that few large reads
/// at the same time are faster than many small ones.
arrow::Result<std::unique_ptr<PdlColumnFile>>
openParquetFile(std::shared_ptr<arrow::io::RandomAccessFile> file,
                bool isRemote, BoundedPool::Reference pool);
/// Opens an Arrow IPC file, or a file with an Arrow IPC stream.
arrow::Result<std::unique_ptr<PdlColumnFile>>
openIpcFile(std::shared_ptr<arrow::io::RandomAccessFile> file, bool isRemote,
            BoundedPool::Reference pool);
arrow::Result<std::unique_ptr<PdlColumnFile>>
openIpcStream(std::shared_ptr<arrow::io::RandomAccessFile> file, bool isRemote,
              BoundedPool::Reference pool);
/// Opens an Arrow IPC stream in memory, which is not copied where possible.
arrow::Result<std::unique_ptr<PdlColumnFile>> openIpcMessage(const void *bytes,
                                                             int64_t byteCount);

#endif // LIB_RUNTIME_DATA_ARROW_OPENFILE_H
