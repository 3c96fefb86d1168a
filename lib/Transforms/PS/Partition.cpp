//===- Partition.cpp - Partition parameters and tables --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlabi/placement.h"
#include "pdlc/Analysis/LookupIds.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/DenseMap.h"

namespace pdlc {
#define GEN_PASS_DEF_PSPARTITION
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

/// Number of samples per step that is assumed for the cost of a table.
static constexpr int64_t kSamplesInStep = 512;
static constexpr int64_t kKeyBytes = 8;

namespace {
struct Partition : pdlc::impl::PSPartitionBase<Partition> {
  using PSPartitionBase::PSPartitionBase;

  void runOnOperation() override;

private:
  LogicalResult check();
  void cut(OpBuilder &builder, Operation *symbol, RankedTensorType type,
           bool trained, bool whole);
  void shard(OpBuilder &builder, nn::TableOp table, int64_t ids, bool trained);

  uint64_t allBlocks = 0, allShards = 0;
};
} // namespace

LogicalResult Partition::check() {
  ModuleOp module = getOperation();
  std::optional<ps::Mode> known = ps::modeOf(mode);
  if (!known || !ps::propertiesOf(*known).hasServers)
    return module.emitError()
           << "ps-partition knows no mode '" << mode << "'; expected "
           << ps::modeList(/*withServers=*/true)
           << ", or no ps pass at all for one process";
  if (minBlockElements < 1 || targetBlockBytes < 1)
    return module.emitError()
           << "ps-partition: min-block-elements and target-block-bytes are at "
              "least 1, not "
           << minBlockElements.getValue() << " and "
           << targetBlockBytes.getValue();
  bool hasState = false;
  for (Operation &op : *module.getBody()) {
    if (isa<ps::BlocksOp, ps::ShardsOp>(op))
      return op.emitOpError("is there before ps-partition has run");
    hasState |= op.hasTrait<HoldsState>();
  }
  if (!hasState)
    return module.emitError("holds no parameter, state or table, so that "
                            "servers have nothing to do; use mode local");
  return success();
}

void Partition::cut(OpBuilder &builder, Operation *symbol,
                    RankedTensorType type, bool trained, bool whole) {
  int64_t rows = type.getRank() <= 1 ? 1 : type.getDimSize(0);
  int64_t rowElements = type.getNumElements() / rows;
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  int64_t blocks =
      slice && !whole
          ? pdlabi::rowBlockCount(rows, rowElements, elementBytes,
                                  minBlockElements, targetBlockBytes)
          : 1;
  SmallVector<int64_t> firstRows, costs;
  for (int64_t i = 0; i < blocks; ++i) {
    pdlabi::RowBlock block = pdlabi::rowBlock(rows, blocks, i);
    firstRows.push_back(block.firstRow);
    // One gradient in and one value out.
    costs.push_back(trained ? 2 * block.rowCount * rowElements * elementBytes
                            : 1);
  }
  firstRows.push_back(rows);
  builder.setInsertionPointAfter(symbol);
  ps::BlocksOp::create(
      builder, symbol->getLoc(),
      FlatSymbolRefAttr::get(SymbolTable::getSymbolName(symbol)),
      builder.getDenseI64ArrayAttr(firstRows),
      builder.getDenseI64ArrayAttr(costs));
  allBlocks += blocks;
}

void Partition::shard(OpBuilder &builder, nn::TableOp table, int64_t ids,
                      bool trained) {
  RankedTensorType row = table.getRowType();
  int64_t rowBytes = table.getWidth() * row.getElementTypeBitWidth() / 8;
  // One value out and one gradient in.
  int64_t valueBytes = table.getStored() ? rowBytes / 2 : rowBytes;
  int64_t bytesOfKey = kKeyBytes + valueBytes + (trained ? rowBytes : 0);
  int64_t cost = ids * kSamplesInStep * bytesOfKey / pdlabi::logicalShardCount;
  builder.setInsertionPointAfter(table);
  ps::ShardsOp::create(builder, table.getLoc(),
                       FlatSymbolRefAttr::get(table.getSymNameAttr()),
                       builder.getI64IntegerAttr(pdlabi::logicalShardCount),
                       builder.getI64IntegerAttr(std::max<int64_t>(1, cost)));
  allShards += pdlabi::logicalShardCount;
}

void Partition::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(check()))
    return signalPassFailure();
  OpBuilder builder(&getContext());
  module->setAttr(ps::PSDialect::kModeAttrName,
                  ps::ModeAttr::get(&getContext(), *ps::modeOf(mode)));
  allBlocks = allShards = 0;
  // The bytes that a step moves follow from the pulls and updates of training
  // programs.
  llvm::DenseMap<StringAttr, int64_t> ids;
  llvm::DenseSet<StringAttr> trained, whole;
  for (auto program : module.getOps<nn::ProgramOp>()) {
    for (auto update : program.getBody().getOps<nn::UpdateOp>()) {
      trained.insert(update.getSymbolAttr().getAttr());
      // The rule reduces over the whole parameter, so it must not be cut.
      if (update.getWhole())
        whole.insert(update.getSymbolAttr().getAttr());
    }
    for (auto pull : program.getBody().getOps<nn::PullOp>()) {
      int64_t &most = ids[pull.getTableAttr().getAttr()];
      most = std::max(most, idsPerSample(pull));
    }
  }
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    StringAttr name = SymbolTable::getSymbolName(&op);
    bool isTrained = name && trained.contains(name);
    if (auto param = dyn_cast<nn::ParamOp>(op))
      cut(builder, param, cast<RankedTensorType>(param.getType()), isTrained,
          name && whole.contains(name));
    else if (auto state = dyn_cast<nn::StateOp>(op))
      cut(builder, state, cast<RankedTensorType>(state.getType()), isTrained,
          /*whole=*/false);
    else if (auto table = dyn_cast<nn::TableOp>(op))
      shard(builder, table, ids.lookup(name), isTrained);
  }
  reportStatistic(*this, module, numBlocks, "blocks", allBlocks);
  reportStatistic(*this, module, numShards, "shards", allShards);
}
