//===- SerializeLoops.cpp - Order parallel loops for one core -------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_RTSERIALIZELOOPS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Returns true if two memrefs are known not to overlap, because they are views
/// of different pointers. In a stage, such views do not overlap if one of them
/// is written.
static bool areApart(Value memref, Value other) {
  auto view = memref.getDefiningOp<rt::ViewOp>();
  auto otherView = other.getDefiningOp<rt::ViewOp>();
  return view && otherView && view.getBase() != otherView.getBase();
}

/// Returns true if the op calls a scalar function, such as one of
/// pdlabi/math.h. Such functions do not access memory.
static bool isFormulaCall(Operation *op) {
  return isa<func::CallOp>(op) &&
         llvm::all_of(op->getOperandTypes(),
                      [](Type type) { return type.isIntOrIndexOrFloat(); });
}

/// Returns true if the op does not write memory that may belong to `memref`.
static bool leavesAlone(Operation *op, Value memref) {
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return areApart(store.getMemRef(), memref);
  return isFormulaCall(op) ||
         op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
         isMemoryEffectFree(op) || hasSingleEffect<MemoryEffects::Read>(op);
}

//===----------------------------------------------------------------------===//
// Plain loops
//===----------------------------------------------------------------------===//

static bool isKnownToRun(scf::ForOp loop) {
  APInt lower, upper;
  return matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) &&
         matchPattern(loop.getUpperBound(), m_ConstantInt(&upper)) &&
         lower.slt(upper);
}

/// Returns the number of outer loops in which the load must stay: those of the
/// dimensions of `loop` on which it depends. Returns the number of all
/// dimensions if the load cannot be moved at all.
static unsigned depthOf(memref::LoadOp load, scf::ParallelOp loop) {
  const unsigned all = loop.getNumLoops();
  unsigned depth = 1;
  for (Value index : load.getIndices()) {
    auto *iv = llvm::find(loop.getInductionVars(), index);
    if (iv != loop.getInductionVars().end())
      depth =
          std::max<unsigned>(depth, iv - loop.getInductionVars().begin() + 1);
    else if (!loop.isDefinedOutsideOfLoop(index))
      return all;
  }
  if (!loop.isDefinedOutsideOfLoop(load.getMemRef()) || depth == all)
    return all;
  WalkResult result = loop.getBody()->walk([&](Operation *op) {
    return leavesAlone(op, load.getMemRef()) ? WalkResult::advance()
                                             : WalkResult::interrupt();
  });
  return result.wasInterrupted() ? all : depth;
}

/// Returns true if the values that iterations reduce are integers, so that the
/// result does not depend on the order.
static bool combinesExactly(scf::ParallelOp parallel) {
  return llvm::all_of(parallel.getResultTypes(), [](Type type) {
    return getElementTypeOrSelf(type).isIntOrIndex();
  });
}

/// Converts the reduction of `parallel`: each loop of the nest carries the
/// reduced values, and yields them.
static void yieldCombined(scf::ParallelOp parallel,
                          MutableArrayRef<scf::ForOp> nest) {
  if (parallel.getNumReductions() == 0)
    return;
  auto reduce = cast<scf::ReduceOp>(parallel.getBody()->getTerminator());
  OpBuilder builder = OpBuilder::atBlockEnd(nest.back().getBody());
  SmallVector<Value> combined;
  for (auto [region, before, operand] :
       llvm::zip(reduce.getReductions(), nest.back().getRegionIterArgs(),
                 reduce.getOperands())) {
    IRMapping mapping;
    mapping.map(region.getArguments(), ValueRange{before, operand});
    for (Operation &op : region.front().without_terminator())
      builder.clone(op, mapping);
    combined.push_back(
        mapping.lookupOrDefault(region.front().getTerminator()->getOperand(0)));
  }
  for (scf::ForOp loop : llvm::reverse(nest)) {
    builder.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(builder, parallel.getLoc(), combined);
    combined.assign(loop.getResults().begin(), loop.getResults().end());
  }
  parallel.replaceAllUsesWith(nest.front().getResults());
}

