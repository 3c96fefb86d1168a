//===- DistributeLoops.cpp - Threads of a device share a kernel -----------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace pdlc {
#define GEN_PASS_DEF_RTDISTRIBUTELOOPS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

namespace {

/// A kernel whose turns threads share: loops of which each but the last holds
/// nothing but the next one, and what computes without memory.
struct SharedLoops {
  SmallVector<scf::ParallelOp> loops; // the outermost first
  SmallVector<Value> bounds;          // of all their dimensions

  bool match(func::FuncOp kernel);
  void distribute(func::FuncOp kernel, Value first, Value stride);
};

struct DistributeLoops : pdlc::impl::RTDistributeLoopsBase<DistributeLoops> {
  using RTDistributeLoopsBase::RTDistributeLoopsBase;
  void runOnOperation() override;
};

} // namespace

/// Whether its dimensions run from 0 on in steps of 1, and combine nothing.
static bool isPlain(scf::ParallelOp loop) {
  return loop.getNumReductions() == 0 &&
         llvm::all_of(
             loop.getLowerBound(),
             [](Value bound) { return matchPattern(bound, m_Zero()); }) &&
         llvm::all_of(loop.getStep(),
                      [](Value step) { return matchPattern(step, m_One()); });
}

/// Brings a constant that `loop` holds to where it stands, as a bound must be.
static bool isKnownBefore(Value bound, scf::ParallelOp outermost) {
  if (outermost.isDefinedOutsideOfLoop(bound))
    return true;
  Operation *definition = bound.getDefiningOp();
  if (!definition || !definition->hasTrait<OpTrait::ConstantLike>())
    return false;
  definition->moveBefore(outermost);
  return true;
}

bool SharedLoops::match(func::FuncOp kernel) {
  Block *block = &kernel.getBody().front();
  if (!llvm::hasSingleElement(kernel.getBody()))
    return false;
  while (scf::ParallelOp loop = onlyLoopOf(*block)) {
    if (!isPlain(loop))
      break;
    scf::ParallelOp outermost = loops.empty() ? loop : loops.front();
    if (!llvm::all_of(loop.getUpperBound(), [&](Value bound) {
          return isKnownBefore(bound, outermost);
        }))
      break;
    loops.push_back(loop);
    llvm::append_range(bounds, loop.getUpperBound());
    block = loop.getBody();
  }
  return !loops.empty();
}

void SharedLoops::distribute(func::FuncOp kernel, Value first, Value stride) {
  Location loc = kernel.getLoc();
  OpBuilder builder(loops.front());
  Value total = bounds.front();
  for (Value bound : llvm::drop_begin(bounds))
    total = arith::MulIOp::create(builder, loc, total, bound);
  auto turns = scf::ForOp::create(builder, loc, first, total, stride);
  builder.setInsertionPointToStart(turns.getBody());
  // The last dimension is that of neighbours: they touch memory together.
  SmallVector<Value> numbers(bounds.size());
  Value rest = turns.getInductionVar();
  for (size_t i = bounds.size() - 1; i > 0; --i) {
    numbers[i] = arith::RemUIOp::create(builder, loc, rest, bounds[i]);
    rest = arith::DivUIOp::create(builder, loc, rest, bounds[i]);
  }
  numbers.front() = rest;
  size_t next = 0;
  for (scf::ParallelOp loop : loops)
    for (Value number : loop.getInductionVars())
      number.replaceAllUsesWith(numbers[next++]);
  Operation *end = turns.getBody()->getTerminator();
  for (scf::ParallelOp loop : loops)
    for (Operation &op :
         llvm::make_early_inc_range(loop.getBody()->without_terminator()))
      if (!llvm::is_contained(loops, dyn_cast<scf::ParallelOp>(op)))
        op.moveBefore(end);
  loops.front().erase();
}

/// Brings memory of turns to the beginning: one for all turns of a thread,
/// which follow each other. Rows have sizes that are known.
static void hoistMemory(func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  kernel.walk([&](memref::AllocaOp room) {
    if (room.getDynamicSizes().empty())
      room->moveBefore(&body, body.begin());
  });
}

/// Lets one thread do it all: what stands there has an order.
static void leaveToFirst(func::FuncOp kernel, Value first) {
  Location loc = kernel.getLoc();
  Block &body = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        first, zero);
  auto choice = scf::IfOp::create(builder, loc, isFirst);
  Operation *end = choice.thenBlock()->getTerminator();
  while (choice->getNextNode() != body.getTerminator())
    choice->getNextNode()->moveBefore(end);
}

/// Calls the kernel as each of so many threads, one after the other, the last
/// one first.
static void emulate(func::CallOp call, int64_t threads) {
  OpBuilder builder(call);
  Location loc = call.getLoc();
  const auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value last = constant(threads - 1), all = constant(threads);
  auto loop = scf::ForOp::create(builder, loc, constant(0), all, constant(1));
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> arguments(call.getOperands());
  arguments.push_back(
      arith::SubIOp::create(builder, loc, last, loop.getInductionVar()));
  arguments.push_back(all);
  func::CallOp::create(builder, loc, call.getCallee(), TypeRange(), arguments);
  call.erase();
}

void DistributeLoops::runOnOperation() {
  SymbolTable symbols(getOperation());
  llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> calls;
  getOperation().walk([&](func::CallOp call) {
    if (auto callee = symbols.lookup<func::FuncOp>(call.getCallee()))
      calls[callee].push_back(call);
  });
  int64_t shared = 0;
  for (auto kernel : getOperation().getOps<func::FuncOp>()) {
    if (kernel.isExternal() || kernel.getNumResults() > 0 ||
        (emulatedThreads > 0 && !calls.contains(kernel)))
      continue;
    for (func::CallOp call : calls.lookup(kernel))
      emulate(call, std::max<int64_t>(emulatedThreads, 1));
    Type index = IndexType::get(&getContext());
    const unsigned count = kernel.getNumArguments();
    const auto none = DictionaryAttr::get(&getContext());
    if (failed(kernel.insertArguments({count, count}, {index, index},
                                      {none, none},
                                      {kernel.getLoc(), kernel.getLoc()}))) {
      kernel.emitError("two numbers cannot follow its arguments");
      return signalPassFailure();
    }
    SharedLoops loops;
    if (loops.match(kernel)) {
      loops.distribute(kernel, kernel.getArgument(count),
                       kernel.getArgument(count + 1));
      ++shared;
    } else {
      leaveToFirst(kernel, kernel.getArgument(count));
    }
    hoistMemory(kernel);
  }
  reportStatistic(*this, getOperation(), numShared, "distributed-kernels",
                  shared);
}
