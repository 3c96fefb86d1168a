//===- OwnClips.cpp - Clipping by the sender of a gradient ----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Engine/OwnClips.h"

#include "pdlrt/Abi/Descriptor.h"

#include <cmath>
#include <cstring>

using namespace pdlrt;

template <typename T>
static void scaleInto(T *to, const void *from, int64_t scaled, int64_t count,
                      double factor) {
  const auto *values = static_cast<const T *>(from);
  for (int64_t i = 0; i < scaled; ++i)
    to[i] = T(double(values[i]) * factor);
  std::memcpy(to + scaled, values + scaled, size_t(count - scaled) * sizeof(T));
}

void OwnClips::scale(const pdl_symbol &symbol, double factor,
                     BlockGradient &block, size_t place) {
  const bool isFloat = symbol.element_type == PDL_F32;
  const auto into = [&](void *to, const void *from, int64_t scaled,
                        int64_t count) {
    if (isFloat)
      scaleInto(static_cast<float *>(to), from, scaled, count, factor);
    else
      scaleInto(static_cast<double *>(to), from, scaled, count, factor);
  };
  const size_t size = elementSize(symbol);
  if (symbol.kind != PDL_SYMBOL_TABLE) {
    const int64_t count = elementCount(symbol);
    void *to = values[place].reserve(size_t(count) * size);
    into(to, block.dense, count, count);
    block.dense = to;
    return;
  }
  // The counts of a row are not scaled: they are not part of its gradient.
  const int64_t width = symbol.gradient_width;
  auto *to = static_cast<char *>(
      values[place].reserve(size_t(block.keyCount * width) * size));
  std::vector<const void *> &rows = pointers[place];
  rows.resize(size_t(block.keyCount));
  for (int64_t i = 0; i < block.keyCount; ++i) {
    char *row = to + size_t(i * width) * size;
    into(row, block.gradients[i], symbol.row_width, width);
    rows[size_t(i)] = row;
  }
  block.gradients = rows.data();
}

const PartialSum &OwnClips::apply(const ExchangeLayout &layout,
                                  const PartialSum &sum,
                                  std::span<double> norms) {
  const pdl_program &program = layout.program();
  clipped = sum;
  values.resize(size_t(program.update_count));
  pointers.resize(size_t(program.update_count));
  for (int32_t n = 0; n < layout.channelCount(); ++n) {
    const pdl_channel &channel = layout.channel(n);
    if (channel.kind != PDL_CHANNEL_NORM)
      continue;
    const double limit = descriptor.clips[channel.clip].limit;
    const double norm = std::sqrt(norms[size_t(n)]);
    // The receiver rejects values that are not finite.
    if (!(norm > limit) || !std::isfinite(norm))
      continue;
    for (int32_t u = 0; u < program.update_count; ++u)
      if (layout.clipOf(program.updates[u].symbol) == channel.clip)
        scale(descriptor.symbols[program.updates[u].symbol], limit / norm,
              clipped.blocks[size_t(u)], size_t(u));
    norms[size_t(n)] = limit * limit;
  }
  return clipped;
}
