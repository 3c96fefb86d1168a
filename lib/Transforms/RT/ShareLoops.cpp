//===- ShareLoops.cpp - Share the iterations of kernels -------------------===//
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
#include "mlir/IR/Matchers.h"
#include "pdlc/Dialect/RT/IR/RT.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace pdlc {
#define GEN_PASS_DEF_RTSHARELOOPS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

//===----------------------------------------------------------------------===//
// Cost of an iteration
//===----------------------------------------------------------------------===//

/// Number of iterations that is assumed for a loop of unknown length, as in a
/// small batch.
static constexpr int64_t kUnknownTurns = 256;
/// Cost of a call of a scalar function, such as an exponential. The unit of
/// cost is the time to read or write one byte.
static constexpr int64_t kCallBytes = 32;
/// Minimum cost of a loop that threads share. If the cost is known at compile
/// time and lower, one thread runs the loop.
static constexpr int64_t kWorthSharing = 128 * 1024;

static int64_t turnsOf(Value lower, Value upper) {
  APInt first, end;
  if (!matchPattern(lower, m_ConstantInt(&first)) ||
      !matchPattern(upper, m_ConstantInt(&end)))
    return kUnknownTurns;
  return std::max<int64_t>(0, (end - first).getSExtValue());
}

/// Returns the cost of a block's ops, in bytes read and written.
static int64_t costOf(Block &block) {
  int64_t cost = 0;
  for (Operation &op : block) {
    int64_t turns = 1;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      turns = turnsOf(loop.getLowerBound(), loop.getUpperBound());
    } else if (auto loop = dyn_cast<scf::ParallelOp>(op)) {
      for (auto [lower, upper] :
           llvm::zip(loop.getLowerBound(), loop.getUpperBound()))
        turns *= turnsOf(lower, upper);
    } else if (isa<memref::LoadOp, memref::StoreOp>(op)) {
      cost += 4;
    } else if (isa<func::CallOp>(op)) {
      cost += kCallBytes;
    } else if (op.getNumRegions() == 0 &&
               llvm::any_of(op.getResultTypes(),
                            [](Type type) { return isa<FloatType>(type); })) {
      cost += 1;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        cost += turns * costOf(inner);
  }
  return cost;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {

/// A kernel that consists of one parallel loop, and its calls.
struct SharedKernel {
  func::FuncOp function;
  scf::ParallelOp loop;
  SmallVector<func::CallOp> calls;
  /// Bound of the first dimension, whose iterations threads share: a constant,
  /// or an argument of the kernel. `bytes` is the cost of one such iteration,
  /// in bytes read and written.
  Value bound;
  int64_t bytes = 0;

  /// Returns true if threads may share the loop. Sets the members above.
  bool match();
  /// Adds two arguments to the kernel, the begin and the end of a range, and
  /// makes the loop run over this range only.
  void takeRange();
  /// Replaces `call` by a call of the runtime.
  void replace(func::CallOp call, func::FuncOp turns, Value room);
};

struct ShareLoops : pdlc::impl::RTShareLoopsBase<ShareLoops> {
  void runOnOperation() override;
};

} // namespace

bool SharedKernel::match() {
  if (function.getBody().getBlocks().size() != 1 ||
      function.getNumResults() != 0)
    return false;
  loop = onlyLoopOf(function.getBody().front());
  APInt lower, step, turns;
  if (!loop || loop.getNumReductions() != 0 ||
      !matchPattern(loop.getLowerBound().front(), m_ConstantInt(&lower)) ||
      !matchPattern(loop.getStep().front(), m_ConstantInt(&step)) ||
      !lower.isZero() || !step.isOne())
    return false;
  bound = loop.getUpperBound().front();
  bytes = costOf(*loop.getBody());
  for (auto [first, end] :
       llvm::drop_begin(llvm::zip(loop.getLowerBound(), loop.getUpperBound())))
    bytes *= turnsOf(first, end);
  if (matchPattern(bound, m_ConstantInt(&turns)))
    return turns.sgt(1) && turns.getSExtValue() * bytes >= kWorthSharing;
  auto argument = dyn_cast<BlockArgument>(bound);
  return argument && argument.getOwner() == &function.getBody().front() &&
         bytes > 0;
}

void SharedKernel::takeRange() {
  OpBuilder builder(function);
  Type index = builder.getIndexType();
  const unsigned count = function.getNumArguments();
  Location loc = function.getLoc();
  const DictionaryAttr none = builder.getDictionaryAttr({});
  if (failed(function.insertArguments({count, count}, {index, index},
                                      {none, none}, {loc, loc})))
    llvm_unreachable("two numbers may follow any arguments");
  loop.getLowerBoundMutable()[0].set(function.getArgument(count));
  loop.getUpperBoundMutable()[0].set(function.getArgument(count + 1));
}

void SharedKernel::replace(func::CallOp call, func::FuncOp turns, Value room) {
  OpBuilder builder(call);
  Location loc = call.getLoc();
  for (auto [number, value] : llvm::enumerate(call.getOperands())) {
    Value stored = value;
    if (isa<IndexType>(value.getType()))
      stored =
          arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    LLVM::StoreOp::create(builder, loc, stored,
                          argumentAt(builder, loc, room, number));
  }
  Value count;
  APInt constant;
  if (matchPattern(bound, m_ConstantInt(&constant)))
    count =
        arith::ConstantIndexOp::create(builder, loc, constant.getSExtValue());
  else
    count = call.getOperand(cast<BlockArgument>(bound).getArgNumber());
  rt::RunLoopOp::create(
      builder, loc, FlatSymbolRefAttr::get(turns.getSymNameAttr()),
      function.getSymNameAttr(), count, builder.getI64IntegerAttr(bytes), room);
  call.erase();
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

void ShareLoops::runOnOperation() {
  ModuleOp module = getOperation();
  SymbolTable symbols(module);
  llvm::MapVector<func::FuncOp, SharedKernel> kernels;
  llvm::DenseSet<func::FuncOp> stages;
  for (rt::ProgramOp program : module.getOps<rt::ProgramOp>())
    for (FlatSymbolRefAttr name :
         {program.getPrepareAttr(), program.getComputeAttr()})
      if (auto stage = symbols.lookup<func::FuncOp>(name.getValue()))
        stages.insert(stage);
  // Maximum number of arguments of the calls in each stage.
  llvm::MapVector<func::FuncOp, int64_t> most;
  for (auto stage : module.getOps<func::FuncOp>()) {
    if (!stages.contains(stage))
      continue;
    stage.walk([&](func::CallOp call) {
      auto function = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!function || function.isExternal())
        return;
      kernels[function].function = function;
      kernels[function].calls.push_back(call);
    });
  }
  kernels.remove_if([](auto &entry) { return !entry.second.match(); });
  for (auto &[function, kernel] : kernels)
    for (func::CallOp call : kernel.calls) {
      int64_t &arguments = most[call->getParentOfType<func::FuncOp>()];
      arguments = std::max<int64_t>(arguments, call.getNumOperands());
    }
  // The calls of a stage run one after the other, so they can share the memory
  // for arguments.
  llvm::DenseMap<func::FuncOp, Value> rooms;
  for (auto &[stage, arguments] : most) {
    auto builder = OpBuilder::atBlockBegin(&stage.getBody().front());
    Value count = LLVM::ConstantOp::create(
        builder, stage.getLoc(), builder.getI64IntegerAttr(arguments));
    rooms[stage] = LLVM::AllocaOp::create(
        builder, stage.getLoc(), LLVM::LLVMPointerType::get(&getContext()),
        builder.getI64Type(), count);
  }
  for (auto &[function, kernel] : kernels) {
    kernel.takeRange();
    func::FuncOp turns = createCallFromMemory(function, ".turns", symbols);
    for (func::CallOp call : kernel.calls)
      kernel.replace(call, turns, rooms[call->getParentOfType<func::FuncOp>()]);
  }
  reportStatistic(*this, module, numKernels, "shared-kernels", kernels.size());
}
