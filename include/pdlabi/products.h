/*===- pdlabi/products.h - Products of bf16 parts -----------------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Further values of pdl_compute and pdl_product, which abi.h defines: for
 * products of factors that are split into bf16 parts. They are used in
 * `pdl_descriptor::compute` and in the argument `product` of `pdlrt_gemm`.
 * docs/Numerics.md defines the sums.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_PRODUCTS_H
#define PDLABI_PRODUCTS_H

/* Further values of pdl_compute. */
enum {
  PDL_COMPUTE_BF16X3 = 2, /* factors of two bf16 parts, three products */
  PDL_COMPUTE_BF16X6 = 3  /* factors of three bf16 parts, six products */
};

/* Further values of pdl_product. The sums of products with FAST in their name
 * have the order of the fastest kernels of the CPU; the sums of the others have
 * a fixed order. */
enum {
  PDL_PRODUCT_BF16_FAST = 3, /* factors rounded to bf16 */
  PDL_PRODUCT_BF16X3 = 4,    /* in the order of tiles */
  PDL_PRODUCT_BF16X3_FAST = 5,
  PDL_PRODUCT_BF16X6 = 6, /* in the order of tiles */
  PDL_PRODUCT_BF16X6_FAST = 7
};

#endif /* PDLABI_PRODUCTS_H */
