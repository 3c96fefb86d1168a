/*===- pdlabi/device.h - Kernel functions for GPU and host --------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Device versions of the runtime functions that a stage calls on a CPU
 * (abi/calls.h). The compiler links them, as bitcode, into the kernels of a
 * program. GPUs run them. In tests, the host runs them, one thread after the
 * other, in place of a GPU.
 *
 * Conventions:
 * - A function is a loop over independent iterations ("turns"). A call runs the
 *   iterations first, first + stride, first + 2 * stride, ... With `stride`
 *   threads, thread t makes a call with first = t; all other arguments are the
 *   same. A single call with first = 0 and stride = 1 runs all iterations. The
 *   order of threads does not change any bit of the result.
 * - `pdldevice_NAME_turns` has the same arguments except `first` and `stride`,
 *   and returns the number of iterations. It reads no memory, so the host may
 *   call it with device pointers. If there are more threads than iterations,
 *   the remaining threads do nothing.
 * - Arguments have 8 bytes each. Pointers are addresses of device memory and
 *   are aligned to their elements. Memory that a call writes must not overlap
 *   other arguments of the call. Calls access no memory outside of the shapes
 *   in their arguments.
 * - Results are bitwise equal to those of numerics `strict` on a CPU
 *   (docs/Numerics.md). The suffix `_f32` or `_f64` of a name is the element
 *   type.
 * - Consecutive iterations access consecutive memory, as far as the shapes
 *   allow.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_DEVICE_H
#define PDLABI_DEVICE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that one load of a thread reads from memory that is aligned to it. */
#define PDL_DEVICE_LOAD_BYTES 16

/* Number of lanes of a row reduction (pdlrt_reduce_rows). */
#define PDL_DEVICE_LANES 16

/*===----------------------------------------------------------------------===*
 * Products
 *===----------------------------------------------------------------------===*/

/* Implements pdlrt_gemm with PDL_PRODUCT_STRICT. `posts` has four bits for the
 * pdl_post_op of each post; the first post has the lowest bits. For example,
 * 0x21 is bias, then relu. `bias` has n elements and `mask` is m x n; each is
 * null if no post uses it. Iterations: tiles of C, whose size depends only on m
 * and n. */
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

/* Implements pdlrt_gemm with PDL_PRODUCT_BF16. The arguments are those of
 * pdldevice_product. */
int64_t pdldevice_bf16_product_turns(int64_t transpose_a, int64_t transpose_b,
                                     int64_t m, int64_t n, int64_t k,
                                     const void *a, const void *b,
                                     uint64_t posts, const void *bias,
                                     const void *mask, void *c,
                                     int64_t c_stride);
void pdldevice_bf16_product_f32(int64_t transpose_a, int64_t transpose_b,
                                int64_t m, int64_t n, int64_t k, const float *a,
                                const float *b, uint64_t posts,
                                const float *bias, const float *mask, float *c,
                                int64_t c_stride, int64_t first,
                                int64_t stride);

/* Applies posts to the elements of C, which another kernel has computed.
 * `posts`, `bias` and `mask` are as in pdldevice_product. Iterations: elements,
 * m x n. */
int64_t pdldevice_posts_turns(int64_t m, int64_t n, uint64_t posts,
                              const void *bias, const void *mask, void *c,
                              int64_t c_stride);
void pdldevice_posts_f32(int64_t m, int64_t n, uint64_t posts,
                         const float *bias, const float *mask, float *c,
                         int64_t c_stride, int64_t first, int64_t stride);

/* Implements pdlrt_batch_gemm. Iterations: the tiles of all products, as in
 * pdldevice_product. */
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

/* Implements pdlrt_pool. Iterations: elements of the result, bag_count x
 * width. */
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

/* Sets bag_of[o] to the number of the bag that contains occurrence o of an
 * input, for pdldevice_pool_gradient. `splits` are the splits of the input,
 * with bag_count + 1 entries, from 0. `bag_of` points to the entry of the
 * input's first occurrence. Iterations: bags. */
int64_t pdldevice_bags_of_turns(int64_t bag_count, const int32_t *splits,
                                int32_t *bag_of);
void pdldevice_bags_of(int64_t bag_count, const int32_t *splits,
                       int32_t *bag_of, int64_t first, int64_t stride);

