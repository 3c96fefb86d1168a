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

  /// Begins a step with the gradients `sum`. Sets the encoding of gradients in
  /// `head`, the head of the step's messages. Call once per step, before `add`.
  /// Throws std::bad_alloc.
  void begin(const ExchangeLayout &layout, const PartialSum &sum,
             ExchangeHead &head);
  /// Adds the content of `channel` that server `server` owns, from `sum`. Does
  /// nothing if the channel is not of kind LOSS, GRADIENT or ROW_GRADIENT.
  /// `routers` has the keys of `sum`, by lookup of the program. Messages refer
  /// to dense gradients without copying them. So they must stay unchanged while
  /// `owner` exists; if `owner` is null, until the call that sends the messages
  /// has ended. Throws std::bad_alloc.
  void add(const ExchangeLayout &layout, int32_t server, int32_t channel,
           const PartialSum &sum, std::span<const KeyRouter> routers,
           const std::shared_ptr<const void> &owner, ExchangeWriter &writer);

private:
  /// Quantizes gradients; null: they are sent unchanged.
  std::unique_ptr<GradientPacker> packer;
  /// Memory for rows of gradients, to which messages in flight refer.
  BufferPool pool;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_SUMWRITER_H
