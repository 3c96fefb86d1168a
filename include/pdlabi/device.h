/*===- pdlabi/device.h - Kernel functions for GPU and host --------*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Device versions of the runtime functions that a stage calls on a CPU (abi.h).
 * The compiler links them, as bitcode, into the kernels of a program. A GPU
 * runs them; the host can run them too, thread by thread, in place of a GPU.
 *
 * Conventions:
 * - A function is a loop over independent iterations ("turns"). A call runs the
 *   iterations first, first + stride, first + 2 * stride, ... Thread `first` of
 *   `stride` threads makes this call with the same arguments as all others; one
 *   call with 0 and 1 runs all iterations. The order of threads does not change
 *   any bit of the result.
 * - `pdldevice_NAME_turns` takes the same arguments except the last two and
 *   returns the number of iterations. It reads no memory, so the host may call
 *   it with device pointers. Threads in excess of the iterations do nothing.
 * - Arguments have 8 bytes each. Pointers refer to device memory and are
 *   aligned to their elements. Written memory overlaps no other argument of the
 *   call. No address outside of the given shapes is accessed.
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

/* Implements pdlrt_gemm with PDL_PRODUCT_STRICT. `posts`: the pdl_post_op of
 * each post, in order, four bits each, the first one lowest: the bias and then
 * relu is 0x21. `bias` has n elements, `mask` is m x n; each is null if no post
 * uses it. Iterations: tiles of C; their size depends only on m and n. */
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

/* Implements pdlrt_gemm with PDL_PRODUCT_BF16; otherwise as
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

/* Applies posts, encoded as in pdldevice_product, to the elements of C, which
 * another kernel computed. Iterations: m x n. */
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

/* Computes bag_of[o] = the bag that contains position o of its input, for
 * pdldevice_pool_gradient. `splits` has bag_count + 1 entries, from 0, and
 * belongs to the input. `bag_of` points to the input's first occurrence in the
 * lookup. Iterations: bags. */
int64_t pdldevice_bags_of_turns(int64_t bag_count, const int32_t *splits,
                                int32_t *bag_of);
void pdldevice_bags_of(int64_t bag_count, const int32_t *splits,
                       int32_t *bag_of, int64_t first, int64_t stride);

/* Adds the contribution of one input of a lookup to the result of
 * pdlrt_pool_gradient. There is one launch for each input in the list of
 * pdlrt_pool_gradient, in the order of the list. A launch continues the sums in
 * `out` (key_count x width), or starts them at +0 if `is_first`. The first
 * launch therefore writes all of `out`, whichever keys occur in its input. If
 * there are no inputs, no launch writes `out`.
 *
 * `key_splits` and `occurrences` belong to the lookup, the other arguments to
 * the input (see pdl_pooled_input). If `splits` is null, each bag has one id.
 * Otherwise `bag_of`, which pdldevice_bags_of has filled, gives the bag of each
 * occurrence of the lookup. Iterations: elements of `out`. */
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

/* Computes the lanes of squared norms (pdlabi/norm.h) of units of `unit`
 * values. There are `count` values; the last unit may be shorter. `weight`: the
 * bits of a double. `lanes`: PDL_DEVICE_LANES for each unit; the caller reduces
 * them in a tree. */
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

/* Sets found[0] = 1 if one of `count` values is not finite; otherwise leaves it
 * unchanged. */
int64_t pdldevice_check_finite_turns(int64_t count, const void *values,
                                     int32_t *found);
void pdldevice_check_finite_f32(int64_t count, const float *values,
                                int32_t *found, int64_t first, int64_t stride);
void pdldevice_check_finite_f64(int64_t count, const double *values,
                                int32_t *found, int64_t first, int64_t stride);

/*===----------------------------------------------------------------------===*
 * Draws
 *===----------------------------------------------------------------------===*/

/* Implements pdlrt_dropout; the first four arguments are those of pdl_draws.
 * Iterations: groups of four columns for each bag (for each sample if there are
 * no splits). An iteration covers its columns in all rows of the bag. */
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
 * of items that are no negatives. maxima[row * PDL_DEVICE_LANES + lane] = the
 * maximum of a lane of a row. The block starts at row `block_first`.
 * `correction` and `ids`: of the batch, or null. Iterations: lanes of all rows;
 * a lane without elements writes nothing. */
