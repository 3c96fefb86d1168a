//===- NNSegmentOps.cpp - Ops on the rows of bags -------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include <cmath>

using namespace mlir;
using namespace pdlc::nn;

/// Returns true if `type` is [b, slots, ...] for these bags. If the number of
/// slots is not known, only the rank is checked.
static bool isOfBags(RankedTensorType type, Value bags) {
  auto ragged = dyn_cast<RaggedType>(bags.getType());
  return type.getRank() >= 3 && type.isDynamicDim(0) &&
         (!ragged || type.getDimSize(1) == ragged.getSlots());
}

/// Returns true if `type` has one row per id.
static bool isOfRows(RankedTensorType type) {
  return type.getRank() >= 2 && type.isDynamicDim(0);
}

/// Returns true if a row of `rows` has the same shape as an entry of `ofBags`,
/// that is, the shape of `ofBags` without its first `dimension` dimensions.
static bool haveOneRow(RankedTensorType rows, RankedTensorType ofBags,
                       unsigned dimension) {
  return ofBags.getRank() > dimension &&
         rows.getShape().drop_front() ==
             ofBags.getShape().drop_front(dimension) &&
         rows.getElementType() == ofBags.getElementType();
}

/// Returns `type` with its first `dropped` dimensions replaced by `first`. If
/// it does not have more than `dropped` dimensions, returns it unchanged.
static Type withFirst(Type type, unsigned dropped, ArrayRef<int64_t> first) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.getRank() <= static_cast<int64_t>(dropped))
    return type;
  SmallVector<int64_t> shape(first);
  llvm::append_range(shape, tensor.getShape().drop_front(dropped));
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// Returns the type with one entry per bag instead of rows.
static Type ofBags(Value rows, Value bags) {
  auto ragged = dyn_cast<RaggedType>(bags.getType());
  return ragged ? withFirst(rows.getType(), 1,
                            {ShapedType::kDynamic, ragged.getSlots()})
                : rows.getType();
}

// For types that the verifiers reject, the inferred type does not matter.
#define PDL_INFER(OP, TYPE)                                                    \
  LogicalResult OP::inferReturnTypes(MLIRContext *, std::optional<Location>,   \
                                     Adaptor adaptor,                          \
                                     SmallVectorImpl<Type> &types) {           \
    types.push_back(TYPE);                                                     \
    return success();                                                          \
  }
PDL_INFER(SegmentMeanOp, ofBags(adaptor.getRows(), adaptor.getBags()))
PDL_INFER(SegmentSqrtnOp, ofBags(adaptor.getRows(), adaptor.getBags()))
PDL_INFER(SegmentFirstOp, ofBags(adaptor.getRows(), adaptor.getBags()))
PDL_INFER(SegmentLastOp, ofBags(adaptor.getRows(), adaptor.getBags()))
PDL_INFER(SegmentRepeatOp,
          withFirst(adaptor.getInput().getType(), 2, ShapedType::kDynamic))
PDL_INFER(SegmentUnpadOp,
          withFirst(adaptor.getInput().getType(), 3, ShapedType::kDynamic))
PDL_INFER(SegmentSoftmaxOp, adaptor.getRows().getType())
PDL_INFER(SegmentShiftOp, adaptor.getRows().getType())
PDL_INFER(SegmentReverseOp, adaptor.getRows().getType())
#undef PDL_INFER

/// Reports the types of the operands and results, and the expected ones.
static LogicalResult refuse(Operation *op, StringRef expected) {
  return op->emitOpError() << "makes " << op->getOperandTypes() << " to "
                           << op->getResultTypes() << "; expected " << expected
                           << " (C1)";
}

/// Verifies that `like` is present exactly if it is needed.
template <typename OpType> static LogicalResult verifyLike(OpType op) {
  const bool isExplicit = !isa<RaggedType>(op.getBags().getType());
  if (isExplicit && !op.getLike())
    return op.emitOpError("needs `like` to know how many rows its bags have "
                          "(C2)");
  if (!isExplicit && op.getLike())
    return op.emitOpError("has `like`, though its ragged operand says how many "
                          "rows there are; leave it out (C2)");
  if (!op.getLike())
    return success();
  auto like = tensorOf(op.getLike());
  if (like.getRank() > 0 && like.isDynamicDim(0))
    return success();
  return op.emitOpError() << "has as many rows as " << like
                          << "; expected a first dimension that counts ids "
                             "(C2)";
}

//===----------------------------------------------------------------------===//
// From rows to samples
//===----------------------------------------------------------------------===//

template <typename OpType> static LogicalResult verifyReduction(OpType op) {
  auto rows = tensorOf(op.getRows()), result = tensorOf(op.getResult());
  if (isOfRows(rows) && isOfBags(result, op.getBags()) &&
      haveOneRow(rows, result, 2))
    return success();
  return refuse(op, "[ids, ...] to [b, slots, ...]");
}

