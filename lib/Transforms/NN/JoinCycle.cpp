//===- JoinCycle.cpp - Join alternating programs into one -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/IRMapping.h"
#include "pdlc/Dialect/NN/IR/ElementTypeOf.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace pdlc {
#define GEN_PASS_DEF_NNJOINCYCLE
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

namespace {

/// Joins the programs of a cycle into one.
class Joining {
public:
  Joining(CycleOp cycle, SymbolTable &symbols)
      : cycle(cycle), symbols(symbols), builder(cycle), loc(cycle.getLoc()) {
    for (auto name : cycle.getPrograms().getAsRange<FlatSymbolRefAttr>())
      programs.insert(symbols.lookup<ProgramOp>(name.getValue()));
  }

  LogicalResult run() {
    if (failed(checkGroups()))
      return failure();
    createCounter();
    createProgram();
    for (ProgramOp program : programs)
      take(program);
    count();
    ReturnOp::create(builder, loc, ValueRange(), ArrayAttr());
    finish();
    return success();
  }

private:
  LogicalResult checkGroups();
  LogicalResult claim(FlatSymbolRefAttr group, Operation *op);
  void createCounter();
  void createProgram();
  Value createNumber(double number);
  Value isTurnOf(ProgramOp program);
  Value columnOf(Value scalar, Value like);
  Value weighted(Value weights, Value like);
  void take(ProgramOp program);
  void count();
  void finish();

  CycleOp cycle;
  SymbolTable &symbols;
  OpBuilder builder;
  Location loc;
  llvm::SetVector<ProgramOp> programs;
  /// Op that trains each group.
  DenseMap<Attribute, Operation *> claimed;
  RankedTensorType scalar;
  ParamOp counter;
  ProgramOp joined;
  /// Arguments of the joined program, by field, and its reads, by symbol.
  DenseMap<Attribute, SmallVector<Value>> fields;
  DenseMap<Attribute, Value> reads;
  Value turn;
  /// A number that is 1 in the steps in which the current program trains, else
  /// 0, by element type. There is one value for each type, so that all weights
  /// of the program depend on the same value (nn-gate-turns).
  DenseMap<Type, Value> now;
  MinimizeOp lastLoss;
};

} // namespace

LogicalResult Joining::claim(FlatSymbolRefAttr group, Operation *op) {
  auto program = op->getParentOfType<ProgramOp>();
  auto [first, isNew] = claimed.try_emplace(group, op);
  if (isNew || first->second->getParentOfType<ProgramOp>() == program)
    return success();
  InFlightDiagnostic diagnostic =
      op->emitOpError()
      << "changes group " << group << ", as another program "
      << "of " << FlatSymbolRefAttr::get(cycle.getSymNameAttr())
      << " does; give each program groups of its own, or "
         "minimize the sum of both losses in one program (C3)";
  diagnostic.attachNote(first->second->getLoc()) << "the other one is here";
  return diagnostic;
}

LogicalResult Joining::checkGroups() {
  for (ProgramOp program : programs) {
    for (auto minimize : program.getBody().getOps<MinimizeOp>())
      for (auto group : minimize.getGroups().getAsRange<FlatSymbolRefAttr>())
        if (failed(claim(group, minimize)))
          return failure();
    for (auto accumulate : program.getBody().getOps<AccumulateOp>()) {
      FlatSymbolRefAttr group = groupOf(symbols.lookup(accumulate.getState()));
      if (failed(claim(group, accumulate)))
        return failure();
      auto rule = symbols.lookup<RuleOp>(
          symbols.lookup<GroupOp>(group.getValue()).getRule());
      if (rule && rule.getUndivided())
        return accumulate.emitOpError()
               << "stands in a program of "
               << FlatSymbolRefAttr::get(cycle.getSymNameAttr())
               << ", and rule @" << rule.getSymName()
               << " of its group takes sums as they are: it would run in the "
                  "steps of other programs, too; use a rule of means, such as "
                  "@moving_average (C4)";
    }
  }
  return success();
}

