//===- NNControlOps.cpp - Control flow of programs ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bodies.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

static bool countsRows(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() > 0 && tensor.isDynamicDim(0);
}

LogicalResult IfOp::inferReturnTypes(MLIRContext *,
                                     std::optional<Location> location,
                                     Adaptor adaptor,
                                     SmallVectorImpl<Type> &types) {
  return inferFromBody(location, getOperationName(), adaptor.getTaken(), types);
}

LogicalResult IfOp::verify() {
  auto condition = tensorOf(getCondition());
  if (!condition.hasStaticShape() || condition.getNumElements() != 1)
    return emitOpError() << "has a condition of type " << condition
                         << "; expected one number, such as tensor<1x"
                         << condition.getElementType()
                         << ">; samples choose one by one with nn.select (C1)";
  for (Region *body : getRegions())
    if (body->getArgumentTypes() != getInputs().getTypes())
      return emitOpError() << "has a body that takes ("
                           << body->getArgumentTypes() << "); expected the "
                           << "types of the tensors of `with`, ("
                           << getInputs().getTypes() << ") (C2)";
  if (llvm::any_of(getResultTypes(), countsRows) &&
      llvm::none_of(getInputs().getTypes(), countsRows))
    return emitOpError("has results with as many rows as the batch, and no "
                       "tensor of `with` that has them (C3)");
  for (Region *body : getRegions())
    if (failed(verifyCaptures(*body, "choice", [](Value) {
          return "hand it to both bodies by `with(...)`";
        })))
      return failure();
  return success();
}

LogicalResult IfOp::verifyRegions() {
  for (Region *body : getRegions()) {
    auto yield = dyn_cast<YieldOp>(body->front().getTerminator());
    if (!yield)
      return emitOpError("has a body that does not end in nn.yield (C3)");
    if (yield.getOperandTypes() != getResultTypes())
      return yield.emitOpError()
             << "yields (" << yield.getOperandTypes()
             << ") of an nn.if with results (" << getResultTypes() << ") (C3)";
    if (failed(verifyBodyComputes(*body, "choice",
                                  [](Operation &) { return ""; })))
      return failure();
  }
  return success();
}

Value IfOp::share(Block &body, Value value) {
  for (auto [index, input] : llvm::enumerate(getInputs()))
    if (input == value)
      return body.getArgument(index);
  getInputsMutable().append(value);
  for (Region *each : getRegions())
    each->addArgument(value.getType(), value.getLoc());
  return body.getArguments().back();
}

Value IfOp::getCounted(BlockArgument argument) {
  return getInputs()[argument.getArgNumber()];
}

bool IfOp::mayHold(Operation &op) { return findBodyHindrance(op).empty(); }
