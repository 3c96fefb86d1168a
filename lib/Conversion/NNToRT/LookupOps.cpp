//===- LookupOps.cpp - Lookups and pooling of table rows ------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace pdlc;

static void emitPull(StageEmitter &emitter, nn::PullOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  int64_t lookup = emitter.sizes.numberOf(op);
  SmallVector<Value> ids;
  for (Value input : op.getKeys().getDefiningOp<nn::UniqueOp>().getIds())
    ids.push_back(emitter.flat(input));
  Value worker = emitter.pointer(rt::Place::worker);
  Value into = emitter.pointer(rt::Place::lookup, lookup);
  emitter.returnUnlessZero(
      rt::UniqueOp::create(builder, builder.getI32Type(), worker, ids, into));
  int64_t table = emitter.module.order.symbol(op.getTable());
  emitter.returnUnlessZero(
      rt::PullOp::create(builder, builder.getI32Type(), worker, table, into));
}

namespace {
/// Computes, for each input of a lookup, how many ids the inputs before it
/// have. This is the position of its first id in the lookup's list of
/// occurrences. Counts that are known only at run time are loaded before they
/// are added.
class FirstOccurrences {
public:
  FirstOccurrences(StageEmitter &emitter, ArrayRef<nn::PoolInput> inputs)
      : emitter(emitter), inputs(inputs) {}

  /// Returns the position for input `number`. Calls must be in ascending order
  /// of `number`; each call continues the sum of the previous one.
  Value of(size_t number) {
    for (; counted < number; ++counted) {
      Value count =
          emitter.evaluate(emitter.sizes.elements(inputs[counted].ids));
      first = first
                  ? Value(arith::AddIOp::create(emitter.builder, first, count))
                  : count;
    }
    return first ? first : emitter.index(0);
  }

private:
  StageEmitter &emitter;
  ArrayRef<nn::PoolInput> inputs;
  size_t counted = 0;
  Value first;
};
} // namespace

static rt::Pooling poolingOf(const nn::PoolInput &input) {
  return static_cast<rt::Pooling>(input.pooling);
}

/// Returns a view of a tensor of pooled bags with one bag in each row. If the
/// tensor has gaps only after several bags, each row holds these bags.
static Value viewBags(StageEmitter &emitter, Value tensor) {
  std::optional<int64_t> run = emitter.runOf(tensor);
  const int64_t width = innerElements(tensor);
  if (!run || *run == width)
    return emitter.view(tensor);
  return emitter.view(tensor, emitter.sizes.first(tensor).scaled(width, *run),
                      {*run / width, width});
}

static constexpr int64_t kIndexBytes = sizeof(int32_t);

static void emitPool(StageEmitter &emitter, nn::PoolOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  int64_t lookup = emitter.sizes.lookupOf(op.getInverse());
  Value rows = emitter.view(op.getRows());
  SmallVector<nn::PoolInput> inputs = op.getInputs();
  FirstOccurrences firsts(emitter, inputs);
  for (auto [number, result] : llvm::enumerate(op.getPooled())) {
    const nn::PoolInput &input = inputs[number];
    Value offset = arith::MulIOp::create(builder, firsts.of(number),
                                         emitter.index(kIndexBytes));
    Value inverse = emitter.viewAt(
        emitter.pointer(rt::Place::lookup_inverse, lookup), offset,
        emitter.sizes.elements(input.ids), {}, builder.getI32Type());
    rt::PoolOp::create(builder, poolingOf(input), rows, inverse,
                       input.splits ? emitter.flat(input.splits) : Value(),
                       viewBags(emitter, result));
  }
}

static void emitPoolGradient(StageEmitter &emitter, nn::PoolGradientOp op) {
  ImplicitLocOpBuilder &builder = emitter.builder;
  SmallVector<Attribute> poolings;
  SmallVector<Value> cotangents, firsts, splits;
  SmallVector<int64_t> bagged;
  SmallVector<nn::PoolInput> inputs = op.getInputs();
  FirstOccurrences occurrences(emitter, inputs);
  for (auto [number, input] : llvm::enumerate(inputs)) {
    if (!input.cotangent)
      continue;
    if (input.splits) {
      bagged.push_back(static_cast<int64_t>(poolings.size()));
      splits.push_back(emitter.flat(input.splits));
    }
    poolings.push_back(rt::PoolingAttr::get(op.getContext(), poolingOf(input)));
    cotangents.push_back(viewBags(emitter, input.cotangent));
    firsts.push_back(occurrences.of(number));
  }
  if (poolings.empty())
    return emitter.fill(
        op.getGradient(),
        emitter.scalar(
            cast<RankedTensorType>(op.getGradient().getType()).getElementType(),
            0));
  Value bagOf;
  if (!bagged.empty())
    bagOf = emitter.scratchView(emitter.plan.scratch(op),
                                emitter.sizes.first(op.getOccurrences()),
                                builder.getI32Type());
  rt::PoolGradientOp::create(
      builder, builder.getArrayAttr(poolings), cotangents,
      emitter.pointer(rt::Place::lookup,
                      emitter.sizes.lookupOf(op.getInverse())),
      firsts, splits, bagged, bagOf, emitter.view(op.getGradient()));
}

