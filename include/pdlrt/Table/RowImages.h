//===- RowImages.h - Copies of rows, with their headers ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A table whose rows are not all in memory hands out copies of the others. They
// stand in regions, like rows, so that who reads a row finds its header behind
// either. What is written to a copy or its header is not written to the table.
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

/// Memory for copies of rows of one table. One thread at a time.
class RowImages {
public:
  /// A row, with a header, of undefined content; it stays until `clear`.
  /// Throws std::bad_alloc.
  void *take(const RowLayout &layout);
  /// Takes over all that `other` has.
  void append(RowImages &&other);
  /// Nobody uses what was taken any more.
  void clear();

private:
  struct Free {
    void operator()(char *region) const { std::free(region); }
  };
  std::vector<std::unique_ptr<char, Free>> regions;
  /// Rows of the last region that were taken, and that it has.
  uint32_t taken = 0, rowsOfLast = 0;
};

} // namespace pdlrt

#endif // PDLRT_TABLE_ROWIMAGES_H
