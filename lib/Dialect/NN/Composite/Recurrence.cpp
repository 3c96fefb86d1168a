//===- Recurrence.cpp - Recurrent cells as scans --------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Composer.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {

/// A scan over the rows of a cell's operand, while its body is built.
template <typename OpType> class Cell {
public:
  Cell(ImplicitLocOpBuilder &builder, OpType op, unsigned states)
      : op(op), compose(builder),
        width(tensorOf(op.getResult()).getDimSize(1)) {
    SmallVector<Type> types(states, op.getType());
    scan = ScanOp::create(builder, TypeRange(types), ValueRange(op.getRows()),
                          op.getBags(), op.getInit(), ValueRange(),
                          op.getFromEnd());
    Block &body = scan.getBody().emplaceBlock();
    input = body.addArgument(op.getRows().getType(), op.getLoc());
    for (Type type : types)
      before.push_back(body.addArgument(type, op.getLoc()));
    builder.setInsertionPointToEnd(&body);
    fromState =
        LinearOp::create(builder, op.getRows().getType(), before.front(),
                         op.getWeightAttr(), op.getBiasAttr(), StringAttr());
  }

  /// Returns the columns of a gate.
  Value gate(Value rows, int64_t number) {
    return SliceOp::create(compose.builder, rows, /*axis=*/1, number * width,
                           width);
  }
  /// Returns the sum of the contributions of the input and the state to a gate.
  Value sum(int64_t number) {
    return compose.add(gate(input, number), gate(fromState, number));
  }

  /// Ends the body and returns the rows of the first state.
  Value finish(ValueRange after) {
    YieldOp::create(compose.builder, after);
    compose.builder.setInsertionPointAfter(scan);
    return scan.getResult(0);
  }

  OpType op;
  Composer compose;
  int64_t width;
  ScanOp scan;
  Value input, fromState;
  SmallVector<Value> before;
};

} // namespace

Value GRUOp::spellOut(ImplicitLocOpBuilder &builder) {
  Cell cell(builder, *this, /*states=*/1);
  Composer &compose = cell.compose;
  Value before = cell.before.front();
  Value reset = compose.apply<SigmoidOp>(cell.sum(0));
  Value update = compose.apply<SigmoidOp>(cell.sum(1));
  Value candidate = compose.apply<TanhOp>(
      compose.add(cell.gate(cell.input, 2),
                  compose.mul(reset, cell.gate(cell.fromState, 2))));
  return cell.finish(compose.add(
      candidate, compose.mul(update, compose.sub(before, candidate))));
}

Value LSTMOp::spellOut(ImplicitLocOpBuilder &builder) {
  Cell cell(builder, *this, /*states=*/2);
  Composer &compose = cell.compose;
  Value input = compose.apply<SigmoidOp>(cell.sum(0));
  Value forget = compose.apply<SigmoidOp>(cell.sum(1));
  Value candidate = compose.apply<TanhOp>(cell.sum(2));
  Value output = compose.apply<SigmoidOp>(cell.sum(3));
  Value after = compose.add(compose.mul(forget, cell.before[1]),
                            compose.mul(input, candidate));
  return cell.finish(
      {compose.mul(output, compose.apply<TanhOp>(after)), after});
}