/// Replaces the loop by a nest with one loop per dimension.
static void lowerPlainly(scf::ParallelOp parallel) {
  OpBuilder builder(parallel);
  SmallVector<scf::ForOp> nest;
  SmallVector<Value> carried(parallel.getInitVals());
  for (auto [lower, upper, step] :
       llvm::zip(parallel.getLowerBound(), parallel.getUpperBound(),
                 parallel.getStep())) {
    nest.push_back(scf::ForOp::create(builder, parallel.getLoc(), lower, upper,
                                      step, carried));
    builder.setInsertionPointToStart(nest.back().getBody());
    carried.assign(nest.back().getRegionIterArgs().begin(),
                   nest.back().getRegionIterArgs().end());
  }
  // Determine the place of each load before moving anything.
  DenseMap<Operation *, unsigned> depths;
  for (auto load : parallel.getBody()->getOps<memref::LoadOp>()) {
    unsigned depth = depthOf(load, parallel);
    while (depth < nest.size() &&
           !llvm::all_of(ArrayRef(nest).drop_front(depth), isKnownToRun))
      ++depth;
    depths[load] = depth;
  }
  for (Operation &op :
       llvm::make_early_inc_range(parallel.getBody()->without_terminator())) {
    auto depth = depths.find(&op);
    if (depth != depths.end() && depth->second < nest.size())
      op.moveBefore(nest[depth->second]);
    else if (Block *body = nest.back().getBody(); carried.empty())
      op.moveBefore(body->getTerminator());
    else
      op.moveBefore(body, body->end());
  }
  yieldCombined(parallel, nest);
  for (auto [iv, loop] : llvm::zip(parallel.getInductionVars(), nest))
    iv.replaceAllUsesWith(loop.getInductionVar());
  parallel.erase();
}

//===----------------------------------------------------------------------===//
// Ordered sums
//===----------------------------------------------------------------------===//

namespace {

/// A parallel loop that computes sums in memory. Each iteration loads a number,
/// adds terms to it in an ordered loop, and stores the result to the same
/// location.
class OrderedSum {
public:
  explicit OrderedSum(scf::ParallelOp parallel) : parallel(parallel) {}
  /// Returns true if the parallel loop has this form. Then also chooses the
  /// order of the loops of the nest.
  bool match();
  /// Replaces the loop by a nest in that order.
  void lower();

private:
  /// A loop of the nest. It is a dimension of the parallel loop, or an ordered
  /// loop if `isOrdered`.
  struct Loop {
    Value iv, lower, upper, step;
    bool isOrdered;
  };
  bool matchTurn();
  bool matchBody();
  bool findOrder();

  scf::ParallelOp parallel;
  memref::LoadOp start;
  SmallVector<scf::ForOp> loops; // Outermost loop first.
  memref::StoreOp end;
  SmallVector<Loop> order;
};

} // namespace