int64_t pdldevice_in_batch_maxima_turns(int64_t block_first, int64_t rows,
                                        int64_t count, const void *correction,
                                        const int64_t *ids, void *scores,
                                        void *maxima);
void pdldevice_in_batch_maxima_f32(int64_t block_first, int64_t rows,
                                   int64_t count, const float *correction,
                                   const int64_t *ids, float *scores,
                                   float *maxima, int64_t first,
                                   int64_t stride);

/* Computes lane_sums[row * PDL_DEVICE_LANES + lane] = the sum of exp(score -
 * maximum of the row) over a lane of a row. Iterations: lanes of all rows. */
int64_t pdldevice_in_batch_exponentials_turns(int64_t rows, int64_t count,
                                              const void *scores,
                                              const void *maxima,
                                              void *lane_sums);
void pdldevice_in_batch_exponentials_f32(int64_t rows, int64_t count,
                                         const float *scores,
                                         const float *maxima, float *lane_sums,
                                         int64_t first, int64_t stride);

/* Computes out[row] = the maximum of a row of the block, plus the logarithm of
 * its sum. Iterations: rows. */
int64_t pdldevice_in_batch_logarithms_turns(int64_t rows, int64_t count,
                                            const void *maxima,
                                            const void *lane_sums, void *out);
void pdldevice_in_batch_logarithms_f32(int64_t rows, int64_t count,
                                       const float *maxima,
                                       const float *lane_sums, float *out,
                                       int64_t first, int64_t stride);

/* Replaces the scores of a block by w(i, j) of pdlrt_in_batch_gradient. The
 * block's rows are users or items, depending on `side`, a pdl_batch_side.
 * `correction`, `ids`, `sums` and `cotangent`: of the batch; the first two may
 * be null. Iterations: scores. */
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
 * describes their layout). The keys of a call are distinct. In addition to
 * their arguments these kernels access the memory that `table` refers to: its
 * index, its regions and the rows in them.
 *
 * New rows are numbered in the order of their keys, independent of the order of
 * threads: `find` leaves their addresses null, `count` counts them, `place`
 * numbers them, and `insert` makes them and adds their keys to the index. Each
 * is a separate launch after the previous one. The positions of keys in the
 * index depend on the order of threads, but no result depends on these
 * positions.
 *===----------------------------------------------------------------------===*/

typedef struct pdl_device_table pdl_device_table;

/* Computes rows[i] = the address of the row of keys[i]; null if there is none.
 * Iterations: keys. */
int64_t pdldevice_table_find_turns(const pdl_device_table *table, int64_t count,
                                   const int64_t *keys, void **rows);
void pdldevice_table_find(const pdl_device_table *table, int64_t count,
                          const int64_t *keys, void **rows, int64_t first,
                          int64_t stride);

/* Computes counts[c] = the number of null rows in chunk c (see
 * keysOfTableChunk). Iterations: chunks. */
int64_t pdldevice_table_count_turns(int64_t count, void *const *rows,
                                    int32_t *counts);
void pdldevice_table_count(int64_t count, void *const *rows, int32_t *counts,
                           int64_t first, int64_t stride);

/* Assigns the next free row numbers, starting at *used, to those i where
 * rows[i] is null. Then rows[i] becomes the row's address, and numbers[i] = 1 +
 * the row's number; for other i, numbers[i] = 0. *next = the first number that
 * remains free. `counts`: from pdldevice_table_count, for these rows.
 * Iterations: chunks. */
int64_t pdldevice_table_place_turns(const pdl_device_table *table,
                                    int64_t count, const int32_t *counts,
                                    const int64_t *used, int64_t *next,
                                    void **rows, uint32_t *numbers);
void pdldevice_table_place(const pdl_device_table *table, int64_t count,
                           const int32_t *counts, const int64_t *used,
                           int64_t *next, void **rows, uint32_t *numbers,
                           int64_t first, int64_t stride);

/* Makes the new rows: for each i where numbers[i] is not 0, adds keys[i] to the
 * index, initializes the row's header with `time`, and, unless `open`, writes
 * the initial value and slots. `parts`: number of parts of a row
 * (partsOfTableRow). The suffix is the table's element type. Iterations: parts
 * of all keys. */
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

