//===- LowerModel.cpp - Make state and bags explicit ----------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InlineFunctions.h"
#include "MixedOutputs.h"
#include "RowSpaces.h"
#include "WatchLabels.h"
#include "pdlc/Analysis/LookupIds.h"
#include "pdlc/Dialect/NN/IR/ElementTypeOf.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNLOWERMODEL
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

//===----------------------------------------------------------------------===//
// Lowering of one program
//===----------------------------------------------------------------------===//

/// Returns the names of the counts that the rule of the table's group takes.
/// The list is empty if the table has no such rule.
static ArrayAttr countsOf(TableOp table, const SymbolTable &symbols) {
  Builder builder(table.getContext());
  FlatSymbolRefAttr name = table.getGroupAttr();
  auto group = name ? symbols.lookup<GroupOp>(name.getValue()) : GroupOp();
  auto rule = group ? symbols.lookup<RuleOp>(group.getRule()) : RuleOp();
  return rule ? rule.getCountNames() : builder.getArrayAttr({});
}

/// Checks that the op provides exactly one value for each count of the rule.
static LogicalResult verifyCounts(CountOp op, const SymbolTable &symbols) {
  ArrayAttr wanted = countsOf(symbols.lookup<TableOp>(op.getTable()), symbols);
  if (wanted.empty())
    return op.emitOpError()
           << "counts rows of " << op.getTableAttr()
           << ", whose group has no rule that takes counts; take one that "
              "does, such as rule(@click_adagrad), or leave the counts out "
              "(C4)";
  auto isSame = [&](ArrayAttr names) {
    return names.size() == wanted.size() &&
           llvm::all_of(wanted, [&](Attribute name) {
             return llvm::count(names, name) == 1;
           });
  };
  if (isSame(op.getNames()))
    return success();
  return op.emitOpError() << "gives the counts " << op.getNames()
                          << "; the rule of the group of " << op.getTableAttr()
                          << " takes each of " << wanted << " once (C4)";
}

namespace {
class ProgramLowering {
public:
  ProgramLowering(ProgramOp program, const SymbolTable &symbols)
      : program(program), symbols(symbols), builder(program.getContext()),
        i64(builder.getI64Type()),
        flatIds(RankedTensorType::get({ShapedType::kDynamic}, i64)),
        flatSplits(RankedTensorType::get({ShapedType::kDynamic},
                                         builder.getI32Type())) {}

  void run() {
    lowerArguments();
    Block &body = program.getBody().front();
    for (auto next = body.begin(); next != body.end();) {
      Operation &op = *next++;
      builder.setInsertionPoint(&op);
      if (auto drawing = dyn_cast<DrawingOpInterface>(op);
          drawing && lowerDraw(drawing))
        continue;
      if (auto lookup = dyn_cast<LookupOp>(op); lookup && !lookup.getWeights())
        lowerLookup(lookup);
      else if (auto count = dyn_cast<CountOp>(op))
        lowerCount(count);
      else if (auto composite = dyn_cast<CompositeOpInterface>(op))
        next = spellOut(composite, next);
      else if (auto read = dyn_cast<ReadOp>(op))
        replace(read, readAtEntry(read.getSymbolAttr(), read.getType()));
      else if (auto cross = dyn_cast<CrossOp>(op))
        lowerCross(cross);
      else if (auto withBodies = dyn_cast<BodyOpInterface>(op))
        lowerBodies(withBodies);
      else if (auto arithmetic = dyn_cast<IdArithmeticOp>(op))
        lowerIdArithmetic(arithmetic);
      else if (auto toNumbers = dyn_cast<CastOp>(op))
        lowerCast(toNumbers);
      else if (auto ofBags = dyn_cast<BagsOpInterface>(op))
        lowerBags(ofBags);
      else if (auto same = dyn_cast<SameBagsOp>(op))
        lowerSameBags(same);
      else if (auto constant = dyn_cast<ConstantOp>(op))
        // The element type is final now.
        constant.removeExactAttr();
    }
    eraseRagged();
  }

private:
  void replace(Operation *op, Value value) {
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }

