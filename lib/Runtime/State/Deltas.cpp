//===- Deltas.cpp - Model deltas ------------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlrt/State/Deltas.h"

#include "pdlabi/abi/codes.h"

using namespace pdlrt;

template <typename T>
static void add(int64_t count, const void *deltas, void *values) {
  auto *from = static_cast<const T *>(deltas);
  auto *to = static_cast<T *>(values);
  for (int64_t i = 0; i < count; ++i)
    to[i] += from[i];
}

template <typename T>
static void take(int64_t count, const void *copies, int by, void *bases,
                 void *deltas) {
  auto *copy = static_cast<const T *>(copies);
  auto *base = static_cast<T *>(bases), *delta = static_cast<T *>(deltas);
  const T divisor = T(by);
  for (int64_t i = 0; i < count; ++i) {
    delta[i] = (copy[i] - base[i]) / divisor;
    base[i] += delta[i];
  }
}

template <typename T>
static void takeOver(int64_t count, const void *values, void *bases,
                     void *copies) {
  auto *value = static_cast<const T *>(values);
  auto *base = static_cast<T *>(bases), *copy = static_cast<T *>(copies);
  for (int64_t i = 0; i < count; ++i) {
    copy[i] = copy[i] == base[i] ? value[i] : copy[i] + (value[i] - base[i]);
    base[i] = value[i];
  }
}

void pdlrt::addDeltas(int32_t type, int64_t count, const void *deltas,
                      void *values) {
  (type == PDL_F32 ? add<float> : add<double>)(count, deltas, values);
}

void pdlrt::takeDeltas(int32_t type, int64_t count, const void *copy,
                       int divisor, void *base, void *deltas) {
  (type == PDL_F32 ? take<float> : take<double>)(count, copy, divisor, base,
                                                 deltas);
}

void pdlrt::takeValues(int32_t type, int64_t count, const void *values,
                       void *base, void *copy) {
  (type == PDL_F32 ? takeOver<float> : takeOver<double>)(count, values, base,
                                                         copy);
}
