//===- MergeLookups.cpp - Merge the lookups of each table -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace pdlc {
#define GEN_PASS_DEF_NNMERGELOOKUPS
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {
struct MergeLookups : pdlc::impl::NNMergeLookupsBase<MergeLookups> {
  void runOnOperation() override {
    merged = 0;
    for (ProgramOp program : getOperation().getOps<ProgramOp>())
      if (failed(mergeIn(program)))
        return signalPassFailure();
    reportStatistic(*this, getOperation(), numMerged, "lookups-merged", merged);
  }

  /// Erases unused ops, so that no row is looked up for them. A single pass
  /// from the last op to the first finds whole chains of unused ops.
  static void eraseUnread(ProgramOp program) {
    Block &body = program.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  /// If a lookup has the same ids as a count, whatever its pooling, makes the
  /// count use the bags of this lookup, so that the ids are not looked up
  /// twice.
  static LogicalResult shareCountedBags(ProgramOp program) {
    SmallVector<CountPooledOp> counts(
        program.getBody().getOps<CountPooledOp>());
    for (CountPooledOp count : counts) {
      // Move the count after all lookups.
      count->moveBefore(program.getBody().front().getTerminator());
      auto own = count.getPooled().getDefiningOp<PoolOp>();
      if (!own)
        return count.emitOpError("counts rows of bags that no nn.pool made, so "
                                 "their ids are not known (C2)");
      const PoolInput counted =
          own.getInputs()[cast<OpResult>(count.getPooled()).getResultNumber()];
      for (PoolOp pool : program.getBody().getOps<PoolOp>()) {
        if (pool == own)
          continue;
        auto pull = pool.getRows().getDefiningOp<PullOp>();
        if (!pull || pull.getTableAttr() != count.getTableAttr())
          continue;
        for (auto [number, input] : llvm::enumerate(pool.getInputs()))
          if (input.ids == counted.ids && input.splits == counted.splits)
            count.getPooledMutable().assign(pool.getResult(number));
      }
    }
    return success();
  }

  LogicalResult mergeIn(ProgramOp program) {
    if (failed(shareCountedBags(program)))
      return failure();
    eraseUnread(program);
    llvm::MapVector<StringAttr, SmallVector<PoolOp>> pools;
    for (PoolOp pool : program.getBody().getOps<PoolOp>()) {
      auto pull = pool.getRows().getDefiningOp<PullOp>();
      if (!pull)
        return pool.emitOpError("pools rows that no nn.pull made, so its table "
                                "is not known");
      pools[pull.getTableAttr().getAttr()].push_back(pool);
    }
    Operation *first = nullptr;
    for (Operation &op : program.getBody().front())
      if (isa<UniqueOp>(op)) {
        first = &op;
        break;
      }
    if (!first || failed(hoistIds(program, first)))
      return failure(first != nullptr);
    for (auto &[table, users] : pools)
      if (users.size() > 1)
        merge(users);
    return success();
  }

  /// Moves all ops that compute ids and splits before `first`. This is possible
  /// because ids depend only on fields.
  LogicalResult hoistIds(ProgramOp program, Operation *first) {
    SetVector<Value> wanted;
    for (PoolOp pool : program.getBody().getOps<PoolOp>())
      for (const PoolInput &input : pool.getInputs()) {
        wanted.insert(input.ids);
        if (input.splits)
          wanted.insert(input.splits);
      }
    DenseSet<Operation *> slice;
    for (size_t i = 0; i < wanted.size(); ++i)
      if (Operation *op = wanted[i].getDefiningOp()) {
        if (auto pull = dyn_cast<PullOp>(op))
          return pull.emitOpError()
                 << "feeds the ids of another lookup; ids derive from fields "
                    "alone (nn.lookup, C3)";
        slice.insert(op);
        wanted.insert(op->operand_begin(), op->operand_end());
      }
    for (Operation &op : llvm::make_early_inc_range(program.getBody().front()))
      if (slice.contains(&op) && first->isBeforeInBlock(&op))
        op.moveBefore(first);
    return success();
  }

  void merge(ArrayRef<PoolOp> pools) {
    PoolOp front = pools.front();
    auto pull = front.getRows().getDefiningOp<PullOp>();
    auto unique = pull.getKeys().getDefiningOp<UniqueOp>();
    SmallVector<PoolInput> inputs;
    for (PoolOp pool : pools)
      llvm::append_range(inputs, pool.getInputs());
    OpBuilder builder(unique);
    SmallVector<Location> locations;
    for (PoolOp pool : pools)
      locations.push_back(pool.getLoc());
    Location loc = builder.getFusedLoc(locations);
    auto joined = UniqueOp::create(
        builder, loc, llvm::map_to_vector(inputs, [](const PoolInput &input) {
          return input.ids;
        }));
    Value rows = PullOp::create(builder, loc, pull.getType(),
                                pull.getTableAttr(), joined.getKeys());
    auto pooled =
        PoolOp::create(builder, loc, rows, joined.getDeduplication(), inputs);
    size_t next = 0;
    for (PoolOp pool : pools) {
      Operation *oldPull = pool.getRows().getDefiningOp();
      Operation *oldUnique = cast<PullOp>(oldPull).getKeys().getDefiningOp();
      for (Value result : pool.getResults())
        result.replaceAllUsesWith(pooled.getResult(next++));
      pool.erase();
      if (oldPull->use_empty())
        oldPull->erase();
      if (oldUnique->use_empty())
        oldUnique->erase();
    }
    merged += pools.size() - 1;
  }

  uint64_t merged = 0;
};
} // namespace
