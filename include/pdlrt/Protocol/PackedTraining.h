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

/// Returns an error if the program's gradients cannot be sent with the encoding
/// `packing`. If `mayRejoin` (--on-failure=wait), also returns an error if a
/// restarted trainer would need rounding errors that only its previous
/// incarnation had.
Status checkPacking(const pdl_descriptor &descriptor, GradientPacking packing,
                    bool mayRejoin);

/// Owns the descriptor of a program whose gradients are sent packed. Packing
/// changes the results of training. So the descriptor has another training
/// fingerprint, and one more part (`pdl_part`) that checkpoints compare. With
/// `None` it is equal to the program's own descriptor.
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