  /// Inserts two arguments after each ragged argument, for its ids and its
  /// splits. The ragged argument is erased after all of its uses have been
  /// lowered.
  void lowerArguments() {
    Block &body = program.getBody().front();
    for (unsigned i = 0; i < body.getNumArguments(); ++i) {
      BlockArgument argument = body.getArgument(i);
      if (!isa<RaggedType>(argument.getType()))
        continue;
      Location loc = argument.getLoc();
      Value ids = body.insertArgument(
          i + 1,
          RankedTensorType::get({ShapedType::kDynamic},
                                elementTypeOf(argument.getType())),
          loc);
      Value splits = body.insertArgument(i + 2, flatSplits, loc);
      bags[argument] = {ids, splits};
      i += 2;
    }
  }

  Value readAtEntry(FlatSymbolRefAttr symbol, Type type) {
    Value &value = reads[symbol.getAttr()];
    if (value)
      return value;
    OpBuilder::InsertionGuard guard(builder);
    Block &body = program.getBody().front();
    if (lastRead)
      builder.setInsertionPointAfter(lastRead);
    else
      builder.setInsertionPointToStart(&body);
    lastRead = ReadOp::create(builder, program.getLoc(), type, symbol);
    value = lastRead->getResult(0);
    return value;
  }

  /// Returns the value that `read` reads, for use in `block`. If the block is a
  /// body, which can use only its arguments, passes the value in as an
  /// argument.
  Value readIn(Block &block, ReadOp read) {
    auto owner = dyn_cast<BodyOpInterface>(block.getParentOp());
    if (!owner)
      return readAtEntry(read.getSymbolAttr(), read.getType());
    return owner.share(block, readIn(*owner->getBlock(), read));
  }

  /// Replaces a composite op by the ops to which it expands. Returns the first
  /// of these, because they may be composite, too. Returns `next` if the op
  /// does not expand.
  Block::iterator spellOut(CompositeOpInterface op, Block::iterator next) {
    Operation *before = op->getPrevNode();
    ImplicitLocOpBuilder atOp(op.getLoc(), builder);
    Value value = op.spellOut(atOp);
    if (!value)
      return next;
    Block *body = op->getBlock();
    replace(op, value);
    return before ? std::next(before->getIterator()) : body->begin();
  }

  /// Lowers an op that draws. If it draws nothing in a frozen program, replaces
  /// it by a value and returns true. Otherwise gives it a random stream, unless
  /// the model does.
  bool lowerDraw(DrawingOpInterface op) {
    Value value = program.getFrozen() ? op.getFrozenValue() : Value();
    if (value) {
      replace(op, value);
      return true;
    }
    if (!op.getDrawStream()) {
      StringRef name = op->getName().stripDialect();
      op.setDrawStream(drawStreamOf(program, name, drawingOps[name]++));
    }
    return false;
  }

  /// Returns ids in their explicit form.
  Bags flatten(Value ids, Location loc) {
    auto found = bags.find(ids);
    if (found != bags.end())
      return found->second;
    return {ReshapeOp::create(builder, loc, flatIds, ids), Value()};
  }

  /// Creates a lookup of the ids of `input` in `table`, whose rows have `width`
  /// elements. Returns the rows pooled by bag.
  Value pool(Location loc, FlatSymbolRefAttr table, int64_t width, Type element,
             const PoolInput &input) {
    auto rows = RankedTensorType::get({ShapedType::kDynamic, width}, element);
    auto unique = UniqueOp::create(builder, loc, ValueRange{input.ids});
    Value pulled = PullOp::create(builder, loc, rows, table, unique.getKeys());
    return PoolOp::create(builder, loc, pulled, unique.getDeduplication(),
                          input)
        .getResult(0);
  }

  void lowerLookup(LookupOp op) {
    Location loc = op.getLoc();
    Bags ids = flatten(op.getIds(), loc);
    auto result = cast<RankedTensorType>(op.getType());
    // Without pooling, each id is a bag of its own.
    PoolInput input{ids.ids, Value(), Pooling::sum};
    if (std::optional<Pooling> pooling = op.getPooling())
      input = {ids.ids, ids.splits, *pooling};
    Value pooled = pool(loc, op.getTableAttr(), result.getShape().back(),
                        result.getElementType(), input);
    if (pooled.getType() != result)
      pooled = ReshapeOp::create(builder, loc, result, pooled);
    replace(op, pooled);
  }

