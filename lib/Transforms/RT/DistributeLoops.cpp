//===- DistributeLoops.cpp - Distribute iterations over device threads ----===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"
#include "KernelLoop.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_RTDISTRIBUTELOOPS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

namespace {
struct DistributeLoops : pdlc::impl::RTDistributeLoopsBase<DistributeLoops> {
  void runOnOperation() override;
};
} // namespace

/// Replaces the loops of `shared` by one loop for a thread. It runs the
/// iterations `first`, `first + stride`, `first + 2 * stride`, and so on.
static void distribute(SharedLoops &shared, func::FuncOp kernel, Value first,
                       Value stride) {
  auto &[loops, bounds] = shared;
  Location loc = kernel.getLoc();
  OpBuilder builder(loops.front());
  Value total = bounds.front();
  for (Value bound : llvm::drop_begin(bounds))
    total = arith::MulIOp::create(builder, loc, total, bound);
  auto turns = scf::ForOp::create(builder, loc, first, total, stride);
  builder.setInsertionPointToStart(turns.getBody());
  // Neighboring threads get neighboring iterations. Let the last dimension
  // differ between them, so that they access adjacent memory.
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

/// Moves temporary memory of iterations to the start of the kernel. A thread
/// runs its iterations one after the other, so these can share the memory.
/// Memory of dynamic size is not moved.
static void hoistMemory(func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  kernel.walk([&](memref::AllocaOp room) {
    if (room.getDynamicSizes().empty())
      room->moveBefore(&body, body.begin());
  });
}

/// Makes one thread run the whole kernel, because its iterations are ordered.
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

void DistributeLoops::runOnOperation() {
  SymbolTable symbols(getOperation());
  int64_t distributed = 0;
  for (auto op : llvm::make_early_inc_range(
           getOperation().getOps<rt::DeviceKernelOp>())) {
    auto kernel = symbols.lookup<func::FuncOp>(op.getKernel());
    if (op.getRuns())
      continue;
    if (!kernel.isExternal()) {
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
        distribute(loops, kernel, kernel.getArgument(count),
                   kernel.getArgument(count + 1));
        ++distributed;
      } else {
        leaveToFirst(kernel, kernel.getArgument(count));
      }
      hoistMemory(kernel);
    }
    func::FuncOp run = createCallFromMemory(kernel, ".run", symbols);
    op.setRunsAttr(FlatSymbolRefAttr::get(run.getSymNameAttr()));
  }
  reportStatistic(*this, getOperation(), numShared, "distributed-kernels",
                  distributed);
}
