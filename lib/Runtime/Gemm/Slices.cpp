//===- Slices.cpp - Parts of a product for threads ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slices.h"

#include <algorithm>

using namespace pdlrt;

/// Minimum work of a slice: a third of a millisecond, compared to which handing
/// it out and packing the other operand again are negligible.
static constexpr double flopsOfSlice = 40e6;
/// The number of rows or columns of a slice is a multiple of this, a whole
/// number of tiles.
static constexpr int64_t granule = 16;
/// Minimum number of rows or columns of a slice. With smaller slices, packing
/// the other operand for each of them becomes noticeable.
static constexpr int64_t minSize = 96;

static int64_t roundUp(int64_t number, int64_t multiple) {
  return (number + multiple - 1) / multiple * multiple;
}

GemmSlices pdlrt::slicesOf(const GemmCall &call, int64_t most) {
  const double flops = 2.0 * double(call.m) * double(call.n) * double(call.k);
  GemmSlices slices;
  if (flops < 2 * flopsOfSlice || most < 2 || call.postCount > maxSlicedPosts)
    return slices;
  // The mask of a relu's gradient has no row stride, which a slice of columns
  // would need.
  const bool hasMask = std::any_of(
      call.posts, call.posts + call.postCount,
      [](const pdl_post &post) { return post.kind == PDL_POST_RELU_GRADIENT; });
  slices.byColumns = call.n > call.m && !hasMask;
  const int64_t extent = slices.byColumns ? call.n : call.m;
  // As even as whole tiles allow.
  slices.count =
      std::clamp<int64_t>(std::min(most, int64_t(flops / flopsOfSlice)), 1,
                          std::max<int64_t>(1, extent / minSize));
  slices.size = roundUp(roundUp(extent, slices.count) / slices.count, granule);
  slices.count = std::max<int64_t>(1, (extent + slices.size - 1) / slices.size);
  return slices;
}

GemmCall pdlrt::sliceOf(const GemmCall &call, const GemmSlices &slices,
                        int64_t index,
                        std::array<pdl_post, maxSlicedPosts> &posts) {
  const int64_t element = call.type == PDL_F64 ? 8 : 4;
  const int64_t begin = index * slices.size;
  auto shifted = [element](const void *from, int64_t elements) {
    return static_cast<const void *>(static_cast<const char *>(from) +
                                     elements * element);
  };
  GemmCall slice = call;
  slice.aStride = call.strideOfA();
  slice.bStride = call.strideOfB();
  int64_t shiftOfC = begin;
  if (slices.byColumns) {
    slice.n = std::min(slices.size, call.n - begin);
    slice.b = shifted(call.b, call.transposeB ? begin * slice.bStride : begin);
  } else {
    slice.m = std::min(slices.size, call.m - begin);
    slice.a = shifted(call.a, call.transposeA ? begin : begin * slice.aStride);
    shiftOfC = begin * call.cStride;
  }
  slice.c = static_cast<char *>(call.c) + shiftOfC * element;
  for (int32_t p = 0; p < call.postCount; ++p) {
    posts[p] = call.posts[p];
    if (posts[p].kind == PDL_POST_BIAS && slices.byColumns)
      posts[p].operand = shifted(posts[p].operand, begin);
    else if (posts[p].kind == PDL_POST_RELU_GRADIENT)
      posts[p].operand = shifted(posts[p].operand, begin * call.n);
  }
  slice.posts = posts.data();
  return slice;
}
