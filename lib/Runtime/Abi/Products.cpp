//===- Products.cpp - Entry points of matrix products ---------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Gemm/Gemm.h"

using namespace pdlrt;

void pdlrt_gemm(void *worker, int32_t type, int32_t product, int32_t transposeA,
                int32_t transposeB, int64_t m, int64_t n, int64_t k,
                const void *a, const void *b, void *c, int64_t cStride,
                int32_t postCount, const pdl_post *posts) {
  gemm(product, Worker::of(worker).gemmWorkspace(),
       {type, transposeA != 0, transposeB != 0, m, n, k, a, b, c, cStride,
        postCount, posts});
}

void pdlrt_batch_gemm(void *worker, int32_t type, int32_t transposeA,
                      int32_t transposeB, int64_t count, int64_t m, int64_t n,
                      int64_t k, const void *a, const void *b, void *c) {
  strictBatchGemm(
      nativeGemmIsa(), Worker::of(worker).gemmWorkspace(),
      {type, transposeA != 0, transposeB != 0, m, n, k, a, b, c, n, 0, nullptr},
      count);
}