/// Creates the state that counts the steps of the cycle, in a group of its own.
void Joining::createCounter() {
  ProgramOp program = programs[0];
  MinimizeOp first = *program.getBody().getOps<MinimizeOp>().begin();
  auto rule = symbols.lookup<RuleOp>(CycleOp::kRule);
  scalar = RankedTensorType::get(
      {1}, rule ? rule.getEach().getArgument(0).getType()
                : getElementTypeOrSelf(first.getLosses()));
  int64_t length = 0;
  for (int64_t steps : cycle.getSteps())
    length += steps;
  StringRef name = cycle.getSymName();
  auto hyper = builder.getDictionaryAttr(
      builder.getNamedAttr("length", builder.getF64FloatAttr(length)));
  auto group = GroupOp::create(
      builder, loc, builder.getStringAttr(name + ".turns"),
      FlatSymbolRefAttr::get(builder.getContext(), CycleOp::kRule), hyper,
      builder.getF64FloatAttr(1), FlatSymbolRefAttr(), DictionaryAttr(),
      ArrayAttr(), FlatSymbolRefAttr(), UntouchedAttr(), FlatSymbolRefAttr(),
      DictionaryAttr(), MergeAttr(), RateOverAttr(), FlatSymbolRefAttr(),
      DictionaryAttr());
  symbols.insert(group, cycle->getIterator());
  counter = ParamOp::create(builder, loc, builder.getStringAttr(name + ".turn"),
                            TypeAttr::get(scalar),
                            FlatSymbolRefAttr::get(group.getSymNameAttr()),
                            ZerosAttr::get(builder.getContext()));
  symbols.insert(counter, cycle->getIterator());
}

/// Creates the joined program, without ops. It reads each field that at least
/// one of the programs reads.
void Joining::createProgram() {
  llvm::SetVector<Attribute> except;
  ProgramOp first = programs[0];
  if (ArrayAttr names = first.getExceptAttr())
    except.insert_range(names);
  for (ProgramOp program : programs) {
    ArrayAttr names = program.getExceptAttr();
    except.remove_if([&](Attribute name) {
      return !names || !llvm::is_contained(names, name);
    });
  }
  ArrayAttr names =
      except.empty() ? ArrayAttr() : builder.getArrayAttr(except.getArrayRef());
  // The cycle still has this name.
  joined = ProgramOp::create(builder, loc, cycle.getSymNameAttr(),
                             first.getRecordAttr(), names, UnitAttr());
  Block &body = joined.getBody().emplaceBlock();
  for (FieldOp field : joined.getFields()) {
    SmallVector<Value> &arguments = fields[field.getSymNameAttr()];
    MLIRContext *context = builder.getContext();
    if (!field.isRagged()) {
      arguments.push_back(body.addArgument(field.getType(), loc));
      continue;
    }
    for (Type element :
         {elementTypeOf(field.getType()), Type(IntegerType::get(context, 32))})
      arguments.push_back(body.addArgument(
          RankedTensorType::get({ShapedType::kDynamic}, element), loc));
  }
  builder.setInsertionPointToStart(&body);
  turn = ReadOp::create(builder, loc, scalar,
                        FlatSymbolRefAttr::get(counter.getSymNameAttr()));
}

Value Joining::createNumber(double number) {
  return ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(scalar, Attribute(builder.getFloatAttr(
                                         scalar.getElementType(), number))));
}

Value Joining::isTurnOf(ProgramOp program) {
  Value found;
  int64_t begin = 0;
  for (auto [name, steps] :
       llvm::zip_equal(cycle.getPrograms().getAsRange<FlatSymbolRefAttr>(),
                       cycle.getSteps())) {
    const int64_t end = begin + steps;
    if (name.getAttr() == program.getSymNameAttr()) {
      Value after = GreaterEqualOp::create(builder, loc, scalar, turn,
                                           createNumber(begin));
      Value before =
          LessOp::create(builder, loc, scalar, turn, createNumber(end));
      Value within = MulOp::create(builder, loc, after, before);
      found = found ? AddOp::create(builder, loc, found, within).getResult()
                    : within;
    }
    begin = end;
  }
  return found;
}

