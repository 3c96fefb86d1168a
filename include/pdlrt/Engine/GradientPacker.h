//===- GradientPacker.h - Gradients of a trainer in fewer bits --*- C++ -*-===//
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

/// Packs what one sender gives, and keeps of each parameter what rounding took
/// away from its gradients so far: the next gradient begins with that. Rows of
/// tables are rounded without, for it would be kept of every key. The same for
/// any number of servers. Not thread-safe.
class GradientPacker {
public:
  explicit GradientPacker(GradientPacking packing) : kind(packing) {}

  GradientPacking packing() const { return kind; }
  /// Forgets what was kept: at each checkpoint, so that who goes on from there
  /// trains as who did not stop.
  void forget() { remainders.clear(); }

  /// Packs the gradient of a parameter, `count` elements, once a step and
  /// before `addBlocks`.
  void pack(int32_t symbol, const float *gradient, int64_t count);
  /// Adds the packed blocks that a server has of a GRADIENT channel.
  void addBlocks(const ExchangeLayout &layout, int32_t server, int32_t channel,
                 ExchangeWriter &writer) const;
  /// Adds packed rows to a ROW_GRADIENT channel: `rows[places[i]]`, each with
  /// the numbers of `symbol`, with its counts behind them.
  void addRows(const pdl_symbol &symbol, int32_t channel,
               std::span<const int32_t> places, const void *const *rows,
               ExchangeWriter &writer);

private:
  /// A parameter of this step; in messages too, which may outlive it.
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
