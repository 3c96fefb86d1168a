//===- Bucketize.cpp - Numbers to bucket indices --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/abi/calls.h"
#include "pdlabi/abi/codes.h"
#include "pdlrt/Core/Trace.h"

#include <algorithm>

namespace {

// Maximum number of boundaries for which a value is compared with all of them.
// This is then faster than a binary search, because it has no branches.
constexpr int64_t countedBoundaries = 32;

template <typename T>
void bucketize(int64_t count, const T *values, int64_t boundaryCount,
               const double *boundaries, int64_t *out) {
  for (int64_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(values[i]);
    // The result is the number of boundaries b with !(value < b), in both
    // branches. Comparisons with NaN are false, so NaN counts all boundaries.
    if (boundaryCount <= countedBoundaries) {
      int64_t passed = 0;
      for (int64_t b = 0; b < boundaryCount; ++b)
        passed += !(value < boundaries[b]);
      out[i] = passed;
    } else {
      out[i] = std::upper_bound(boundaries, boundaries + boundaryCount, value) -
               boundaries;
    }
  }
}

} // namespace

void pdlrt_bucketize(int32_t type, int64_t count, const void *values,
                     int64_t boundaryCount, const double *boundaries,
                     int64_t *out) {
  const pdlrt::TraceSpan span("bucketize", {count});
  if (type == PDL_F64)
    bucketize(count, static_cast<const double *>(values), boundaryCount,
              boundaries, out);
  else
    bucketize(count, static_cast<const float *>(values), boundaryCount,
              boundaries, out);
}
