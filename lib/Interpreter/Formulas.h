//===- Formulas.h - Formulas of tensor and scalar ops -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functors that ops on tensors and ops of scalar regions share, called with
// float or double operands.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_INTERPRETER_FORMULAS_H
#define LIB_INTERPRETER_FORMULAS_H

#include "Scalars.h"

#include <cmath>

namespace pdlc::interpreter {

struct Neg {
  template <typename T> T operator()(T a) const { return -a; }
};
struct Abs {
  template <typename T> T operator()(T a) const { return std::fabs(a); }
};
struct Sqrt {
  template <typename T> T operator()(T a) const { return std::sqrt(a); }
};
struct Exp {
  template <typename T> T operator()(T a) const { return exponential(a); }
};
struct Log {
  template <typename T> T operator()(T a) const { return logarithm(a); }
};
struct Add {
  template <typename T> T operator()(T a, T b) const { return a + b; }
};
struct Sub {
  template <typename T> T operator()(T a, T b) const { return a - b; }
};
struct Mul {
  template <typename T> T operator()(T a, T b) const { return a * b; }
};
struct Div {
  template <typename T> T operator()(T a, T b) const { return a / b; }
};
struct Maximum {
  template <typename T> T operator()(T a, T b) const { return maximum(a, b); }
};
struct Minimum {
  template <typename T> T operator()(T a, T b) const { return minimum(a, b); }
};

} // namespace pdlc::interpreter

#endif // LIB_INTERPRETER_FORMULAS_H
