//===- NNOps.td - All ops of the model dialect -*- tablegen -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_DIALECT_NN_IR_NNOPS_TD
#define PDLC_DIALECT_NN_IR_NNOPS_TD

include "pdlc/Dialect/NN/IR/NNRecordOps.td"
include "pdlc/Dialect/NN/IR/NNStateOps.td"
include "pdlc/Dialect/NN/IR/NNRuleOps.td"
include "pdlc/Dialect/NN/IR/NNProgramOps.td"
include "pdlc/Dialect/NN/IR/NNLookupOps.td"
include "pdlc/Dialect/NN/IR/NNElementwiseOps.td"
include "pdlc/Dialect/NN/IR/NNProductOps.td"
include "pdlc/Dialect/NN/IR/NNShapeOps.td"
include "pdlc/Dialect/NN/IR/NNFeatureOps.td"
include "pdlc/Dialect/NN/IR/NNTrainingOps.td"
include "pdlc/Dialect/NN/IR/NNCompositeOps.td"
include "pdlc/Dialect/NN/IR/NNControlOps.td"
include "pdlc/Dialect/NN/IR/NNDrawOps.td"
include "pdlc/Dialect/NN/IR/NNLoweredOps.td"
include "pdlc/Dialect/NN/IR/NNMixingOps.td"
include "pdlc/Dialect/NN/IR/NNSegmentOps.td"

#endif // PDLC_DIALECT_NN_IR_NNOPS_TD
