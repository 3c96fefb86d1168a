//===- DirectFile.h - A file that is written past the cache -----*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bytes of a checkpoint are read by nobody soon. A write past the system's
// cache spares a copy, and pages that others need. Not each file system has
// such writes: some refuse them when a file is opened, some later.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_DIRECTFILE_H
#define LIB_RUNTIME_FILES_DIRECTFILE_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace pdlrt {

/// A new file, which is gone unless it is committed. One thread at a time.
class DirectFile {
public:
  /// Addresses, places in the file and sizes of writes are multiples of it.
  static constexpr size_t blockBytes = 4096;
  static constexpr size_t wholeBlocks(size_t bytes) {
    return (bytes + blockBytes - 1) / blockBytes * blockBytes;
  }
  /// Memory of `buffer`, at a multiple of `blockBytes`, for as many whole
  /// blocks. Throws std::bad_alloc.
  static std::byte *reserve(AlignedBuffer &buffer, size_t bytes);

  explicit DirectFile(std::string path);
  ~DirectFile();
  DirectFile(const DirectFile &) = delete;
  DirectFile &operator=(const DirectFile &) = delete;

  Status create();
  /// Writes `count` bytes at `offset`, all multiples of `blockBytes`; returns
  /// 0, or the number of the error.
  int write(const std::byte *bytes, size_t count, uint64_t offset);
  /// The file has `size` bytes, up to a block less than was written. Flushes
  /// them to the disk; the name is flushed with its folder.
  Status commit(uint64_t size);
  /// The error of a write.
  Status writeFailure(int reason) const;

private:
  const std::string path;
  int file = -1;
  /// Behind the last byte that was written.
  uint64_t end = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_DIRECTFILE_H
