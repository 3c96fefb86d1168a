//===- ScalarRegion.cpp - Scalar regions of rules and updates -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScalarRegion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "pdlc/Dialect/NN/IR/NN.h"

using namespace mlir;

FailureOr<SmallVector<Type>>
pdlc::nn::verifyScalarRegion(Operation *op, Region &region, StringRef name,
                             ArrayRef<Type> arguments) {
  if (!region.hasOneBlock())
    return op->emitOpError() << "needs one block in region '" << name << "'";
  Block &block = region.front();
  if (SmallVector<Type>(block.getArgumentTypes()) !=
      SmallVector<Type>(arguments))
    return op->emitOpError()
           << "has arguments (" << block.getArgumentTypes() << ") in region '"
           << name << "'; expected (" << arguments << ") (C1)";
  for (Operation &inner : block) {
    if (isa<YieldOp>(inner))
      continue;
    if (!isa<arith::ConstantOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
             arith::DivFOp, arith::NegFOp, arith::CmpFOp, arith::SelectOp,
             arith::MaximumFOp, arith::MinimumFOp, arith::ExtFOp,
             arith::TruncFOp, math::SqrtOp, math::AbsFOp, math::FmaOp,
             math::CopySignOp, math::PowFOp, math::CosOp, math::ExpOp,
             math::LogOp>(inner))
      return inner.emitOpError()
             << "has no settled scalar numerics; it may not stand in region '"
             << name << "' of " << op->getName() << " (C2)";
    for (Type type : inner.getResultTypes())
      if (!type.isF32() && !type.isF64() && !type.isInteger(1))
        return inner.emitOpError()
               << "computes " << type << "; region '" << name << "' of "
               << op->getName() << " holds scalars of f32, f64 and i1 (C2)";
    if (isa<math::PowFOp, math::CosOp, math::ExpOp, math::LogOp>(inner) &&
        !inner.getResult(0).getType().isF64())
      return inner.emitOpError() << "is defined on f64 only (C2)";
    if (auto fast = inner.getAttrOfType<arith::FastMathFlagsAttr>("fastmath"))
      if (fast.getValue() != arith::FastMathFlags::none)
        return inner.emitOpError()
               << "carries fast-math flags, which settled numerics forbid (C2)";
  }
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return op->emitOpError()
           << "needs nn.yield at the end of region '" << name << "'";
  return SmallVector<Type>(yield.getOperandTypes());
}
