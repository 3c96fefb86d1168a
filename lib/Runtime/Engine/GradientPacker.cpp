//===- GradientPacker.cpp - Quantized gradients of a trainer --------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/GradientPacker.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace pdlrt;

/// Number of elements that are processed at a time; small enough for the cache.
/// A multiple of `groupSize`, because elements of a group share an exponent.
static constexpr int64_t chunk = 16 * groupSize;

void GradientPacker::pack(int32_t symbol, const float *gradient,
                          int64_t count) {
  Packed &out = packed[symbol];
  out.codes = pool.take(size_t(count) * codeSize(kind));
  out.exponents = pool.take(size_t((count + groupSize - 1) / groupSize));
  std::vector<float> &remainder = remainders[symbol];
  remainder.resize(size_t(count));
  std::array<float, chunk> wanted, given;
  for (int64_t begin = 0; begin < count; begin += chunk) {
    const int64_t size = std::min(chunk, count - begin);
    std::byte *codes = out.codes.get() + size_t(begin) * codeSize(kind);
    auto *exponents =
        reinterpret_cast<int8_t *>(out.exponents.get()) + begin / groupSize;
    for (int64_t i = 0; i < size; ++i)
      wanted[i] = gradient[begin + i] + remainder[begin + i];
    packNumbers(kind, wanted.data(), size, groupSize, {codes, exponents});
    unpackNumbers(kind, codes, exponents, 0, size, groupSize, given.data());
    for (int64_t i = 0; i < size; ++i)
      remainder[begin + i] = wanted[i] - given[i];
  }
}

void GradientPacker::addBlocks(const ExchangeLayout &layout, int32_t server,
                               int32_t channel, ExchangeWriter &writer) const {
  const int32_t symbol = layout.channel(channel).symbol;
  const int64_t width = layout.rowWidth(channel);
  const Packed &from = packed.at(symbol);
  for (const RowBlock &rows : layout.placement().rowsOf(symbol, server)) {
    const int64_t begin = rows.firstRow * width;
    const PackedBlock block(kind, begin, rows.rowCount * width);
    if (block.exponents > 0)
      writer.add(channel, from.exponents.get() + block.firstGroup,
                 block.exponents, from.exponents);
    writer.add(channel, from.codes.get() + size_t(begin) * codeSize(kind),
               block.codes, from.codes);
  }
}

void GradientPacker::addRows(const pdl_symbol &symbol, int32_t channel,
                             std::span<const int32_t> places,
                             const void *const *rows, ExchangeWriter &writer) {
  const int64_t width = symbol.row_width;
  const PackedRow row(kind, width, symbol.gradient_width - width);
  const std::shared_ptr<std::byte> out = pool.take(places.size() * row.bytes());
  for (size_t i = 0; i < places.size(); ++i) {
    std::byte *to = out.get() + i * row.bytes();
    const auto *from = static_cast<const float *>(rows[places[i]]);
    packNumbers(kind, from, width, width,
                {to + row.exponents, reinterpret_cast<int8_t *>(to)});
    std::memcpy(to + row.exponents + row.codes, from + width, row.counts);
  }
  writer.add(channel, out.get(), places.size() * row.bytes(), out);
}