/* Computes the part of pdlrt_pool_gradient for one input of a lookup. Launch it
 * once for each of the `inputs` of pdlrt_pool_gradient, in their order. If
 * `is_first`, the sums in `out` (key_count x width) start at +0; otherwise the
 * launch continues them. So the first launch writes all of `out`, whichever
 * keys occur in its input. If there are no inputs, no launch writes `out`.
 *
 * `key_splits` and `occurrences` are those of the lookup; the other arguments
 * are those of the input (see pdl_pooled_input). If `splits` is null, each bag
 * has one id. Otherwise `bag_of` has the bag of each occurrence of the lookup,
 * which pdldevice_bags_of has written. Iterations: elements of `out`. */
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

/* Implements pdlrt_reduce_rows. Iterations: rows. */
int64_t pdldevice_reduce_rows_turns(int64_t reduction, int64_t rows,
                                    int64_t width, const void *values,
                                    void *out);
void pdldevice_reduce_rows_f32(int64_t reduction, int64_t rows, int64_t width,
                               const float *values, float *out, int64_t first,
                               int64_t stride);
void pdldevice_reduce_rows_f64(int64_t reduction, int64_t rows, int64_t width,
                               const double *values, double *out, int64_t first,
                               int64_t stride);

/* Computes the lanes of squared norms (pdlabi/norm.h). Each unit has `unit` of
 * the `count` values; the last unit may have fewer. `weight` has the bits of a
 * double. `lanes` gets PDL_DEVICE_LANES sums for each unit, which the caller
 * must reduce in a tree. Iterations: lanes of all units. */
int64_t pdldevice_norm_lanes_turns(int64_t count, int64_t unit, uint64_t weight,
                                   const void *values, void *lanes);
void pdldevice_norm_lanes_f32(int64_t count, int64_t unit, uint64_t weight,
                              const float *values, double *lanes, int64_t first,
                              int64_t stride);
void pdldevice_norm_lanes_f64(int64_t count, int64_t unit, uint64_t weight,
                              const double *values, double *lanes,
                              int64_t first, int64_t stride);

/* Computes sum[i] += values[i]. Iterations: elements. */
int64_t pdldevice_add_turns(int64_t count, const void *values, void *sum);
void pdldevice_add_f32(int64_t count, const float *values, float *sum,
                       int64_t first, int64_t stride);
void pdldevice_add_f64(int64_t count, const double *values, double *sum,
                       int64_t first, int64_t stride);

/* Sets found[0] to 1 if one of `count` values is not finite; otherwise does not
 * change it. */
int64_t pdldevice_check_finite_turns(int64_t count, const void *values,
                                     int32_t *found);
void pdldevice_check_finite_f32(int64_t count, const float *values,
                                int32_t *found, int64_t first, int64_t stride);
void pdldevice_check_finite_f64(int64_t count, const double *values,
                                int32_t *found, int64_t first, int64_t stride);

/*===----------------------------------------------------------------------===*
 * Draws
 *===----------------------------------------------------------------------===*/

/* Implements pdlrt_dropout. The first four arguments are the members of
 * pdl_draws. Iterations: groups of four columns for each bag, or for each
 * sample if there are no splits. An iteration handles its columns in all rows
 * of the bag. */
int64_t pdldevice_dropout_turns(uint64_t seed, int64_t epoch,
                                int64_t sample_count, const int64_t *samples,
                                int64_t stream, double rate, int64_t width,
                                int64_t bag_count, const int32_t *splits,
                                const void *values, void *out);
void pdldevice_dropout_f32(uint64_t seed, int64_t epoch, int64_t sample_count,
                           const int64_t *samples, int64_t stream, double rate,
                           int64_t width, int64_t bag_count,
                           const int32_t *splits, const float *values,
                           float *out, int64_t first, int64_t stride);
void pdldevice_dropout_f64(uint64_t seed, int64_t epoch, int64_t sample_count,
                           const int64_t *samples, int64_t stream, double rate,
                           int64_t width, int64_t bag_count,
                           const int32_t *splits, const double *values,
                           double *out, int64_t first, int64_t stride);

/*===----------------------------------------------------------------------===*
 * In-batch negatives
 *
 * Launches that compute pdlrt_in_batch_log_sum_exp and
 * pdlrt_in_batch_gradient, one after the other. They support only f32: in f64 a
 * CPU takes the exponential and the logarithm from the C library. Like the CPU
 * functions, they compute the scores of a block of at most PDL_IN_BATCH_ROWS
 * rows at a time, in `scores`: PDL_IN_BATCH_ROWS x count elements. `maxima` and
 * `lane_sums` have PDL_IN_BATCH_ROWS x PDL_DEVICE_LANES elements each.
 *
 * For each block of `rows` rows from row f on, the logarithms of the sums are
 *   product(0, 1, rows, count, width, users + f * width, items, 0, null, null,
 *           scores, count)
 *   in_batch_maxima(f, rows, count, correction, ids, scores, maxima)
 *   in_batch_exponentials(rows, count, scores, maxima, lane_sums)
 *   in_batch_logarithms(rows, count, maxima, lane_sums, out + f)
 * and the gradient is
 *   product(0, 1, rows, count, width, own + f * width, others, 0, null, null,
 *           scores, count)
 *   in_batch_weights(side, f, rows, count, correction, ids, sums, cotangent,
 *                    scores)
 *   product(0, 0, rows, width, count, scores, others, 0, null, null,
 *           out + f * width, width)
 * where side USERS has users as `own` and items as `others`, and side ITEMS the
 * reverse. All functions are `_f32`.
 *===----------------------------------------------------------------------===*/

