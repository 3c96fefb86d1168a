//===- library_checksum.h - Checksum of a library ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model library ends with a checksum, which dynamic loaders ignore. The file
// has three parts: the file as the linker wrote it, a line "NAME XXH3" for each
// library that it loads from its own folder, and this structure. All numbers
// are little-endian.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_LIBRARY_CHECKSUM_H
#define PDLABI_LIBRARY_CHECKSUM_H

#include <stdint.h>

#define PDL_LIBRARY_CHECKSUM_MAGIC "PDLSUM01"

typedef struct pdl_library_checksum {
  char magic[8];
  /// Number of bytes of the lines before this structure.
  uint64_t companion_bytes;
  /// Number of bytes of the file before this structure.
  uint64_t covered_bytes;
  /// XXH3 (64 bits, seed 0) of these bytes.
  uint64_t xxh3;
} pdl_library_checksum;

#endif // PDLABI_LIBRARY_CHECKSUM_H
