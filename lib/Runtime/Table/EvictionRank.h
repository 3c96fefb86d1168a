//===- EvictionRank.h - Order of evictions ----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_TABLE_EVICTIONRANK_H
#define LIB_RUNTIME_TABLE_EVICTIONRANK_H

#include "pdlrt/Table/EmbeddingTable.h"

#include <compare>
#include <cstddef>
#include <cstdint>

namespace pdlrt {

/// Rank of a row in the order of eviction: lower ranks are evicted first.
struct EvictionRank {
  uint32_t first, second;

  /// Number of possible values of `first` and of `second`, which start at 0.
  static constexpr size_t count = size_t(1) << 16;
  static EvictionRank of(const RowHeader &header, uint16_t now,
                         Eviction order) {
    const uint32_t youth = RowHeader::timeMask - header.age(now);
    return order == Eviction::LeastRecent ? EvictionRank{youth, header.uses()}
                                          : EvictionRank{header.uses(), youth};
  }
  auto operator<=>(const EvictionRank &) const = default;
};

} // namespace pdlrt

#endif // LIB_RUNTIME_TABLE_EVICTIONRANK_H