/* Subtracts the corrections from the scores of a block, and removes the scores
 * of items that are left out because of their ids. Sets maxima[row *
 * PDL_DEVICE_LANES + lane] to the maximum of each lane of each row. The block
 * starts at row `block_first` of the batch. `correction` and `ids` are those of
 * the whole batch, or null. Iterations: lanes of all rows; a lane without
 * elements writes nothing. */
int64_t pdldevice_in_batch_maxima_turns(int64_t block_first, int64_t rows,
                                        int64_t count, const void *correction,
                                        const int64_t *ids, void *scores,
                                        void *maxima);
void pdldevice_in_batch_maxima_f32(int64_t block_first, int64_t rows,
                                   int64_t count, const float *correction,
                                   const int64_t *ids, float *scores,
                                   float *maxima, int64_t first,
                                   int64_t stride);

/* Sets lane_sums[row * PDL_DEVICE_LANES + lane] to the sum of exp(score -
 * maximum of the row) over the elements of a lane. Iterations: lanes of all
 * rows. */
int64_t pdldevice_in_batch_exponentials_turns(int64_t rows, int64_t count,
                                              const void *scores,
                                              const void *maxima,
                                              void *lane_sums);
void pdldevice_in_batch_exponentials_f32(int64_t rows, int64_t count,
                                         const float *scores,
                                         const float *maxima, float *lane_sums,
                                         int64_t first, int64_t stride);

/* Sets out[row] to the maximum of a row of the block plus the logarithm of the
 * sum of its lanes. Iterations: rows. */
int64_t pdldevice_in_batch_logarithms_turns(int64_t rows, int64_t count,
                                            const void *maxima,
                                            const void *lane_sums, void *out);
void pdldevice_in_batch_logarithms_f32(int64_t rows, int64_t count,
                                       const float *maxima,
                                       const float *lane_sums, float *out,
                                       int64_t first, int64_t stride);

/* Replaces the scores of a block by the weights w(i, j) of
 * pdlrt_in_batch_gradient. The rows of the block are users or items, as `side`,
 * a pdl_batch_side, says. `correction`, `ids`, `sums` and `cotangent` are those
 * of the whole batch; the first two may be null. Iterations: scores. */
int64_t pdldevice_in_batch_weights_turns(int64_t side, int64_t block_first,
                                         int64_t rows, int64_t count,
                                         const void *correction,
                                         const int64_t *ids, const void *sums,
                                         const void *cotangent, void *scores);
void pdldevice_in_batch_weights_f32(int64_t side, int64_t block_first,
                                    int64_t rows, int64_t count,
                                    const float *correction, const int64_t *ids,
                                    const float *sums, const float *cotangent,
                                    float *scores, int64_t first,
                                    int64_t stride);

/*===----------------------------------------------------------------------===*
 * Tables
 *
 * Kernels for keys and rows of a table in device memory (pdlabi/table.h
 * describes their layout). The keys of a call must be distinct. In addition to
 * their arguments, these kernels access the memory to which `table` refers: its
 * index, its regions and the rows in them.
 *
 * New rows are inserted by four launches, one after the other. `find` sets the
 * addresses of missing rows to null, `count` counts them, `place` assigns row
 * numbers, and `insert` initializes the rows and adds their keys to the index.
 * So rows are numbered in the order of their keys, independent of the order of
 * threads. The positions of keys in the index depend on the order of threads,
 * but no result depends on these positions.
 *===----------------------------------------------------------------------===*/

typedef struct pdl_device_table pdl_device_table;

/* Sets rows[i] to the address of the row of keys[i], or to null if there is
 * none. Iterations: keys. */
int64_t pdldevice_table_find_turns(const pdl_device_table *table, int64_t count,
                                   const int64_t *keys, void **rows);
void pdldevice_table_find(const pdl_device_table *table, int64_t count,
                          const int64_t *keys, void **rows, int64_t first,
                          int64_t stride);

