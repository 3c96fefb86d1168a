//===- RowImages.h - Copies of rows with headers ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If a row is on disk, a table returns a copy of it. Copies are stored in
// regions, like rows in memory, so that their headers are found in the same way
// (RowLayout.h). Writes to a copy or to its header do not change the table.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_ROWIMAGES_H
#define PDLRT_TABLE_ROWIMAGES_H

#include "pdlrt/Table/RowLayout.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace pdlrt {

/// Owns copies of rows of one table. Not thread-safe.
class RowImages {
public:
  /// Allocates a row and its header, with undefined content. They are valid
  /// until `clear`. Throws std::bad_alloc.
  void *take(const RowLayout &layout);
  /// Moves all copies of `other` to this object.
  void append(RowImages &&other);
  /// Frees all copies. They must not be used any more.
  void clear();

private:
  struct Free {
    void operator()(char *region) const { std::free(region); }
  };
  std::vector<std::unique_ptr<char, Free>> regions;
  /// `taken`: number of used rows in the last region. `rowsOfLast`: number of
  /// all rows in it.
  uint32_t taken = 0, rowsOfLast = 0;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_ROWIMAGES_H
