//===- ShapeOps.cpp - Moves of elements and reductions --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopElements.h"
#include "RowLoops.h"
#include "StageOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace pdlc;

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

//===----------------------------------------------------------------------===//
// Copies along one axis
//===----------------------------------------------------------------------===//

namespace {

/// A tensor viewed as a matrix of `outer` rows of `inner` elements. A row
/// consists of all elements along an axis and the dimensions after it.
struct Blocks {
  Extent outer;
  int64_t inner;
};

} // namespace

static Blocks blocksAt(StageEmitter &emitter, Value tensor, int64_t axis) {
  ArrayRef<int64_t> shape = typeOf(tensor).getShape();
  Blocks blocks{Extent(), 1};
  blocks.outer.constant = 1;
  if (axis > 0)
    blocks.outer = emitter.sizes.first(tensor);
  for (int64_t i = 1; i < axis; ++i)
    blocks.outer = blocks.outer.scaled(shape[i]);
  for (size_t i = axis; i < shape.size(); ++i)
    blocks.inner *= shape[i];
  return blocks;
}

/// Sets `columns` to the columns of `whole` that contain the elements of
/// `part`, which begin at index `offset` of `axis`. Returns false if a size
/// along the axis is dynamic.
static bool findBlock(Value part, Value whole, int64_t axis, int64_t offset,
                      Columns &columns) {
  ArrayRef<int64_t> rows = typeOf(whole).getShape().drop_front(axis);
  if (rows.empty() || ShapedType::isDynamic(rows.front()) ||
      ShapedType::isDynamic(typeOf(part).getDimSize(axis)))
    return false;
  int64_t unit = 1;
  for (int64_t size : rows.drop_front())
    unit *= size;
  columns.offset = offset * unit;
  columns.run = typeOf(part).getDimSize(axis) * unit;
  columns.row = rows.front() * unit;
  return true;
}

/// Returns true if an op that processes the tensor as `Blocks` at `axis` can
/// handle a gap after each `run` elements of it.
static bool areBlocks(Value tensor, int64_t axis, int64_t run) {
  ArrayRef<int64_t> shape = typeOf(tensor).getShape();
  return runDimension(shape.drop_front(axis), run) == 0 ||
         runDimension(shape, run) == 0;
}

static Value viewBlocks(StageEmitter &emitter, Value tensor,
                        const Blocks &blocks) {
  return emitter.view(tensor, blocks.outer, {blocks.inner});
}

static Value shifted(StageEmitter &emitter, Value column, int64_t offset) {
  if (!offset)
    return column;
  return arith::AddIOp::create(emitter.builder, column, emitter.index(offset));
}

/// Emits parallel iterations over `count` columns.
static void forColumns(StageEmitter &emitter, int64_t count,
                       function_ref<void(Value)> body) {
  if (count == 1)
    body(emitter.index(0));
  else if (count > 1)
    emitter.parallel(emitter.index(count),
                     [&](ValueRange column) { body(column.front()); });
}

/// Emits to[row, toOffset + j] = from[row, fromOffset + j] for j in [0, count).
static void copyRow(StageEmitter &emitter, Value from, int64_t fromOffset,
                    Value to, int64_t toOffset, int64_t count, Value row) {
  forColumns(emitter, count, [&](Value column) {
    Value element =
        emitter.load(from, {row, shifted(emitter, column, fromOffset)});
    emitter.store(element, to, {row, shifted(emitter, column, toOffset)});
  });
}

static void emitConcat(StageEmitter &emitter, nn::ConcatOp op) {
  int64_t axis = op.getAxis();
  Blocks blocks = blocksAt(emitter, op.getResult(), axis);
  Value to = viewBlocks(emitter, op.getResult(), blocks);
  SmallVector<std::pair<Value, int64_t>> inputs;
  for (OpOperand &input : op->getOpOperands()) {
    Blocks from = blocksAt(emitter, input.get(), axis);
    Value memory;
    if (!emitter.plan.isInPlace(input))
      memory = viewBlocks(emitter, input.get(), from);
    inputs.emplace_back(memory, from.inner);
  }
  if (llvm::none_of(inputs, [](const auto &input) { return input.first; }))
    return;
  emitter.parallel(emitter.evaluate(blocks.outer), [&](ValueRange row) {
    int64_t offset = 0;
    for (auto [from, inner] : inputs) {
      if (from)
        copyRow(emitter, from, 0, to, offset, inner, row.front());
      offset += inner;
    }
  });
}

