//===- Posts.cpp - Posts of products on a device --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Turns.h"

#include "pdlabi/abi/calls.h"
#include "pdlabi/device.h"

using namespace pdldevice;

int64_t pdldevice_posts_turns(int64_t m, int64_t n, uint64_t, const void *,
                              const void *, void *, int64_t) {
  return m > 0 && n > 0 ? m * n : 0;
}

void pdldevice_posts_f32(int64_t m, int64_t n, uint64_t posts,
                         const float *bias, const float *mask, float *c,
                         int64_t cStride, int64_t first, int64_t stride) {
  const int64_t turns =
      pdldevice_posts_turns(m, n, posts, bias, mask, c, cStride);
  forTurns(turns, first, stride, [&](int64_t turn) {
    const Division at = divide(turn, n);
    float *element = c + at.quotient * cStride + at.remainder;
    float x = *element;
#pragma clang loop unroll(disable)
    for (uint64_t rest = posts; rest; rest >>= 4)
      if ((rest & 15) == PDL_POST_BIAS)
        x += bias[at.remainder];
      else
        x = zeroWhereNotPositive((rest & 15) == PDL_POST_RELU ? x : mask[turn],
                                 x);
    *element = x;
  });
}
