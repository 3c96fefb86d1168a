//===- PackedSections.cpp - Unpacks sections of a request -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Protocol/ExchangeCodec.h"

#include "Transport/SliceReader.h"
#include "pdlrt/Abi/Descriptor.h"

#include <cstring>
#include <string>
#include <utility>

using namespace pdlrt;

std::span<const std::byte> ExchangeMessage::together(int32_t channel) {
  if (!sections[channel].empty() || sizes[channel] == 0)
    return sections[channel];
  SliceReader reader(kept);
  reader.skip(begins[channel]);
  return reader.take(sizes[channel], copies);
}

void ExchangeMessage::replace(int32_t channel, AlignedBuffer buffer,
                              size_t bytes) {
  const bool wasScattered =
      pieceSplits[channel + 1] > pieceSplits[channel] && sizes[channel] > 0;
  const std::span<const std::byte> section = {
      static_cast<const std::byte *>(buffer.data()), bytes};
  copies.push_back(std::move(buffer));
  sizes[channel] = bytes;
  if (!wasScattered) {
    sections[channel] = section;
    return;
  }
  const size_t before = pieceSplits[channel + 1] - pieceSplits[channel];
  const auto first = pieces.begin() + ptrdiff_t(pieceSplits[channel]);
  *first = section;
  pieces.erase(first + 1, first + ptrdiff_t(before));
  for (size_t c = size_t(channel) + 1; c < pieceSplits.size(); ++c)
    pieceSplits[c] -= before - 1;
}

static Status damaged(int32_t number, const std::string &what) {
  return Status::dataLoss("the payload is damaged: channel " +
                          std::to_string(number) + " " + what +
                          "; are all programs of this job of one version?");
}

/// Unpacks the blocks of a parameter that a server owns. The packed blocks
/// follow each other. With Int8, a block has the exponents of all groups of
/// numbers that it overlaps, followed by the codes.
Status ExchangeLayout::unpackParameter(int32_t server, int32_t number,
                                       GradientPacking packing,
                                       std::span<const std::byte> packed,
                                       AlignedBuffer &out,
                                       size_t &bytes) const {
  const int32_t symbol = channel(number).symbol;
  const int64_t width = descriptor->symbols[symbol].row_width;
  bytes = sectionBytes(server, number);
  auto *numbers = static_cast<float *>(out.reserve(bytes));
  size_t at = 0;
  for (const RowBlock &rows : map->rowsOf(symbol, server)) {
    const int64_t begin = rows.firstRow * width, count = rows.rowCount * width;
    const PackedBlock block(packing, begin, count);
    if (packed.size() - at < block.bytes())
      return damaged(number, "ends too early");
    const std::byte *from = packed.data() + at;
    unpackNumbers(packing, from + block.exponents,
                  reinterpret_cast<const int8_t *>(from), begin, count,
                  groupSize, numbers);
    numbers += count;
    at += block.bytes();
  }
  return at == packed.size() ? Status()
                             : damaged(number, "has bytes after its end");
}

Status ExchangeLayout::unpackRows(int32_t number, GradientPacking packing,
                                  std::span<const std::byte> packed,
                                  AlignedBuffer &out, size_t &bytes) const {
  const pdl_symbol &symbol = descriptor->symbols[channel(number).symbol];
  const int64_t width = symbol.row_width;
  const PackedRow row(packing, width, symbol.gradient_width - width);
  if (packed.size() % row.bytes() != 0)
    return damaged(number, "has half a row");
  const size_t count = packed.size() / row.bytes();
  bytes = count * size_t(symbol.gradient_width) * sizeof(float);
  auto *numbers = static_cast<float *>(out.reserve(bytes));
  for (size_t i = 0; i < count; ++i) {
    const std::byte *from = packed.data() + i * row.bytes();
    unpackNumbers(packing, from + row.exponents,
                  reinterpret_cast<const int8_t *>(from), 0, width, width,
                  numbers);
    std::memcpy(numbers + width, from + row.exponents + row.codes, row.counts);
    numbers += symbol.gradient_width;
  }
  return {};
}

Status ExchangeLayout::unpack(int32_t server, ExchangeMessage &message) const {
  const ExchangeHead &head = message.head();
  for (int32_t c = 0; c < channelCount(); ++c) {
    const auto kind = pdl_channel_kind(channel(c).kind);
    const bool isKeys = kind == PDL_CHANNEL_KEYS;
    const bool isGradient =
        kind == PDL_CHANNEL_GRADIENT || kind == PDL_CHANNEL_ROW_GRADIENT;
    if (message.sectionSize(c) == 0 ||
        !(isKeys ? head.keys != KeyPacking::None
                 : isGradient && head.gradients != GradientPacking::None))
      continue;
    const std::span<const std::byte> packed = message.together(c);
    AlignedBuffer buffer;
    size_t bytes = 0;
    if (isKeys) {
      Expected<std::vector<int64_t>> keys = unpackKeys(packed);
      if (!keys)
        return damaged(c, "has packed keys that are none");
      bytes = keys->size() * sizeof(int64_t);
      sortByShard(*keys, static_cast<int64_t *>(buffer.reserve(bytes)));
    } else if (descriptor->symbols[channel(c).symbol].element_type != PDL_F32) {
      return damaged(c, "has packed gradients that are no f32");
    } else {
      PDLRT_RETURN_IF_ERROR(
          kind == PDL_CHANNEL_GRADIENT
              ? unpackParameter(server, c, head.gradients, packed, buffer,
                                bytes)
              : unpackRows(c, head.gradients, packed, buffer, bytes));
    }
    message.replace(c, std::move(buffer), bytes);
  }
  return {};
}
