//===- NNToRT.cpp - Convert programs to stage functions -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "pdlc/Conversion/Passes.h"
#include "pdlc/Interfaces/StageOpInterface.h"
#include "pdlc/Support/Statistics.h"
#include "llvm/ADT/StringMap.h"

namespace pdlc {
#define GEN_PASS_DEF_NNTORT
#include "pdlc/Conversion/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;

namespace {
struct NNToRT : pdlc::impl::NNToRTBase<NNToRT> {
  using NNToRTBase::NNToRTBase;

  void runOnOperation() override;

private:
  LogicalResult convert(ModuleContext &context, nn::ProgramOp program);

  uint64_t fused = 0, rowLoops = 0, inPlace = 0, repeats = 0, places = 0,
           arenaBytes = 0, arenaBound = 0;
};
} // namespace

/// Checks that each op has a stage, because `BufferPlan` requires it. Ops have
/// no stage if the module is not in phase `split` yet.
static LogicalResult checkStages(nn::ProgramOp program) {
  for (Operation &op : program.getBody().front().without_terminator())
    if (!stageOf(&op))
      return op.emitOpError("has no stage: run nn-assign-stages first");
  return success();
}

static LogicalResult checkOps(nn::ProgramOp program,
                              const ProgramSizes &sizes) {
  WalkResult result = program.walk([&](StageOpInterface op) -> WalkResult {
    return op.checkInProgram(sizes);
  });
  return failure(result.wasInterrupted());
}

/// Rejects results that no arena can contain.
static LogicalResult checkArenas(nn::ProgramOp program,
                                 const ProgramSizes &sizes,
                                 const BufferPlan &plan) {
  for (Operation &op : program.getBody().front().without_terminator())
    for (Value result : op.getResults())
      if (plan.home(result).kind == Home::Arena &&
          !plan.isPlannable(sizes.bytes(result)))
        return op.emitOpError("is as large as a number of ids that only the "
                              "stage itself counts, for which no room is "
                              "planned");
  return success();
}

static SmallVector<Attribute> symbolRefs(MLIRContext *context,
                                         ArrayRef<StringRef> names) {
  SmallVector<Attribute> refs;
  for (StringRef name : names)
    refs.push_back(FlatSymbolRefAttr::get(context, name));
  return refs;
}

/// Returns pairs of ragged fields whose bags must have the same length in each
/// sample, because the program contains an `nn.check_bags` for them. Fields are
/// given by their index among the fields that the program reads.
static SmallVector<int32_t> joinedFieldsOf(nn::ProgramOp program) {
  DenseMap<Value, int32_t> fieldOf;
  unsigned argument = 0;
  for (auto [number, field] : llvm::enumerate(program.getFields())) {
    // A field of bags has values and splits.
    argument += field.isRagged() ? 2 : 1;
    if (field.isRagged())
      fieldOf[program.getBody().getArgument(argument - 1)] =
          static_cast<int32_t>(number);
  }
  SmallVector<int32_t> joined;
  for (auto check : program.getBody().getOps<nn::CheckBagsOp>()) {
    auto own = fieldOf.find(check.getSplits());
    auto like = fieldOf.find(check.getExpected());
    if (own != fieldOf.end() && like != fieldOf.end() && own != like)
      joined.append({own->second, like->second});
  }
  return joined;
}

namespace {

/// Finds the ids of fields that reach an op as they are in the data.
class IdColumns {
public:
  explicit IdColumns(nn::ProgramOp program) {
    unsigned argument = 0;
    for (auto [number, field] : llvm::enumerate(program.getFields())) {
      if (!field.isRagged())
        fieldOf[program.getBody().getArgument(argument)] =
            static_cast<int32_t>(number);
      argument += field.isRagged() ? 2 : 1;
    }
  }

  /// A column of a field; field -1: computed from others, or drawn.
  using Column = std::pair<int32_t, int32_t>;
  /// The column of each id of a sample of `ids`.
  SmallVector<Column> of(Value ids) const;

private:
  SmallVector<Column> ofSlice(nn::SliceOp slice) const;
  SmallVector<Column> ofConcat(nn::ConcatOp concat) const;

