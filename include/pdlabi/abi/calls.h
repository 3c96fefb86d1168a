/*===- pdlabi/abi/calls.h - Functions that generated code calls ----*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Functions of the runtime that generated code calls. `worker` is
 * `pdl_step_context::worker`. The functions are thread-safe if each thread uses
 * another worker. `type` is the element type of every `void *` buffer of the
 * call. Part of pdlabi/abi.h, which states the conventions.
 *
 *===----------------------------------------------------------------------===*/

#ifndef PDLABI_ABI_CALLS_H
#define PDLABI_ABI_CALLS_H

#include "pdlabi/abi/stage.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- prepare ------------------------------------------------------------- */

/* Allocates `bytes` bytes, aligned to PDL_BUFFER_ALIGNMENT, which are valid as
 * long as the prepare arena. For buffers whose size depends on the number of
 * ids, which is only known while `prepare` runs. If memory is exhausted,
 * returns null and sets the error; the stage then returns PDL_OUT_OF_MEMORY. */
void *pdlrt_allocate(void *worker, int64_t bytes);

/* Deduplicates the ids of `input_count` arrays, in order, and writes the result
 * to `lookup`. Keys have the order of their first occurrence. */
int32_t pdlrt_unique(void *worker, int32_t input_count,
                     const int64_t *const *ids, const int64_t *counts,
                     pdl_lookup *lookup);

/* Finds the row of each key of `lookup`; a program that is not frozen inserts
 * missing rows. In `compute`, `lookup->rows` points to these rows. Sets
 * `lookup->storage`. `table` is the index of the table among the descriptor's
 * symbols. */
int32_t pdlrt_pull(void *worker, int32_t table, pdl_lookup *lookup);

/* Sets out[i] to the number of boundaries b with b <= values[i], or to
 * boundary_count if values[i] is NaN. Boundaries must ascend. */
void pdlrt_bucketize(int32_t type, int64_t count, const void *values,
                     int64_t boundary_count, const double *boundaries,
                     int64_t *out);

/* Computes feature crosses of `operand_count` id arrays with `count` elements
 * each. out[i] is xxh64, with `salt` as seed, of the keys operands[0][i],
 * operands[1][i], ... as little-endian numbers. */
void pdlrt_cross(int64_t count, int32_t operand_count,
                 const int64_t *const *operands, uint64_t salt, int64_t *out);

/* Checks that `splits` and `expected`, of `bag_count` + 1 entries each, define
 * bags of the same lengths. Otherwise sets the error and returns
 * PDL_INVALID_ARGUMENT. */
int32_t pdlrt_check_bags(int64_t bag_count, const int32_t *splits,
                         const int32_t *expected);

/* Draws `count` random ids in [first, end) for each sample: out[s * count + i]
 * is id number i of sample s. If the distribution is by counts, `table` has 2 *
 * (end - first) entries: sums of weights, and the positions at which a search
 * in them starts (pdlabi/draws.h). Otherwise `table` is null. */
void pdlrt_sample(const pdl_draws *draws, int64_t stream, int32_t distribution,
                  int64_t count, int64_t first, int64_t end,
                  const double *table, int64_t *out);

/* Sets out[i] to the logarithm of the probability that a draw gives ids[i]. If
 * the distribution is by counts, `logarithms` has an entry for each id in
 * [first, end): the logarithm of its probability, or minus infinity if it is
 * never drawn. Otherwise `logarithms` is null. If an id is never drawn or
 * outside of the range, sets the error and returns PDL_INVALID_ARGUMENT. */
int32_t pdlrt_log_probability(int32_t type, int32_t distribution, int64_t first,
                              int64_t end, const double *logarithms,
                              int64_t count, const int64_t *ids, void *out);

/* Returns the number of crosses that `pdlrt_cross_ragged` writes: the sum over
 * bags of the product of the operands' bag sizes. Splits can only count to 2^31
 * - 1. If the number is larger, returns 2^56; `prepare` then returns an error,
 * because so much memory cannot be allocated. */
int64_t pdlrt_cross_ragged_count(int64_t bag_count, int32_t operand_count,
                                 const int32_t *const *splits);

/* Computes feature crosses of bags. A bag of the result has the crosses of all
 * combinations of ids, one from the bag of each operand. The last operand
 * varies fastest. If the bag of an operand is empty, the bag of the result is
 * empty. */