  /// Lowers an `nn.count` to an `nn.count_pooled`. Repeats the values of a
  /// sample for each of its bags, in the order of the rule's counts.
  void lowerCount(CountOp op) {
    ImplicitLocOpBuilder atOp(op.getLoc(), builder);
    auto table = symbols.lookup<TableOp>(op.getTable());
    Type element = table.getRowType().getElementType();
    SmallVector<Value> values;
    for (Attribute name : countsOf(table, symbols))
      values.push_back(op.getValues()[llvm::find(op.getNames(), name) -
                                      op.getNames().begin()]);
    const auto counts = static_cast<int64_t>(values.size());
    Value all = values.front();
    if (counts > 1)
      all = ConcatOp::create(atOp, values, /*axis=*/1);
    auto ragged = dyn_cast<RaggedType>(op.getIds().getType());
    const int64_t bags =
        ragged ? ragged.getShape()[1]
               : cast<RankedTensorType>(op.getIds().getType()).getDimSize(1);
    if (bags != 1) {
      auto shaped = [&](ArrayRef<int64_t> shape) {
        return RankedTensorType::get(shape, element);
      };
      all = ReshapeOp::create(atOp, shaped({ShapedType::kDynamic, 1, counts}),
                              all);
      all = BroadcastOp::create(
          atOp, shaped({ShapedType::kDynamic, bags, counts}), all, Value());
      all =
          ReshapeOp::create(atOp, shaped({ShapedType::kDynamic, counts}), all);
    }
    Bags flat = flatten(op.getIds(), op.getLoc());
    Value pooled = pool(op.getLoc(), op.getTableAttr(), table.getWidth(),
                        element, {flat.ids, flat.splits, Pooling::sum});
    CountPooledOp::create(atOp, op.getTableAttr(), pooled, all);
    op.erase();
  }

  void lowerSameBags(SameBagsOp op) {
    Bags given = flatten(op.getInput(), op.getLoc());
    Bags like = flatten(op.getLike(), op.getLoc());
    CheckBagsOp::create(builder, op.getLoc(), given.splits, like.splits);
    // Use the splits of `input`. The check ensures that they are equal to those
    // of `like`, but ops that run before the check must not read beyond the
    // ids.
    bags[op.getResult()] = given;
    dead.push_back(op);
  }

  void lowerBags(BagsOpInterface op) {
    if (!op.getBagsOperand())
      return;
    auto [ids, splits] = flatten(op.getBagsOperand(), op.getLoc());
    op.setExplicitBags(ids, splits);
  }

  /// Lowers the ops in the bodies of an op. A body can use only its arguments,
  /// so values that it reads become operands of the op.
  void lowerBodies(BodyOpInterface owner) {
    if (auto ofBags = dyn_cast<BagsOpInterface>(owner.getOperation()))
      lowerBags(ofBags);
    for (Region &region : owner->getRegions()) {
      Block &body = region.front();
      for (auto next = body.begin(); next != body.end();) {
        Operation &op = *next++;
        builder.setInsertionPoint(&op);
        if (auto composite = dyn_cast<CompositeOpInterface>(op))
          next = spellOut(composite, next);
        else if (auto read = dyn_cast<ReadOp>(op))
          replace(read, readIn(body, read));
        else if (auto nested = dyn_cast<BodyOpInterface>(op))
          lowerBodies(nested);
        else if (auto constant = dyn_cast<ConstantOp>(op))
          constant.removeExactAttr();
      }
    }
  }

  void lowerCross(CrossOp op) {
    if (!isa<RaggedType>(op.getType()))
      return;
    SmallVector<Bags> operands;
    for (Value input : op.getInputs()) {
      Bags flat = flatten(input, op.getLoc());
      if (!flat.splits)
        flat.splits =
            SingleBagsOp::create(builder, op.getLoc(), flatSplits, flat.ids);
      operands.push_back(flat);
    }
    bags[op.getResult()] =
        CrossBagsOp::create(builder, op.getLoc(), operands, op.getSalt())
            .getCrossed();
    dead.push_back(op);
  }

