//===- SourceFile.cpp - Files that the caller of the library reads --------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpenFile.h"

#include <arrow/buffer.h>

#include <algorithm>
#include <utility>

namespace {

/// Reads through the functions of a source. Thread-safe, except for functions
/// that use the position.
class SourceFile final : public arrow::io::RandomAccessFile {
public:
  SourceFile(const PdlColumnSource &source, BoundedPool::Reference pool)
      : source(source), pool(std::move(pool)) {}
  ~SourceFile() override { source.release(source.context); }

  arrow::Status Close() override {
    isClosed = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return isClosed; }
  arrow::Result<int64_t> GetSize() override { return source.bytes; }
  arrow::Result<int64_t> Tell() const override { return position; }
  arrow::Status Seek(int64_t to) override {
    position = to;
    return arrow::Status::OK();
  }

  arrow::Result<int64_t> ReadAt(int64_t from, int64_t count,
                                void *out) override {
    return ReadAt(from, count, /*mayBeShort=*/true, out);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t from,
                                                       int64_t count) override {
    return ReadAt(from, count, /*mayBeShort=*/true);
  }
  arrow::Result<int64_t> ReadAt(int64_t from, int64_t count, bool mayBeShort,
                                void *out) override {
    ARROW_ASSIGN_OR_RAISE(count, existing(from, count, mayBeShort));
    if (count > 0 && !source.read(source.context, from, count, out))
      return arrow::Status::IOError("it cannot be read");
    return count;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>>
  ReadAt(int64_t from, int64_t count, bool mayBeShort) override {
    // A damaged file may ask for more bytes than there is memory for.
    ARROW_ASSIGN_OR_RAISE(count, existing(from, count, mayBeShort));
    ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::Buffer> buffer,
                          arrow::AllocateBuffer(count, pool.get()));
    ARROW_RETURN_NOT_OK(
        ReadAt(from, count, mayBeShort, buffer->mutable_data()));
    return buffer;
  }
  arrow::Result<int64_t> Read(int64_t count, void *out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position, count, out));
    position += read;
    return read;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t count) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position, count));
    position += buffer->size();
    return buffer;
  }

private:
  /// Returns the number of bytes of a range that the file has.
  arrow::Result<int64_t> existing(int64_t from, int64_t count,
                                  bool mayBeShort) const {
    const int64_t left = std::max<int64_t>(source.bytes - from, 0);
    if (from < 0 || count < 0 || (count > left && !mayBeShort))
      return arrow::Status::Invalid("a part of it is outside of the file");
    return std::min(count, left);
  }

  const PdlColumnSource source;
  const BoundedPool::Reference pool;
  int64_t position = 0;
  bool isClosed = false;
};

} // namespace

std::shared_ptr<arrow::io::RandomAccessFile>
openSourceFile(const PdlColumnSource &source, BoundedPool &pool) {
  return std::make_shared<SourceFile>(source, pool.share());
}
