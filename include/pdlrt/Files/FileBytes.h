//===- FileBytes.h - Files that are read by offset --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files are read with system calls instead of being mapped into memory. With a
// mapping, a disk error or a concurrent truncation would raise a signal that
// ends the process.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_FILES_FILEBYTES_H
#define PDLRT_FILES_FILEBYTES_H

#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace pdlrt {

class StoredFile;

/// A regular file or an object of a store, open for reading. Reading is
/// thread-safe.
class FileBytes {
public:
  /// Opens the file `path`. Returns an error if it cannot be opened or is not a
  /// regular file. If it is not a regular file, the message ends with `remedy`.
  static Expected<FileBytes> open(const std::string &path,
                                  const std::string &remedy);
  FileBytes(FileBytes &&other) noexcept
      : where(std::move(other.where)), length(other.length),
        file(std::exchange(other.file, -1)), stored(std::move(other.stored)) {}
  FileBytes &operator=(FileBytes &&other) noexcept {
    std::swap(where, other.where);
    std::swap(length, other.length);
    std::swap(file, other.file);
    std::swap(stored, other.stored);
    return *this;
  }
  ~FileBytes();

  const std::string &path() const { return where; }
  /// Returns the size at the time of opening.
  uint64_t size() const { return length; }
  /// Reads the bytes [offset, offset + count) to `out`. Returns an error with
  /// the file name if the disk fails or the file has been truncated.
  Status readAt(uint64_t offset, size_t count, void *out) const;
  /// Maps the whole file into memory. The mapping may outlive this object.
  /// Returns an error if the system cannot map the file, or if it is in an
  /// object store. If the file is
  /// truncated while it is mapped, access to the missing part ends the process
  /// (SIGBUS).
  Expected<std::shared_ptr<const void>> map() const;

private:
  FileBytes(std::string path, uint64_t size, int descriptor)
      : where(std::move(path)), length(size), file(descriptor) {}

  std::string where;
  uint64_t length = 0;
  int file = -1;
  /// The file if it is in an object store; otherwise null.
  std::shared_ptr<const StoredFile> stored;
};

} // namespace pdlrt

#endif // PDLRT_FILES_FILEBYTES_H