/// Matches one iteration: collects the load, the ordered loops and the store.
bool OrderedSum::matchTurn() {
  Block &turn = *parallel.getBody();
  if (turn.getOperations().size() != 4)
    return false;
  Operation *first = &turn.front();
  start = dyn_cast<memref::LoadOp>(first);
  auto loop = dyn_cast<scf::ForOp>(first->getNextNode());
  end = dyn_cast<memref::StoreOp>(turn.getTerminator()->getPrevNode());
  if (!start || !loop || !end || !start->hasOneUse() ||
      loop.getNumResults() != 1 ||
      loop.getInitArgs().front() != start.getResult() ||
      end.getValueToStore() != loop.getResult(0) ||
      start.getMemRef() != end.getMemRef() ||
      !llvm::equal(start.getIndices(), end.getIndices()))
    return false;
  while (true) {
    for (Value bound :
         {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      if (!parallel.isDefinedOutsideOfLoop(bound))
        return false;
    loops.push_back(loop);
    auto inner = dyn_cast<scf::ForOp>(loop.getBody()->front());
    if (!inner || inner.getNumResults() != 1 ||
        inner->getNextNode() != loop.getBody()->getTerminator() ||
        inner.getInitArgs().front() != loop.getRegionIterArg(0) ||
        loop.getYieldedValues().front() != inner.getResult(0))
      return true;
    loop = inner;
  }
}

/// Returns true if the terms do not depend on stored values.
bool OrderedSum::matchBody() {
  return llvm::all_of(loops.back().getBody()->without_terminator(),
                      [&](Operation &op) {
                        if (auto load = dyn_cast<memref::LoadOp>(op))
                          return areApart(load.getMemRef(), start.getMemRef());
                        return isFormulaCall(&op) || isMemoryEffectFree(&op);
                      });
}

/// Chooses the order of the loops. If a load uses the variable of each loop as
/// an index, the loops follow the order of its memory. In a matrix product, no
/// load does. Then sums that are adjacent in memory are computed together.
/// Returns false if neither is possible.
bool OrderedSum::findOrder() {
  SmallVector<Loop> all;
  for (auto [iv, lower, upper, step] :
       llvm::zip(parallel.getInductionVars(), parallel.getLowerBound(),
                 parallel.getUpperBound(), parallel.getStep()))
    all.push_back({iv, lower, upper, step, /*isOrdered=*/false});
  for (scf::ForOp loop : loops)
    all.push_back({loop.getInductionVar(), loop.getLowerBound(),
                   loop.getUpperBound(), loop.getStep(), /*isOrdered=*/true});
  for (auto load : loops.back().getBody()->getOps<memref::LoadOp>()) {
    order.clear();
    for (Value index : load.getIndices()) {
      auto *loop =
          llvm::find_if(all, [&](const Loop &l) { return l.iv == index; });
      if (loop != all.end())
        order.push_back(*loop);
    }
    SmallVector<Value> ordered;
    for (const Loop &loop : order)
      if (loop.isOrdered)
        ordered.push_back(loop.iv);
    // The load must use each loop exactly once. Ordered loops must keep their
    // order, because it is the order of the terms of each sum.
    DenseSet<Value> distinct;
    for (const Loop &loop : order)
      distinct.insert(loop.iv);
    if (order.size() == all.size() && distinct.size() == all.size() &&
        llvm::equal(ordered, llvm::map_range(loops, [](scf::ForOp loop) {
                      return loop.getInductionVar();
                    })))
      return true;
  }
  const unsigned independent = parallel.getNumLoops();
  if (independent == 0 || end.getIndices().empty() ||
      end.getIndices().back() != all[independent - 1].iv ||
      llvm::none_of(loops.back().getBody()->getOps<memref::LoadOp>(),
                    [&](memref::LoadOp load) {
                      return !load.getIndices().empty() &&
                             load.getIndices().back() ==
                                 all[independent - 1].iv;
                    }))
    return false;
  order.assign(all.begin(), all.end());
  std::rotate(order.begin() + independent - 1, order.begin() + independent,
              order.end());
  return true;
}

bool OrderedSum::match() { return matchTurn() && matchBody() && findOrder(); }

void OrderedSum::lower() {
  Location loc = parallel.getLoc();
  OpBuilder builder(parallel);
  IRMapping mapping;
  ArrayRef<Loop> carrying(order);
  while (!carrying.empty() && !(llvm::all_of(carrying, [](const Loop &loop) {
    return loop.isOrdered;
  })))
    carrying = carrying.drop_front();
  // Up to the last independent dimension, the sums stay in memory ...
  for (const Loop &loop : ArrayRef(order).drop_back(carrying.size())) {
    auto made =
        scf::ForOp::create(builder, loc, loop.lower, loop.upper, loop.step);
    mapping.map(loop.iv, made.getInductionVar());
    builder.setInsertionPointToStart(made.getBody());
  }
  // ... and inside of it, one sum is in a register.
  Value sum = builder.clone(*start, mapping)->getResult(0);
  SmallVector<scf::ForOp> carriers;
  for (const Loop &loop : carrying) {
    auto made = scf::ForOp::create(builder, loc, loop.lower, loop.upper,
                                   loop.step, sum);
    carriers.push_back(made);
    mapping.map(loop.iv, made.getInductionVar());
    builder.setInsertionPointToStart(made.getBody());
    sum = made.getRegionIterArg(0);
  }
  scf::ForOp innermost = loops.back();
  mapping.map(innermost.getRegionIterArg(0), sum);
  for (Operation &op : innermost.getBody()->without_terminator())
    builder.clone(op, mapping);
  sum = mapping.lookupOrDefault(innermost.getYieldedValues().front());
  for (scf::ForOp carrier : llvm::reverse(carriers)) {
    scf::YieldOp::create(builder, loc, sum);
    sum = carrier.getResult(0);
    builder.setInsertionPointAfter(carrier);
  }
  mapping.map(end.getValueToStore(), sum);
  builder.clone(*end, mapping);
  parallel.erase();
}

//===----------------------------------------------------------------------===//
// Temporary memory of an iteration
//===----------------------------------------------------------------------===//

/// Moves the temporary memory of an iteration to the start of the function.
/// Iterations run one after the other, so they can share it. Otherwise the
/// stack would grow with the number of iterations.
static void moveToEntry(memref::AllocaOp memory) {
  auto function = memory->getParentOfType<FunctionOpInterface>();
  memory->moveBefore(&function.getFunctionBody().front().front());
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct SerializeLoops : pdlc::impl::RTSerializeLoopsBase<SerializeLoops> {
  void runOnOperation() override;
};
} // namespace

void SerializeLoops::runOnOperation() {
  SmallVector<scf::ParallelOp> loops;
  // The walk visits inner loops first.
  getOperation().walk([&](scf::ParallelOp loop) { loops.push_back(loop); });
  uint64_t sums = 0;
  for (scf::ParallelOp loop : loops) {
    if (!combinesExactly(loop)) {
      loop.emitOpError("combines floats of its iterations in no fixed order; "
                       "write an ordered sum as an scf.for inside of it");
      return signalPassFailure();
    }
    if (OrderedSum sum(loop); loop.getNumReductions() == 0 && sum.match()) {
      sum.lower();
      ++sums;
      continue;
    }
    lowerPlainly(loop);
  }
  SmallVector<memref::AllocaOp> memories;
  getOperation().walk(
      [&](memref::AllocaOp memory) { memories.push_back(memory); });
  for (memref::AllocaOp memory : memories)
    moveToEntry(memory);
  reportStatistic(*this, getOperation(), numLoops, "loops", loops.size());
  reportStatistic(*this, getOperation(), numSums, "sums", sums);
}
