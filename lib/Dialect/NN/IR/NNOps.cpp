//===- NNOps.cpp - What TableGen defines of nn's ops --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace pdlc::nn;

#include "pdlc/Interfaces/DifferentiableOpInterface.cpp.inc"

LogicalResult pdlc::nn::verifyBatchFirst(Operation *op) {
  auto check = [&](Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return success();
    for (int64_t i = 1; i < tensor.getRank(); ++i)
      if (tensor.isDynamicDim(i))
        return op->emitOpError()
               << "dimension " << i << " of " << type
               << " is dynamic, but only the first dimension may be";
    for (int64_t size : tensor.getShape())
      if (size == 0)
        return op->emitOpError() << "tensor " << type << " is empty";
    return success();
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type)))
      return failure();
  for (Type type : op->getResultTypes())
    if (failed(check(type)))
      return failure();
  return success();
}

#define GET_OP_CLASSES
#include "pdlc/Dialect/NN/IR/NNOps.cpp.inc"