void pdlrt_cross_ragged(int64_t bag_count, int32_t operand_count,
                        const int64_t *const *operands,
                        const int32_t *const *splits, uint64_t salt,
                        int64_t *out, int32_t *out_splits);

/* --- compute ------------------------------------------------------------- */

/* Copies the values of a lookup's rows, of `width` elements each, to `out`.
 * Values that are stored in 16 bits are converted to the element type. */
void pdlrt_gather(int32_t type, const pdl_lookup *lookup, int64_t width,
                  void *out);

typedef enum pdl_pooling {
  PDL_POOL_SUM = 0,
  PDL_POOL_MEAN = 1, /* the sum divided by the bag's size */
  PDL_POOL_SQRTN = 2 /* the sum divided by the root of the bag's size */
} pdl_pooling;

/* Pools the rows of bags. Bag b has the occurrences o in [splits[b], splits[b +
 * 1]); if `splits` is null, each bag has one occurrence. Its result is the sum
 * of rows[inverse[o]] from +0 on, in the order of occurrences, divided as
 * `pooling` requires. An empty bag gives zeros. `rows` is U x width without
 * gaps. `out` has rows with the results of `row_bags` consecutive bags each.
 * These rows start `row_stride` elements apart; elements between them are not
 * written. */
void pdlrt_pool(int32_t type, int32_t pooling, int64_t bag_count, int64_t width,
                const void *rows, const int32_t *inverse, const int32_t *splits,
                int64_t row_bags, int64_t row_stride, void *out);

/* One input of a lookup, for pdlrt_pool_gradient. */
typedef struct pdl_pooled_input {
  int32_t pooling;   /* pdl_pooling */
  int64_t first;     /* index of its first occurrence in the lookup */
  int64_t bag_count; /* number of its bags */
  /* Gradients with respect to the results of its bags, in the format of `out`
   * in pdlrt_pool. */
  const void *cotangent;
  int64_t row_bags, row_stride; /* row_bags < 2^31 */
  /* [bag_count + 1], from 0; null: each bag has one id. */
  const int32_t *splits;
} pdl_pooled_input;

/* Computes the gradient of pooling with respect to the rows of a lookup. `out`
 * is U x width and starts at +0. For each key, adds the cotangents of the bags
 * that contain it, in the order of the key's occurrences in `inputs`. Each
 * cotangent is divided as the pooling of its input requires. `inputs` has the
 * order of the lookup's inputs; inputs that are left out add nothing. `bag_of`
 * is scratch memory for one number per occurrence of the lookup; it may be null
 * if no input has splits. */
void pdlrt_pool_gradient(int32_t type, const pdl_lookup *lookup, int64_t width,
                         int32_t input_count, const pdl_pooled_input *inputs,
                         int32_t *bag_of, void *out);

typedef enum pdl_post_op {
  PDL_POST_BIAS = 1,         /* add bias[n] */
  PDL_POST_RELU = 2,         /* x <= 0 ? +0 : x */
  PDL_POST_RELU_GRADIENT = 3 /* mask[m, n] <= 0 ? +0 : x */
} pdl_post_op;

typedef struct pdl_post {
  int32_t kind;        /* pdl_post_op */
  const void *operand; /* bias: n elements; mask: m x n, row-major */
} pdl_post;

/* Computes the matrix product C = post(A * B), with row-major matrices. A is
 * stored as m x k, or as k x m if `transpose_a`. B is stored as k x n, or as n
 * x k if `transpose_b`. A and B have no gaps. The rows of C start `c_stride` >=
 * n elements apart; elements between them are not written. The posts are
 * applied to the elements of C in order.
 *
 * `product` is a pdl_product. In strict products, and in all products of f64,
 * an element of C starts at +0, and is one chain of FMAs in ascending k. In
 * BF16 products, elements of A and B are rounded to bf16 (to nearest, ties to
 * even). The chain then has the order k = 1, 0, 3, 2, ...; if k is odd, the
 * missing element is +0. In BF16 products and their posts, denormal numbers are
 * treated as zeros. */
void pdlrt_gemm(void *worker, int32_t type, int32_t product,
                int32_t transpose_a, int32_t transpose_b, int64_t m, int64_t n,
                int64_t k, const void *a, const void *b, void *c,
                int64_t c_stride, int32_t post_count, const pdl_post *posts);

