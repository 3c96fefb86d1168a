//===- MathShim.cpp - Scalar functions under C names ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled twice: to bitcode, which the compiler links into generated code and
// inlines before vectorization, and into the runtime archive, for code that
// calls a function without inlining it. Contraction must be off in both.
//
//===----------------------------------------------------------------------===//

#include "pdlabi/math.h"

extern "C" {

float pdlabi_expf(float x) { return pdlabi::exp(x); }
float pdlabi_logf(float x) { return pdlabi::log(x); }
float pdlabi_log1pf(float x) { return pdlabi::log1p(x); }
float pdlabi_tanhf(float x) { return pdlabi::tanh(x); }
float pdlabi_sigmoidf(float x) { return pdlabi::sigmoid(x); }
float pdlabi_sinf(float x) { return pdlabi::sin(x); }
float pdlabi_cosf(float x) { return pdlabi::cos(x); }
double pdlabi_pow(double x, double y) { return pdlabi::pow(x, y); }
double pdlabi_cos(double x) { return pdlabi::cos(x); }
double pdlabi_sin(double x) { return pdlabi::sin(x); }

} // extern "C"
