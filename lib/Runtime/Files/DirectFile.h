//===- DirectFile.h - Writes files without the page cache -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes of a checkpoint are not read soon after they were written. A direct
// write (O_DIRECT) therefore saves a copy, and keeps other data in the system's
// cache. Some file systems do not support it: they refuse it when a file is
// opened, or when it is written.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_DIRECTFILE_H
#define LIB_RUNTIME_FILES_DIRECTFILE_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Files/Store.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace pdlrt {

/// A new file that is written directly to disk, or to an object store. The
/// destructor removes it unless it is committed. Not thread-safe.
class DirectFile {
public:
  /// Addresses, file offsets and sizes of writes are multiples of this number.
  static constexpr size_t blockBytes = 4096;
  static constexpr size_t wholeBlocks(size_t bytes) {
    return (bytes + blockBytes - 1) / blockBytes * blockBytes;
  }
  /// Returns memory of `buffer` for `bytes`, rounded up to whole blocks. Its
  /// address is a multiple of `blockBytes`. Throws std::bad_alloc.
  static std::byte *reserve(AlignedBuffer &buffer, size_t bytes);

  explicit DirectFile(std::string path);
  ~DirectFile();
  DirectFile(const DirectFile &) = delete;
  DirectFile &operator=(const DirectFile &) = delete;

  Status create();
  /// Writes `count` bytes at `offset`. `bytes`, `count` and `offset` are
  /// multiples of `blockBytes`. In an object store, each write continues at the
  /// end of the previous one. Returns 0 or an errno value.
  int write(const std::byte *bytes, size_t count, uint64_t offset);
  /// Truncates the file to `size` bytes, which removes less than a block, and
  /// syncs it to disk. Does not sync the file's name; a sync of its folder does
  /// (`flushFolder`).
  Status commit(uint64_t size);
  /// Returns the error of a write.
  Status writeFailure(int reason) const;

private:
  int writeStored(const std::byte *bytes, size_t count);
  Status commitStored(uint64_t size);

  const std::string path;
  /// The file if it is in an object store; otherwise null.
  std::unique_ptr<StoreWriter> stored;
  /// Error of the object store.
  Status storeFailure;
  /// The last block of an object, which `commit` may truncate.
  std::string lastBlock;
  int file = -1;
  /// End of the written bytes.
  uint64_t end = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_DIRECTFILE_H
