//===- Metrics.cpp - Metrics of a model -----------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/metrics.h"
#include "pdlc/Dialect/NN/IR/NN.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

LogicalResult
pdlc::nn::verifyMetric(function_ref<InFlightDiagnostic()> emitError,
                       int32_t kind, double parameter) {
  if (pdlabi::isMetric(kind, parameter))
    return success();
  std::string got;
  llvm::raw_string_ostream(got) << llvm::format("%.17g", parameter);
  InFlightDiagnostic error = emitError();
  pdlabi::AllMetrics::visit(kind, [&](auto metric) {
    using Metric = decltype(metric);
    error << StringRef(Metric::spelling).split('<').first << " needs "
          << Metric::domain << ", got " << got;
  });
  return error;
}

std::string pdlc::nn::listMetrics() {
  SmallVector<StringRef> spellings;
  pdlabi::AllMetrics::visitAll(
      [&](auto metric) { spellings.push_back(decltype(metric)::spelling); });
  return llvm::join(ArrayRef(spellings).drop_back(), ", ") + " or " +
         spellings.back().str();
}
