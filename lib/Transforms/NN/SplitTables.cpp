//===- SplitTables.cpp - Split tables with deferred vectors ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/NN/IR/Widens.h"
#include "pdlc/Support/Statistics.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNSPLITTABLES
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Returns the type of a tensor with a different number of columns.
static RankedTensorType withColumns(Value value, int64_t columns) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = columns;
  return RankedTensorType::get(shape, type.getElementType());
}

/// Returns true if a slice selects columns.
static bool takesColumns(SliceOp slice) {
  return static_cast<int64_t>(slice.getAxis()) ==
         cast<RankedTensorType>(slice.getType()).getRank() - 1;
}

namespace {
/// The two tables into which a table with deferred columns is split.
class Parts {
public:
  /// Splits `table`: it keeps the columns of the weight, and a new table after
  /// it gets the columns of the vector.
  explicit Parts(TableOp table)
      : width(table.getWidth()), columns{table.getWeightType().getDimSize(0),
                                         table.getVectorType().getDimSize(0)} {
    OpBuilder builder(table);
    builder.setInsertionPointAfter(table);
    auto vector = cast<TableOp>(builder.clone(*table));
    vector.setSymName(table.getVectorName());
    vector.setRowAttr(TypeAttr::get(table.getVectorType()));
    vector.setInitAttr(table.getVectorInit());
    vector.removeAdmitCountAttr();
    vector.setAdmitScoreAttr(table.getWidenScoreAttr());
    vector->setAttr(kWidensAttrName,
                    FlatSymbolRefAttr::get(table.getSymNameAttr()));
    table.setRowAttr(TypeAttr::get(table.getWeightType()));
    for (TableOp part : {table, vector}) {
      names.push_back(FlatSymbolRefAttr::get(part.getSymNameAttr()));
      part.removeWidenFromAttr();
      part.removeWidenScoreAttr();
      part.removeWidenInitAttr();
    }
    if (!table.shrinksByScore() && !table.getAdmitScore())
      table.removeScoreAttr();
  }

  /// Replaces each pull, pool and count by two.
  LogicalResult replace(ProgramOp program);

private:
  LogicalResult replace(PullOp pull);
  bool takesVectors(Value whole) const;
  bool mayLeaveVectors(ArrayRef<PullOp> pulls) const;
  void replace(PoolOp pool, ArrayRef<Value> rows);
  void replaceUses(OpBuilder &builder, Value whole, ArrayRef<Value> parts);
  bool isOfWeight(SliceOp slice) const;
  std::optional<size_t> partOf(SliceOp slice) const;

  int64_t width;
  SmallVector<int64_t> columns;
  SmallVector<FlatSymbolRefAttr> names;
  /// True if lookups of the current program may leave out the vectors when only
  /// weights are used.
  bool leavesVectors = true;
};

struct SplitTables : pdlc::impl::NNSplitTablesBase<SplitTables> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    uint64_t split = 0;
    for (TableOp table : llvm::make_early_inc_range(module.getOps<TableOp>())) {
      if (!table.widens())
        continue;
      Parts parts(table);
      for (ProgramOp program : module.getOps<ProgramOp>())
        if (failed(parts.replace(program)))
          return signalPassFailure();
      ++split;
    }
    reportStatistic(*this, module, numSplit, "tables-split", split);
  }
};
} // namespace

LogicalResult Parts::replace(ProgramOp program) {
  SmallVector<PullOp> pulls;
  for (auto pull : program.getBody().getOps<PullOp>())
    if (pull.getTableAttr() == names.front())
      pulls.push_back(pull);
  leavesVectors = program.getFrozen() || mayLeaveVectors(pulls);
  for (PullOp pull : pulls)
    if (failed(replace(pull)))
      return failure();
  return success();
}

/// Returns true if an op other than a count uses columns of the vector.
bool Parts::takesVectors(Value whole) const {
  return llvm::any_of(whole.getUsers(), [&](Operation *user) {
    if (auto reshape = dyn_cast<ReshapeOp>(user);
        reshape && reshape.getType().getShape().back() == width)
      return takesVectors(reshape.getResult());
    auto slice = dyn_cast<SliceOp>(user);
    return !isa<CountPooledOp>(user) && !(slice && isOfWeight(slice));
  });
}

