//===- NNScanOp.cpp - Recurrence over the rows of bags --------------------===//
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

ArrayRef<BlockArgument> ScanOp::getInputArguments() {
  return ArrayRef<BlockArgument>(getBody().getArguments())
      .take_front(getInputs().size());
}

ArrayRef<BlockArgument> ScanOp::getStateArguments() {
  return ArrayRef<BlockArgument>(getBody().getArguments())
      .drop_front(getInputs().size())
      .drop_back(getShared().size());
}

ArrayRef<BlockArgument> ScanOp::getSharedArguments() {
  return ArrayRef<BlockArgument>(getBody().getArguments())
      .take_back(getShared().size());
}

OperandRange ScanOp::getYielded() {
  return getBody().front().getTerminator()->getOperands();
}

static bool isOfRows(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() >= 2 && tensor.isDynamicDim(0);
}

/// Reports an error if an initial state is not [b, slots, ...] for a state of
/// type [?, ...]. `number` is the constraint that the error cites.
static LogicalResult verifyFirstStates(Operation *op, ValueRange init,
                                       TypeRange states, Value bags,
                                       unsigned number) {
  if (init.empty())
    return success();
  if (init.size() != states.size())
    return op->emitOpError()
           << "has " << init.size() << " tensors of `init` and "
           << states.size() << " states; expected one for each (C" << number
           << ")";
  auto ragged = dyn_cast<RaggedType>(bags.getType());
  for (auto [each, type] : llvm::zip_equal(init, states)) {
    auto found = tensorOf(each);
    auto state = cast<RankedTensorType>(type);
    // If the bags are splits, only this tensor determines the number of slots.
    const int64_t slots = ragged                ? ragged.getSlots()
                          : found.getRank() < 2 ? 1
                                                : found.getDimSize(1);
    SmallVector<int64_t> shape{ShapedType::kDynamic, slots};
    llvm::append_range(shape, state.getShape().drop_front());
    auto expected = RankedTensorType::get(shape, state.getElementType());
    if (found != expected)
      return op->emitOpError() << "begins with " << found << " for a state "
                               << state << "; expected " << expected
                               << ", which nn.segment_last gives, and "
                                  "nn.reshape of one tensor a sample (C"
                               << number << ")";
  }
  return success();
}

LogicalResult ScanOp::verify() {
  if (getInputs().empty())
    return emitOpError("needs an input: its rows are what the body goes over "
                       "(C1)");
  for (Value input : getInputs())
    if (!isOfRows(input.getType()))
      return emitOpError() << "takes rows " << input.getType()
                           << "; expected [ids, ...] (C1)";
  for (Value shared : getShared())
    if (!tensorOf(shared).hasStaticShape())
      return emitOpError() << "hands " << shared.getType()
                           << " to each row as it is; rows are inputs, which "
                              "stand before `of` (C1)";
  if (getBody().getNumArguments() < getInputs().size() + getShared().size())
    return emitOpError() << "has a body with " << getBody().getNumArguments()
                         << " arguments; expected a row of each of "
                         << getInputs().size() << " inputs, the states, and "
                         << getShared().size() << " tensors of `with` (C2)";
  auto verifyArguments = [&](ArrayRef<BlockArgument> arguments,
                             OperandRange operands) -> LogicalResult {
    for (auto [argument, operand] : llvm::zip_equal(arguments, operands))
      if (argument.getType() != operand.getType())
        return emitOpError() << "has a body that takes " << argument.getType()
                             << " as argument #" << argument.getArgNumber()
                             << "; expected " << operand.getType() << " (C2)";
    return success();
  };
  if (failed(verifyArguments(getInputArguments(), getInputs())) ||
      failed(verifyArguments(getSharedArguments(), getShared())))
    return failure();
  for (BlockArgument state : getStateArguments())
    if (!isOfRows(state.getType()))
      return emitOpError() << "has a state " << state.getType()
                           << "; expected a row [?, ...] (C2)";
  if (failed(verifyFirstStates(*this, getInit(),
                               ValueRange(getStateArguments()).getTypes(),
                               getBags(), /*number=*/6)))
    return failure();
  return verifyCaptures(getBody(), "scan", [](Value value) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return tensor && !tensor.hasStaticShape()
               ? "make it an input of the scan, in front of `of`, if it has "
                 "the rows of its bags"
               : "hand it to the body by `with (...)`";
  });
}

LogicalResult ScanOp::inferReturnTypes(MLIRContext *,
                                       std::optional<Location> location,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return inferFromBody(location, getOperationName(), adaptor.getBody(), types);
}

