//===- Slices.h - A product in parts that threads share ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product is cut into ranges of rows or of columns of its result, never along
// k: no sum changes. The ranges of rows of a forward product are samples, as
// those of the gradient with respect to the input; of the gradient with respect
// to the weight they are inputs or outputs of the layer.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_SLICES_H
#define LIB_RUNTIME_GEMM_SLICES_H

#include "pdlrt/Gemm/Gemm.h"

#include <array>

namespace pdlrt {

/// How a product is cut.
struct GemmSlices {
  int64_t count = 1;
  /// Rows, or columns, of all slices but the last.
  int64_t size = 0;
  bool byColumns = false;
};

/// The slices of a product, at most `most`. Depends on its shape alone.
GemmSlices slicesOf(const GemmCall &call, int64_t most);

/// The most posts that a call with slices has.
inline constexpr int32_t mostSlicedPosts = 4;

/// One slice as a call of its own. `posts` is where its posts go.
GemmCall sliceOf(const GemmCall &call, const GemmSlices &slices, int64_t index,
                 std::array<pdl_post, mostSlicedPosts> &posts);

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_SLICES_H
