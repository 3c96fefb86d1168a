//===- SumWriter.h - Writes gradients into messages -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_SUMWRITER_H
#define PDLRT_ENGINE_SUMWRITER_H

#include "pdlrt/Core/BufferPool.h"
#include "pdlrt/Engine/GradientPacker.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Sum/PartialSum.h"

#include <memory>
#include <span>

namespace pdlrt {

/// Writes the losses and gradients of a sender's steps into messages, one for
/// each server. Gradients are sent unchanged or quantized. Not thread-safe.
/// Messages may outlive the writer.
class SumWriter {
public:
  /// Sets the encoding of gradients. Call before the first step.
  void setPacking(GradientPacking packing) {
    if (packing != GradientPacking::None)
      packer = std::make_unique<GradientPacker>(packing);
  }
  /// Discards the rounding errors of gradients.
  void forgetRemainders() {
    if (packer)
      packer->forget();
  }

  /// Sets the encoding of the step's gradients in `head`. Call once per step,
  /// before its messages are written. Throws std::bad_alloc.
  void begin(const ExchangeLayout &layout, const PartialSum &sum,
             ExchangeHead &head);
  /// Adds a server's part of `channel` from `sum`; does nothing if it is no
  /// LOSS, GRADIENT or ROW_GRADIENT channel. `routers`, by lookup: the keys of
  /// `sum`. Dense gradients must stay unchanged as long as `owner` lives or, if
  /// it is null, until the call that sends the messages has ended. Throws
  /// std::bad_alloc.
  void add(const ExchangeLayout &layout, int32_t server, int32_t channel,
           const PartialSum &sum, std::span<const KeyRouter> routers,
           const std::shared_ptr<const void> &owner, ExchangeWriter &writer);

private:
  /// Null: gradients are sent unchanged.
  std::unique_ptr<GradientPacker> packer;
  /// Memory of gradient rows in flight, which messages refer to.
  BufferPool pool;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_SUMWRITER_H
