//===- StageOps.cpp - Stage models of ops ---------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "pdlc/Conversion/StageOps.h"

using namespace mlir;
using namespace pdlc;

#include "pdlc/Interfaces/StageOpInterface.cpp.inc"

void pdlc::registerStageOps(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, nn::NNDialect *) {
    attachControlStages(*context);
    attachScanStages(*context);
    attachSegmentStages(*context);
    attachSelectionStages(*context);
    attachShapeStages(*context);
    attachDrawStages(*context);
    attachMixingStages(*context);
    attachFeatureStages(*context);
    attachLookupStages(*context);
    attachProductStages(*context);
    attachStateStages(*context);
    // Attached last: this skips ops that already have an implementation of
    // their own.
    attachElementwiseStages(*context);
  });
}
