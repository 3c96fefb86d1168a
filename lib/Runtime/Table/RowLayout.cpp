//===- RowLayout.cpp - Layout of rows and headers in memory ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Table/RowLayout.h"

#include "pdlrt/Core/AddressBlocks.h"

using namespace pdlrt;

/// Sizes of regions with several rows. An almost empty table has 64 regions.
static constexpr size_t minRegionBytes = size_t(16) << 10;
static constexpr size_t maxRegionBytes = size_t(64) << 10;
/// Minimum size of rows that have a region of their own. The cache line with
/// the header then adds at most 1/32 to a row.
static constexpr size_t longRowBytes = size_t(2) << 10;
static constexpr size_t cacheLineBytes = 64;
/// Reciprocal of a share of a region. A region of which a larger share is
/// unused is enlarged, up to the maximum size.
static constexpr size_t minPartsUsed = 32;

static size_t roundUp(size_t bytes, size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

static size_t bytesOfHeaders(size_t rows) {
  return roundUp(rows * sizeof(RowHeader), cacheLineBytes);
}

static_assert(AddressBlocks::stepBytes % maxRegionBytes == 0,
              "regions begin at multiples of their size");

RowLayout::RowLayout(size_t rowBytes, size_t alignment)
    : bytesOfRegion(minRegionBytes) {
  const size_t stride = roundUp(rowBytes, alignment);
  const auto rowsIn = [&](size_t bytes) {
    size_t rows = bytes / (stride + sizeof(RowHeader));
    while (rows > 0 && bytesOfHeaders(rows) + rows * stride > bytes)
      --rows;
    return rows;
  };
  const auto wastes = [&](size_t bytes) {
    return rowsIn(bytes) * (stride + sizeof(RowHeader)) <
           bytes - bytes / minPartsUsed;
  };
  while (wastes(bytesOfRegion) && bytesOfRegion < maxRegionBytes)
    bytesOfRegion *= 2;
  rows.stride = stride;
  rows.rowsOfRegion = uint32_t(rowsIn(bytesOfRegion));
  if (stride >= longRowBytes) {
    rows.rowsOfRegion = 1;
    bytesOfRegion = bytesOfHeaders(1) + roundUp(stride, cacheLineBytes);
  }
  rows.firstRow = bytesOfHeaders(rows.rowsOfRegion);
  rows.offsetMask = rows.rowsOfRegion > 1 ? bytesOfRegion - 1 : 0;
  rows.inverse =
      ((uint64_t(1) << pdlabi::RowPlaces::inverseBits) + stride - 1) / stride;
}