/* Computes `count` small matrix products of the same size without posts. The
 * matrices A of all products follow each other without gaps, and so do B and C.
 * The products are strict in all numerics (see pdlrt_gemm). */
void pdlrt_batch_gemm(void *worker, int32_t type, int32_t transpose_a,
                      int32_t transpose_b, int64_t count, int64_t m, int64_t n,
                      int64_t k, const void *a, const void *b, void *c);

/* Number of rows of a batch whose in-batch scores are computed at a time. */
#define PDL_IN_BATCH_ROWS 128

/* Computes the logarithms of softmax denominators in which the items of a batch
 * are negatives for each other's users. `users` and `items` are count x width.
 * The score s(i, j) is the dot product of users[i] and items[j], computed like
 * an element of pdlrt_gemm, minus correction[j] (null: 0). If `ids` is not
 * null, an item j != i with the id of item i is left out for user i. out[i] = m
 * + log(sum over j of exp(s(i, j) - m)), where m is the maximum of s(i, j) over
 * j. Sum and maximum are computed as in pdlrt_reduce_rows. `scratch` has
 * PDL_IN_BATCH_ROWS * count elements. */
void pdlrt_in_batch_log_sum_exp(void *worker, int32_t type, int32_t numerics,
                                int64_t count, int64_t width, const void *users,
                                const void *items, const void *correction,
                                const int64_t *ids, void *scratch, void *out);

typedef enum pdl_batch_side {
  PDL_SIDE_USERS = 0,
  PDL_SIDE_ITEMS = 1
} pdl_batch_side;

/* Computes the gradient of pdlrt_in_batch_log_sum_exp with respect to users or
 * items. `sums` is the result of that function. Let w(i, j) = cotangent[i] *
 * exp(s(i, j) - sums[i]), or 0 if item j is left out for user i. USERS: out[i]
 * = sum over j of w(i, j) items[j]. ITEMS: out[j] = sum over i of w(i, j)
 * users[i]. The sums are computed as products of pdlrt_gemm. */
void pdlrt_in_batch_gradient(void *worker, int32_t type, int32_t numerics,
                             int32_t side, int64_t count, int64_t width,
                             const void *users, const void *items,
                             const void *correction, const int64_t *ids,
                             const void *sums, const void *cotangent,
                             void *scratch, void *out);

/* Applies dropout: sets each element to 0 with probability `rate`, and
 * multiplies the others by 1 / (1 - rate), rounded to the type. If `splits` is
 * null, each sample has a row of `width` elements. Otherwise there are
 * `bag_count` bags, the same number for each sample, with a row of `width`
 * elements for each of their ids. */
void pdlrt_dropout(const pdl_draws *draws, int64_t stream, int32_t type,
                   double rate, int64_t width, int64_t bag_count,
                   const int32_t *splits, const void *values, void *out);

typedef enum pdl_reduction {
  PDL_REDUCE_SUM = 0,
  PDL_REDUCE_MEAN = 1, /* the sum divided by the width */
  PDL_REDUCE_MAX = 2
} pdl_reduction;

/* Sets out[r] to the reduction of row r, in a fixed order. Element j of the row
 * is reduced into lane j mod 16. Lanes of a sum start at +0. Lanes of a maximum
 * start at their first element; a lane without elements starts at element 0.
 * Then the lanes are reduced in a tree, for half = 8, 4, 2, 1: lane[l] =
 * op(lane[l], lane[l + half]). The maximum of a and b is a if a > b or a is
 * NaN, otherwise b. */
void pdlrt_reduce_rows(int32_t type, int32_t reduction, int64_t rows,
                       int64_t width, const void *values, void *out);

/* Sets *sum to the sum of values[i] * weights[i] in f64, in ascending i, and
 * *weight_sum to the sum of the weights. If `weights` is null, all weights are
 * 1. Factors are converted to f64 first. If a weight is negative or NaN,
 * *weight_sum becomes NaN. */
void pdlrt_loss_sum(int32_t type, int64_t count, const void *values,
                    const void *weights, double *sum, double *weight_sum);

/* Adds `count` samples to the sums of a metric, in order, as `observeSamples`
 * of metrics.h defines. A sample has `width` predictions and `label_width`
 * labels, usually one of each. For a metric of ranked lists, the predictions
 * are the scores of the items, and the labels are one label for each item, or
 * the position of the relevant item. `labels` is null if the metric has no
 * labels. If `weights` is null, all weights are 1. */
