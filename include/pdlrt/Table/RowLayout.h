//===- RowLayout.h - Layout of rows and headers in memory -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are stored in regions. A region has the headers of all its rows first,
// then the rows, which start at a cache line. If each header were directly
// before its row, rows with a power-of-two size would not be aligned to cache
// lines. Reading a row would then need one more cache line, and lookups of rows
// of 64 bytes would take 1.4 times as long. Lookups do not need headers; only
// updates do.
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
  /// `rowBytes` must be positive. Rows are aligned to `alignment` bytes, 4 or
  /// 8.
  RowLayout(size_t rowBytes, size_t alignment);

  /// Returns the size of a region in bytes. Regions begin at multiples of this
  /// size, except if a region has only one row.
  size_t regionBytes() const { return bytesOfRegion; }
  uint32_t rowsOfRegion() const { return rows.rowsOfRegion; }
  /// Returns the distance between consecutive rows, in bytes.
  size_t stride() const { return rows.stride; }
  /// Returns the offset in bytes of row number `row` of a region.
  size_t offsetOf(uint32_t row) const { return rows.offsetOf(row); }
  RowHeader &headerOf(char *region, uint32_t row) const {
    return reinterpret_cast<RowHeader *>(region)[row];
  }
  /// Returns the header of a row. `row` is its address.
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
