//===- WholeFile.h - Files written in one piece -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Large files bypass the page cache if the file system supports it. The page
// cache would cost a copy, and would evict data of other files.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_WHOLEFILE_H
#define LIB_RUNTIME_FILES_WHOLEFILE_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <string>

namespace pdlrt {

/// The content of a file before it is written, aligned for direct writes.
class FileImage {
public:
  /// Allocates `size` uninitialized bytes. Throws std::bad_alloc.
  std::byte *reserve(size_t size);
  std::byte *data() const { return start; }
  size_t size() const { return length; }

  /// Writes the content to the new file `path` and syncs it to disk. Does not
  /// sync the file's name; a sync of its folder does (`flushFolder`). After an
  /// error, there is no file.
  Status write(const std::string &path) const;

private:
  AlignedBuffer buffer;
  std::byte *start = nullptr;
  size_t length = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_WHOLEFILE_H
