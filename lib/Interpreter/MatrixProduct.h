//===- MatrixProduct.h - Chains of fused multiply-adds ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_INTERPRETER_MATRIXPRODUCT_H
#define LIB_INTERPRETER_MATRIXPRODUCT_H

#include <cstdint>

namespace pdlc::interpreter {

/// Sizes of a row-major matrix product: m x k times k x n. A transposed left
/// factor is stored as k x m, a transposed right factor as n x k.
struct ProductShape {
  int64_t m, n, k;
  bool transposeLhs, transposeRhs;
};

/// Compute out[m, n]. Each element is one chain of fused multiply-adds over
/// ascending k, starting from +0.
void multiply(const ProductShape &shape, const float *lhs, const float *rhs,
              float *out);
void multiply(const ProductShape &shape, const double *lhs, const double *rhs,
              double *out);

/// Computes a product of factors that are rounded to bf16. Terms are added in
/// the order k = 1, 0, 3, 2, ...; if k is odd, the missing term counts as +0.
/// Must be called while an object of type `DenormalsAreZeros` exists.
void multiplyInBFloat16(const ProductShape &shape, const float *lhs,
                        const float *rhs, float *out);

/// Computes a product of factors that are sums of two or three bf16 parts, in
/// the order of tiles (docs/Numerics.md). An element whose sum is not finite is
/// the one of `multiply`.
void multiplyInParts(const ProductShape &shape, int parts, const float *lhs,
                     const float *rhs, float *out);

/// While an object exists, the thread that created it treats denormal operands
/// as zeros, and replaces denormal results by zeros. Has no effect on machines
/// other than x86-64.
class DenormalsAreZeros {
public:
  DenormalsAreZeros();
  ~DenormalsAreZeros();
  DenormalsAreZeros(const DenormalsAreZeros &) = delete;
  DenormalsAreZeros &operator=(const DenormalsAreZeros &) = delete;

private:
  unsigned before = 0;
};

} // namespace pdlc::interpreter

#endif // LIB_INTERPRETER_MATRIXPRODUCT_H
