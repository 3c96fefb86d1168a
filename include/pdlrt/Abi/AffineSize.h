//===- AffineSize.h - Memory that a batch needs -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_AFFINESIZE_H
#define PDLRT_ABI_AFFINESIZE_H

#include "pdlabi/abi/stage.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace pdlrt {

/// Counts of one batch, from which `pdl_affine_size` computes the size of a
/// buffer.
struct SizeCounts {
  int64_t batch = 0;                      ///< samples
  std::span<const pdl_field_data> fields; ///< by field of the program
  std::span<const pdl_lookup> lookups;    ///< by lookup of the program
};

/// Returns true if no coefficient of `size` is negative. `size` belongs to a
/// program with `fieldCount` fields and `lookupCount` lookups.
bool isValid(const pdl_affine_size &size, int32_t fieldCount,
             int32_t lookupCount);

/// Returns the value of a valid `size` for these counts, in bytes, or nullopt
/// if it exceeds int64_t. Allocates nothing.
std::optional<int64_t> evaluate(const pdl_affine_size &size,
                                const SizeCounts &counts);

/// Like `evaluate`, but throws std::bad_alloc if the value exceeds int64_t.
size_t bytesToAllocate(const pdl_affine_size &size, const SizeCounts &counts);

} // namespace pdlrt

#endif // PDLRT_ABI_AFFINESIZE_H
