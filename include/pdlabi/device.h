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

/* pdlrt_gemm, PDL_PRODUCT_BF16; otherwise as pdldevice_product. */
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

/* What follows a product that was formed elsewhere: its posts, as those of
 * pdldevice_product, on the elements of C, as they stand. Turns: m x n. */
int64_t pdldevice_posts_turns(int64_t m, int64_t n, uint64_t posts,
                              const void *bias, const void *mask, void *c,
                              int64_t c_stride);
void pdldevice_posts_f32(int64_t m, int64_t n, uint64_t posts,
                         const float *bias, const float *mask, float *c,
                         int64_t c_stride, int64_t first, int64_t stride);

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

/* The lanes of squared norms (pdlabi/norm.h) of units of `unit` values, of
 * which there are `count`; the last unit may have fewer. `weight`: the bits of
 * a double. lanes: PDL_DEVICE_LANES of each unit, to be joined by their tree.
 */
int64_t pdldevice_norm_lanes_turns(int64_t count, int64_t unit, uint64_t weight,
                                   const void *values, void *lanes);
void pdldevice_norm_lanes_f32(int64_t count, int64_t unit, uint64_t weight,
                              const float *values, double *lanes, int64_t first,
                              int64_t stride);
void pdldevice_norm_lanes_f64(int64_t count, int64_t unit, uint64_t weight,
                              const double *values, double *lanes,
                              int64_t first, int64_t stride);

/* sum[i] += values[i]. */
int64_t pdldevice_add_turns(int64_t count, const void *values, void *sum);
void pdldevice_add_f32(int64_t count, const float *values, float *sum,
                       int64_t first, int64_t stride);
void pdldevice_add_f64(int64_t count, const double *values, double *sum,
                       int64_t first, int64_t stride);

/* found[0] = 1 where one of `count` values is not finite; else it stays. */
int64_t pdldevice_check_finite_turns(int64_t count, const void *values,
                                     int32_t *found);
void pdldevice_check_finite_f32(int64_t count, const float *values,
                                int32_t *found, int64_t first, int64_t stride);
void pdldevice_check_finite_f64(int64_t count, const double *values,
                                int32_t *found, int64_t first, int64_t stride);

/*===----------------------------------------------------------------------===*
 * Draws
 *===----------------------------------------------------------------------===*/

/* pdlrt_dropout; the first four arguments are those of pdl_draws. Turns: for
 * each bag (without splits: each sample) groups of four columns, which a turn
 * has in all rows of the bag. */
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
 * What pdlrt_in_batch_log_sum_exp and pdlrt_in_batch_gradient do, in launches,
 * each behind the last one. Of f32 alone: in f64 a CPU has the exponential and
 * the logarithm from the C library. Like them it forms the scores of a block of
 * at most PDL_IN_BATCH_ROWS rows at a time, in `scores`: PDL_IN_BATCH_ROWS x
 * count elements. `maxima` and `lane_sums` have PDL_IN_BATCH_ROWS x
 * PDL_DEVICE_LANES elements each.
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
 * where side USERS has users as `own` and items as `others`, and ITEMS items
 * and users. All are `_f32`.
 *===----------------------------------------------------------------------===*/

/* Subtracts the corrections from the scores of a block, and takes out who is no
 * negative; maxima[row * PDL_DEVICE_LANES + lane] = the maximum of a lane of a
 * row. The block begins at row `block_first`. `correction` and `ids`: of the
 * batch, or null. Turns: lanes of all rows; one that no element reaches writes
 * nothing. */
int64_t pdldevice_in_batch_maxima_turns(int64_t block_first, int64_t rows,
                                        int64_t count, const void *correction,
                                        const int64_t *ids, void *scores,
                                        void *maxima);
void pdldevice_in_batch_maxima_f32(int64_t block_first, int64_t rows,
                                   int64_t count, const float *correction,
                                   const int64_t *ids, float *scores,
                                   float *maxima, int64_t first,
                                   int64_t stride);

/* lane_sums[row * PDL_DEVICE_LANES + lane] = the sum of exp(score - maximum of
 * the row) over a lane of a row. Turns: lanes of all rows. */
int64_t pdldevice_in_batch_exponentials_turns(int64_t rows, int64_t count,
                                              const void *scores,
                                              const void *maxima,
                                              void *lane_sums);
void pdldevice_in_batch_exponentials_f32(int64_t rows, int64_t count,
                                         const float *scores,
                                         const float *maxima, float *lane_sums,
                                         int64_t first, int64_t stride);

/* out[row] = the maximum of a row of the block, plus the logarithm of its sum.
 * Turns: rows. */
int64_t pdldevice_in_batch_logarithms_turns(int64_t rows, int64_t count,
                                            const void *maxima,
                                            const void *lane_sums, void *out);
void pdldevice_in_batch_logarithms_f32(int64_t rows, int64_t count,
                                       const float *maxima,
                                       const float *lane_sums, float *out,
                                       int64_t first, int64_t stride);

/* Puts w(i, j) of pdlrt_in_batch_gradient in the place of the scores of a
 * block, whose rows are users or items as `side`, a pdl_batch_side, says.
 * `correction`, `ids`, `sums` and `cotangent`: of the batch; the first two may
 * be null. Turns: scores. */
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
 * Keys and rows of a table that are in the memory of the device (pdlabi/table.h
 * has what they look like there). Keys of a call are distinct. Beside their
 * arguments these kernels use what `table` points to: its index, its regions
 * and the rows in them.
 *
 * New rows are numbered in the order of their keys, whatever the order of
 * threads: those that `find` has left out are counted by `count` and numbered
 * by `place`, and `insert` makes them and lets the index lead there, each a
 * launch behind the last one. Where in the index keys stand does depend on that
 * order, and nothing depends on it.
 *===----------------------------------------------------------------------===*/