static void emitSlice(StageEmitter &emitter, nn::SliceOp op) {
  int64_t axis = op.getAxis();
  Blocks input = blocksAt(emitter, op.getInput(), axis);
  Blocks output = blocksAt(emitter, op.getResult(), axis);
  int64_t unit = output.inner / static_cast<int64_t>(op.getSize());
  Value from = viewBlocks(emitter, op.getInput(), input);
  Value to = viewBlocks(emitter, op.getResult(), output);
  SmallVector<Value> bounds{emitter.evaluate(output.outer)};
  if (output.inner != 1)
    bounds.push_back(emitter.index(output.inner));
  emitter.parallel(bounds, [&](ValueRange position) {
    Value row = position.front();
    Value column = output.inner != 1 ? position[1] : emitter.index(0);
    Value source = shifted(emitter, column, op.getOffset() * unit);
    emitter.store(emitter.load(from, {row, source}), to, {row, column});
  });
}

static void emitPad(StageEmitter &emitter, nn::PadOp op) {
  int64_t axis = op.getAxis();
  Blocks input = blocksAt(emitter, op.getInput(), axis);
  Blocks output = blocksAt(emitter, op.getResult(), axis);
  int64_t unit = output.inner / typeOf(op.getResult()).getDimSize(axis);
  Value from;
  if (!emitter.plan.isInPlace(op.getInputMutable()))
    from = viewBlocks(emitter, op.getInput(), input);
  Value to = viewBlocks(emitter, op.getResult(), output);
  Value zero = emitter.scalar(typeOf(op.getResult()).getElementType(), 0);
  int64_t low = op.getLow() * unit;
  int64_t high = low + input.inner;
  // The parallel loops inside an iteration write different elements, so their
  // order does not matter either.
  emitter.parallel(emitter.evaluate(output.outer), [&](ValueRange position) {
    Value row = position.front();
    auto fill = [&](int64_t begin, int64_t end) {
      forColumns(emitter, end - begin, [&](Value column) {
        emitter.store(zero, to, {row, shifted(emitter, column, begin)});
      });
    };
    fill(0, low);
    if (from)
      copyRow(emitter, from, 0, to, low, input.inner, row);
    fill(high, output.inner);
  });
}

//===----------------------------------------------------------------------===//
// Permutations of elements
//===----------------------------------------------------------------------===//

static void emitTranspose(StageEmitter &emitter, nn::TransposeOp op) {
  Value from = emitter.view(op.getInput()), to = emitter.view(op.getResult());
  RankedTensorType type = typeOf(op.getResult());
  SmallVector<Value> bounds{
      emitter.evaluate(emitter.sizes.first(op.getResult()))};
  for (int64_t size : type.getShape().drop_front())
    bounds.push_back(emitter.index(size));
  emitter.parallel(bounds, [&](ValueRange position) {
    SmallVector<Value> source(position.size());
    for (auto [index, axis] : llvm::zip(position, op.getPermutation()))
      source[axis] = index;
    emitter.store(emitter.load(from, source), to, position);
  });
}

