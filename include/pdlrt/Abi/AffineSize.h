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

/// Numbers that determine the size of a buffer in one step of a program.
struct SizeCounts {
  int64_t batch = 0;                      ///< samples
  std::span<const pdl_field_data> fields; ///< by field of the program
  std::span<const pdl_lookup> lookups;    ///< by lookup of the program
};

/// Returns true if no term of `size` is negative, for a program with this
/// number of fields and lookups.
bool isValid(const pdl_affine_size &size, int32_t fieldCount,
             int32_t lookupCount);

/// Returns the bytes that a valid `size` gives for these counts; nothing if
/// they exceed int64_t. Allocates nothing.
std::optional<int64_t> evaluate(const pdl_affine_size &size,
                                const SizeCounts &counts);

/// Returns the bytes to allocate. Throws std::bad_alloc if they exceed int64_t.
size_t bytesToAllocate(const pdl_affine_size &size, const SizeCounts &counts);

} // namespace pdlrt

#endif // PDLRT_ABI_AFFINESIZE_H
