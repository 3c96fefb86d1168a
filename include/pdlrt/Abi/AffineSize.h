//===- AffineSize.h - How much memory a batch needs -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_ABI_AFFINESIZE_H
#define PDLRT_ABI_AFFINESIZE_H

#include "pdlabi/abi.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace pdlrt {

/// What the size of a buffer depends on, in one step of a program.
struct SizeCounts {
  int64_t batch = 0;                      ///< samples
  std::span<const pdl_field_data> fields; ///< by field of the program
  std::span<const pdl_lookup> lookups;    ///< by lookup of the program
};

/// Whether no part of `size` is negative, for a program of so many fields and
/// lookups.
bool isValid(const pdl_affine_size &size, int32_t fieldCount,
             int32_t lookupCount);

/// The bytes that `size`, which is valid, says for these counts; none if they
/// are more than an int64_t holds. Allocates nothing.
std::optional<int64_t> evaluate(const pdl_affine_size &size,
                                const SizeCounts &counts);

/// The same for who is to allocate them. Throws std::bad_alloc for what is
/// more: no memory has so many.
size_t bytesToAllocate(const pdl_affine_size &size, const SizeCounts &counts);

} // namespace pdlrt

#endif // PDLRT_ABI_AFFINESIZE_H
