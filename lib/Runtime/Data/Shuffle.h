//===- Shuffle.h - The order of a window's records --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_DATA_SHUFFLE_H
#define LIB_RUNTIME_DATA_SHUFFLE_H

#include "pdlrt/Core/AlignedVector.h"
#include "pdlrt/Data/BatchSource.h"

#include <cstdint>
#include <vector>

namespace pdlrt {

/// Returns the number of rows in a window. Without shuffling, a window has as
/// many rows as a batch.
inline int64_t windowRowsOf(const DataOptions &options) {
  return options.shuffleWindow ? options.shuffleWindow : options.batchSize;
}

/// Fills `order` with a permutation of 0 .. count - 1 that depends only on the
/// arguments. Fisher-Yates from the last element down: element i is exchanged
/// with element floor(r * (i + 1) / 2^64), where r is draw count - 1 - i. Draw
/// d is words 2 (d mod 2), low, and 2 (d mod 2) + 1, high, of Philox under the
/// key `seed` at the counter (d / 2, window, group, epoch).
void shuffledOrder(uint64_t seed, int64_t epoch, int32_t group, int64_t window,
                   int64_t count, AlignedVector<int64_t> &order);

/// Returns the order of the files in an epoch: for each position the index in
/// `DataOptions::files`. With `shuffleFiles`, it is the permutation that
/// `shuffledOrder` returns for all files as the last possible group, window 0;
/// otherwise 0, 1 and so on.
std::vector<int64_t> fileOrderOf(const DataOptions &options, int64_t epoch);

} // namespace pdlrt

#endif // LIB_RUNTIME_DATA_SHUFFLE_H