  /// Lowers arithmetic on ids of bags. Only the ids change, not the bags.
  void lowerIdArithmetic(IdArithmeticOp op) {
    if (!isa<RaggedType>(op.getType()))
      return;
    auto [ids, splits] = flatten(op.getInput(), op.getLoc());
    Value made = IdArithmeticOp::create(builder, op.getLoc(), flatIds,
                                        op.getKind(), ids, op.getNumber());
    bags[op.getResult()] = {made, splits};
    dead.push_back(op);
  }

  /// Lowers a cast of bags: its operand becomes a tensor with one row for each
  /// id or number. The cast itself is erased if the numbers already have the
  /// type of the result.
  void lowerCast(CastOp op) {
    if (!isa<RaggedType>(op.getInput().getType()))
      return;
    Value ids = flatten(op.getInput(), op.getLoc()).ids;
    Type element = elementTypeOf(ids.getType());
    auto type = RankedTensorType::get({ShapedType::kDynamic, 1}, element);
    Value rows = ReshapeOp::create(builder, op.getLoc(), type, ids);
    if (element == op.getType().getElementType())
      replace(op, rows);
    else
      op.getInputMutable().assign(rows);
  }

  void eraseRagged() {
    for (Operation *op : llvm::reverse(dead))
      op->erase();
    Block &body = program.getBody().front();
    for (unsigned i = body.getNumArguments(); i-- > 0;)
      if (isa<RaggedType>(body.getArgument(i).getType()))
        body.eraseArgument(i);
  }

  ProgramOp program;
  const SymbolTable &symbols;
  OpBuilder builder;
  Type i64;
  RankedTensorType flatIds, flatSplits;
  DenseMap<Value, Bags> bags;
  DenseMap<StringAttr, Value> reads;
  /// Number of ops that already have a random stream, by op name.
  llvm::StringMap<unsigned> drawingOps;
  Operation *lastRead = nullptr;
  SmallVector<Operation *> dead;
};

/// Removes admission clauses that admit every key. The table then behaves
/// exactly like one without the clause, also in steps in which keys are looked
/// up but not trained.
void dropIdleAdmission(TableOp table) {
  if (table.getAdmitCount() == 1)
    table.removeAdmitCountAttr();
  if (std::optional<APFloat> probability = table.getAdmitProbability();
      probability && probability->isExactlyValue(1))
    table.removeAdmitProbabilityAttr();
}

struct LowerModel : pdlc::impl::NNLowerModelBase<LowerModel> {
  using NNLowerModelBase::NNLowerModelBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (TableOp table : module.getOps<TableOp>())
      dropIdleAdmission(table);
    if (failed(inlineFunctions(module, maxOps)))
      return signalPassFailure();
    // Now that functions are inlined, computed ids are visible.
    WalkResult result = module.walk([](LookupOp lookup) -> WalkResult {
      return verifyIdsFromFields(lookup);
    });
    const SymbolTable symbols(module);
    if (!result.wasInterrupted())
      result = module.walk([&](CountOp count) -> WalkResult {
        return success(succeeded(verifyIdsFromFields(count)) &&
                       succeeded(verifyCounts(count, symbols)));
      });
    if (!result.wasInterrupted())
      result = module.walk([](BagsOpInterface op) -> WalkResult {
        return verifyCountedRows(op);
      });
    if (!result.wasInterrupted())
      result = module.walk(
          [](CastOp op) -> WalkResult { return verifyCountedRows(op); });
    if (result.wasInterrupted())
      return signalPassFailure();
    for (ProgramOp program : module.getOps<ProgramOp>()) {
      FailureOr<RowsOfBags> rows = verifyRowSpaces(program);
      if (failed(rows))
        return signalPassFailure();
      watchLabels(program, *rows);
      ProgramLowering(program, symbols).run();
      warnOfMixedOutputs(program);
    }
    module->setAttr(NNDialect::kPhaseAttrName,
                    StringAttr::get(&getContext(), "merged"));
  }
};
} // namespace
