//===- RowLayout.h - How rows and their headers lie in memory ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows lie in regions: the headers of its rows, then the rows from a cache line
// on. A header right in front of its row would move rows of a power of two off
// their lines: each would be read from one line more, and find and gather of
// rows of 64 bytes take 1.4 times as long. Only updates touch headers.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_ROWLAYOUT_H
#define PDLRT_TABLE_ROWLAYOUT_H

#include "pdlrt/Table/RowHeader.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Where the rows of a table stand in its regions. Immutable.
class RowLayout {
public:
  /// `rowBytes` > 0; rows are aligned to `alignment`, 4 or 8.
  RowLayout(size_t rowBytes, size_t alignment);

  /// Of a region, which begins at a multiple of them unless one row fills it.
  size_t regionBytes() const { return bytesOfRegion; }
  uint32_t rowsOfRegion() const { return rows.rowsOfRegion; }
  /// From one row to the next, in bytes.
  size_t stride() const { return rows.stride; }
  /// Where in a region a row stands.
  size_t offsetOf(uint32_t row) const { return rows.offsetOf(row); }
  RowHeader &headerOf(char *region, uint32_t row) const {
    return reinterpret_cast<RowHeader *>(region)[row];
  }
  /// The header of a row of some region.
  RowHeader &headerOf(void *row) const {
    return *reinterpret_cast<RowHeader *>(rows.headerOf(row));
  }
  /// For kernels of a device.
  const pdlabi::RowPlaces &places() const { return rows; }

private:
  size_t bytesOfRegion;
  pdlabi::RowPlaces rows = {};
};

} // namespace pdlrt

#endif // PDLRT_TABLE_ROWLAYOUT_H
