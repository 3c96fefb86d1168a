//===- InBatch.cpp - In-batch negatives -----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scores of a whole batch would need memory that grows with the square of
// the batch size. So the scores of a few rows are computed at a time, by the
// kernels of matrix products, and used at once.
//
//===----------------------------------------------------------------------===//

#include "pdlrt/Abi/Worker.h"
#include "pdlrt/Core/Trace.h"
#include "pdlrt/Gemm/Gemm.h"

#include "pdlabi/math.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace pdlrt;

namespace {

float exponential(float x) { return pdlabi::exp(x); }
double exponential(double x) { return std::exp(x); }
float logarithm(float x) { return pdlabi::log(x); }
double logarithm(double x) { return std::log(x); }

template <typename T> class Scores {
public:
  Scores(void *worker, int32_t numerics, int64_t count, int64_t width,
         const void *users, const void *items, const void *correction,
         const int64_t *ids, void *scratch)
      : worker(worker), numerics(numerics), count(count), width(width),
        users(static_cast<const T *>(users)),
        items(static_cast<const T *>(items)),
        correction(static_cast<const T *>(correction)), ids(ids),
        scratch(static_cast<T *>(scratch)) {}

  void logSumExp(T *out) {
    forBlocks([&](int64_t first, int64_t rows) {
      score(users, items, first, rows);
      for (int64_t i = 0; i < rows; ++i) {
        correctUser(rowOf(i));
        exclude(first + i, rowOf(i));
      }
      pdlrt_reduce_rows(type, PDL_REDUCE_MAX, rows, count, scratch,
                        out + first);
      for (int64_t i = 0; i < rows; ++i) {
        T *row = rowOf(i);
        const T largest = out[first + i];
        for (int64_t j = 0; j < count; ++j)
          row[j] = exponential(row[j] - largest);
      }
      T sums[PDL_IN_BATCH_ROWS];
      pdlrt_reduce_rows(type, PDL_REDUCE_SUM, rows, count, scratch, sums);
      for (int64_t i = 0; i < rows; ++i)
        out[first + i] += logarithm(sums[i]);
    });
  }

  void userGradient(const T *sums, const T *cotangent, T *out) {
    forBlocks([&](int64_t first, int64_t rows) {
      score(users, items, first, rows);
      for (int64_t i = 0; i < rows; ++i) {
        T *row = rowOf(i);
        correctUser(row);
        exclude(first + i, row);
        const T sum = sums[first + i], factor = cotangent[first + i];
        for (int64_t j = 0; j < count; ++j)
          row[j] = factor * exponential(row[j] - sum);
      }
      multiply(items, first, rows, out);
    });
  }

  /// Computes the gradient of items. In this function, a row of scores belongs
  /// to an item.
  void itemGradient(const T *sums, const T *cotangent, T *out) {
    forBlocks([&](int64_t first, int64_t rows) {
      score(items, users, first, rows);
      for (int64_t j = 0; j < rows; ++j) {
        T *row = rowOf(j);
        if (correction)
          for (int64_t i = 0; i < count; ++i)
            row[i] -= correction[first + j];
        exclude(first + j, row);
        for (int64_t i = 0; i < count; ++i)
          row[i] = cotangent[i] * exponential(row[i] - sums[i]);
      }
      multiply(users, first, rows, out);
    });
  }

private:
  static constexpr int32_t type =
      sizeof(T) == sizeof(float) ? PDL_F32 : PDL_F64;

  T *rowOf(int64_t row) { return scratch + row * count; }

  template <typename Body> void forBlocks(Body body) {
    for (int64_t first = 0; first < count; first += PDL_IN_BATCH_ROWS)
      body(first, std::min<int64_t>(PDL_IN_BATCH_ROWS, count - first));
  }

  /// Computes the products of rows [first, first + rows) of `lhs` with all rows
  /// of `rhs`. Writes them to `scratch`.
  void score(const T *lhs, const T *rhs, int64_t first, int64_t rows) {
    GemmCall call;
    call.type = type;
    call.transposeB = true;
    call.m = rows;
    call.n = call.cStride = count;
    call.k = width;
    call.a = lhs + first * width;
    call.b = rhs;
    call.c = scratch;
    gemm(numerics, Worker::of(worker).gemmWorkspace(), call);
  }

  /// Computes rows [first, first + rows) of `out`: scratch times `rhs`.
  void multiply(const T *rhs, int64_t first, int64_t rows, T *out) {
    GemmCall call;
    call.type = type;
    call.m = rows;
    call.n = call.cStride = width;
    call.k = count;
    call.a = scratch;
    call.b = rhs;
    call.c = out + first * width;
    gemm(numerics, Worker::of(worker).gemmWorkspace(), call);
  }

  void correctUser(T *row) const {
    if (correction)
      for (int64_t j = 0; j < count; ++j)
        row[j] -= correction[j];
  }

  /// Sets those scores to -infinity that must not count. `row` has the scores
  /// of batch row `own` with all rows of the batch. Every other batch row whose
  /// id equals that of `own` is excluded, because it is not a negative.
  void exclude(int64_t own, T *row) const {
    if (!ids)
      return;
    const T kept = row[own];
    const int64_t id = ids[own];
    for (int64_t j = 0; j < count; ++j)
      row[j] = ids[j] == id ? -std::numeric_limits<T>::infinity() : row[j];
    row[own] = kept;
  }

  void *worker;
  int32_t numerics;
  int64_t count, width;
  const T *users, *items, *correction;
  const int64_t *ids;
  T *scratch;
};

template <typename T>
void differentiate(Scores<T> scores, int32_t side, const void *sums,
                   const void *cotangent, void *out) {
  const auto *sumsOfUsers = static_cast<const T *>(sums);
  const auto *factors = static_cast<const T *>(cotangent);
  if (side == PDL_SIDE_USERS)
    scores.userGradient(sumsOfUsers, factors, static_cast<T *>(out));
  else
    scores.itemGradient(sumsOfUsers, factors, static_cast<T *>(out));
}

} // namespace

void pdlrt_in_batch_log_sum_exp(void *worker, int32_t type, int32_t numerics,
                                int64_t count, int64_t width, const void *users,
                                const void *items, const void *correction,
                                const int64_t *ids, void *scratch, void *out) {
  const pdlrt::TraceSpan span("in-batch log sum exp", {count, width});
  if (type == PDL_F64)
    Scores<double>(worker, numerics, count, width, users, items, correction,
                   ids, scratch)
        .logSumExp(static_cast<double *>(out));
  else
    Scores<float>(worker, numerics, count, width, users, items, correction, ids,
                  scratch)
        .logSumExp(static_cast<float *>(out));
}

void pdlrt_in_batch_gradient(void *worker, int32_t type, int32_t numerics,
                             int32_t side, int64_t count, int64_t width,
                             const void *users, const void *items,
                             const void *correction, const int64_t *ids,
                             const void *sums, const void *cotangent,
                             void *scratch, void *out) {
  const pdlrt::TraceSpan span("in-batch gradient", {count, width});
  if (type == PDL_F64)
    differentiate(Scores<double>(worker, numerics, count, width, users, items,
                                 correction, ids, scratch),
                  side, sums, cotangent, out);
  else
    differentiate(Scores<float>(worker, numerics, count, width, users, items,
                                correction, ids, scratch),
                  side, sums, cotangent, out);
}
