//===- RowSpaces.cpp - Meaning of first dimensions ------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowSpaces.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {

/// Determines, for each tensor of a program, whether its rows are samples, or
/// the ids of a ragged value. Null stands for samples.
class RowSpaces {
public:
  LogicalResult verify(ProgramOp program);

  RowsOfBags rowsOf;

private:
  LogicalResult verify(Operation &op);
  LogicalResult refuse(Operation &op, OpOperand &operand, Value expected,
                       Value found);

  /// Returns the ragged value that defines the bags of `ragged`: `ragged`
  /// itself, or another one if an op such as `nn.same_bags` has joined the two.
  Value find(Value ragged) const {
    if (!ragged)
      return {};
    Value like = rowsOf.lookup(ragged);
    return like ? like : ragged;
  }
};

} // namespace

static bool hasDynamicRows(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && type.isDynamicDim(0);
}

LogicalResult RowSpaces::refuse(Operation &op, OpOperand &operand,
                                Value expected, Value found) {
  auto describe = [](Value rows) { return rows ? "ids of bags" : "samples"; };
  InFlightDiagnostic diagnostic = op.emitOpError()
                                  << "takes, as operand #"
                                  << operand.getOperandNumber() << ", ";
  if (expected && found)
    diagnostic << "rows of other bags than the rest; nn.same_bags says of "
                  "two fields that they describe the same positions";
  else
    diagnostic << "a tensor that counts " << describe(found)
               << " where it counts " << describe(expected)
               << "; nn.segment_repeat leads from samples to the rows of their "
                  "bags, nn.segment_sum and others back";
  for (Value rows : {expected, found})
    if (rows)
      diagnostic.attachNote(rows.getLoc()) << "the bags are these";
  return diagnostic;
}

LogicalResult RowSpaces::verify(Operation &op) {
  auto special = dyn_cast<RowsOpInterface>(op);
  if (special && !special.leadsToOtherRows())
    special = {};
  std::optional<Value> common;
  // An op without results, such as a loss or an output, works on samples.
  if (op.getNumResults() == 0)
    common = Value();
  for (OpOperand &operand : op.getOpOperands()) {
    // The bags themselves belong to samples, whatever their rows belong to.
    const bool isRagged = isa<RaggedType>(operand.get().getType());
    if (isRagged ? special != nullptr : !hasDynamicRows(operand.get()))
      continue;
    Value found = isRagged ? Value() : rowsOf.lookup(operand.get());
    Value expected = special  ? find(special.getRowsOfOperand(operand))
                     : common ? *common
                              : found;
    if (found != expected)
      return refuse(op, operand, expected, found);
    common = found;
  }
  Value ofResults =
      special ? find(special.getRowsOfResult()) : common.value_or(Value());
  for (Value result : op.getResults())
    if (ofResults && (hasDynamicRows(result) ||
                      (special && isa<RaggedType>(result.getType()))))
      rowsOf[result] = ofResults;
  return success();
}

LogicalResult RowSpaces::verify(ProgramOp program) {
  for (Operation &op : program.getBody().front())
    if (failed(verify(op)))
      return failure();
  return success();
}

FailureOr<RowsOfBags> pdlc::verifyRowSpaces(ProgramOp program) {
  RowSpaces spaces;
  if (failed(spaces.verify(program)))
    return failure();
  return std::move(spaces.rowsOf);
}
