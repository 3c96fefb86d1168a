//===- OwnClips.h - Clips by who sends a gradient ---------------*- C++ -*-===//
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
#include "pdlrt/Sum/Contribution.h"

#include <span>
#include <vector>

namespace pdlrt {

/// Clips what a trainer sends by its own norm, in modes where nobody ever sees
/// the whole of what is applied (`Mode::sendersClip`). A mean of gradients of
/// which none is above a limit is not above it either. Owns what it changes;
/// one thread at a time.
class OwnClips {
public:
  explicit OwnClips(const pdl_descriptor &descriptor)
      : descriptor(descriptor) {}

  /// `sum`, scaled where its norm is above the limit of a clip. `norms`: by
  /// channel of `layout`, for NORM the squared norm of the divided gradient;
  /// that of what is returned afterwards. Borrows from `sum`, and is valid
  /// until the next call. Throws std::bad_alloc.
  const Contribution &apply(const ExchangeLayout &layout,
                            const Contribution &sum, std::span<double> norms);

private:
  void scale(const pdl_symbol &symbol, double factor, BlockGradient &block,
             size_t place);

  const pdl_descriptor &descriptor;
  Contribution clipped;
  /// By update.
  std::vector<AlignedBuffer> values;
  std::vector<std::vector<const void *>> pointers;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_OWNCLIPS_H
