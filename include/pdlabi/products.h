/*===- pdlabi/products.h - Products of bf16 parts ------------------*- C -*-===//
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===//
 *
 * Values of `pdl_descriptor::compute` and of the argument `product` of
 * `pdlrt_gemm` that continue the enums of abi.h. docs/Numerics.md defines the
 * sums.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_PRODUCTS_H
#define PDLABI_PRODUCTS_H

/* Continues pdl_compute. */
enum {
  PDL_COMPUTE_BF16X3 = 2, /* factors of two bf16 parts, three products */
  PDL_COMPUTE_BF16X6 = 3  /* factors of three bf16 parts, six products */
};

/* Continues pdl_product. A fast product has the order of the CPU's best
 * kernels; the others have a fixed order. */
enum {
  PDL_PRODUCT_BF16_FAST = 3, /* factors rounded to bf16 */
  PDL_PRODUCT_BF16X3 = 4,    /* in the order of tiles */
  PDL_PRODUCT_BF16X3_FAST = 5,
  PDL_PRODUCT_BF16X6 = 6, /* in the order of tiles */
  PDL_PRODUCT_BF16X6_FAST = 7
};

#endif /* PDLABI_PRODUCTS_H */
