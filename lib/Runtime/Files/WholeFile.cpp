//===- WholeFile.cpp - Files written in one piece -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/WholeFile.h"

#include "Files/DirectFile.h"

#include <cstring>

using namespace pdlrt;

std::byte *FileImage::reserve(size_t size) {
  start = DirectFile::reserve(buffer, size);
  length = size;
  // Padding of the last block for direct writes.
  std::memset(start + size, 0, DirectFile::wholeBlocks(size) - size);
  return start;
}

Status FileImage::write(const std::string &path) const {
  DirectFile file(path);
  PDLRT_RETURN_IF_ERROR(file.create());
  if (const int reason =
          file.write(start, DirectFile::wholeBlocks(length), /*offset=*/0))
    return file.writeFailure(reason);
  return file.commit(length);
}
