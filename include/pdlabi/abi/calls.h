/*===- pdlabi/abi/calls.h - Functions that generated code calls ----*- C -*-===*
 *
 * Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
 * See LICENSE for license information.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 *===----------------------------------------------------------------------===*
 *
 * Functions that generated code calls. `worker` is `pdl_step_context::worker`.
 * The functions are thread-safe as long as no two threads share a worker.
 * `type` is the element type of every untyped buffer of the call. Part of
 * pdlabi/abi.h, which states the conventions.
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

/* Allocates `bytes` bytes, aligned to PDL_BUFFER_ALIGNMENT, that live as long
 * as the prepare arena. Used for sizes that depend on the number of ids, which
 * is known only while `prepare` runs. If memory is exhausted, returns null and
 * sets the error; the stage then returns PDL_OUT_OF_MEMORY. */
void *pdlrt_allocate(void *worker, int64_t bytes);

/* Deduplicates `input_count` id arrays, in order, into `lookup`. Keys are in
 * order of first occurrence. */
int32_t pdlrt_unique(void *worker, int32_t input_count,
                     const int64_t *const *ids, const int64_t *counts,
                     pdl_lookup *lookup);

/* Finds a row for each key of `lookup`; a program that is not frozen inserts
 * missing rows. `lookup->rows` will point to these rows in `compute`. Fills
 * `storage` of the lookup. `table`: index of the descriptor's symbol. */
int32_t pdlrt_pull(void *worker, int32_t table, pdl_lookup *lookup);

/* Computes out[i] = the number of boundaries b with b <= values[i]; for NaN,
 * boundary_count. Boundaries must ascend. */
void pdlrt_bucketize(int32_t type, int64_t count, const void *values,
                     int64_t boundary_count, const double *boundaries,
                     int64_t *out);

/* Crosses `operand_count` id arrays of `count` elements each:
 * out[i] = xxh64 of the operands' little-endian keys in operand order. */
void pdlrt_cross(int64_t count, int32_t operand_count,
                 const int64_t *const *operands, uint64_t salt, int64_t *out);

/* Checks that both splits, of `bag_count` + 1 entries, define bags of the same
 * lengths. If not, sets the error and returns PDL_INVALID_ARGUMENT. */
int32_t pdlrt_check_bags(int64_t bag_count, const int32_t *splits,
                         const int32_t *expected);

/* Computes out[s * count + i] = the id of draw i of sample s, with first <= id
 * < end. `table` has 2 * (end - first) entries: sums of weights, and the
 * positions at which a search in them starts (pdlabi/draws.h). It is null
 * unless the distribution is by counts. */
void pdlrt_sample(const pdl_draws *draws, int64_t stream, int32_t distribution,
                  int64_t count, int64_t first, int64_t end,
                  const double *table, int64_t *out);

/* Computes out[i] = the logarithm of the probability that a draw gives ids[i].
 * `logarithms` has end - first entries, one per id: minus infinity if the id
 * is never drawn. It is null unless the distribution is by counts. If such an
 * id or an id outside of the range occurs, sets the error and returns
 * PDL_INVALID_ARGUMENT. */
int32_t pdlrt_log_probability(int32_t type, int32_t distribution, int64_t first,
                              int64_t end, const double *logarithms,
                              int64_t count, const int64_t *ids, void *out);

/* Returns the number of crosses that `pdlrt_cross_ragged` writes: the sum over
 * bags of the product of the operands' bag sizes. If it exceeds the 2^31 - 1
 * that splits can count, returns 2^56. No such memory can be allocated, so
 * `prepare` then fails. */
int64_t pdlrt_cross_ragged_count(int64_t bag_count, int32_t operand_count,
                                 const int32_t *const *splits);

/* Crosses bags. Each bag of the result has the cross of every combination; the
 * last operand varies fastest. If an operand's bag is empty, the result's bag
 * is empty. */
