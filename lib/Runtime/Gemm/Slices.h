//===- Slices.h - Parts of a product for threads ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product is split into ranges of rows or of columns of its result, never
// along k, so no sum changes. The rows of a forward product, and of the
// gradient with respect to the input, are samples. Those of the gradient with
// respect to the weight are inputs or outputs of the layer.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_RUNTIME_GEMM_SLICES_H
#define LIB_RUNTIME_GEMM_SLICES_H

#include "pdlrt/Gemm/Gemm.h"

#include <array>

namespace pdlrt {

/// The split of a product.
struct GemmSlices {
  int64_t count = 1;
  /// Number of rows, or columns, of all slices except the last.
  int64_t size = 0;
  bool byColumns = false;
};

/// Returns the slices of a product, at most `most`. Depends only on its shape.
GemmSlices slicesOf(const GemmCall &call, int64_t most);

/// Maximum number of posts of a call with slices.
inline constexpr int32_t maxSlicedPosts = 4;

/// Returns one slice as a separate call. `posts` receives its posts.
GemmCall sliceOf(const GemmCall &call, const GemmSlices &slices, int64_t index,
                 std::array<pdl_post, maxSlicedPosts> &posts);

} // namespace pdlrt

#endif // LIB_RUNTIME_GEMM_SLICES_H
