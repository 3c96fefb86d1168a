//===- CheckModel.cpp - Check a model for useless parts -------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Dialect/NN/IR/ElementTypeOf.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/FloatConversion.h"
#include "pdlc/Support/Spelling.h"
#include "pdlc/Transforms/Passes.h"

namespace pdlc {
#define GEN_PASS_DEF_NNCHECKMODEL
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Programs that the commands of an executable run.
static constexpr StringLiteral knownPrograms[] = {"train", "evaluate",
                                                  "predict"};

/// Checks that the model has at most one record. Programs, readers and servers
/// all use the same declaration of a sample.
static LogicalResult checkRecords(ModuleOp module) {
  RecordOp first;
  for (auto record : module.getOps<RecordOp>()) {
    if (!first) {
      first = record;
      continue;
    }
    InFlightDiagnostic diagnostic =
        record.emitOpError()
        << "is the second nn.record of the model; put all fields into one and "
           "leave some out of a program with `except` (C2)";
    diagnostic.attachNote(first.getLoc()) << "the first one is here";
    return failure();
  }
  return success();
}

/// Checks that the programs that commands run do what the commands expect:
/// `evaluate` and `predict` leave the state unchanged, `train` trains, and
/// `predict` has outputs.
static LogicalResult checkPrograms(ModuleOp module) {
  for (StringRef name : {"evaluate", "predict"})
    if (auto program = module.lookupSymbol<ProgramOp>(name);
        program && !program.getFrozen())
      return program.emitOpError()
             << "@" << name
             << " is not frozen, and would change the model by the data that "
                "it is given; write `nn.program @"
             << name << " frozen`, and no nn.minimize";
  for (StringRef name : {"evaluate", "predict"})
    if (auto cycle = module.lookupSymbol<CycleOp>(name))
      return cycle.emitOpError()
             << "@" << name << " is what a command runs that leaves the model "
             << "alone, but the programs of a cycle train; call it @train";
  auto train = module.lookupSymbol<ProgramOp>("train");
  if (train && !train
                    .walk([](Operation *op) {
                      return isa<MinimizeOp, UpdateOp>(op)
                                 ? WalkResult::interrupt()
                                 : WalkResult::advance();
                    })
                    .wasInterrupted())
    return train.emitOpError()
           << "@train has no nn.minimize, and would train nothing; end it with "
              "`nn.minimize %loss over [@group]`, which names the groups to "
              "train";
  auto predict = module.lookupSymbol<ProgramOp>("predict");
  if (predict && predict.getReturn().getNumOperands() == 0)
    return predict.emitOpError()
           << "@predict has no outputs; end it with `nn.return %value`, which "
              "names what to write for each sample";
  return success();
}

/// Returns true if `number` is finite in the type `element`. Integers always
/// are.
static bool isFiniteIn(FloatType element, Attribute number) {
  auto decimal = dyn_cast<FloatAttr>(number);
  return !decimal ||
         convertFloat(decimal.getValue(), element.getFloatSemantics())
             .isFinite();
}

/// Checks that the numbers in the clauses of a field are finite in its element
/// type, to which they are converted at run time.
static LogicalResult checkNumbers(FieldOp field) {
  if (!field.isFloat())
    return success();
  auto element = cast<FloatType>(elementTypeOf(field.getType()));
  for (auto [clause, missing] :
       {std::pair("missing", field.getMissingAttr()),
        std::pair("missing_element", field.getMissingElementAttr())})
    if (missing && !isFiniteIn(element, missing))
      return field.emitOpError()
             << "has " << clause << "(" << missing
             << "), which is no finite number of " << element << " (C3)";
  if (DictionaryAttr values = field.getValuesAttr())
    for (NamedAttribute entry : values)
      if (!isFiniteIn(element, entry.getValue()))
        return field.emitOpError()
               << "maps '" << entry.getName().getValue() << "' to "
               << entry.getValue() << ", which is no finite number of "
               << element << " (C2)";
  return success();
}

static LogicalResult checkNumbers(RuleOp rule) {
  auto element = cast<FloatType>(rule.getEach().getArgument(0).getType());
  for (auto [name, value] :
       llvm::zip_equal(rule.getAllSlotNames().getAsRange<StringAttr>(),
                       rule.getAllSlotValues()))
    if (!convertFloat(APFloat(value), element.getFloatSemantics()).isFinite())
      return rule.emitOpError()
             << "starts slot '" << name.getValue()
             << "' with a number that is not finite in " << element << " (C3)";
  return success();
}

static LogicalResult checkNumbers(ModuleOp module) {
  for (auto record : module.getOps<RecordOp>())
    for (FieldOp field : record.getBody().getOps<FieldOp>())
      if (failed(checkNumbers(field)))
        return failure();
  for (auto rule : module.getOps<RuleOp>())
    if (failed(checkNumbers(rule)))
      return failure();
  return success();
}

/// Returns a hint that suggests a command as the name of a program: one of
/// `missing` that `name` contains, such as "train" in "training", or else the
/// most similar one. Returns an empty string if there is none.
static std::string meantCommand(StringRef name, ArrayRef<StringRef> missing) {
  for (StringRef candidate : missing)
    if (name.contains_insensitive(candidate))
      return "; did you mean '" + candidate.str() + "'?";
  return didYouMean(name, missing);
}

/// Warns of a program that no command runs, if its name is probably misspelled.
/// Also warns if no command can run any program of the model.
static void checkProgramNames(ModuleOp module) {
  SmallVector<StringRef> missing;
  for (StringRef known : knownPrograms)
    if (!isa_and_nonnull<ProgramOp, CycleOp>(module.lookupSymbol(known)))
      missing.push_back(known);
  DenseSet<Attribute> inCycles;
  for (auto cycle : module.getOps<CycleOp>())
    inCycles.insert_range(cycle.getPrograms());
  bool hasWarned = false;
  ProgramOp first;
  for (auto program : module.getOps<ProgramOp>()) {
    StringRef name = program.getSymName();
    if (llvm::is_contained(knownPrograms, name) ||
        inCycles.contains(FlatSymbolRefAttr::get(program.getSymNameAttr())))
      continue;
    // Frozen programs can be run with --program.
    if (!program.getFrozen())
      first = first ? first : program;
    std::string meant = meantCommand(name, missing);
    if (meant.empty())
      continue;
    hasWarned = true;
    program.emitWarning() << "no command runs program @" << name
                          << "; commands are train, evaluate and predict"
                          << meant;
  }
  if (first && !hasWarned && missing.size() == std::size(knownPrograms))
    first.emitWarning() << "no command runs a program of this model; commands "
                           "are train, evaluate and predict: give one of its "
                           "programs such a name";
}

/// Warns of groups that no program trains, if the model trains at least one.
static void checkGroups(ModuleOp module) {
  const SymbolTable symbols(module);
  DenseSet<Attribute> trained;
  bool trains = false;
  module.walk([&](MinimizeOp minimize) {
    trains = true;
    trained.insert_range(minimize.getGroups());
  });
  module.walk([&](Operation *op) {
    // A function may accumulate into the symbols that it is called with.
    if (op->hasTrait<AccumulatesState>() || isa<CallOp>(op))
      op->getAttrDictionary().walk([&](FlatSymbolRefAttr name) {
        trained.insert(groupOf(symbols.lookup(name.getAttr())));
      });
  });
  if (!trains)
    return;
  for (auto group : module.getOps<GroupOp>()) {
    if (trained.contains(FlatSymbolRefAttr::get(group.getSymNameAttr())))
      continue;
    group.emitWarning() << "nothing trains group @" << group.getSymName()
                        << ": no nn.minimize names it";
  }
}

/// Returns the symbols that training programs name, directly or in the
/// functions that they call.
static DenseSet<StringAttr> readByTraining(ModuleOp module) {
  const SymbolTable symbols(module);
  DenseSet<StringAttr> named;
  SmallVector<Operation *> left;
  for (auto program : module.getOps<ProgramOp>())
    if (!program.getOps<MinimizeOp>().empty())
      left.push_back(program);
  while (!left.empty())
    left.pop_back_val()->walk([&](Operation *op) {
      if (isa<ProgramOp, FuncOp>(op))
        return;
      op->getAttrDictionary().walk([&](FlatSymbolRefAttr name) {
        if (!named.insert(name.getAttr()).second)
          return;
        if (auto callee =
                dyn_cast_or_null<FuncOp>(symbols.lookup(name.getAttr())))
          left.push_back(callee);
      });
    });
  return named;
}

/// Warns of parameters and tables that training reads but never changes.
static void checkUntrained(ModuleOp module) {
  const DenseSet<StringAttr> read = readByTraining(module);
  auto warn = [&](auto op, const char *remedy) {
    if (!op.getGroup() && read.contains(op.getSymNameAttr()))
      op.emitWarning() << "nothing trains @" << op.getSymName()
                       << ", which a training reads: it is in no group; "
                       << remedy;
  };
  for (Operation &op : *module.getBody()) {
    if (auto param = dyn_cast<ParamOp>(op))
      warn(param, "add `in @group`, or make it an nn.state, if it is to stay "
                  "as it is");
    if (auto table = dyn_cast<TableOp>(op))
      warn(table, "add `in @group`, unless its rows are to stay as they are");
  }
}

/// Warns of state that is never read.
static void checkState(ModuleOp module) {
  DenseSet<Attribute> read;
  module.walk([&](Operation *op) {
    // Ops at module level name groups and rules, but do not read state. Only
    // names in programs and functions count.
    if (op->getParentOp() == module)
      return;
    op->getAttrDictionary().walk(
        [&](FlatSymbolRefAttr name) { read.insert(name.getAttr()); });
  });
  SmallVector<Operation *> unread;
  for (Operation &op : *module.getBody())
    if (isa<ParamOp, StateOp, TableOp>(op) &&
        !read.contains(SymbolTable::getSymbolName(&op)))
      unread.push_back(&op);
  for (Operation *op : unread)
    op->emitWarning() << "nothing reads @"
                      << SymbolTable::getSymbolName(op).getValue()
                      << ": no program and no function names it";
}

namespace {
struct CheckModel : pdlc::impl::NNCheckModelBase<CheckModel> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(checkRecords(module)) || failed(checkPrograms(module)) ||
        failed(checkNumbers(module)))
      return signalPassFailure();
    checkProgramNames(module);
    checkGroups(module);
    checkUntrained(module);
    checkState(module);
    markAllAnalysesPreserved();
  }
};
} // namespace