void pdlrt_cross_ragged(int64_t bag_count, int32_t operand_count,
                        const int64_t *const *operands,
                        const int32_t *const *splits, uint64_t salt,
                        int64_t *out, int32_t *out_splits);

/* --- compute ------------------------------------------------------------- */

/* Copies the values of a lookup's rows, of `width` elements each, into `out`.
 * Values that are stored in fewer bits are widened. */
void pdlrt_gather(int32_t type, const pdl_lookup *lookup, int64_t width,
                  void *out);

typedef enum pdl_pooling {
  PDL_POOL_SUM = 0,
  PDL_POOL_MEAN = 1, /* the sum divided by the bag's size */
  PDL_POOL_SQRTN = 2 /* the sum divided by the root of the bag's size */
} pdl_pooling;

/* Computes out[bag] = the pooled rows[inverse[o]] for o in splits[bag] ..
 * splits[bag + 1]. The sum starts at +0 and goes in bag order. If `splits` is
 * null, each bag has one id. An empty bag gives zeros. `rows`: U x width,
 * plain. `out`: rows of `row_bags` consecutive bags; the rows start
 * `row_stride` elements apart, and the elements between them are not
 * written. */
void pdlrt_pool(int32_t type, int32_t pooling, int64_t bag_count, int64_t width,
                const void *rows, const int32_t *inverse, const int32_t *splits,
                int64_t row_bags, int64_t row_stride, void *out);

/* Contribution of one input of a lookup to the gradient of the lookup's
 * rows. */
typedef struct pdl_pooled_input {
  int32_t pooling;   /* pdl_pooling */
  int64_t first;     /* index of its first occurrence in the lookup */
  int64_t bag_count; /* number of its bags */
  /* Cotangents of its bags, laid out like `out` of pdlrt_pool. */
  const void *cotangent;
  int64_t row_bags, row_stride; /* row_bags < 2^31 */
  /* [bag_count + 1], from 0; null: each bag has one id. */
  const int32_t *splits;
} pdl_pooled_input;

/* Computes the gradient of pooling with respect to the rows of a lookup. For
 * each key, and for each of its occurrences in `inputs`, ascending, adds the
 * cotangent of the bag that contains it (divided as the input's pooling
 * requires) to `out` (U x width), which starts at +0. `inputs`: in the lookup's
 * order; inputs that are left out add nothing. `bag_of`: room for one number
 * per occurrence of the lookup; may be null if no input has splits. */
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

/* Computes C[m, n] = post(A op B), all row-major. A is m x k, or k x m with
 * `transpose_a`; B is k x n, or n x k with `transpose_b`; both without gaps.
 * The rows of C start `c_stride` >= n elements apart; the elements between them
 * are not written. The posts are applied in order.
 *
 * Strict products, and those of f64, start each element at +0 and form one FMA
 * chain in ascending k. BF16 products do the same with elements of A and B
 * rounded to bf16 (to nearest, ties to even), in the order k = 1, 0, 3, 2, ...
 * (a missing last partner is +0). In BF16 products and their posts, denormal
 * numbers are zeros. `product`: pdl_product. */
void pdlrt_gemm(void *worker, int32_t type, int32_t product,
                int32_t transpose_a, int32_t transpose_b, int64_t m, int64_t n,
                int64_t k, const void *a, const void *b, void *c,
                int64_t c_stride, int32_t post_count, const pdl_post *posts);

/* Computes `count` small products without posts, each with its own factors.
 * Factors and results are stored consecutively without gaps. Each product is m
 * x n x k, and strict whatever the numerics (see pdlrt_gemm). */
void pdlrt_batch_gemm(void *worker, int32_t type, int32_t transpose_a,
                      int32_t transpose_b, int64_t count, int64_t m, int64_t n,
                      int64_t k, const void *a, const void *b, void *c);

/* Number of rows of a batch whose in-batch scores are computed at a time. */
#define PDL_IN_BATCH_ROWS 128

