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

/// Clips a trainer's gradients by their own norm, in modes where no process has
/// the whole gradient that is applied (`Mode::sendersClip`). If no gradient
/// exceeds a limit, their mean does not exceed it either. Owns the memory of
/// changed gradients. Not thread-safe.
class OwnClips {
public:
  explicit OwnClips(const pdl_descriptor &descriptor)
      : descriptor(descriptor) {}

  /// Returns `sum`, scaled if its norm exceeds the limit of a clip. `norms`, by
  /// channel of `layout`, has for NORM the squared norm of the divided
  /// gradient; it is updated to that of the result. The result borrows from
  /// `sum` and is valid until the next call. Throws std::bad_alloc.
  const PartialSum &apply(const ExchangeLayout &layout, const PartialSum &sum,
                          std::span<double> norms);

private:
  void scale(const pdl_symbol &symbol, double factor, BlockGradient &block,
             size_t place);

  const pdl_descriptor &descriptor;
  PartialSum clipped;
  /// Indexed by update.
  std::vector<AlignedBuffer> values;
  std::vector<std::vector<const void *>> pointers;
};

} // namespace pdlrt

#endif // PDLRT_ENGINE_OWNCLIPS_H
