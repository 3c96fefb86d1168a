//===- VectorizeRows.cpp - Vectorize short rows ---------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace pdlc {
#define GEN_PASS_DEF_RTVECTORIZEROWS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

/// Maximum length of the rows that this pass vectorizes. LLVM's own vectorizer
/// handles longer rows well.
static constexpr int64_t kLongestRow = 64;
/// Maximum number of lanes of a vector. If the registers of the CPU are
/// smaller, LLVM splits the vector.
static constexpr int64_t kMaxLanes = 16;

namespace {

/// A parallel loop over the elements of a row, inside a parallel loop over
/// rows. Both loops reduce one value of each element to the maximum.
class RowLoop {
public:
  explicit RowLoop(scf::ParallelOp elements) : elements(elements) {}
  bool match();
  void vectorize();

private:
  /// Elements of the row that become one vector.
  struct Piece {
    int64_t begin, lanes;
  };
  bool matchElement(Operation &op);
  bool isAddress(Value value);
  SmallVector<Piece> pieces() const;
  Type typeFor(Type element, int64_t lanes) const;
  /// Creates vector ops that compute `piece`, before the loop over elements.
  /// Returns a vector of the values to be reduced, with one lane for each
  /// element.
  Value buildPiece(OpBuilder &builder, const Piece &piece);
  Value broadcast(Value scalar, int64_t lanes);
  Value joinLanes(OpBuilder &builder, Value largest);
  void replaceRows(const llvm::MapVector<int64_t, Value> &largest);

  scf::ParallelOp elements, rows;
  Value given; // Value of one element.
  int64_t width = 0;
  DenseMap<std::pair<Value, int64_t>, Value> broadcasts;
};

} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// If the loop has one dimension and reduces only a maximum, sets `start` to
/// its initial value and returns the value that is reduced. Otherwise returns
/// null.
static Value maximized(scf::ParallelOp loop, Attribute &start) {
  if (loop.getNumLoops() != 1 || loop.getNumReductions() != 1 ||
      !matchPattern(loop.getInitVals().front(), m_Constant(&start)))
    return {};
  auto reduce = cast<scf::ReduceOp>(loop.getBody()->getTerminator());
  Block &combiner = reduce.getReductions().front().front();
  auto max = dyn_cast<arith::MaxSIOp>(combiner.front());
  if (!max || max->getNextNode() != combiner.getTerminator() ||
      combiner.getTerminator()->getOperand(0) != max.getResult() ||
      !llvm::is_contained(max.getOperands(), combiner.getArgument(0)) ||
      !llvm::is_contained(max.getOperands(), combiner.getArgument(1)))
    return {};
  return reduce.getOperands().front();
}

/// Returns true if `value` is the address of the element that the current
/// iteration of the loop over elements processes.
bool RowLoop::isAddress(Value value) {
  auto address = value.getDefiningOp<LLVM::GEPOp>();
  if (!address || address->getBlock() != elements.getBody() ||
      address.getIndices().size() != 1 ||
      address.getDynamicIndices().size() != 1 ||
      !elements.isDefinedOutsideOfLoop(address.getBase()))
    return false;
  auto index =
      address.getDynamicIndices().front().getDefiningOp<arith::IndexCastOp>();
  return index && index.getIn() == elements.getInductionVars().front();
}

bool RowLoop::matchElement(Operation &op) {
  if (auto load = dyn_cast<LLVM::LoadOp>(op))
    return isAddress(load.getAddr()) && !load.getVolatile_() &&
           load.getOrdering() == LLVM::AtomicOrdering::not_atomic &&
           load.getAddr().getDefiningOp<LLVM::GEPOp>().getElemType() ==
               load.getType();
  if (auto store = dyn_cast<LLVM::StoreOp>(op))
    return isAddress(store.getAddr()) && !store.getVolatile_() &&
           store.getOrdering() == LLVM::AtomicOrdering::not_atomic &&
           store.getAddr().getDefiningOp<LLVM::GEPOp>().getElemType() ==
               store.getValue().getType();
  if (auto address = dyn_cast<LLVM::GEPOp>(op))
    return isAddress(address) &&
           llvm::all_of(address->getUsers(), [](Operation *user) {
             return isa<LLVM::LoadOp, LLVM::StoreOp>(user);
           });
  if (auto index = dyn_cast<arith::IndexCastOp>(op))
    return llvm::all_of(index->getUsers(),
                        [](Operation *user) { return isa<LLVM::GEPOp>(user); });
  if (isa<arith::ConstantOp>(op))
    return true;
  return OpTrait::hasElementwiseMappableTraits(&op) &&
         isMemoryEffectFree(&op) && op.getNumRegions() == 0 &&
         llvm::none_of(op.getOperands(), [&](Value operand) {
           return operand == elements.getInductionVars().front();
         });
}

