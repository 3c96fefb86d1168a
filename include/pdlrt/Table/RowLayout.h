//===- RowLayout.h - Layout of rows and headers in memory -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are stored in regions: first the headers of all rows of the region, then
// the rows, starting at a cache line. If each header preceded its row, rows
// with a power-of-two size would not be aligned to cache lines. Each would take
// one more cache line to read, and find and gather for rows of 64 bytes would
// take 1.4 times as long. Only updates access headers.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_TABLE_ROWLAYOUT_H
#define PDLRT_TABLE_ROWLAYOUT_H

#include "pdlrt/Table/RowHeader.h"

#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Layout of a table's rows in its regions. Immutable.
class RowLayout {
public:
  /// `rowBytes` > 0; rows are aligned to `alignment`, 4 or 8.
  RowLayout(size_t rowBytes, size_t alignment);

  /// Returns the size of a region. Regions begin at multiples of it, unless one
  /// row fills them.
  size_t regionBytes() const { return bytesOfRegion; }
  uint32_t rowsOfRegion() const { return rows.rowsOfRegion; }
  /// Returns the distance between consecutive rows, in bytes.
  size_t stride() const { return rows.stride; }
  /// Returns the offset of a row in its region.
  size_t offsetOf(uint32_t row) const { return rows.offsetOf(row); }
  RowHeader &headerOf(char *region, uint32_t row) const {
    return reinterpret_cast<RowHeader *>(region)[row];
  }
  /// Returns the header of a row of any region.
  RowHeader &headerOf(void *row) const {
    return *reinterpret_cast<RowHeader *>(rows.headerOf(row));
  }
  /// Returns the layout for device kernels.
  const pdlabi::RowPlaces &places() const { return rows; }

private:
  size_t bytesOfRegion;
  pdlabi::RowPlaces rows = {};
};

} // namespace pdlrt

#endif // PDLRT_TABLE_ROWLAYOUT_H