/* Sets counts[c] to the number of null rows in chunk c (see keysOfTableChunk).
 * Iterations: chunks. */
int64_t pdldevice_table_count_turns(int64_t count, void *const *rows,
                                    int32_t *counts);
void pdldevice_table_count(int64_t count, void *const *rows, int32_t *counts,
                           int64_t first, int64_t stride);

/* Assigns the row numbers from *used on to the new rows: to those i for which
 * rows[i] is null. Sets rows[i] to the address of the new row, and numbers[i]
 * to 1 + its number; for other i, sets numbers[i] to 0. Sets *next to the first
 * number that is still free. `counts` is the result of pdldevice_table_count
 * for the same rows. Iterations: chunks. */
int64_t pdldevice_table_place_turns(const pdl_device_table *table,
                                    int64_t count, const int32_t *counts,
                                    const int64_t *used, int64_t *next,
                                    void **rows, uint32_t *numbers);
void pdldevice_table_place(const pdl_device_table *table, int64_t count,
                           const int32_t *counts, const int64_t *used,
                           int64_t *next, void **rows, uint32_t *numbers,
                           int64_t first, int64_t stride);

/* Initializes the new rows. For each i for which numbers[i] is not 0, adds
 * keys[i] to the index and initializes the row's header with `time`. Unless
 * `open`, also writes the initial value and slots. `parts` is the number of
 * parts of a row (partsOfTableRow). The suffix is the table's element type.
 * Iterations: parts of all keys. */
int64_t pdldevice_table_insert_turns(const pdl_device_table *table,
                                     int64_t parts, int64_t count,
                                     const int64_t *keys, void *const *rows,
                                     const uint32_t *numbers, int64_t time,
                                     int64_t open);
void pdldevice_table_insert_f32(const pdl_device_table *table, int64_t parts,
                                int64_t count, const int64_t *keys,
                                void *const *rows, const uint32_t *numbers,
                                int64_t time, int64_t open, int64_t first,
                                int64_t stride);
void pdldevice_table_insert_f64(const pdl_device_table *table, int64_t parts,
                                int64_t count, const int64_t *keys,
                                void *const *rows, const uint32_t *numbers,
                                int64_t time, int64_t open, int64_t first,
                                int64_t stride);

/* Sets out[i * width + e] to element e of the part of row i that begins
 * `offset` bytes after rows[i] and is stored in the format `storage`, a
 * pdl_storage. If rows[i] is null, uses the value that `unknown`, a
 * pdl_unknown_kind, defines. `width` is the width of the table. Iterations:
 * elements. */
int64_t pdldevice_table_gather_turns(const pdl_device_table *table,
                                     int64_t width, int64_t count,
                                     const int64_t *keys, void *const *rows,
                                     int64_t offset, int64_t storage,
                                     int64_t unknown, void *out);
void pdldevice_table_gather_f32(const pdl_device_table *table, int64_t width,
                                int64_t count, const int64_t *keys,
                                void *const *rows, int64_t offset,
                                int64_t storage, int64_t unknown, float *out,
                                int64_t first, int64_t stride);
void pdldevice_table_gather_f64(const pdl_device_table *table, int64_t width,
                                int64_t count, const int64_t *keys,
                                void *const *rows, int64_t offset,
                                int64_t storage, int64_t unknown, double *out,
                                int64_t first, int64_t stride);

/* Inserts all keys of another index (`keys`, `numbers`, with `slots` slots)
 * into the table's index, which must have none of them. Iterations: slots, and
 * the entry of key 0. */
int64_t pdldevice_table_rehash_turns(const pdl_device_table *table,
                                     int64_t slots, const int64_t *keys,
                                     const uint32_t *numbers);
void pdldevice_table_rehash(const pdl_device_table *table, int64_t slots,
                            const int64_t *keys, const uint32_t *numbers,
                            int64_t first, int64_t stride);

/* Sets keys[i] and rows[i] to the key and row address of slot first_slot + i of
 * the index. The entry of key 0 is the slot after the last one. Sets rows[i] to
 * null if the slot is free, or if `only_dirty` and the row is not dirty.
 * Iterations: `count` slots. */
int64_t pdldevice_table_list_turns(const pdl_device_table *table,
                                   int64_t first_slot, int64_t count,
                                   int64_t only_dirty, int64_t *keys,
                                   void **rows);
void pdldevice_table_list(const pdl_device_table *table, int64_t first_slot,
                          int64_t count, int64_t only_dirty, int64_t *keys,
                          void **rows, int64_t first, int64_t stride);

