//===- SumWriter.h - What a step gives, as servers take it ------*- C++ -*-===//
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
#include "pdlrt/Sum/Contribution.h"

#include <memory>
#include <span>

namespace pdlrt {

/// Writes the losses and gradients of a sender's steps into messages, one for
/// each server; gradients as they are, or in fewer bits. Not thread-safe; what
/// it has written may outlive it.
class SumWriter {
public:
  /// How gradients travel from now on; before the first step.
  void setPacking(GradientPacking packing) {
    if (packing != GradientPacking::None)
      packer = std::make_unique<GradientPacker>(packing);
  }
  /// Forgets what rounding took away from gradients so far.
  void forgetRemainders() {
    if (packer)
      packer->forget();
  }

  /// Once a step, before its messages are written: says in `head` how its
  /// gradients travel. Throws std::bad_alloc.
  void begin(const ExchangeLayout &layout, const Contribution &sum,
             ExchangeHead &head);
  /// Adds what `channel` holds of `sum` for a server; nothing where it is no
  /// LOSS, GRADIENT or ROW_GRADIENT. `routers`, by lookup: of the keys of
  /// `sum`. Dense gradients stay unchanged as long as `owner` lives or, without
  /// one, until the call of the messages has ended. Throws std::bad_alloc.
  void add(const ExchangeLayout &layout, int32_t server, int32_t channel,
           const Contribution &sum, std::span<const KeyRouter> routers,
           const std::shared_ptr<const void> &owner, ExchangeWriter &writer);

private:
  /// Null: gradients travel as they are.
  std::unique_ptr<GradientPacker> packer;
  /// Rows of gradients on their way: they travel by reference.
  BufferPool pool;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_SUMWRITER_H
