//===- PackedTraining.h - Training with packed gradients --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_PACKEDTRAINING_H
#define PDLRT_PROTOCOL_PACKEDTRAINING_H

#include "pdlabi/abi/descriptor.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/Packing.h"

#include <string>
#include <vector>

namespace pdlrt {

/// Returns an error if the program's gradients cannot be sent with this
/// packing, or if a restarted trainer (`mayRejoin`: --on-failure=wait) would
/// need state that only its previous incarnation had.
Status checkPacking(const pdl_descriptor &descriptor, GradientPacking packing,
                    bool mayRejoin);

/// Descriptor of a program whose gradients are sent packed. Packing changes the
/// results, so the descriptor has another training fingerprint and one more
/// part for checkpoints to compare. With `None` it equals the program's own
/// descriptor.
class PackedTraining {
public:
  /// `descriptor` must outlive this object.
  PackedTraining(const pdl_descriptor &descriptor, GradientPacking packing);
  PackedTraining(const PackedTraining &) = delete;
  PackedTraining &operator=(const PackedTraining &) = delete;

  /// Returns the descriptor, valid as long as this object.
  const pdl_descriptor &descriptor() const { return changed; }

private:
  pdl_descriptor changed;
  std::vector<pdl_part> parts;
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_PACKEDTRAINING_H
