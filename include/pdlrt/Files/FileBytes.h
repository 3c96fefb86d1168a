//===- FileBytes.h - A file that is read by position ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Not mapped into memory: a disk that fails while mapped bytes are touched, or
// a file that somebody cuts meanwhile, would be a signal that ends the process.
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

/// A regular file, open for reading. Any thread may read.
class FileBytes {
public:
  /// An error where `path` cannot be opened, or is no regular file: then the
  /// sentence ends with `remedy`.
  static Expected<FileBytes> open(const std::string &path,
                                  const std::string &remedy);
  FileBytes(FileBytes &&other) noexcept
      : where(std::move(other.where)), length(other.length),
        file(std::exchange(other.file, -1)) {}
  FileBytes &operator=(FileBytes &&other) noexcept {
    std::swap(where, other.where);
    std::swap(length, other.length);
    std::swap(file, other.file);
    return *this;
  }
  ~FileBytes();

  const std::string &path() const { return where; }
  /// When it was opened.
  uint64_t size() const { return length; }
  /// Bytes [offset, offset + count) to `out`. An error, which names the file,
  /// where the disk fails or the file has become shorter.
  Status readAt(uint64_t offset, size_t count, void *out) const;
  /// All of it as memory that is read when it is touched; it outlives the
  /// object. An error where the system has no room for it. A file that becomes
  /// shorter meanwhile ends the process that touches what is gone (SIGBUS).
  Expected<std::shared_ptr<const void>> map() const;

private:
  FileBytes(std::string path, uint64_t size, int descriptor)
      : where(std::move(path)), length(size), file(descriptor) {}

  std::string where;
  uint64_t length = 0;
  int file = -1;
};

} // namespace pdlrt

#endif // PDLRT_FILES_FILEBYTES_H