void pdlrt_observe(int32_t type, int32_t metric_kind, double parameter,
                   int64_t count, int64_t width, const void *predictions,
                   int64_t label_width, const void *labels, const void *weights,
                   double *sums);

/* Adds `count` samples to a grouped metric, in order, as `observeGroups` of
 * metrics.h defines: to its sums, and to the samples that the worker stores for
 * metric `metric_index` of the descriptor. If `weights` is null, all weights
 * are 1. */
void pdlrt_observe_groups(void *worker, int32_t type, int32_t metric_index,
                          int64_t count, const void *predictions,
                          const void *labels, const int64_t *groups,
                          const void *weights, double *sums);

/* Reports that the gradient of update `update` of the program, which is of a
 * parameter, is complete. The runtime may send it while the stage continues, so
 * the stage must not write it any more. Called in programs that send gradients
 * to owners of state, at most once per update and call of the stage. Gradients
 * that are not reported are complete when the stage ends. */
void pdlrt_gradient_ready(void *worker, int32_t update);

/* --- compute on a device ---------------------------------------------------
 *
 * The stage runs on the host and adds work to a stream of the replica's device,
 * which does the work in order. After an error, work that is added is ignored,
 * and pdlrt_device_wait returns the error. */

/* Returns the device copy of a buffer (pdl_device_place). If the host has
 * written the buffer, the first call copies it to the device. If stage compute
 * writes the buffer, only the device copy is valid until the stage ends. */
void *pdlrt_device_pointer(void *worker, int32_t place, int32_t index);

/* Returns the device copy of a constant of the program, of `bytes` bytes. */
void *pdlrt_device_constant(void *worker, int64_t bytes, const void *constant);

/* Adds a launch of kernel `kernel` of the descriptor with `turns`
 * iterations. */
void pdlrt_launch(void *worker, int32_t kernel, int64_t turns,
                  const uint64_t *arguments);

/* Adds the matrix product C = A * B in f32, with A, B and C as in pdlrt_gemm.
 * Then adds bias[n] to column n of C (null: no bias). A library of the device
 * computes the product; the order of its sums is not defined. `product` is
 * PDL_PRODUCT_FAST, or PDL_PRODUCT_BF16, which rounds factors to bf16 and sums
 * in f32. If the library does not support the product, adds a launch of kernel
 * `kernel` of the descriptor, which has the arguments of pdldevice_product. */
void pdlrt_device_product(void *worker, int32_t product, int32_t kernel,
                          int32_t transpose_a, int32_t transpose_b, int64_t m,
                          int64_t n, int64_t k, const void *a, const void *b,
                          const void *bias, void *c, int64_t c_stride);

/* Adds a pdlrt_gather to device memory `out`. If the table is on the host, the
 * rows are gathered there and copied. */
void pdlrt_device_gather(void *worker, int32_t type, const pdl_lookup *lookup,
                         int64_t width, void *out);

/* Allocates `bytes` bytes of host memory, which is valid until the stage ends,
 * for copies to and from the device. Never returns null. */
void *pdlrt_host_memory(void *worker, int64_t bytes);

/* The following functions add a copy: to the device, from the device, or within
 * it. Host memory must come from pdlrt_host_memory. */
void pdlrt_copy_in(void *worker, int64_t bytes, const void *from_host,
                   void *to_device);
void pdlrt_copy_out(void *worker, int64_t bytes, const void *from_device,
                    void *to_host);
void pdlrt_copy_within(void *worker, int64_t bytes, const void *from, void *to);

/* Waits until all added work is done. Returns 0, or sets the error and returns
 * its code. If `is_last`, the stage adds no more work. The call then first
 * copies the gradients and outputs that the stage has requested to the host. */
int32_t pdlrt_device_wait(void *worker, int32_t is_last);

/* --- both ---------------------------------------------------------------- */

/* Runs the iterations [begin, end) of a loop. Iterations are independent. */
typedef void (*pdl_loop)(const void *arguments, int64_t begin, int64_t end);

/* Calls loop(arguments, begin, end) for ranges that together are all `turns`
 * iterations, on the threads that the calling stage may use. An iteration reads
 * and writes about `bytes` bytes; small loops run on the calling thread only.
 * `name` is the name of the loop in traces. */
void pdlrt_run_loop(const char *name, int64_t turns, int64_t bytes,
                    pdl_loop loop, const void *arguments);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_CALLS_H */