LogicalResult ScanOp::verifyRegions() {
  // The inference of the result types has ensured that there is a yield.
  auto yield = cast<YieldOp>(getBody().front().getTerminator());
  if (getNumResults() < getStateArguments().size())
    return yield.emitOpError()
           << "yields " << getNumResults() << " values of a scan with "
           << getStateArguments().size()
           << " states; expected one for each state, then others (C3)";
  for (auto [state, after] : llvm::zip(getStateArguments(), getYielded()))
    if (state.getType() != after.getType())
      return yield.emitOpError()
             << "yields " << after.getType() << " for a state "
             << state.getType() << " (C3)";
  for (Type type : getResultTypes())
    if (!isOfRows(type))
      return yield.emitOpError()
             << "yields " << type << "; expected a row [?, ...] (C3)";
  // Users may not join or split the dimensions of a row in a body. Passes may,
  // so this is allowed after phase `model`.
  const bool isOfModel = isInPhaseModel(*this);
  return verifyBodyComputes(
      getBody(), "scan", [&](Operation &op) -> std::string {
        // The loop over rows becomes one kernel without branches.
        if (isa<BodyOpInterface>(op))
          return "has bodies of its own";
        if (op.hasTrait<MeasuresLoss>())
          return "measures the loss of a sample";
        auto mixing = dyn_cast<SampleMixingOpInterface>(op);
        return mixing && isOfModel ? mixing.mixesSamples().value_or("") : "";
      });
}

Value ScanOp::share(Block &body, Value value) {
  for (auto [argument, shared] :
       llvm::zip_equal(getSharedArguments(), getShared()))
    if (shared == value)
      return argument;
  getSharedMutable().append(value);
  return body.addArgument(value.getType(), value.getLoc());
}

Value ScanOp::getCounted(BlockArgument) { return {}; }

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

/// Returns the type of a cell's result: [ids, n] for an input of type [ids,
/// gates * n]. For an input of another type, returns a type that the verifier
/// then rejects.
static Type cellType(Value rows, int64_t gates) {
  auto type = dyn_cast<RankedTensorType>(rows.getType());
  if (!type || type.getRank() != 2)
    return rows.getType();
  return RankedTensorType::get(
      {type.getDimSize(0), std::max<int64_t>(type.getDimSize(1) / gates, 1)},
      type.getElementType());
}

LogicalResult GRUOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                      Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  types.push_back(cellType(adaptor.getRows(), 3));
  return success();
}

LogicalResult LSTMOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  types.push_back(cellType(adaptor.getRows(), 4));
  return success();
}

template <typename OpType>
static LogicalResult verifyCell(OpType op, int64_t gates, unsigned states) {
  auto rows = tensorOf(op.getRows()), result = tensorOf(op.getResult());
  if (isOfRows(rows) && isOfRows(result) && rows.getRank() == 2 &&
      result.getRank() == 2 &&
      rows.getDimSize(1) == gates * result.getDimSize(1) &&
      rows.getElementType() == result.getElementType())
    return verifyFirstStates(op, op.getInit(),
                             SmallVector<Type>(states, result), op.getBags(),
                             /*number=*/2);
  return op.emitOpError() << "makes " << rows << " to " << result
                          << "; expected [ids, " << gates
                          << " n] to [ids, n] (C1)";
}

template <typename OpType>
static LogicalResult verifyCellSymbols(OpType op, int64_t gates,
                                       SymbolTableCollection &symbols) {
  auto result = tensorOf(op.getResult());
  const int64_t width = result.getDimSize(1);
  Type element = result.getElementType();
  auto verifySymbol = [&](FlatSymbolRefAttr symbol,
                          ArrayRef<int64_t> shape) -> LogicalResult {
    auto expected = RankedTensorType::get(shape, element);
    RankedTensorType found = denseSymbolType(op, symbols, symbol);
    if (!found)
      return op.emitOpError()
             << "names " << symbol
             << ", which is neither nn.param nor nn.state (C1)";
    if (found != expected)
      return op.emitOpError()
             << "names " << symbol << " of type " << found << "; expected "
             << expected << castRemedy(found, expected) << " (C1)";
    return success();
  };
  if (failed(verifySymbol(op.getWeightAttr(), {width, gates * width})))
    return failure();
  return op.getBiasAttr() ? verifySymbol(op.getBiasAttr(), {gates * width})
                          : success();
}

LogicalResult GRUOp::verify() { return verifyCell(*this, 3, 1); }
LogicalResult LSTMOp::verify() { return verifyCell(*this, 4, 2); }

LogicalResult GRUOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCellSymbols(*this, 3, symbols);
}
LogicalResult LSTMOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyCellSymbols(*this, 4, symbols);
}