/* Uses the rows of a batch as each other's negatives. users, items: count x
 * width. s(i, j) = users[i] . items[j], computed like an element of pdlrt_gemm,
 * minus correction[j] (null: none). If `ids` is not null, j is no negative of i
 * if j != i and their ids are equal. out[i] = m + log(sum over j of exp(s(i, j)
 * - m)), where m is the maximum over j; both are in the order of
 * pdlrt_reduce_rows. `scratch`: PDL_IN_BATCH_ROWS * count elements. */
void pdlrt_in_batch_log_sum_exp(void *worker, int32_t type, int32_t numerics,
                                int64_t count, int64_t width, const void *users,
                                const void *items, const void *correction,
                                const int64_t *ids, void *scratch, void *out);

typedef enum pdl_batch_side {
  PDL_SIDE_USERS = 0,
  PDL_SIDE_ITEMS = 1
} pdl_batch_side;

/* Computes the gradient of pdlrt_in_batch_log_sum_exp. w(i, j) = cotangent[i] *
 * exp(s(i, j) - sums[i]), or 0 if j is no negative of i. USERS: out[i] = sum
 * over j of w(i, j) items[j]; ITEMS: out[j] = sum over i of w(i, j) users[i];
 * both as products of pdlrt_gemm. `sums`: the result of
 * pdlrt_in_batch_log_sum_exp. */
void pdlrt_in_batch_gradient(void *worker, int32_t type, int32_t numerics,
                             int32_t side, int64_t count, int64_t width,
                             const void *users, const void *items,
                             const void *correction, const int64_t *ids,
                             const void *sums, const void *cotangent,
                             void *scratch, void *out);

/* Sets each element of samples to 0 with the probability `rate`; divides the
 * others by 1 - rate (multiplies them by the quotient, rounded to the type). If
 * `splits` is null, each sample has a row of `width` elements. Otherwise there
 * are `bag_count` bags, equally many for each sample, with a row for each of
 * their ids. */
void pdlrt_dropout(const pdl_draws *draws, int64_t stream, int32_t type,
                   double rate, int64_t width, int64_t bag_count,
                   const int32_t *splits, const void *values, void *out);

typedef enum pdl_reduction {
  PDL_REDUCE_SUM = 0,
  PDL_REDUCE_MEAN = 1, /* the sum divided by the width */
  PDL_REDUCE_MAX = 2
} pdl_reduction;

/* Computes out[r] = the reduction of row r. Element j goes to lane j mod 16.
 * Lanes start at +0 (max: at the first elements; a lane beyond the width at
 * element 0). Then lanes are joined in a tree 8-4-2-1: lane[l] = op(lane[l],
 * lane[l + half]). The maximum of a and b is a if a > b or a is NaN, else b. */
void pdlrt_reduce_rows(int32_t type, int32_t reduction, int64_t rows,
                       int64_t width, const void *values, void *out);

/* Computes sum = the f64 sum of values[i] * weights[i] in ascending i (null
 * weights: ones). weight_sum = the sum of the weights, NaN if a weight is
 * negative or NaN. Each factor is widened first. */
void pdlrt_loss_sum(int32_t type, int64_t count, const void *values,
                    const void *weights, double *sum, double *weight_sum);

/* Adds `count` samples to a metric's sums, in order, as `observeSamples` of
 * metrics.h defines. A sample has `width` predictions and `label_width` labels.
 * Usually there is one of each. For a metric of ranked lists, the predictions
 * are the scores of the items, and there are as many labels or one position.
 * `labels` is null if the metric has none; null `weights`: ones. */
void pdlrt_observe(int32_t type, int32_t metric_kind, double parameter,
                   int64_t count, int64_t width, const void *predictions,
                   int64_t label_width, const void *labels, const void *weights,
                   double *sums);

/* Adds `count` samples to a metric of groups, in order, as `observeGroups` of
 * metrics.h defines: to its sums, and to the samples that the worker keeps for
 * metric `metric_index` of the descriptor. Null `weights`: ones. */