/// Returns true if the lookups `pulls` of a training program may leave out the
/// vectors where only weights are used. If vectors are counted but never used,
/// lookups must include them: counts are applied with the update of the rows,
/// so without a lookup nothing would apply them.
bool Parts::mayLeaveVectors(ArrayRef<PullOp> pulls) const {
  bool counts = false;
  for (PullOp pull : pulls)
    for (Operation *user : pull->getUsers())
      for (Value whole : user->getResults()) {
        if (takesVectors(whole))
          return true;
        counts |= llvm::any_of(whole.getUsers(), llvm::IsaPred<CountPooledOp>);
      }
  return !counts;
}

LogicalResult Parts::replace(PullOp pull) {
  ImplicitLocOpBuilder builder(pull.getLoc(), pull);
  SmallVector<Value> rows;
  for (auto [name, count] : llvm::zip_equal(names, columns))
    rows.push_back(PullOp::create(builder, withColumns(pull.getRows(), count),
                                  name, pull.getKeys()));
  for (Operation *user : llvm::make_early_inc_range(pull->getUsers())) {
    auto pool = dyn_cast<PoolOp>(user);
    if (!pool)
      return user->emitOpError()
             << "takes rows of " << names.front()
             << " that no nn.pool took; tables that widen are split before";
    replace(pool, rows);
  }
  pull.erase();
  return success();
}

void Parts::replace(PoolOp pool, ArrayRef<Value> rows) {
  ImplicitLocOpBuilder builder(pool.getLoc(), pool);
  SmallVector<PoolOp> pools;
  for (Value ofPart : rows)
    pools.push_back(PoolOp::create(builder, pool.getLoc(), ofPart,
                                   pool.getDeduplication(), pool.getInputs()));
  for (OpResult whole : pool->getResults()) {
    SmallVector<Value> parts = llvm::map_to_vector(pools, [&](PoolOp ofPart) {
      return Value(ofPart.getResult(whole.getResultNumber()));
    });
    for (Operation *user : llvm::make_early_inc_range(whole.getUsers())) {
      auto count = dyn_cast<CountPooledOp>(user);
      if (!count)
        continue;
      builder.setInsertionPoint(count);
      for (auto [name, part] : llvm::zip_equal(names, parts))
        CountPooledOp::create(builder, count.getLoc(), name, part,
                              count.getValues());
      count.erase();
    }
    builder.setInsertionPoint(pool);
    replaceUses(builder, whole, parts);
  }
  pool.erase();
}

/// Returns true if a slice selects only columns of the weight.
bool Parts::isOfWeight(SliceOp slice) const {
  return takesColumns(slice) && static_cast<int64_t>(slice.getOffset()) +
                                        static_cast<int64_t>(slice.getSize()) <=
                                    columns[0];
}

/// Returns the index of the part that contains all columns of a slice, if the
/// slice can read this part alone. In a training program, a slice of the vector
/// also reads the weight, so that a vector is not kept longer than its weight.
std::optional<size_t> Parts::partOf(SliceOp slice) const {
  if (isOfWeight(slice) && leavesVectors)
    return 0;
  if (takesColumns(slice) &&
      static_cast<int64_t>(slice.getOffset()) >= columns[0] &&
      slice->getParentOfType<ProgramOp>().getFrozen())
    return 1;
  return std::nullopt;
}

/// Replaces the uses of `whole`, whose columns are now in two parts. Reshapes
/// to the shape of samples are applied to each part, and a slice reads a single
/// part where possible. All other users get the concatenation.
void Parts::replaceUses(OpBuilder &builder, Value whole,
                        ArrayRef<Value> parts) {
  for (Operation *user : llvm::make_early_inc_range(whole.getUsers())) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(user);
    if (auto slice = dyn_cast<SliceOp>(user))
      if (std::optional<size_t> part = partOf(slice)) {
        slice.replaceAllUsesWith(
            SliceOp::create(
                builder, slice.getLoc(), parts[*part], slice.getAxis(),
                slice.getOffset() - *part * columns[0], slice.getSize())
                .getResult());
        slice.erase();
        continue;
      }
    auto reshape = dyn_cast<ReshapeOp>(user);
    if (!reshape || reshape.getType().getShape().back() != width)
      continue;
    SmallVector<Value> shaped;
    for (auto [part, count] : llvm::zip_equal(parts, columns))
      shaped.push_back(
          ReshapeOp::create(builder, reshape.getLoc(),
                            withColumns(reshape.getResult(), count), part));
    replaceUses(builder, reshape.getResult(), shaped);
    reshape.erase();
  }
  if (whole.use_empty())
    return;
  const int64_t axis = cast<RankedTensorType>(whole.getType()).getRank() - 1;
  whole.replaceAllUsesWith(
      ConcatOp::create(builder, whole.getLoc(), parts, axis));
}
