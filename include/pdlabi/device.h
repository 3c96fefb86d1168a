/*===- pdlabi/device.h - Bodies of kernels for GPU and host -------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * What a stage calls of the runtime on a CPU (abi.h), for the threads of a
 * device. The compiler links these functions, as bitcode, into the kernels of a
 * program; a GPU runs them, and so does the host, thread by thread, in the
 * place of one.
 *
 * Conventions:
 *  - A function does the turns first, first + stride, first + 2 * stride, ...
 *    of its turns. So thread `first` of `stride` threads calls it with the
 *    same arguments as all others, and one call with 0 and 1 does all. Turns do
 *    not depend on each other: any order of threads gives the same bits.
 *  - `pdldevice_NAME_turns`, which takes the same arguments but for the last
 *    two, says how many turns there are. It reads no memory, so that the host
 *    may ask it with pointers of a device. More threads than turns have
 *    nothing to do.
 *  - Arguments have 8 bytes each. Pointers are to memory of the device, aligned
 *    to their elements; what is written overlaps nothing else of the call. No
 *    address is touched beyond what the shapes say.
 *  - Results have the bits of numerics `strict` on a CPU (docs/Numerics.md).
 *    `_f32` and `_f64` at the end of a name are the element type.
 *  - Neighbouring turns touch neighbouring memory, as far as the shapes allow.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_DEVICE_H
#define PDLABI_DEVICE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What one load of a thread brings, where memory is aligned to it. */
#define PDL_DEVICE_LOAD_BYTES 16

/* Lanes of reductions over a row (pdlrt_reduce_rows). */
#define PDL_DEVICE_LANES 16

/*===----------------------------------------------------------------------===*
 * Products
 *===----------------------------------------------------------------------===*/

/* pdlrt_gemm, PDL_PRODUCT_STRICT. `posts`: the pdl_post_op of each post, in
 * order, four bits each, the first one lowest: the bias and then relu is 0x21.
 * `bias`, of n elements, and `mask`, m x n: null where no post has them.
 * Turns: tiles of C, of a size that follows from m and n alone. */
int64_t pdldevice_product_turns(int64_t transpose_a, int64_t transpose_b,
                                int64_t m, int64_t n, int64_t k, const void *a,
                                const void *b, uint64_t posts, const void *bias,
                                const void *mask, void *c, int64_t c_stride);
void pdldevice_product_f32(int64_t transpose_a, int64_t transpose_b, int64_t m,
                           int64_t n, int64_t k, const float *a, const float *b,
                           uint64_t posts, const float *bias, const float *mask,
                           float *c, int64_t c_stride, int64_t first,
                           int64_t stride);
void pdldevice_product_f64(int64_t transpose_a, int64_t transpose_b, int64_t m,
                           int64_t n, int64_t k, const double *a,
                           const double *b, uint64_t posts, const double *bias,
                           const double *mask, double *c, int64_t c_stride,
                           int64_t first, int64_t stride);

/* pdlrt_batch_gemm. Turns: tiles, as those of pdldevice_product, of all
 * products. */
int64_t pdldevice_batch_product_turns(int64_t transpose_a, int64_t transpose_b,
                                      int64_t count, int64_t m, int64_t n,
                                      int64_t k, const void *a, const void *b,
                                      void *c);
void pdldevice_batch_product_f32(int64_t transpose_a, int64_t transpose_b,
                                 int64_t count, int64_t m, int64_t n, int64_t k,
                                 const float *a, const float *b, float *c,
                                 int64_t first, int64_t stride);
void pdldevice_batch_product_f64(int64_t transpose_a, int64_t transpose_b,
                                 int64_t count, int64_t m, int64_t n, int64_t k,
                                 const double *a, const double *b, double *c,
                                 int64_t first, int64_t stride);

/*===----------------------------------------------------------------------===*
 * Bags
 *===----------------------------------------------------------------------===*/

