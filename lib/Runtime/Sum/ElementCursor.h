//===- ElementCursor.h - Iterates over elements in pieces -------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_SUM_ELEMENTCURSOR_H
#define LIB_RUNTIME_SUM_ELEMENTCURSOR_H

#include "pdlrt/Sum/PartialSum.h"

#include <algorithm>
#include <cstring>

namespace pdlrt {

/// Consecutive elements, with any alignment.
struct ElementRun {
  const void *data;
  int64_t count;
};

/// Iterates over the elements of a dense gradient, which may be stored in
/// several pieces of memory. The gradient must outlive the cursor. Not
/// thread-safe.
class ElementCursor {
public:
  /// Starts at element `first`, of `elementSize` bytes, at most 8.
  ElementCursor(const BlockGradient &block, size_t elementSize, int64_t first)
      : dense(static_cast<const std::byte *>(block.dense)),
        pieces(block.pieces), size(elementSize) {
    advance(first);
  }

  /// Returns elements from the current position on that are consecutive in
  /// memory: at least one, at most `most`. Valid until the next call. At least
  /// one element must remain.
  ElementRun run(int64_t most) {
    if (dense)
      return {dense, most};
    const size_t here = pieces[at].size() - offset;
    if (here >= size)
      return {pieces[at].data() + offset,
              std::min(most, static_cast<int64_t>(here / size))};
    // The element spans the end of one or several pieces.
    size_t from = offset;
    for (size_t piece = at, joined = 0; joined < size; ++piece, from = 0) {
      const size_t part = std::min(size - joined, pieces[piece].size() - from);
      std::memcpy(seam + joined, pieces[piece].data() + from, part);
      joined += part;
    }
    return {seam, 1};
  }

  /// Advances by `count` elements, which must exist.
  void advance(int64_t count) {
    size_t bytes = static_cast<size_t>(count) * size;
    if (dense) {
      dense += bytes;
      return;
    }
    while (bytes > 0) {
      const size_t part = std::min(bytes, pieces[at].size() - offset);
      bytes -= part;
      offset += part;
      if (offset == pieces[at].size()) {
        ++at;
        offset = 0;
      }
    }
  }

private:
  const std::byte *dense;
  const std::span<const std::span<const std::byte>> pieces;
  const size_t size;
  /// `at`: index of the current piece. `offset`: position in that piece, in
  /// bytes.
  size_t at = 0, offset = 0;
  std::byte seam[sizeof(double)];
};

} // namespace pdlrt

#endif // LIB_RUNTIME_SUM_ELEMENTCURSOR_H