/* Copies rows, of `words` words of 4 bytes each, to `out`, one after the other.
 * Iterations: words. */
int64_t pdldevice_table_read_turns(int64_t words, int64_t count,
                                   void *const *rows, uint32_t *out);
void pdldevice_table_read(int64_t words, int64_t count, void *const *rows,
                          uint32_t *out, int64_t first, int64_t stride);

/* The opposite of pdldevice_table_read: copies `values` to rows. Iterations:
 * words. */
int64_t pdldevice_table_write_turns(int64_t words, int64_t count,
                                    void *const *rows, const uint32_t *values);
void pdldevice_table_write(int64_t words, int64_t count, void *const *rows,
                           const uint32_t *values, int64_t first,
                           int64_t stride);

/* Sets keys[n] to the key of row n. `slots` is the number of slots of the
 * table's index. Iterations: slots, and the entry of key 0. */
int64_t pdldevice_table_keys_turns(const pdl_device_table *table, int64_t slots,
                                   int64_t *keys);
void pdldevice_table_keys(const pdl_device_table *table, int64_t slots,
                          int64_t *keys, int64_t first, int64_t stride);

/* Sets marks[n] to i + 1 if row n is the row of keys[i]. Does not change the
 * marks of other rows. Iterations: keys. */
int64_t pdldevice_table_mark_turns(const pdl_device_table *table, int64_t count,
                                   const int64_t *keys, uint32_t *marks);
void pdldevice_table_mark(const pdl_device_table *table, int64_t count,
                          const int64_t *keys, uint32_t *marks, int64_t first,
                          int64_t stride);

/* Writes the address and the gradient of `count` rows, beginning with row
 * number `first_row`. The gradient of a row, of `width` elements, is the
 * element of `gradients` to which its mark refers (pdldevice_table_mark), or
 * zeros if it has no mark. Iterations: elements. */
int64_t pdldevice_table_spread_turns(const pdl_device_table *table,
                                     int64_t first_row, int64_t count,
                                     int64_t width, const uint32_t *marks,
                                     const void *gradients, void **rows,
                                     void *out);
void pdldevice_table_spread_f32(const pdl_device_table *table,
                                int64_t first_row, int64_t count, int64_t width,
                                const uint32_t *marks, const float *gradients,
                                void **rows, float *out, int64_t first,
                                int64_t stride);
void pdldevice_table_spread_f64(const pdl_device_table *table,
                                int64_t first_row, int64_t count, int64_t width,
                                const uint32_t *marks, const double *gradients,
                                void **rows, double *out, int64_t first,
                                int64_t stride);

/* For a table whose values are stored in 16 bits: writes rows in the format of
 * the optimizer rule's kernel to `wide`, one after the other. A row has
 * `elements` elements: value, then slots. Sets places[i] to the address of row
 * i in `wide`. Iterations: elements. */
int64_t pdldevice_table_widen_turns(const pdl_device_table *table,
                                    int64_t elements, int64_t count,
                                    void *const *rows, float *wide,
                                    void **places);
void pdldevice_table_widen(const pdl_device_table *table, int64_t elements,
                           int64_t count, void *const *rows, float *wide,
                           void **places, int64_t first, int64_t stride);

/* The opposite of pdldevice_table_widen: copies rows in `wide` back to the
 * table after an optimizer rule. Rounds values stochastically, as
 * pdlabi::roundRows does for update number `update` of the group. Sets *found
 * to 1 if a stored value is not finite. `width` is the width of the table.
 * Iterations: parts of all rows (partsOfWideRow). */
int64_t pdldevice_table_round_turns(const pdl_device_table *table,
                                    int64_t width, int64_t elements,
                                    int64_t count, int64_t update,
                                    const int64_t *keys, const float *wide,
                                    void *const *rows, int32_t *found);
void pdldevice_table_round(const pdl_device_table *table, int64_t width,
                           int64_t elements, int64_t count, int64_t update,
                           const int64_t *keys, const float *wide,
                           void *const *rows, int32_t *found, int64_t first,
                           int64_t stride);

/* Records `event`, a TableEvent, in the headers of `rows`, which must be
 * distinct; if `rows` is null, in the headers of the rows with numbers [0,
 * count). `time` is the time of the step. Iterations: rows. */
int64_t pdldevice_table_note_turns(const pdl_device_table *table, int64_t count,
                                   void *const *rows, int64_t event,
                                   int64_t time);
void pdldevice_table_note(const pdl_device_table *table, int64_t count,
                          void *const *rows, int64_t event, int64_t time,
                          int64_t first, int64_t stride);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_DEVICE_H */