/// Broadcasts a number to each sample of `like`.
Value Joining::columnOf(Value number, Value like) {
  auto type = RankedTensorType::get({ShapedType::kDynamic, 1},
                                    getElementTypeOrSelf(number));
  return BroadcastOp::create(builder, loc, type, number, like);
}

/// Returns `weights` in steps in which the current program trains, and zeros in
/// all other steps. Null weights count as ones.
Value Joining::weighted(Value weights, Value like) {
  Type element = getElementTypeOrSelf(like);
  Value number = now.lookup(element);
  if (!number) {
    number = CastOp::create(builder, loc, scalar.clone(element),
                            now.at(scalar.getElementType()));
    now[element] = number;
  }
  Value column = columnOf(number, like);
  return weights ? MulOp::create(builder, loc, weights, column).getResult()
                 : column;
}

/// Moves the ops of a program into the joined program.
void Joining::take(ProgramOp program) {
  now.clear();
  now[scalar.getElementType()] = isTurnOf(program);
  IRMapping mapping;
  Block &body = program.getBody().front();
  unsigned argument = 0;
  for (FieldOp field : program.getFields())
    for (Value value : fields[field.getSymNameAttr()])
      mapping.map(body.getArgument(argument++), value);
  for (Operation &op : body.without_terminator()) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      if (Value known = reads.lookup(read.getSymbolAttr())) {
        mapping.map(read.getResult(), known);
        continue;
      }
      builder.clone(op, mapping);
      reads[read.getSymbolAttr()] = mapping.lookup(read.getResult());
      continue;
    }
    Operation *clone = builder.clone(op, mapping);
    builder.setInsertionPoint(clone);
    if (auto minimize = dyn_cast<MinimizeOp>(clone)) {
      minimize.getWeightsMutable().assign(
          weighted(minimize.getWeights(), minimize.getLosses()));
      lastLoss = minimize;
    } else if (auto accumulate = dyn_cast<AccumulateOp>(clone)) {
      accumulate.getWeightsMutable().assign(
          weighted(accumulate.getWeights(), accumulate.getValues()));
    } else if (auto observe = dyn_cast<ObserveOp>(clone)) {
      observe.getWeightsMutable().assign(
          weighted(observe.getWeights(), observe.getPredictions()));
    }
    builder.setInsertionPointAfter(clone);
  }
}

/// Counts the step.
void Joining::count() {
  Value ones = columnOf(createNumber(1), lastLoss.getLosses());
  AccumulateOp::create(builder, loc,
                       FlatSymbolRefAttr::get(counter.getSymNameAttr()), ones,
                       Value());
}

void Joining::finish() {
  symbols.erase(cycle);
  symbols.insert(joined);
  for (ProgramOp program : programs)
    symbols.erase(program);
}

namespace {
struct JoinCycle : pdlc::impl::NNJoinCycleBase<JoinCycle> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    DenseMap<Attribute, CycleOp> cycleOf;
    for (CycleOp cycle : module.getOps<CycleOp>())
      for (Attribute name : cycle.getPrograms()) {
        CycleOp first = cycleOf.try_emplace(name, cycle).first->second;
        if (first == cycle)
          continue;
        InFlightDiagnostic diagnostic =
            cycle.emitOpError()
            << "names " << name << ", which takes turns in another cycle (C2)";
        diagnostic.attachNote(first.getLoc()) << "the other one is here";
        return signalPassFailure();
      }
    for (CycleOp cycle : llvm::make_early_inc_range(module.getOps<CycleOp>()))
      if (failed(Joining(cycle, symbols).run()))
        return signalPassFailure();
  }
};
} // namespace
