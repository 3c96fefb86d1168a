//===- RTCallOps.cpp - Verifiers of ops in stages -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/RT/IR/RT.h"

using namespace mlir;
using namespace pdlc::rt;

bool pdlc::rt::isDense(MemRefType type) {
  return type.getLayout().isIdentity();
}

bool pdlc::rt::hasDenseRows(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return false;
  int64_t dense = 1;
  for (int64_t i = type.getRank(); i-- > 1;) {
    if (strides[i] != dense)
      return false;
    dense *= type.getDimSize(i);
  }
  return true;
}

/// Returns true if the strides are known and no two elements share a position.
static bool isRowMajor(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return false;
  int64_t span = 1;
  for (int64_t i = type.getRank(); i-- > 0;) {
    if (ShapedType::isDynamic(strides[i]) || strides[i] < span)
      return false;
    span = strides[i] * (type.isDynamicDim(i) ? 1 : type.getDimSize(i));
  }
  return true;
}

LogicalResult CombineRowOp::verify() {
  auto type = cast<MemRefType>(getRows().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (type.getRank() != static_cast<int64_t>(getIndices().size()) + 1 ||
      type.isDynamicDim(type.getRank() - 1) || type.getShape().back() < 1 ||
      failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return emitOpError() << "combines a row of " << type << " at "
                         << getIndices().size()
                         << " indices; expected one for each dimension but the "
                            "last, whose size is known and which has no gaps "
                            "(C1)";
  return success();
}

LogicalResult PoolGradientOp::verify() {
  const size_t inputs = getCotangents().size();
  if (getKinds().size() != inputs || getFirsts().size() != inputs)
    return emitOpError() << "has " << inputs << " cotangents, "
                         << getKinds().size() << " poolings and "
                         << getFirsts().size()
                         << " first occurrences; expected one of each for each "
                            "input (C1)";
  int64_t next = 0;
  for (int64_t number : getWithSplits()) {
    if (number < next || number >= static_cast<int64_t>(inputs))
      return emitOpError() << "names input " << number << " of " << inputs
                           << " as one with splits; expected ascending numbers "
                              "below it (C2)";
    next = number + 1;
  }
  if (getSplits().size() != getWithSplits().size() ||
      getSplits().empty() == static_cast<bool>(getBagOf()))
    return emitOpError() << "has " << getSplits().size() << " splits for "
                         << getWithSplits().size()
                         << " inputs; expected one for each, and 'bags' with "
                            "them alone (C2)";
  return success();
}

LogicalResult ViewOp::verify() {
  auto type = dyn_cast<MemRefType>(getResult().getType());
  if (!type)
    return emitOpError() << "views memory as " << getResult().getType()
                         << ", which has no known rank (C1)";
  for (int64_t i = 1; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      return emitOpError() << "views memory as " << type << ", whose dimension "
                           << i << " is dynamic (C1)";
  if ((type.getRank() > 0 && type.isDynamicDim(0)) !=
      static_cast<bool>(getSize()))
    return emitOpError("needs a size exactly for a dynamic first dimension "
                       "(C2)");
  if (!isDense(type) && !isRowMajor(type))
    return emitOpError() << "views memory as " << type
                         << ", which is not row-major with known strides (C3)";
  return success();
}
