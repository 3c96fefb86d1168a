//===- OwnClips.h - Clipping by the sender of a gradient --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ENGINE_OWNCLIPS_H
#define PDLRT_ENGINE_OWNCLIPS_H

#include "pdlrt/Core/AlignedBuffer.h"
#include "pdlrt/Protocol/ExchangeCodec.h"
#include "pdlrt/Sum/PartialSum.h"

#include <span>
#include <vector>

namespace pdlrt {

/// Clips the gradients of one sender by their own norm. Used in modes in which
/// no process has the whole gradient that is applied (`Mode::sendersClip`). If
/// the gradient of no sender exceeds the limit, their mean does not exceed the
/// limit either. Owns the memory of scaled gradients. Not thread-safe.
class OwnClips {
public:
  explicit OwnClips(const pdl_descriptor &descriptor)
      : descriptor(descriptor) {}

  /// Returns `sum` with clipped gradients. If the norm of the gradients of a
  /// clip exceeds its limit, they are scaled so that the norm is the limit.
  /// `norms` has one entry per channel of `layout`: for a NORM channel, the
  /// squared norm of the clip's gradients, divided by the weight (see
  /// `ownNorms`). Sets it to the squared norm after clipping. The result refers
  /// to the memory of `sum`, and is valid until the next call. Throws
  /// std::bad_alloc.
  const PartialSum &apply(const ExchangeLayout &layout, const PartialSum &sum,
                          std::span<double> norms);

private:
  void scale(const pdl_symbol &symbol, double factor, BlockGradient &block,
             size_t place);

  const pdl_descriptor &descriptor;
  PartialSum clipped;
  /// Scaled gradients by update of the program, and the addresses of scaled
  /// rows.
  std::vector<AlignedBuffer> values;
  std::vector<std::vector<const void *>> pointers;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_OWNCLIPS_H
