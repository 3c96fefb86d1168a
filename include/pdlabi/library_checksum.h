//===- library_checksum.h - Checksum of a library ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A serving library ends with a checksum, which dynamic loaders ignore. The
// file has three parts: the bytes that the linker has written, a line "NAME
// XXH3" for each library that it loads from its own folder, and this structure.
// All numbers are little-endian.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_LIBRARY_CHECKSUM_H
#define PDLABI_LIBRARY_CHECKSUM_H

#include <stdint.h>

#define PDL_LIBRARY_CHECKSUM_MAGIC "PDLSUM01"

typedef struct pdl_library_checksum {
  char magic[8];
  /// Size in bytes of the lines "NAME XXH3".
  uint64_t companion_bytes;
  /// Size in bytes of the file before this structure.
  uint64_t covered_bytes;
  /// XXH3 (64 bits, seed 0) of the first `covered_bytes` bytes.
  uint64_t xxh3;
} pdl_library_checksum;

#endif // PDLABI_LIBRARY_CHECKSUM_H
