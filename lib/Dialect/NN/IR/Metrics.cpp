//===- Metrics.cpp - Figures of merit ------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

LogicalResult AucAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                              int64_t buckets) {
  if (buckets < 2 || buckets > (1 << 24))
    return emitError() << "#nn.auc needs between 2 and 16777216 buckets, got "
                       << buckets;
  return success();
}
