//===- Metric.cpp - Metrics ----------------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Interpreter/State.h"

using namespace pdlc::interpreter;

void Metric::observe(const Tensor &predictions, const Tensor &labels) {
  predictions.visit([&](auto &elements) {
    using T = typename std::remove_reference_t<decltype(elements)>::value_type;
    for (auto [prediction, label] : llvm::zip_equal(elements, labels.get<T>()))
      kind.observe(sums, static_cast<double>(prediction),
                   static_cast<double>(label));
  });
}

double Metric::value() const { return kind.finish(sums); }