static void emitTake(StageEmitter &emitter, nn::TakeOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  int64_t axis = op.getAxis();
  ArrayRef<int64_t> positions = op.getPositions();
  Blocks input = blocksAt(emitter, op.getInput(), axis);
  Blocks output = blocksAt(emitter, op.getResult(), axis);
  const int64_t inner = output.inner / static_cast<int64_t>(positions.size());
  Value from = viewBlocks(emitter, op.getInput(), input);
  Value to = emitter.view(op.getResult(), output.outer,
                          {static_cast<int64_t>(positions.size()), inner});
  Extent count;
  count.constant = static_cast<int64_t>(positions.size());
  auto numbers = DenseElementsAttr::get(
      RankedTensorType::get({count.constant}, builder.getI64Type()), positions);
  Value table = emitter.viewAt(emitter.constant(numbers), emitter.index(0),
                               count, {}, builder.getI64Type());
  const bool hasMissing = llvm::is_contained(positions, -1);
  Value zero;
  if (hasMissing)
    zero = arith::ConstantOp::create(
        builder, builder.getZeroAttr(typeOf(op.getResult()).getElementType()));
  SmallVector<Value> bounds{emitter.evaluate(output.outer),
                            emitter.index(count.constant),
                            emitter.index(inner)};
  emitter.parallel(bounds, [&](ValueRange at) {
    Value position = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                                emitter.load(table, at[1]));
    Value isMissing;
    if (hasMissing) {
      isMissing = arith::CmpIOp::create(builder, arith::CmpIPredicate::slt,
                                        position, emitter.index(0));
      position = arith::MaxSIOp::create(builder, position, emitter.index(0));
    }
    Value column = arith::AddIOp::create(
        builder, arith::MulIOp::create(builder, position, emitter.index(inner)),
        at[2]);
    Value element = emitter.load(from, {at[0], column});
    if (hasMissing)
      element = arith::SelectOp::create(builder, isMissing, zero, element);
    emitter.store(element, to, at);
  });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {

/// Emits a sum or maximum over dimensions. Each element of the result combines
/// its input elements in ascending order. If the batch is divided into chunks,
/// the elements of each chunk are combined first, and then the results of the
/// chunks. Different elements of the result are computed in parallel.
class OrderedReduction {
public:
  OrderedReduction(StageEmitter &emitter, nn::ReduceOp op)
      : emitter(emitter), builder(emitter.builder), op(op),
        element(typeOf(op.getResult()).getElementType()),
        elements(LoopElements::readBy(op, op.getInput(), emitter)) {}
  void emit();

private:
  /// Adjacent dimensions that are joined into one: all of them are reduced, or
  /// all are kept, and no input has a gap between them.
  struct Run {
    Extent extent;
    bool reduced;
  };
  bool isReduced(unsigned axis) {
    return llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis));
  }
  void findRuns();
  Value viewOfResult();
  SmallVector<Value> positionOf(ValueRange kept);
  Value accumulate(Value sum, SmallVector<Value> &position, unsigned depth);
  void accumulateAll(Value to, ArrayRef<Value> kept, Value start);
  void accumulateChunks(Value to, ArrayRef<Value> kept, Value start,
                        int64_t chunks);
  Value combine(Value sum, Value next);
  void divide();

  StageEmitter &emitter;
  ImplicitLocOpBuilder &builder;
  nn::ReduceOp op;
  Type element;
  LoopElements elements;
  SmallVector<Run> runs;
  SmallVector<Value> bounds;
};

} // namespace

/// Returns the number of chunks into which a reduction divides the first
/// dimension; 1 if it does not reduce that dimension. A reduction in the body
/// of a scan is not divided, because it works on one row.
static int64_t chunksOf(nn::ReduceOp op, const ProgramSizes &sizes) {
  const bool isOverBatch = !op.getAxes().empty() && op.getAxes().front() == 0 &&
                           typeOf(op.getInput()).isDynamicDim(0);
  return isOverBatch && !op.reducesRows() && !op->getParentOfType<nn::ScanOp>()
             ? sizes.chunksOfSums()
             : 1;
}

void OrderedReduction::findRuns() {
  const bool joins = !emitter.runOf(op.getResult());
  elements.findDimensions([&](unsigned dimension, unsigned next) {
    return joins && isReduced(dimension) == isReduced(next);
  });
  for (auto [joined, extent] : llvm::enumerate(elements.getExtents()))
    runs.push_back({extent, isReduced(elements.firstOf(joined))});
}

