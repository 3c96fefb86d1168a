//===- PackedTraining.h - Gradients that travel packed ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_PROTOCOL_PACKEDTRAINING_H
#define PDLRT_PROTOCOL_PACKEDTRAINING_H

#include "pdlabi/abi.h"
#include "pdlrt/Core/Status.h"
#include "pdlrt/Protocol/Packing.h"

#include <string>
#include <vector>

namespace pdlrt {

/// An error where a program's gradients cannot travel so, or where a trainer
/// that comes back would need what another start of it has kept
/// (`comesBack`: --on-failure=wait).
Status checkPacking(const pdl_descriptor &descriptor, GradientPacking packing,
                    bool comesBack);

/// What a program is while its gradients travel packed: another training, with
/// a fingerprint of its own and one more part that checkpoints compare. Of
/// None: the program itself.
class PackedTraining {
public:
  /// `descriptor` outlives it.
  PackedTraining(const pdl_descriptor &descriptor, GradientPacking packing);
  PackedTraining(const PackedTraining &) = delete;
  PackedTraining &operator=(const PackedTraining &) = delete;

  /// As long as this object.
  const pdl_descriptor &descriptor() const { return changed; }

private:
  pdl_descriptor changed;
  std::vector<pdl_part> parts;
};

} // namespace pdlrt

#endif // PDLRT_PROTOCOL_PACKEDTRAINING_H
