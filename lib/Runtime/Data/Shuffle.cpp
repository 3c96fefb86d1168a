//===- Shuffle.cpp - The order of a window's records ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/Shuffle.h"

#include "pdlabi/philox.h"

#include <numeric>
#include <utility>

using namespace pdlrt;

void pdlrt::shuffledOrder(uint64_t seed, int64_t epoch, int32_t group,
                          int64_t window, int64_t count,
                          AlignedVector<int64_t> &order) {
  order.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    order[static_cast<size_t>(i)] = i;
  pdlabi::PhiloxBlock block{};
  for (int64_t i = count - 1, draw = 0; i > 0; --i, ++draw) {
    if (draw % 2 == 0)
      block = pdlabi::philox(
          {{static_cast<uint32_t>(draw / 2), static_cast<uint32_t>(window),
            static_cast<uint32_t>(group), static_cast<uint32_t>(epoch)}},
          seed);
    const size_t at = draw % 2 == 0 ? 0 : 2;
    const uint64_t random = block.words[at] | uint64_t(block.words[at + 1])
                                                  << 32;
    const auto product =
        static_cast<unsigned __int128>(random) * static_cast<uint64_t>(i + 1);
    const size_t j = static_cast<size_t>(product >> 64);
    std::swap(order[static_cast<size_t>(i)], order[j]);
  }
}

std::vector<int64_t> pdlrt::fileOrderOf(const DataOptions &options,
                                        int64_t epoch) {
  std::vector<int64_t> files(options.files.size());
  std::iota(files.begin(), files.end(), 0);
  if (!options.shuffleFiles)
    return files;
  // No group has this number, so that no window has the same draws.
  constexpr int32_t noGroup = -1;
  AlignedVector<int64_t> order;
  shuffledOrder(options.seed, epoch, noGroup, /*window=*/0,
                int64_t(files.size()), order);
  files.assign(order.data(), order.data() + order.size());
  return files;
}