namespace {

/// The keys belong to the lookup of the nn.pull that uses them.
struct UniqueStage : WithoutCode<UniqueStage, nn::UniqueOp> {
  LogicalResult checkInProgram(Operation *op, const ProgramSizes &) const {
    if (llvm::any_of(cast<nn::UniqueOp>(op).getKeys().getUsers(),
                     llvm::IsaPred<nn::PullOp>))
      return success();
    return op->emitOpError("makes keys that no nn.pull takes");
  }
  Extent getExtent(Operation *op, OpResult result,
                   const ProgramSizes &sizes) const {
    auto unique = cast<nn::UniqueOp>(op);
    Extent extent;
    extent.lookup = sizes.lookupOf(result);
    bool keys = result == unique.getKeys() || result == unique.getKeySplits();
    (keys ? extent.perKey : extent.perOccurrence) = 1;
    return result == unique.getKeySplits() ? extent.plus(1) : extent;
  }
  /// Ids are deduplicated where their rows are pulled.
  void findReaders(Operation *op, SmallVectorImpl<Operation *> &readers) const {
    for (Operation *user : cast<nn::UniqueOp>(op).getKeys().getUsers())
      if (isa<nn::PullOp>(user))
        readers.push_back(user);
  }
  std::optional<Home> getHome(Operation *op, OpResult result,
                              const HomeNumbers &numbers) const {
    auto unique = cast<nn::UniqueOp>(op);
    if (result != unique.getInverse())
      return Home::ofKind(Home::None);
    return Home::inContext(rt::Place::lookup_inverse,
                           std::max(0, numbers.sizes.lookupOf(result)));
  }
};

/// Rows are pulled in stage prepare and gathered at the start of compute.
struct PullStage : EmittedModel<PullStage, nn::PullOp, emitPull> {
  bool isDeferred(Operation *, OpResult) const { return true; }
  void emitDeferred(Operation *op, StageEmitter &emitter) const {
    auto pull = cast<nn::PullOp>(op);
    if (pull.getRows().use_empty())
      return;
    rt::GatherOp::create(
        emitter.builder,
        emitter.pointer(rt::Place::lookup, emitter.sizes.numberOf(pull)),
        emitter.view(pull.getRows()));
  }
};

struct PoolStage : EmittedModel<PoolStage, nn::PoolOp, emitPool> {
  bool readsElements(Operation *op, OpOperand &operand) const {
    return !llvm::is_contained(cast<nn::PoolOp>(op).getIds(), operand.get());
  }
  bool writesColumns(Operation *, OpResult result, int64_t run) const {
    return run % innerElements(result) == 0;
  }
  Extent getExtent(Operation *op, OpResult result,
                   const ProgramSizes &sizes) const {
    nn::PoolInput input =
        cast<nn::PoolOp>(op).getInputs()[result.getResultNumber()];
    return input.splits ? sizes.first(input.splits).plus(-1)
                        : sizes.first(input.ids);
  }
};

struct PoolGradientStage
    : EmittedModel<PoolGradientStage, nn::PoolGradientOp, emitPoolGradient> {
  bool readsElements(Operation *op, OpOperand &operand) const {
    return !llvm::is_contained(cast<nn::PoolGradientOp>(op).getIds(),
                               operand.get());
  }
  bool readsColumns(Operation *op, OpOperand &operand, int64_t run) const {
    return llvm::is_contained(cast<nn::PoolGradientOp>(op).getCotangents(),
                              operand.get()) &&
           run % innerElements(operand.get()) == 0;
  }
  Extent getExtent(Operation *op, OpResult, const ProgramSizes &sizes) const {
    auto gradient = cast<nn::PoolGradientOp>(op);
    return sizes.first(gradient.getDeduplication().keys);
  }
  /// Bag of each occurrence.
  std::optional<Extent> getScratch(Operation *op,
                                   const ProgramSizes &sizes) const {
    auto gradient = cast<nn::PoolGradientOp>(op);
    if (llvm::none_of(gradient.getInputs(), [](const nn::PoolInput &input) {
          return input.splits != nullptr;
        }))
      return std::nullopt;
    return sizes.first(gradient.getOccurrences()).scaled(kIndexBytes);
  }
};

} // namespace

void pdlc::attachLookupStages(MLIRContext &context) {
  nn::UniqueOp::attachInterface<UniqueStage>(context);
  nn::PullOp::attachInterface<PullStage>(context);
  nn::PoolOp::attachInterface<PoolStage>(context);
  nn::PoolGradientOp::attachInterface<PoolGradientStage>(context);
}