/* Computes out[i * width + e] = element e of the data `offset` bytes after
 * rows[i], stored in the format `storage`, a pdl_storage. If rows[i] is null,
 * `unknown`, a pdl_unknown_kind, gives the value. `width`: the table's.
 * Iterations: elements. */
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

/* Inserts all keys of an index of `slots` slots into the table's index, which
 * contains none of them. Iterations: slots, and the position of key 0. */
int64_t pdldevice_table_rehash_turns(const pdl_device_table *table,
                                     int64_t slots, const int64_t *keys,
                                     const uint32_t *numbers);
void pdldevice_table_rehash(const pdl_device_table *table, int64_t slots,
                            const int64_t *keys, const uint32_t *numbers,
                            int64_t first, int64_t stride);

/* Computes keys[i], rows[i] = the content of slot first_slot + i, of slots + 1.
 * The row is null if the slot is empty or, if `only_dirty`, if its row is not
 * dirty. Iterations: slots. */
int64_t pdldevice_table_list_turns(const pdl_device_table *table,
                                   int64_t first_slot, int64_t count,
                                   int64_t only_dirty, int64_t *keys,
                                   void **rows);
void pdldevice_table_list(const pdl_device_table *table, int64_t first_slot,
                          int64_t count, int64_t only_dirty, int64_t *keys,
                          void **rows, int64_t first, int64_t stride);

/* Copies rows of `words` words of 4 bytes into consecutive memory. Iterations:
 * words. */
int64_t pdldevice_table_read_turns(int64_t words, int64_t count,
                                   void *const *rows, uint32_t *out);
void pdldevice_table_read(int64_t words, int64_t count, void *const *rows,
                          uint32_t *out, int64_t first, int64_t stride);

/* Copies consecutive memory into rows. */
int64_t pdldevice_table_write_turns(int64_t words, int64_t count,
                                    void *const *rows, const uint32_t *values);
void pdldevice_table_write(int64_t words, int64_t count, void *const *rows,
                           const uint32_t *values, int64_t first,
                           int64_t stride);

/* Computes keys[n] = the key of row n. `slots`: of the table's index.
 * Iterations: slots, and the position of key 0. */
int64_t pdldevice_table_keys_turns(const pdl_device_table *table, int64_t slots,
                                   int64_t *keys);
void pdldevice_table_keys(const pdl_device_table *table, int64_t slots,
                          int64_t *keys, int64_t first, int64_t stride);

/* Computes marks[n] = i + 1 if row n is the row of keys[i]; the marks of other
 * rows do not change. Iterations: keys. */
int64_t pdldevice_table_mark_turns(const pdl_device_table *table, int64_t count,
                                   const int64_t *keys, uint32_t *marks);
void pdldevice_table_mark(const pdl_device_table *table, int64_t count,
                          const int64_t *keys, uint32_t *marks, int64_t first,
                          int64_t stride);

/* For each of `count` rows from number `first_row` on, writes its address and
 * the gradient that its mark refers to, of `width` elements, or zeros if it has
 * no mark. Iterations: elements. */
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

/* For a table whose values are stored in 16 bits: writes rows in the format
 * that the rule's kernel takes, of `elements` elements, values before slots, to
 * consecutive memory. places[i] = the address of row i in `wide`. Iterations:
 * elements. */
int64_t pdldevice_table_widen_turns(const pdl_device_table *table,
                                    int64_t elements, int64_t count,
                                    void *const *rows, float *wide,
                                    void **places);
void pdldevice_table_widen(const pdl_device_table *table, int64_t elements,
                           int64_t count, void *const *rows, float *wide,
                           void **places, int64_t first, int64_t stride);

/* The opposite direction, after the rule of update `update` of the group:
 * values are rounded stochastically, as in pdlabi::roundRows. *found becomes 1
 * if a stored value is not finite. `width`: the table's. Iterations: parts of
 * all rows (partsOfWideRow). */
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

/* Records `event`, a TableEvent of a step at `time`, in the headers of distinct
 * rows. If `rows` is null, in those of the first `count` rows by number.
 * Iterations: rows. */
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