void pdlrt_observe_groups(void *worker, int32_t type, int32_t metric_index,
                          int64_t count, const void *predictions,
                          const void *labels, const int64_t *groups,
                          const void *weights, double *sums);

/* Reports that the gradient of parameter update `update` of the program is
 * complete. It may be sent while the stage continues, and the stage must not
 * write it any more. Called in programs that send gradients to the owners of
 * state, at most once per update in a call of the stage. Gradients that are not
 * reported are complete when the stage ends. */
void pdlrt_gradient_ready(void *worker, int32_t update);

/* --- compute on a device ---------------------------------------------------
 *
 * The stage runs on the host and adds work to a stream of the replica's device,
 * which executes it in order. A failure is kept: work added later is ignored,
 * and pdlrt_device_wait returns the failure. */

/* Returns the device copy of a place. If compute writes the place, it is the
 * only copy until the stage ends. Data that the host wrote before is copied at
 * the first call. */
void *pdlrt_device_pointer(void *worker, int32_t place, int32_t index);

/* Returns the device copy of `bytes` bytes of the program that never change. */
void *pdlrt_device_constant(void *worker, int64_t bytes, const void *constant);

/* Adds a launch of kernel `kernel` of the descriptor with `turns`
 * iterations. */
void pdlrt_launch(void *worker, int32_t kernel, int64_t turns,
                  const uint64_t *arguments);

/* Adds C = A op B for f32, with A, B and C as in pdlrt_gemm; the element of
 * `bias` for each column (null: none) is added. A library of the device
 * computes the product, in its own order. `product`: PDL_PRODUCT_FAST, or
 * PDL_PRODUCT_BF16, which rounds factors to bf16 and adds in f32. A product
 * that the library does not support is a launch of kernel `kernel` of the
 * descriptor, which has the arguments of pdldevice_product. */
void pdlrt_device_product(void *worker, int32_t product, int32_t kernel,
                          int32_t transpose_a, int32_t transpose_b, int64_t m,
                          int64_t n, int64_t k, const void *a, const void *b,
                          const void *bias, void *c, int64_t c_stride);

/* Adds pdlrt_gather, to device memory. Rows of a table on the host are
 * copied. */
void pdlrt_device_gather(void *worker, int32_t type, const pdl_lookup *lookup,
                         int64_t width, void *out);

/* Allocates `bytes` bytes of host memory that copies may use until the stage
 * ends. Never returns null. */
void *pdlrt_host_memory(void *worker, int64_t bytes);

/* Adds a copy to, from or within the device. Host memory that it reads or
 * writes must come from pdlrt_host_memory. */
void pdlrt_copy_in(void *worker, int64_t bytes, const void *from_host,
                   void *to_device);
void pdlrt_copy_out(void *worker, int64_t bytes, const void *from_device,
                    void *to_host);
void pdlrt_copy_within(void *worker, int64_t bytes, const void *from, void *to);

/* Waits until all added work is done. Returns its status, and sets the error.
 * `is_last`: the stage adds no more work; gradients and outputs that it
 * requested are also copied to the host. */
int32_t pdlrt_device_wait(void *worker, int32_t is_last);

/* --- both ---------------------------------------------------------------- */

/* Runs the iterations begin .. end - 1 of a loop with independent
 * iterations. */
typedef void (*pdl_loop)(const void *arguments, int64_t begin, int64_t end);

/* Calls loop(arguments, begin, end) for ranges that cover all `turns`
 * iterations, on the threads available to the calling stage. An iteration reads
 * and writes about `bytes` bytes; small loops run on the calling thread.
 * `name`: name of the loop in traces. */
void pdlrt_run_loop(const char *name, int64_t turns, int64_t bytes,
                    pdl_loop loop, const void *arguments);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PDLABI_ABI_CALLS_H */