/// Adds, or returns the maximum of a and b: a if a > b or a is NaN, else b.
Value OrderedReduction::combine(Value sum, Value next) {
  if (op.getKind() != nn::Reduction::max)
    return arith::AddFOp::create(builder, sum, next);
  Value larger =
      arith::CmpFOp::create(builder, arith::CmpFPredicate::OGT, sum, next);
  Value isNan =
      arith::CmpFOp::create(builder, arith::CmpFPredicate::UNO, sum, sum);
  Value keeps = arith::OrIOp::create(builder, larger, isNan);
  return arith::SelectOp::create(builder, keeps, sum, next);
}

/// Emits loops over the reduced runs from number `depth` on. They combine the
/// elements with `sum` in ascending order. Returns the result. `position`
/// already holds the indices of the other runs.
Value OrderedReduction::accumulate(Value sum, SmallVector<Value> &position,
                                   unsigned depth) {
  while (depth < runs.size() && !runs[depth].reduced)
    ++depth;
  if (depth < runs.size())
    return emitter.ordered(bounds[depth], sum, [&](Value index, Value sum) {
      position[depth] = index;
      return accumulate(sum, position, depth + 1);
    });
  return combine(sum, elements.computeOne(position));
}

void OrderedReduction::divide() {
  Extent width; // Number of elements that become one.
  width.constant = 1;
  for (auto [axis, size] : llvm::enumerate(typeOf(op.getInput()).getShape()))
    if (isReduced(axis))
      width = ShapedType::isDynamic(size) ? emitter.sizes.first(op.getInput())
                                          : width.scaled(size);
  Value count = emitter.evaluate(width);
  count = arith::IndexCastOp::create(builder, builder.getI64Type(), count);
  Value divisor = arith::SIToFPOp::create(builder, element, count);
  emitter.forElements(op.getResult(), [&](Value sums, ValueRange i) {
    Value sum = emitter.load(sums, i);
    Value mean = arith::DivFOp::create(builder, sum, divisor);
    emitter.store(mean, sums, i);
  });
}

Value OrderedReduction::viewOfResult() {
  std::optional<Extent> first;
  SmallVector<int64_t> rest;
  for (const Run &run : runs) {
    if (run.reduced)
      continue;
    if (!first)
      first = run.extent;
    else
      rest.push_back(run.extent.constant);
  }
  Extent one;
  one.constant = 1;
  return emitter.view(op.getResult(), first.value_or(one), rest);
}

/// Returns the position of an input element, with one index for each run. Sets
/// the indices of kept runs to `kept`, and leaves those of reduced runs null.
SmallVector<Value> OrderedReduction::positionOf(ValueRange kept) {
  SmallVector<Value> position(runs.size());
  for (auto [run, index] : llvm::zip(runs, position))
    if (!run.reduced) {
      index = kept.front();
      kept = kept.drop_front();
    }
  return position;
}

/// Returns the position in memory; 0 if the result has a single element.
static SmallVector<Value> placeOf(StageEmitter &emitter, ValueRange kept) {
  return kept.empty() ? SmallVector<Value>{emitter.index(0)}
                      : SmallVector<Value>(kept);
}

void OrderedReduction::accumulateAll(Value to, ArrayRef<Value> kept,
                                     Value start) {
  emitter.fill(op.getResult(), start);
  emitter.parallel(kept, [&](ValueRange element) {
    SmallVector<Value> position = positionOf(element);
    SmallVector<Value> place = placeOf(emitter, element);
    Value sum = emitter.load(to, place);
    emitter.store(accumulate(sum, position, 0), to, place);
  });
}