/* pdlrt_pool. Turns: elements of the result, bag_count x width. */
int64_t pdldevice_pool_turns(int64_t pooling, int64_t bag_count, int64_t width,
                             const void *rows, const int32_t *inverse,
                             const int32_t *splits, int64_t row_bags,
                             int64_t row_stride, void *out);
void pdldevice_pool_f32(int64_t pooling, int64_t bag_count, int64_t width,
                        const float *rows, const int32_t *inverse,
                        const int32_t *splits, int64_t row_bags,
                        int64_t row_stride, float *out, int64_t first,
                        int64_t stride);
void pdldevice_pool_f64(int64_t pooling, int64_t bag_count, int64_t width,
                        const double *rows, const int32_t *inverse,
                        const int32_t *splits, int64_t row_bags,
                        int64_t row_stride, double *out, int64_t first,
                        int64_t stride);

/* bag_of[o] = the bag that holds place o of its input, for
 * pdldevice_pool_gradient: `splits`, of bag_count + 1 entries, from 0, are
 * those of the input, and `bag_of` stands at its first occurrence in the
 * lookup. Turns: bags. */
int64_t pdldevice_bags_of_turns(int64_t bag_count, const int32_t *splits,
                                int32_t *bag_of);
void pdldevice_bags_of(int64_t bag_count, const int32_t *splits,
                       int32_t *bag_of, int64_t first, int64_t stride);

/* What one input of a lookup gives to pdlrt_pool_gradient. Each input of the
 * list that pdlrt_pool_gradient would take is a launch, in the order of the
 * list, each behind the last one: a sum goes on in `out` (key_count x width)
 * where the launch before left it, or begins at +0 if `is_first`. So the first
 * one writes all of `out`, whatever occurs in its input. Without inputs nobody
 * does.
 *
 * `key_splits` and `occurrences` are the lookup's, the rest is the input's (see
 * pdl_pooled_input). Null `splits`: each bag holds one id; else `bag_of`, by
 * the number of an occurrence in the lookup, as pdldevice_bags_of has filled
 * it. Turns: elements of `out`. */
int64_t pdldevice_pool_gradient_turns(int64_t is_first, int64_t key_count,
                                      int64_t width, const int32_t *key_splits,
                                      const int32_t *occurrences,
                                      int64_t pooling, int64_t input_first,
                                      int64_t bag_count, const void *cotangent,
                                      int64_t row_bags, int64_t row_stride,
                                      const int32_t *splits,
                                      const int32_t *bag_of, void *out);
void pdldevice_pool_gradient_f32(int64_t is_first, int64_t key_count,
                                 int64_t width, const int32_t *key_splits,
                                 const int32_t *occurrences, int64_t pooling,
                                 int64_t input_first, int64_t bag_count,
                                 const float *cotangent, int64_t row_bags,
                                 int64_t row_stride, const int32_t *splits,
                                 const int32_t *bag_of, float *out,
                                 int64_t first, int64_t stride);
void pdldevice_pool_gradient_f64(int64_t is_first, int64_t key_count,
                                 int64_t width, const int32_t *key_splits,
                                 const int32_t *occurrences, int64_t pooling,
                                 int64_t input_first, int64_t bag_count,
                                 const double *cotangent, int64_t row_bags,
                                 int64_t row_stride, const int32_t *splits,
                                 const int32_t *bag_of, double *out,
                                 int64_t first, int64_t stride);

/*===----------------------------------------------------------------------===*
 * Rows
 *===----------------------------------------------------------------------===*/

/* pdlrt_reduce_rows. Turns: rows. */
int64_t pdldevice_reduce_rows_turns(int64_t reduction, int64_t rows,
                                    int64_t width, const void *values,
                                    void *out);
void pdldevice_reduce_rows_f32(int64_t reduction, int64_t rows, int64_t width,
                               const float *values, float *out, int64_t first,
                               int64_t stride);
void pdldevice_reduce_rows_f64(int64_t reduction, int64_t rows, int64_t width,
                               const double *values, double *out, int64_t first,
                               int64_t stride);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_DEVICE_H */
