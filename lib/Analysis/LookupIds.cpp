//===- LookupIds.cpp - Checks of ids of lookups ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Analysis/LookupIds.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace pdlc;

/// Returns the number of ids per sample of one input.
static int64_t idsOfInput(Value ids) {
  auto type = cast<RankedTensorType>(ids.getType());
  int64_t count = 1;
  for (int64_t size : type.getShape().drop_front())
    count *= size;
  if (count > 1)
    return count;
  if (auto argument = dyn_cast<BlockArgument>(ids)) {
    auto program = dyn_cast<nn::ProgramOp>(argument.getOwner()->getParentOp());
    if (!program)
      return 1;
    unsigned position = 0;
    for (nn::FieldOp field : program.getFields()) {
      if (position == argument.getArgNumber())
        return field.getWidth();
      position += field.isRagged() ? 2 : 1;
    }
    return 1;
  }
  if (auto reshape = ids.getDefiningOp<nn::ReshapeOp>())
    return idsOfInput(reshape.getInput());
  if (auto arithmetic = ids.getDefiningOp<nn::IdArithmeticOp>())
    return idsOfInput(arithmetic.getInput());
  if (auto cross = ids.getDefiningOp<nn::CrossBagsOp>())
    return idsOfInput(cross.getBags().front().ids);
  return 1;
}

int64_t pdlc::idsPerSample(nn::PullOp pull) {
  int64_t count = 0;
  if (auto unique = pull.getKeys().getDefiningOp<nn::UniqueOp>())
    for (Value input : unique.getIds())
      count += idsOfInput(input);
  return count;
}

/// Returns true if the number of these ids is known before a step is prepared.
static bool areOfField(Value ids) {
  while (Operation *op = ids.getDefiningOp()) {
    // These two ops keep the bags of their input, and with them the number of
    // ids.
    if (!isa<nn::SameBagsOp, nn::IdArithmeticOp>(op))
      return false;
    ids = op->getOperand(0);
  }
  return true;
}

/// Reports an op that makes rows of bags whose number of ids is known too late.
static LogicalResult verifyOfField(Operation *op, Value bags) {
  if (areOfField(bags))
    return success();
  return op->emitOpError(
      "makes rows of bags of ids that the program makes, whose number is known "
      "only while a step is prepared; name those of a field (C3)");
}

LogicalResult pdlc::verifyCountedRows(BagsOpInterface op) {
  auto rows = cast<RowsOpInterface>(op.getOperation());
  if (!rows.getRowsOfResult())
    return success();
  // If an operand already has rows, their number is known.
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()) &&
        rows.getRowsOfOperand(operand))
      return success();
  return verifyOfField(op, op.getBagsOperand());
}

LogicalResult pdlc::verifyCountedRows(nn::CastOp op) {
  if (!op.leadsToOtherRows())
    return success();
  return verifyOfField(op, op.getInput());
}

/// Checks an op that looks up rows by `ids`. `verb` describes the op in the
/// error message.
static LogicalResult verifyFromFields(Operation *lookup, Value ids,
                                      StringRef verb) {
  SetVector<Value> slice;
  slice.insert(ids);
  for (size_t i = 0; i < slice.size(); ++i) {
    Operation *op = slice[i].getDefiningOp();
    if (!op)
      continue;
    if (op->hasTrait<ReadsModel>()) {
      InFlightDiagnostic diagnostic =
          lookup->emitOpError()
          << verb
          << " ids that depend on values of the model; they derive from fields "
             "and constants alone, so that they are known before a step begins "
             "(C3)";
      diagnostic.attachNote(op->getLoc()) << "the ids depend on this";
      return diagnostic;
    }
    slice.insert(op->operand_begin(), op->operand_end());
  }
  return success();
}

LogicalResult pdlc::verifyIdsFromFields(nn::CountOp count) {
  return verifyFromFields(count, count.getIds(), "counts");
}

LogicalResult pdlc::verifyIdsFromFields(nn::LookupOp lookup) {
  if (failed(verifyFromFields(lookup, lookup.getIds(), "looks up")))
    return failure();
  if (lookup.getPooling() && !lookup.getWeights())
    return success();
  if (areOfField(lookup.getIds()))
    return success();
  return lookup.emitOpError(
      "looks up ids one by one that the program makes, whose number is known "
      "only while a step is prepared; pool them, without weights, or look up "
      "those of a field (C4)");
}
