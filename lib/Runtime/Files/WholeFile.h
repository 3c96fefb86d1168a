//===- WholeFile.h - A file that is written at once -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Large files go past the system's cache where the file system allows it: there
// they would cost a copy, and push out what others read.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_FILES_WHOLEFILE_H
#define LIB_RUNTIME_FILES_WHOLEFILE_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/Status.h"

#include <cstddef>
#include <string>

namespace pdlrt {

/// The bytes of a file before they are written, where disks take them from.
class FileImage {
public:
  /// Makes room for `size` bytes, which hold anything. Throws std::bad_alloc.
  std::byte *reserve(size_t size);
  std::byte *data() const { return start; }
  size_t size() const { return length; }

  /// Writes them as the new file `path`, and flushes it to the disk; its name
  /// is flushed with its folder. Where that fails there is no file.
  Status write(const std::string &path) const;

private:
  AlignedBuffer buffer;
  std::byte *start = nullptr;
  size_t length = 0;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_FILES_WHOLEFILE_H