/// Emits a reduction in chunks: first computes a partial result for each chunk
/// in scratch memory, then combines these in order. The first run is the batch.
void OrderedReduction::accumulateChunks(Value to, ArrayRef<Value> kept,
                                        Value start, int64_t chunks) {
  Extent count;
  count.constant = chunks;
  SmallVector<int64_t> shape;
  for (const Run &run : runs)
    if (!run.reduced)
      shape.push_back(run.extent.constant);
  Value partials =
      emitter.scratchView(emitter.plan.scratch(op), count, element, shape);
  Value all = bounds.front();
  Value size = arith::DivUIOp::create(
      builder, arith::AddIOp::create(builder, all, emitter.index(chunks - 1)),
      emitter.index(chunks));
  SmallVector<Value> points{emitter.index(chunks)};
  llvm::append_range(points, kept);
  emitter.parallel(points, [&](ValueRange point) {
    SmallVector<Value> position = positionOf(point.drop_front());
    Value begin = arith::MulIOp::create(builder, point.front(), size);
    begin = arith::MinUIOp::create(builder, begin, all);
    Value rest = arith::SubIOp::create(builder, all, begin);
    Value turns = arith::MinUIOp::create(builder, size, rest);
    Value sum = emitter.ordered(turns, start, [&](Value turn, Value sum) {
      position.front() = arith::AddIOp::create(builder, begin, turn);
      return accumulate(sum, position, 1);
    });
    emitter.store(sum, partials, point);
  });
  emitter.parallel(kept, [&](ValueRange element) {
    Value sum =
        emitter.ordered(points.front(), start, [&](Value chunk, Value sum) {
          SmallVector<Value> point{chunk};
          llvm::append_range(point, element);
          return combine(sum, emitter.load(partials, point));
        });
    emitter.store(sum, to, placeOf(emitter, element));
  });
}

void OrderedReduction::emit() {
  findRuns();
  elements.prepare();
  Value to = viewOfResult();
  SmallVector<Value> kept;
  for (const Run &run : runs) {
    bounds.push_back(emitter.evaluate(run.extent));
    if (!run.reduced)
      kept.push_back(bounds.back());
  }
  double start = op.getKind() == nn::Reduction::max
                     ? -std::numeric_limits<double>::infinity()
                     : 0.0;
  Value initial = emitter.scalar(element, start);
  if (const int64_t chunks = chunksOf(op, emitter.sizes); chunks > 1)
    accumulateChunks(to, kept, initial, chunks);
  else
    accumulateAll(to, kept, initial);
  if (op.getKind() == nn::Reduction::mean)
    divide();
}

