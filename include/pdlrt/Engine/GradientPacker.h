//===- GradientPacker.h - Quantized gradients of a trainer ------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_GRADIENTPACKER_H
#define PDLRT_ENGINE_GRADIENTPACKER_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Core/BufferPool.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Protocol/Packing.h"

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace pdlrt {

/// Quantizes the gradients of one sender. For each parameter, keeps the sum of
/// the rounding errors so far and adds it to the next gradient (error
/// feedback). Rows of tables are rounded without error feedback, because errors
/// would have to be kept for every key. The result does not depend on the
/// number of servers. Not thread-safe.
class GradientPacker {
public:
  explicit GradientPacker(GradientPacking packing) : kind(packing) {}

  GradientPacking packing() const { return kind; }
  /// Discards the rounding errors. Called at each checkpoint, so that a run
  /// resumed from the checkpoint trains like an uninterrupted one.
  void forget() { remainders.clear(); }

  /// Packs the gradient of a parameter, `count` elements. Call once per step,
  /// before `addBlocks`.
  void pack(int32_t symbol, const float *gradient, int64_t count);
  /// Adds the packed blocks that a server owns to a GRADIENT channel.
  void addBlocks(const ExchangeLayout &layout, int32_t server, int32_t channel,
                 ExchangeWriter &writer) const;
  /// Packs the gradients of rows and adds them to a ROW_GRADIENT channel, in
  /// the order of `places`: the gradients `rows[places[i]]`. A row's gradient
  /// has `row_width` elements, which are quantized, followed by its counts,
  /// which are not.
  void addRows(const pdl_symbol &symbol, int32_t channel,
               std::span<const int32_t> places, const void *const *rows,
               ExchangeWriter &writer);

private:
  /// The packed gradient of a parameter in this step. Messages refer to the
  /// same memory and may outlive the packer.
  struct Packed {
    std::shared_ptr<std::byte> codes, exponents;
  };

  const GradientPacking kind;
  BufferPool pool;
  std::map<int32_t, std::vector<float>> remainders;
  std::map<int32_t, Packed> packed;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_GRADIENTPACKER_H