LogicalResult SegmentSumOp::verify() { return verifyReduction(*this); }
LogicalResult SegmentMaxOp::verify() { return verifyReduction(*this); }
LogicalResult SegmentMeanOp::verify() { return verifyReduction(*this); }
LogicalResult SegmentSqrtnOp::verify() { return verifyReduction(*this); }
LogicalResult SegmentFirstOp::verify() { return verifyReduction(*this); }
LogicalResult SegmentLastOp::verify() { return verifyReduction(*this); }

LogicalResult SegmentSizesOp::verify() {
  auto result = tensorOf(getResult());
  if (result.getRank() == 3 && isOfBags(result, getBags()) &&
      result.getDimSize(2) == 1)
    return success();
  return refuse(*this, "[b, slots, 1]");
}

LogicalResult SegmentPadOp::verify() {
  auto rows = tensorOf(getRows()), result = tensorOf(getResult());
  if (isOfRows(rows) && isOfBags(result, getBags()) &&
      haveOneRow(rows, result, 3))
    return success();
  return refuse(*this, "[ids, ...] to [b, slots, length, ...]");
}

//===----------------------------------------------------------------------===//
// From samples to rows
//===----------------------------------------------------------------------===//

LogicalResult SegmentRepeatOp::verify() {
  auto input = tensorOf(getInput()), result = tensorOf(getResult());
  if (!isOfRows(result) || !isOfBags(input, getBags()) ||
      !haveOneRow(result, input, 2))
    return refuse(*this, "[b, slots, ...] to [ids, ...]");
  return verifyLike(*this);
}

LogicalResult SegmentUnpadOp::verify() {
  auto input = tensorOf(getInput()), result = tensorOf(getResult());
  if (!isOfRows(result) || !isOfBags(input, getBags()) ||
      !haveOneRow(result, input, 3))
    return refuse(*this, "[b, slots, length, ...] to [ids, ...]");
  return verifyLike(*this);
}

LogicalResult SegmentPositionsOp::verify() {
  auto result = tensorOf(getResult());
  if (result.getRank() != 2 || !isOfRows(result) || result.getDimSize(1) != 1)
    return refuse(*this, "[ids, 1]");
  return verifyLike(*this);
}

//===----------------------------------------------------------------------===//
// From rows to rows
//===----------------------------------------------------------------------===//

template <typename OpType> static LogicalResult verifyWithin(OpType op) {
  auto rows = tensorOf(op.getRows());
  if (isOfRows(rows) && op.getType() == rows)
    return success();
  return refuse(op, "one type [ids, ...]");
}

LogicalResult SegmentSoftmaxOp::verify() { return verifyWithin(*this); }
LogicalResult SegmentShiftOp::verify() {
  if (std::abs(static_cast<double>(static_cast<int64_t>(getBy()))) >= 0x1p31)
    return emitOpError() << "shifts by " << static_cast<int64_t>(getBy())
                         << "; bags have less than 2^31 rows (C2)";
  return verifyWithin(*this);
}
LogicalResult SegmentWindowOp::inferReturnTypes(
    MLIRContext *, std::optional<Location> location, Adaptor adaptor,
    SmallVectorImpl<Type> &types) {
  auto first = static_cast<int64_t>(adaptor.getFirst());
  auto last = static_cast<int64_t>(adaptor.getLast());
  constexpr int64_t limit = int64_t(1) << 31;
  if (first > last || first <= -limit || last >= limit || last - first >= 1024)
    return emitOptionalError(
        location, "'nn.segment_window' op takes rows from ", first, " to ",
        last,
        "; expected at most 1024, the first one first, and bags have less than "
        "2^31 (C2)");
  auto rows = dyn_cast<RankedTensorType>(adaptor.getRows().getType());
  if (!rows || rows.getRank() != 2) {
    types.push_back(adaptor.getRows().getType());
    return success();
  }
  types.push_back(RankedTensorType::get(
      {rows.getDimSize(0), rows.getDimSize(1) * (last - first + 1)},
      rows.getElementType()));
  return success();
}

LogicalResult SegmentWindowOp::verify() {
  auto rows = tensorOf(getRows());
  if (isOfRows(rows) && rows.getRank() == 2)
    return success();
  return refuse(*this, "[ids, width] to [ids, (last - first + 1) * width]");
}
LogicalResult SegmentReverseOp::verify() { return verifyWithin(*this); }

//===----------------------------------------------------------------------===//
// Bags of several fields
//===----------------------------------------------------------------------===//

Value SameBagsOp::getRowsOfOperand(OpOperand &) { return {}; }

Value SameBagsOp::getRowsOfResult() { return getLike(); }