static void emitReduce(StageEmitter &emitter, nn::ReduceOp op) {
  if (!emitter.plan.rowStepsOf(op).empty())
    return emitRowLoop(op, emitter);
  if (!op.reducesRows())
    return OrderedReduction(emitter, op).emit();
  ArrayRef<int64_t> shape = typeOf(op.getInput()).getShape();
  Extent rows, width;
  rows.constant = width.constant = 1;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    bool reduced = llvm::is_contained(op.getAxes(), static_cast<int64_t>(axis));
    Extent &into = reduced ? width : rows;
    into = ShapedType::isDynamic(size) ? emitter.sizes.first(op.getInput())
                                       : into.scaled(size);
  }
  Value out = emitter.flat(op.getResult());
  auto kind = static_cast<rt::Reduction>(op.getKind());
  rt::ReduceRowsOp::create(emitter.builder, kind, emitter.flat(op.getInput()),
                           emitter.evaluate(rows), emitter.evaluate(width),
                           out);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {

/// Base for ops that process tensors as blocks at an axis.
template <typename Model, typename OpTy, void (*function)(StageEmitter &, OpTy)>
struct AlongAxis : EmittedModel<Model, OpTy, function> {
  bool readsColumns(Operation *op, OpOperand &operand, int64_t run) const {
    return areBlocks(operand.get(), cast<OpTy>(op).getAxis(), run);
  }
  bool writesColumns(Operation *op, OpResult result, int64_t run) const {
    return areBlocks(result, cast<OpTy>(op).getAxis(), run);
  }
};

struct ConcatStage : AlongAxis<ConcatStage, nn::ConcatOp, emitConcat> {
  bool findPlace(Operation *op, OpOperand &operand, Columns &columns) const {
    auto concat = cast<nn::ConcatOp>(op);
    int64_t axis = concat.getAxis(), offset = 0;
    for (Value before :
         concat.getInputs().take_front(operand.getOperandNumber()))
      offset += typeOf(before).getDimSize(axis);
    return findBlock(operand.get(), concat.getResult(), axis, offset, columns);
  }
};

struct SliceStage : AlongAxis<SliceStage, nn::SliceOp, emitSlice> {
  bool findSource(Operation *op, Columns &columns) const {
    auto slice = cast<nn::SliceOp>(op);
    return findBlock(slice.getResult(), slice.getInput(), slice.getAxis(),
                     slice.getOffset(), columns);
  }
};

struct PadStage : AlongAxis<PadStage, nn::PadOp, emitPad> {
  bool findPlace(Operation *op, OpOperand &operand, Columns &columns) const {
    auto pad = cast<nn::PadOp>(op);
    return findBlock(pad.getInput(), pad.getResult(), pad.getAxis(),
                     pad.getLow(), columns);
  }
};

/// Stage of `nn.reduce`. A reduction of rows calls the runtime, or is a step of
/// a loop over rows. The runtime does not support gaps in its input.
struct ReduceStage : EmittedModel<ReduceStage, nn::ReduceOp, emitReduce> {
  bool combinesRows(Operation *op) const {
    auto reduce = cast<nn::ReduceOp>(op);
    return reduce.reducesRows() && reduce.getAxes().size() == 1;
  }
  Value emitRow(Operation *op, StageEmitter &emitter, Value rows,
                ValueRange position) const {
    return rt::CombineRowOp::create(
        emitter.builder, cast<MemRefType>(rows.getType()).getElementType(),
        static_cast<rt::Reduction>(cast<nn::ReduceOp>(op).getKind()), rows,
        position);
  }
  std::optional<Extent> getScratch(Operation *op,
                                   const ProgramSizes &sizes) const {
    const int64_t chunks = chunksOf(cast<nn::ReduceOp>(op), sizes);
    if (chunks == 1)
      return std::nullopt;
    return sizes.bytes(op->getResult(0)).scaled(chunks);
  }
  bool computesElements(Operation *op, OpOperand &) const {
    return !cast<nn::ReduceOp>(op).reducesRows();
  }
  bool readsColumns(Operation *op, OpOperand &operand, int64_t run) const {
    return !cast<nn::ReduceOp>(op).reducesRows() &&
           runDimension(typeOf(operand.get()).getShape(), run);
  }
  bool writesColumns(Operation *op, OpResult result, int64_t run) const {
    return !cast<nn::ReduceOp>(op).reducesRows() &&
           runDimension(typeOf(result).getShape(), run);
  }
};

struct ReshapeStage : WithoutCode<ReshapeStage, nn::ReshapeOp> {
  /// Rejects a reshape that is valid only for some batch sizes.
  LogicalResult checkInProgram(Operation *op, const ProgramSizes &sizes) const {
    auto reshape = cast<nn::ReshapeOp>(op);
    if (sizes.elements(reshape.getInput())
            .isMultipleOf(innerElements(reshape.getResult())))
      return success();
    return reshape.emitOpError()
           << "joins rows of " << reshape.getInput().getType() << " to "
           << reshape.getType()
           << ", whose number is not always a multiple (C2)";
  }
  Value getViewSource(Operation *op) const { return op->getOperand(0); }
  Extent getExtent(Operation *op, OpResult result,
                   const ProgramSizes &sizes) const {
    Value input = op->getOperand(0);
    return sizes.first(input).scaled(innerElements(input),
                                     innerElements(result));
  }
};

} // namespace

void pdlc::attachShapeStages(MLIRContext &context) {
  nn::ReshapeOp::attachInterface<ReshapeStage>(context);
  nn::ConcatOp::attachInterface<ConcatStage>(context);
  nn::SliceOp::attachInterface<SliceStage>(context);
  nn::PadOp::attachInterface<PadStage>(context);
  nn::ReduceOp::attachInterface<ReduceStage>(context);
  attachEmitter<nn::TransposeOp, emitTranspose>(context);
  attachEmitter<nn::TakeOp, emitTake>(context);
}