typedef struct pdl_device_table pdl_device_table;

/* rows[i] = the address of the row of keys[i]; null where there is none. Turns:
 * keys. */
int64_t pdldevice_table_find_turns(const pdl_device_table *table, int64_t count,
                                   const int64_t *keys, void **rows);
void pdldevice_table_find(const pdl_device_table *table, int64_t count,
                          const int64_t *keys, void **rows, int64_t first,
                          int64_t stride);

/* counts[c] = how many rows of chunk c, of keysOfTableChunk, are null. Turns:
 * chunks. */
int64_t pdldevice_table_count_turns(int64_t count, void *const *rows,
                                    int32_t *counts);
void pdldevice_table_count(int64_t count, void *const *rows, int32_t *counts,
                           int64_t first, int64_t stride);

/* Where rows[i] is null, the next number that is free, from *used on: the row's
 * address goes to rows[i], 1 + its number to numbers[i]; else 0 goes there.
 * *next = the first number that is free then. `counts`: of these rows. Turns:
 * chunks. */
int64_t pdldevice_table_place_turns(const pdl_device_table *table,
                                    int64_t count, const int32_t *counts,
                                    const int64_t *used, int64_t *next,
                                    void **rows, uint32_t *numbers);
void pdldevice_table_place(const pdl_device_table *table, int64_t count,
                           const int32_t *counts, const int64_t *used,
                           int64_t *next, void **rows, uint32_t *numbers,
                           int64_t first, int64_t stride);

/* Where numbers[i] is not 0: lets the index lead from keys[i] to that row,
 * begins its header at `time`, and, unless `open`, writes its initial value and
 * slots. `parts`: of a row (partsOfTableRow). The function is that of the
 * table's elements. Turns: parts of all keys. */
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

/* out[i * width + e] = element e of what stands `offset` bytes behind rows[i],
 * stored as `storage`, a pdl_storage, says; where rows[i] is null, what
 * `unknown`, a pdl_unknown_kind, says. `width`: the table's. Turns: elements.
 */
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

/* Inserts all keys of an index of `slots` slots into that of the table, which
 * has none of them. Turns: slots, and the place of key 0. */
int64_t pdldevice_table_rehash_turns(const pdl_device_table *table,
                                     int64_t slots, const int64_t *keys,
                                     const uint32_t *numbers);
void pdldevice_table_rehash(const pdl_device_table *table, int64_t slots,
                            const int64_t *keys, const uint32_t *numbers,
                            int64_t first, int64_t stride);

/* keys[i], rows[i] = what slot first_slot + i, of slots + 1, holds; a null row
 * where it holds nothing, or if `only_dirty` a row that is not dirty. Turns:
 * slots. */
int64_t pdldevice_table_list_turns(const pdl_device_table *table,
                                   int64_t first_slot, int64_t count,
                                   int64_t only_dirty, int64_t *keys,
                                   void **rows);
void pdldevice_table_list(const pdl_device_table *table, int64_t first_slot,
                          int64_t count, int64_t only_dirty, int64_t *keys,
                          void **rows, int64_t first, int64_t stride);

/* Copies rows of `words` words of 4 bytes, one behind the other. Turns:
 * words. */
int64_t pdldevice_table_read_turns(int64_t words, int64_t count,
                                   void *const *rows, uint32_t *out);
void pdldevice_table_read(int64_t words, int64_t count, void *const *rows,
                          uint32_t *out, int64_t first, int64_t stride);

/* The other way round. */
int64_t pdldevice_table_write_turns(int64_t words, int64_t count,
                                    void *const *rows, const uint32_t *values);
void pdldevice_table_write(int64_t words, int64_t count, void *const *rows,
                           const uint32_t *values, int64_t first,
                           int64_t stride);

/* keys[n] = the key of row n; `slots`: of the table's index. Turns: slots, and
 * the place of key 0. */
int64_t pdldevice_table_keys_turns(const pdl_device_table *table, int64_t slots,
                                   int64_t *keys);
void pdldevice_table_keys(const pdl_device_table *table, int64_t slots,
                          int64_t *keys, int64_t first, int64_t stride);

/* marks[n] = i + 1 where row n is that of keys[i]; those of other rows stay.
 * Turns: keys. */
int64_t pdldevice_table_mark_turns(const pdl_device_table *table, int64_t count,
                                   const int64_t *keys, uint32_t *marks);
void pdldevice_table_mark(const pdl_device_table *table, int64_t count,
                          const int64_t *keys, uint32_t *marks, int64_t first,
                          int64_t stride);

/* For each row from number `first_row` on, of `count`: its address, and the
 * gradient that its mark names, of `width` elements, or zeros where there is no
 * mark. Turns: elements. */
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

/* Of a table whose values are stored in 16 bits: rows as the rule's kernel
 * takes them, of `elements` elements, values in front of slots, one behind the
 * other; places[i] = where row i is in `wide`. Turns: elements. */
int64_t pdldevice_table_widen_turns(const pdl_device_table *table,
                                    int64_t elements, int64_t count,
                                    void *const *rows, float *wide,
                                    void **places);
void pdldevice_table_widen(const pdl_device_table *table, int64_t elements,
                           int64_t count, void *const *rows, float *wide,
                           void **places, int64_t first, int64_t stride);

/* The other way round, behind the rule of update `update` of the group: values
 * are rounded at random, as pdlabi::roundRows does it. *found becomes 1 where a
 * value that is stored is not finite. `width`: the table's. Turns: parts of
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

/* Notes `event`, a TableEvent of a step of that time, in the headers of rows,
 * which are distinct; null `rows`: of the first `count` ones by number. Turns:
 * rows. */
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
