//===- Shuffle.cpp - The order of a window's records ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Data/Shuffle.h"

#include <array>
#include <utility>

using namespace pdlrt;

/// Philox 4x32 with ten rounds.
static std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter,
                                      uint64_t key) {
  uint32_t low = static_cast<uint32_t>(key);
  uint32_t high = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xD2511F53u) * counter[0];
    const uint64_t b = uint64_t(0xCD9E8D57u) * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ low,
               static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ high,
               static_cast<uint32_t>(a)};
    low += 0x9E3779B9u;
    high += 0xBB67AE85u;
  }
  return counter;
}

void pdlrt::shuffledOrder(uint64_t seed, int64_t epoch, int32_t group,
                          int64_t window, int64_t count,
                          AlignedVector<int64_t> &order) {
  order.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    order[static_cast<size_t>(i)] = i;
  std::array<uint32_t, 4> words{};
  for (int64_t i = count - 1, draw = 0; i > 0; --i, ++draw) {
    if (draw % 2 == 0)
      words = philox(
          {static_cast<uint32_t>(draw / 2), static_cast<uint32_t>(window),
           static_cast<uint32_t>(group), static_cast<uint32_t>(epoch)},
          seed);
    const size_t at = draw % 2 == 0 ? 0 : 2;
    const uint64_t random = words[at] | uint64_t(words[at + 1]) << 32;
    const auto product =
        static_cast<unsigned __int128>(random) * static_cast<uint64_t>(i + 1);
    const size_t j = static_cast<size_t>(product >> 64);
    std::swap(order[static_cast<size_t>(i)], order[j]);
  }
}