bool RowLoop::match() {
  rows = dyn_cast<scf::ParallelOp>(elements->getParentOp());
  Attribute start, startOfRows;
  given = maximized(elements, start);
  APInt lower, upper, step;
  if (!rows || !given ||
      maximized(rows, startOfRows) != elements.getResult(0) ||
      start != startOfRows || !elements->hasOneUse() ||
      !matchPattern(elements.getLowerBound().front(), m_ConstantInt(&lower)) ||
      !matchPattern(elements.getUpperBound().front(), m_ConstantInt(&upper)) ||
      !matchPattern(elements.getStep().front(), m_ConstantInt(&step)) ||
      !lower.isZero() || !step.isOne() || upper.slt(1) ||
      upper.sgt(kLongestRow))
    return false;
  width = upper.getSExtValue();
  return elements.getBody() == given.getParentBlock() &&
         llvm::all_of(elements.getBody()->without_terminator(),
                      [&](Operation &op) { return matchElement(op); });
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

/// Splits the row into powers of two, so that no lane needs a mask.
SmallVector<RowLoop::Piece> RowLoop::pieces() const {
  SmallVector<Piece> pieces;
  int64_t begin = 0;
  for (int64_t lanes = kMaxLanes; lanes > 0; lanes /= 2)
    for (; width - begin >= lanes; begin += lanes)
      pieces.push_back({begin, lanes});
  return pieces;
}

Type RowLoop::typeFor(Type element, int64_t lanes) const {
  return lanes == 1 ? element : VectorType::get({lanes}, element);
}

/// Returns a vector with `scalar` in each lane. Creates it before the loop over
/// rows if `scalar` is available there.
Value RowLoop::broadcast(Value scalar, int64_t lanes) {
  if (lanes == 1)
    return scalar;
  Value &known = broadcasts[{scalar, lanes}];
  if (known)
    return known;
  OpBuilder builder(rows.isDefinedOutsideOfLoop(scalar) ? rows : elements);
  Location loc = elements.getLoc();
  Type type = typeFor(scalar.getType(), lanes);
  if (Attribute constant; matchPattern(scalar, m_Constant(&constant)))
    return known = arith::ConstantOp::create(
               builder, loc,
               DenseElementsAttr::get(cast<ShapedType>(type), constant));
  Value none = LLVM::PoisonOp::create(builder, loc, type);
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                        builder.getI32IntegerAttr(0));
  Value first =
      LLVM::InsertElementOp::create(builder, loc, type, none, scalar, zero);
  return known = LLVM::ShuffleVectorOp::create(builder, loc, first, none,
                                               SmallVector<int32_t>(lanes, 0));
}