  DenseMap<Value, int32_t> fieldOf;
};

} // namespace

SmallVector<IdColumns::Column> IdColumns::of(Value ids) const {
  if (auto slice = ids.getDefiningOp<nn::SliceOp>())
    return ofSlice(slice);
  if (auto concat = ids.getDefiningOp<nn::ConcatOp>())
    return ofConcat(concat);
  const int64_t count = innerElements(ids);
  if (auto reshape = ids.getDefiningOp<nn::ReshapeOp>();
      reshape && innerElements(reshape.getInput()) == count)
    return of(reshape.getInput());
  SmallVector<Column> columns(count, {-1, 0});
  auto field = fieldOf.find(ids);
  if (field != fieldOf.end())
    for (int64_t column = 0; column < count; ++column)
      columns[column] = {field->second, static_cast<int32_t>(column)};
  return columns;
}

SmallVector<IdColumns::Column> IdColumns::ofSlice(nn::SliceOp slice) const {
  const SmallVector<Column> from = of(slice.getInput());
  auto input = cast<RankedTensorType>(slice.getInput().getType());
  const auto axis = static_cast<int64_t>(slice.getAxis());
  const auto offset = static_cast<int64_t>(slice.getOffset()),
             size = static_cast<int64_t>(slice.getSize());
  const int64_t inner =
      ShapedType::getNumElements(input.getShape().drop_front(axis + 1));
  const int64_t block = input.getDimSize(axis) * inner;
  SmallVector<Column> columns;
  for (size_t begin = offset * inner; begin < from.size(); begin += block)
    llvm::append_range(columns, ArrayRef(from).slice(begin, size * inner));
  return columns;
}

SmallVector<IdColumns::Column> IdColumns::ofConcat(nn::ConcatOp concat) const {
  const auto axis = static_cast<int64_t>(concat.getAxis());
  const int64_t outer = ShapedType::getNumElements(
      cast<RankedTensorType>(concat.getResult().getType())
          .getShape()
          .slice(1, axis - 1));
  SmallVector<SmallVector<Column>> parts;
  for (Value input : concat.getInputs())
    parts.push_back(of(input));
  SmallVector<Column> columns;
  for (int64_t i = 0; i < outer; ++i)
    for (const SmallVector<Column> &part : parts)
      llvm::append_range(columns, ArrayRef(part).slice(part.size() / outer * i,
                                                       part.size() / outer));
  return columns;
}

/// The ids of fields that nn.log_probability takes.
static SmallVector<Attribute> idRangesOf(nn::ProgramOp program) {
  const IdColumns all(program);
  SmallVector<Attribute> ranges;
  for (auto op : program.getBody().getOps<nn::LogProbabilityOp>()) {
    SmallVector<IdColumns::Column> columns = all.of(op.getIds());
    llvm::erase_if(columns, [](auto column) { return column.first < 0; });
    llvm::sort(columns);
    columns.erase(llvm::unique(columns), columns.end());
    auto counts =
        llvm::dyn_cast_if_present<DenseIntElementsAttr>(op.getCountsAttr());
    for (size_t begin = 0, end = 0; begin < columns.size(); begin = end) {
      const auto [field, column] = columns[begin];
      while (end < columns.size() && columns[end].first == field &&
             columns[end].second - column == static_cast<int64_t>(end - begin))
        ++end;
      ranges.push_back(
          rt::IdRangeAttr::get(program.getContext(), field, column,
                               static_cast<int32_t>(end - begin),
                               static_cast<int64_t>(op.getFirst()),
                               static_cast<int64_t>(op.getBehind()), counts));
    }
  }
  return ranges;
}

LogicalResult NNToRT::convert(ModuleContext &context, nn::ProgramOp program) {
  if (failed(checkStages(program)))
    return failure();
  ProgramSizes sizes(program, context.numerics == rt::Numerics::fast
                                  ? std::max<int64_t>(sumChunks, 1)
                                  : 1);
  if (failed(checkOps(program, sizes)))
    return failure();
  auto parameterIndex = [&](FlatSymbolRefAttr symbol) -> int64_t {
    return context.order.symbol(symbol.getValue());
  };
  BufferPlan plan(program, {sizes, parameterIndex}, joinLoops);
  if (failed(checkArenas(program, sizes, plan)))
    return failure();
  fused += plan.fusedCount();
  rowLoops += plan.rowLoopCount();
  inPlace += plan.inPlaceCount();
  repeats += plan.repeatCount();
  MLIRContext *mlir = program.getContext();
  const auto prepare = nn::StageAttr::get(mlir, nn::Stage::prepare);
  const auto compute = nn::StageAttr::get(mlir, nn::Stage::compute);
  DenseMap<nn::StageAttr, FlatSymbolRefAttr> functions;
  for (nn::StageAttr stage : {prepare, compute}) {
    places += plan.arena(stage).getPlaces().size();
    for (const ArenaLayout::Pool &pool : plan.arena(stage).getPools()) {
      arenaBytes += pool.size * pool.unit.perBatch;
      arenaBound += pool.bound * pool.unit.perBatch;
    }
    func::FuncOp function =
        StageEmitter(context, program, sizes, plan, stage).emit();
    if (!function)
      return failure();
    functions[stage] = FlatSymbolRefAttr::get(function);
  }

  OpBuilder builder(program);
  SmallVector<StringRef> fields, lookups, updates;
  SmallVector<int32_t> updateLookups;
  SmallVector<int64_t> updateCounts;
  for (nn::FieldOp field : program.getFields())
    fields.push_back(field.getSymName());
  const SymbolTable symbols(context.module);
  llvm::StringMap<int32_t> places;
  for (nn::PullOp pull : sizes.lookups()) {
    places.try_emplace(pull.getTable(), static_cast<int32_t>(lookups.size()));
    lookups.push_back(pull.getTable());
  }
  for (const nn::SymbolGradient &update : gradientsOf(program)) {
    updates.push_back(update.symbol.getValue());
    updateLookups.push_back(update.keys ? places.lookup(updates.back()) : -1);
    auto table = symbols.lookup<nn::TableOp>(update.symbol.getValue());
    updateCounts.push_back(
        table ? innerElements(update.gradient) - table.getWidth() : 0);
  }
  if (llvm::all_of(updateCounts, [](int64_t counts) { return counts == 0; }))
    updateCounts.clear();
  SmallVector<int32_t> objectives = objectivesOf(program);
  SmallVector<std::string> outputNames;
  SmallVector<int64_t> outputWidths;
  SmallVector<Type> outputTypes;
  for (auto [number, output] :
       llvm::enumerate(program.getReturn().getOperands())) {
    outputNames.push_back(program.getReturn().getOutputName(number));
    outputWidths.push_back(innerElements(output));
    outputTypes.push_back(getElementTypeOrSelf(output));
  }
  SmallVector<StringRef> outputRefs(outputNames.begin(), outputNames.end());
  bool hasLoss = !program.getBody().getOps<nn::LossSumOp>().empty();
  bool isGrouped =
      llvm::any_of(program.getBody().getOps<nn::ObserveOp>(),
                   [](nn::ObserveOp op) { return op.getGroup() != nullptr; });
  auto name = program.getSymNameAttr();
  auto record = program.getRecordAttr();
  UnitAttr frozen = program.getFrozenAttr();
  Location loc = program.getLoc();
  rt::ProgramOp::create(
      builder, loc, name, frozen, record,
      builder.getArrayAttr(symbolRefs(mlir, fields)),
      builder.getDenseI32ArrayAttr(joinedFieldsOf(program)),
      builder.getArrayAttr(idRangesOf(program)),
      builder.getArrayAttr(symbolRefs(mlir, lookups)),
      builder.getArrayAttr(symbolRefs(mlir, updates)),
      builder.getDenseI32ArrayAttr(updateLookups),
      builder.getDenseI64ArrayAttr(updateCounts),
      builder.getDenseI32ArrayAttr(objectives),
      builder.getStrArrayAttr(outputRefs),
      builder.getDenseI64ArrayAttr(outputWidths),
      builder.getTypeArrayAttr(outputTypes),
      hasLoss ? builder.getUnitAttr() : UnitAttr(),
      isGrouped ? builder.getUnitAttr() : UnitAttr(), functions[prepare],
      plan.arenaSize(prepare, fields.size()), functions[compute],
      plan.arenaSize(compute, fields.size()));
  program.erase();
  return success();
}

void NNToRT::runOnOperation() {
  ModuleOp module = getOperation();
  ModuleContext context(module);
  std::optional<rt::Numerics> known = rt::symbolizeNumerics(numerics);
  if (!known) {
    module.emitError() << "nn-to-rt knows no numerics '" << numerics
                       << "'; expected fast or strict";
    return signalPassFailure();
  }
  context.numerics = *known;
  fused = rowLoops = inPlace = repeats = places = arenaBytes = arenaBound = 0;
  for (nn::ProgramOp program :
       llvm::make_early_inc_range(module.getOps<nn::ProgramOp>()))
    if (failed(convert(context, program)))
      return signalPassFailure();
  reportStatistic(*this, module, numFused, "fused", fused);
  reportStatistic(*this, module, numRowLoops, "row-loops", rowLoops);
  reportStatistic(*this, module, numInPlace, "in-place", inPlace);
  reportStatistic(*this, module, numRepeats, "repeats", repeats);
  reportStatistic(*this, module, numPlaces, "places", places);
  reportStatistic(*this, module, numArenaBytes, "arena-bytes", arenaBytes);
  reportStatistic(*this, module, numArenaBound, "arena-bound", arenaBound);
}