Value RowLoop::buildPiece(OpBuilder &builder, const Piece &piece) {
  Location loc = elements.getLoc();
  IRMapping mapping;
  mapping.map(
      elements.getInductionVars().front(),
      arith::ConstantIndexOp::create(builder, loc, piece.begin).getResult());
  DenseSet<Value> vectors;
  auto vectorOf = [&](Value value) {
    return vectors.contains(value)
               ? mapping.lookup(value)
               : broadcast(mapping.lookupOrDefault(value), piece.lanes);
  };
  for (Operation &op : elements.getBody()->without_terminator()) {
    if (isa<LLVM::GEPOp, arith::IndexCastOp>(op)) {
      builder.clone(op, mapping);
      continue;
    }
    OperationState state(op.getLoc(), op.getName());
    for (Value operand : op.getOperands())
      state.addOperands(isa<LLVM::LLVMPointerType>(operand.getType())
                            ? mapping.lookup(operand)
                            : vectorOf(operand));
    for (Type type : op.getResultTypes())
      state.addTypes(typeFor(type, piece.lanes));
    state.attributes = op.getAttrDictionary();
    if (auto constant = dyn_cast<arith::ConstantOp>(op);
        constant && piece.lanes != 1)
      state.attributes.set(
          constant.getValueAttrName(),
          DenseElementsAttr::get(cast<ShapedType>(state.types.front()),
                                 Attribute(constant.getValue())));
    Operation *made = builder.create(state);
    // Rows are aligned like elements, not like vectors.
    auto alignment = [](Type type) {
      return static_cast<uint64_t>(type.getIntOrFloatBitWidth() / 8);
    };
    if (auto load = dyn_cast<LLVM::LoadOp>(made))
      load.setAlignment(alignment(op.getResult(0).getType()));
    if (auto store = dyn_cast<LLVM::StoreOp>(made))
      store.setAlignment(
          alignment(cast<LLVM::StoreOp>(op).getValue().getType()));
    mapping.map(op.getResults(), made->getResults());
    vectors.insert(op.getResults().begin(), op.getResults().end());
  }
  return vectorOf(given);
}

Value RowLoop::joinLanes(OpBuilder &builder, Value largest) {
  Location loc = rows.getLoc();
  auto type = dyn_cast<VectorType>(largest.getType());
  if (!type)
    return largest;
  Value joined;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
    Value number = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                            builder.getI32IntegerAttr(lane));
    Value one = LLVM::ExtractElementOp::create(builder, loc, largest, number);
    joined = joined ? arith::MaxSIOp::create(builder, loc, joined, one) : one;
  }
  return joined;
}

/// Replaces the loop over rows by one that carries the maximum of each lane.
void RowLoop::replaceRows(const llvm::MapVector<int64_t, Value> &largest) {
  Location loc = rows.getLoc();
  OpBuilder builder(rows);
  SmallVector<Value> starts, given;
  for (auto [lanes, value] : largest) {
    starts.push_back(broadcast(rows.getInitVals().front(), lanes));
    given.push_back(value);
  }
  auto made =
      scf::ParallelOp::create(builder, loc, rows.getLowerBound(),
                              rows.getUpperBound(), rows.getStep(), starts);
  rows.getBody()->getTerminator()->erase();
  elements.erase();
  Block *body = made.getBody();
  body->getOperations().splice(body->end(), rows.getBody()->getOperations());
  rows.getInductionVars().front().replaceAllUsesWith(
      made.getInductionVars().front());
  builder.setInsertionPointToEnd(body);
  auto reduce = scf::ReduceOp::create(builder, loc, given);
  for (Region &region : reduce.getReductions()) {
    Block &combiner = region.front();
    builder.setInsertionPointToStart(&combiner);
    scf::ReduceReturnOp::create(
        builder, loc,
        arith::MaxSIOp::create(builder, loc, combiner.getArgument(0),
                               combiner.getArgument(1)));
  }
  builder.setInsertionPointAfter(made);
  Value joined;
  for (Value result : made.getResults()) {
    Value ofLanes = joinLanes(builder, result);
    joined = joined ? arith::MaxSIOp::create(builder, loc, joined, ofLanes)
                    : ofLanes;
  }
  rows.getResult(0).replaceAllUsesWith(joined);
  rows.erase();
}

void RowLoop::vectorize() {
  OpBuilder builder(elements);
  llvm::MapVector<int64_t, Value> largest; // By number of lanes.
  for (const Piece &piece : pieces()) {
    Value next = buildPiece(builder, piece);
    Value &known = largest[piece.lanes];
    known =
        known ? arith::MaxSIOp::create(builder, elements.getLoc(), known, next)
              : next;
  }
  replaceRows(largest);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct VectorizeRows : pdlc::impl::RTVectorizeRowsBase<VectorizeRows> {
  void runOnOperation() override;
};
} // namespace

void VectorizeRows::runOnOperation() {
  SmallVector<RowLoop> loops;
  getOperation().walk([&](scf::ParallelOp loop) {
    if (RowLoop row(loop); row.match())
      loops.push_back(row);
  });
  for (RowLoop &row : loops)
    row.vectorize();
  reportStatistic(*this, getOperation(), numRows, "rows", loops.size());
}
