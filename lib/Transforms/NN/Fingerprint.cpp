//===- Fingerprint.cpp - Compare checkpoints and programs -----------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HyperValues.h"
#include "KeyTexts.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "pdlabi/hash.h"
#include "pdlc/Dialect/NN/IR/FormerNames.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Dialect/NN/IR/PeriodSlot.h"
#include "pdlc/Dialect/NN/IR/Widens.h"
#include "pdlc/Transforms/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InterleavedRange.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>

namespace pdlc {
#define GEN_PASS_DEF_NNFINGERPRINT
#include "pdlc/Transforms/Passes.h.inc"
} // namespace pdlc

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Maximum length of the text of a part. A longer text is replaced by its
/// digest.
static constexpr size_t longestValue = 160;

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

static std::string digestOf(StringRef text) {
  return llvm::utohexstr(pdlabi::hashText(text, 0), /*LowerCase=*/true,
                         /*Width=*/16);
}

static std::string shorten(std::string text) {
  return text.size() <= longestValue ? std::move(text) : digestOf(text);
}

static std::string textOf(double number) { return textOfNumber(number); }

static std::string textOf(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << type.getElementType() << " [" << llvm::interleaved(type.getShape())
         << "]";
  return text;
}

/// Flags that print ops in generic form, without value names and locations.
static OpPrintingFlags plainFlags() {
  return OpPrintingFlags()
      .printGenericOpForm()
      .enableDebugInfo(false)
      .assumeVerified();
}

/// Returns a digest of the ops of a scalar region.
static std::string digestOf(Region &region) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  AsmState names(region.getParentOp(), plainFlags());
  for (Operation &op : region.front()) {
    op.print(stream, names);
    stream << '\n';
  }
  return digestOf(withFirstNames(std::move(text)));
}

/// Returns text such as `{beta1 = 0.9, beta2 = 0.999}`. Numbers in `others`,
/// the group's dictionary, replace the defaults `values`.
static std::string textOf(ArrayAttr names, ArrayRef<double> values,
                          DictionaryAttr others = {}) {
  std::string text = "{";
  for (auto [name, number] : llvm::zip_equal(
           names.getAsRange<StringAttr>(), hyperValues(names, values, others)))
    text += (text.size() > 1 ? ", " : "") + name.str() + " = " + textOf(number);
  return text + "}";
}

//===----------------------------------------------------------------------===//
// Slices of programs
//===----------------------------------------------------------------------===//

namespace {

/// Some ops of a program in phase `merged`, and all ops on which they depend,
/// down to the fields.
class ProgramSlice {
public:
  /// Copies the ops `ends` of the program and everything on which they depend.
  /// `fields` are the fields of the program's arguments. Takes time
  /// proportional to the size of the slice, not of the program.
  ProgramSlice(ProgramOp program, ArrayRef<Operation *> ends,
               ArrayRef<FieldOp> fields);

  /// Returns the field of each argument of the slice. A ragged field may occur
  /// twice, because it has an argument for its ids and one for its splits.
  ArrayRef<FieldOp> fields() const { return argumentFields; }

  Block &body() { return copy->getBody().front(); }

  /// Returns a digest of the slice. `numbers` are the numbers of the fields.
  std::string digest(const DenseMap<Operation *, size_t> &numbers) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    for (FieldOp field : argumentFields)
      stream << "field " << numbers.at(field) << '\n';
    AsmState names(copy.get(), plainFlags());
    for (Operation &op : body()) {
      op.print(stream, names);
      stream << '\n';
    }
    return digestOf(withFirstNames(std::move(text)));
  }

private:
  OwningOpRef<ProgramOp> copy;
  SmallVector<FieldOp> argumentFields;
};

} // namespace

ProgramSlice::ProgramSlice(ProgramOp program, ArrayRef<Operation *> ends,
                           ArrayRef<FieldOp> fields)
    : copy(cast<ProgramOp>(program->cloneWithoutRegions())) {
  Block &source = program.getBody().front();
  SetVector<Operation *> ops;
  SetVector<BlockArgument> arguments;
  ops.insert_range(ends);
  // The list grows during the loop.
  for (size_t i = 0; i < ops.size(); ++i)
    ops[i]->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand)) {
          if (argument.getOwner() == &source)
            arguments.insert(argument);
        } else if (Operation *needed =
                       source.findAncestorOpInBlock(*operand.getDefiningOp())) {
          ops.insert(needed);
        }
    });
  SmallVector<Operation *> ordered(ops.begin(), ops.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  SmallVector<BlockArgument> used(arguments.begin(), arguments.end());
  llvm::sort(used, [](BlockArgument a, BlockArgument b) {
    return a.getArgNumber() < b.getArgNumber();
  });
  Block &target = copy->getBody().emplaceBlock();
  IRMapping values;
  for (BlockArgument argument : used) {
    values.map(argument,
               target.addArgument(argument.getType(), argument.getLoc()));
    argumentFields.push_back(fields[argument.getArgNumber()]);
  }
  OpBuilder builder = OpBuilder::atBlockEnd(&target);
  for (Operation *op : ordered)
    builder.clone(*op, values);
}

namespace {

//===----------------------------------------------------------------------===//
// Collection of the parts
//===----------------------------------------------------------------------===//

class PartCollector {
public:
  explicit PartCollector(ModuleOp module)
      : module(module), symbols(module), builder(module.getContext()) {}

  /// Adds the module's nn.fingerprint. Reports what is missing for it.
  LogicalResult run();

private:
  using Parts = SmallVector<NamedAttribute>;

  void addWhole(Parts &parts, const Twine &name, const Twine &value) {
    parts.push_back(
        builder.getNamedAttr(name.str(), builder.getStringAttr(value)));
  }
  void add(Parts &parts, const Twine &name, std::string value) {
    addWhole(parts, name, shorten(std::move(value)));
  }
  LogicalResult checkLinked();
  void addProgram(ProgramOp program);
  void addGroup(GroupOp group);
  bool isClippedBySymbol(GroupOp group);
  void addSymbol(Operation *symbol);
  void addKeys();
  void addFields();
  void addField(FieldOp field, int64_t column, AsmState &names);
  GroupOp trainedGroupOf(Operation *symbol);

  ModuleOp module;
  SymbolTable symbols;
  Builder builder;
  /// Names of trained groups, and of symbols that training reads.
  DenseSet<StringAttr> trainedGroups, reached;
  /// Fields on which training depends, with their numbers among these fields.
  DenseMap<Operation *, size_t> fields;
  /// Losses of the programs.
  SmallVector<std::pair<ProgramOp, ProgramSlice>> losses;
  /// Texts that describe how the keys of a table are computed from fields
  /// (KeyTexts.h), by table: by programs that train, and by programs that only
  /// read.
  std::map<StringRef, std::set<std::string>> trainedKeys, readKeys;
  Parts state, optimizer, training;
};

} // namespace

/// Reports an error if a rule or schedule of a trained group has not been
/// linked, because the fingerprint includes its definition.
LogicalResult PartCollector::checkLinked() {
  for (auto group : module.getOps<GroupOp>()) {
    if (!trainedGroups.contains(group.getSymNameAttr()))
      continue;
    const bool hasRule = symbols.lookup<RuleOp>(group.getRule());
    FlatSymbolRefAttr schedule = group.getScheduleAttr();
    if (hasRule &&
        (!schedule || symbols.lookup<ScheduleOp>(schedule.getValue())))
      continue;
    return group.emitOpError()
           << "names " << (hasRule ? "schedule " : "rule ")
           << (hasRule ? schedule : group.getRuleAttr())
           << ", which the module does not define; run nn-link-std if it is "
              "one of the standard library";
  }
  return success();
}

/// Returns the field of each argument of the program. A ragged field has two
/// arguments.
static SmallVector<FieldOp> fieldsByArgument(ProgramOp program) {
  SmallVector<FieldOp> fields;
  for (FieldOp field : program.getFields())
    fields.append(field.isRagged() ? 2 : 1, field);
  return fields;
}

/// Adds how a program trains its symbols. Metrics are left out.
void PartCollector::addProgram(ProgramOp program) {
  const SmallVector<FieldOp> byArgument = fieldsByArgument(program);
  auto minimizes = program.getBody().getOps<MinimizeOp>();
  if (minimizes.empty()) {
    for (auto pull : program.getBody().getOps<PullOp>())
      addKeyTexts(pull, byArgument, readKeys[pull.getTable()]);
    return;
  }
  for (MinimizeOp minimize : minimizes)
    for (Attribute group : minimize.getGroups())
      trainedGroups.insert(cast<FlatSymbolRefAttr>(group).getAttr());
  for (auto accumulate : program.getBody().getOps<AccumulateOp>()) {
    reached.insert(accumulate.getStateAttr().getAttr());
    trainedGroups.insert(
        groupOf(symbols.lookup(accumulate.getState())).getAttr());
  }
  SmallVector<Operation *> effects;
  DenseMap<StringAttr, SmallVector<PullOp, 1>> pulls;
  for (Operation &op : program.getBody().front().without_terminator()) {
    if (auto pull = dyn_cast<PullOp>(op))
      pulls[pull.getTableAttr().getAttr()].push_back(pull);
    // Observed outputs are left out.
    if (!isa<ObserveOp>(op) && !wouldOpBeTriviallyDead(&op))
      effects.push_back(&op);
  }
  ProgramSlice slice(program, effects, byArgument);
  for (FieldOp field : slice.fields())
    fields.try_emplace(field, 0);
  for (Operation &op : slice.body()) {
    if (auto read = dyn_cast<ReadOp>(op))
      reached.insert(read.getSymbolAttr().getAttr());
    auto pull = dyn_cast<PullOp>(op);
    if (!pull)
      continue;
    StringAttr table = pull.getTableAttr().getAttr();
    reached.insert(table);
    for (PullOp same : pulls[table])
      addKeyTexts(same, byArgument, trainedKeys[table.getValue()]);
  }
  losses.emplace_back(program, std::move(slice));
}

/// Adds a part for each table: the texts that describe how its keys are
/// computed, one per line. The keys of frozen programs are added only if the
/// model has no training program.
void PartCollector::addKeys() {
  for (auto &[table, ways] : trainedKeys)
    addWhole(state, "keys of @" + table, llvm::join(ways, "\n"));
  if (trainedGroups.empty())
    for (auto &[table, ways] : readKeys)
      addWhole(state, "keys read of @" + table, llvm::join(ways, "\n"));
}

/// Adds the fields on which training depends, and the losses. Fields are
/// numbered in the order of the record; their names are left out.
void PartCollector::addFields() {
  AsmState names(module,
                 OpPrintingFlags().enableDebugInfo(false).assumeVerified());
  size_t number = 0;
  for (auto record : module.getOps<RecordOp>()) {
    int64_t column = 0;
    for (FieldOp field : record.getBody().getOps<FieldOp>()) {
      if (auto found = fields.find(field); found != fields.end()) {
        found->second = ++number;
        addField(field, column, names);
      }
      column += field.getWidth();
    }
  }
  for (auto &[program, slice] : losses)
    add(training, "losses of @" + program.getSymName(), slice.digest(fields));
}

GroupOp PartCollector::trainedGroupOf(Operation *symbol) {
  FlatSymbolRefAttr group = groupOf(symbol);
  if (!group || !trainedGroups.contains(group.getAttr()) ||
      !reached.contains(SymbolTable::getSymbolName(symbol)))
    return {};
  return symbols.lookup<GroupOp>(group.getValue());
}

static std::string listOf(ArrayAttr names) {
  return llvm::join(names.getAsValueRange<StringAttr>(), ", ");
}

/// Returns the score formula of keys and rows.
static std::string textOfScore(TableOp table) {
  std::string text;
  for (NamedAttribute weight : table.getScoreAttr())
    text += " " + weight.getName().str() + " * " +
            textOf(cast<FloatAttr>(weight.getValue()).getValueAsDouble());
  return text;
}

/// Returns the eviction settings of a table.
static std::string textOfShrinking(TableOp table) {
  std::string text = "every " + std::to_string(*table.getShrinkEvery()) +
                     " unseen " + std::to_string(*table.getShrinkUnseen());
  if (std::optional<APFloat> decay = table.getShrinkDecay())
    text += " decay " + textOf(decay->convertToDouble());
  if (std::optional<APFloat> least = table.getShrinkLeast())
    text += " least " + textOf(least->convertToDouble());
  if (table.shrinksByScore())
    text += textOfScore(table);
  return text;
}

void PartCollector::addSymbol(Operation *symbol) {
  const std::string name =
      "@" + SymbolTable::getSymbolName(symbol).getValue().str();
  if (auto table = dyn_cast<TableOp>(symbol)) {
    std::string rows = textOf(table.getRowType());
    if (std::optional<Storage> stored = table.getStored())
      rows += " stored in " + stringifyStorage(*stored).str();
    add(state, "rows of " + name, std::move(rows));
    if (table.getAdmitCount())
      add(training, "admission of " + name,
          "by count " + std::to_string(*table.getAdmitCount()));
    if (table.getAdmitProbability())
      add(training, "admission of " + name,
          "by probability " +
              textOf(table.getAdmitProbability()->convertToDouble()));
    if (table.getAdmitScore())
      add(training, "admission of " + name,
          "by score " + textOf(table.getAdmitScore()->convertToDouble()) +
              " of" + textOfScore(table));
    if (auto first = table->getAttrOfType<FlatSymbolRefAttr>(kWidensAttrName))
      add(training, "columns of " + name,
          "behind those of @" + first.getValue().str());
    if (table.getShrinkEvery())
      add(training, "shrinking of " + name, textOfShrinking(table));
    // A checkpoint has the values of all rows that exist. Initial values matter
    // only if a program can create rows.
    if (reached.contains(table.getSymNameAttr())) {
      std::string text;
      llvm::raw_string_ostream(text) << table.getInit();
      add(training, "initial rows of " + name, text);
    }
  } else {
    auto type = symbol->getAttrOfType<TypeAttr>("type").getValue();
    add(state, "shape of " + name, textOf(cast<RankedTensorType>(type)));
  }
  GroupOp group = trainedGroupOf(symbol);
  if (!group)
    return;
  add(training, "group of " + name, "@" + group.getSymName().str());
  auto rule = symbols.lookup<RuleOp>(group.getRule());
  if (!rule.getSlotNames().empty())
    add(optimizer, "slots of " + name, listOf(rule.getSlotNames()));
  std::string rowSlots = listOf(rule.getRowSlotNames());
  if (auto table = dyn_cast<TableOp>(symbol); table && table.getShrinkEvery())
    rowSlots += (rowSlots.empty() ? "" : ", ") + kPeriodSlotName.str();
  if (!rowSlots.empty())
    add(optimizer, "row slots of " + name, rowSlots);
}

void PartCollector::addGroup(GroupOp group) {
  const std::string of = " of group @" + group.getSymName().str();
  auto rule = symbols.lookup<RuleOp>(group.getRule());
  std::string slots = textOf(rule.getSlotNames(), rule.getSlotValues());
  if (rule.getFrozenSlot())
    slots += " frozen " + rule.getFrozenSlot()->str();
  std::string regions = digestOf(rule.getOnce()) + digestOf(rule.getEach());
  if (rule.hasRow()) {
    if (rule.getWhole())
      slots += " of the parameter";
    slots +=
        " row slots " + textOf(rule.getRowSlotNames(), rule.getRowSlotValues());
    if (!rule.getCountNames().empty())
      slots += " counts " + listOf(rule.getCountNames());
    regions += digestOf(rule.getSum()) + digestOf(rule.getRow());
  }
  add(training, "rule" + of,
      textOf(rule.getHyperNames(), rule.getHyperValues(),
             group.getRuleHyperAttr()) +
          " slots " + slots + (rule.getUndivided() ? " undivided, " : ", ") +
          regions);
  add(training, "rate" + of, textOf(group.getRate().convertToDouble()));
  if (FlatSymbolRefAttr name = group.getScheduleAttr()) {
    auto schedule = symbols.lookup<ScheduleOp>(name.getValue());
    add(training, "schedule" + of,
        textOf(schedule.getHyperNames(), schedule.getHyperValues(),
               group.getScheduleHyperAttr()) +
            ", " + digestOf(schedule.getBody()));
  }
  if (ArrayAttr decay = group.getDecayAttr()) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::interleaved(decay);
    add(training, "regularizer" + of, text);
  }
  if (FlatSymbolRefAttr name = group.getClipAttr()) {
    // The norm is a sum in order of declaration.
    SmallVector<StringRef> names;
    for (Operation &op : *module.getBody())
      if (op.hasTrait<HoldsState>())
        if (GroupOp other = trainedGroupOf(&op);
            other && other.getClipAttr() == name)
          names.push_back(SymbolTable::getSymbolName(&op).getValue());
    auto clip = symbols.lookup<ClipOp>(name.getValue());
    std::string limit = textOf(clip.getLimit().convertToDouble());
    switch (clip.getKind()) {
    case ClipKind::global_norm:
      add(training, "clip" + of,
          "global norm " + limit + " of @" + llvm::join(names, ", @"));
      break;
    case ClipKind::norm:
      add(training, "clip" + of, "norm " + limit + " of each symbol");
      break;
    case ClipKind::value:
      add(training, "clip" + of, "value " + limit);
      break;
    }
  }
  if (std::optional<Untouched> untouched = group.getUntouched())
    add(training, "untouched rows" + of, stringifyUntouched(*untouched).str());
  // The mean is the default and adds no text, so fingerprints of older models
  // stay the same.
  if (group.getMerge() == Merge::sum)
    add(training, "merged steps" + of, stringifyMerge(Merge::sum).str());
  if (std::optional<RateOver> over = group.getRateOver())
    add(training, "rate over" + of, stringifyRateOver(*over).str());
  if (FlatSymbolRefAttr name = group.getCompensationAttr()) {
    auto compensation = symbols.lookup<RuleOp>(name.getValue());
    add(training, "compensation" + of,
        textOf(compensation.getHyperNames(), compensation.getHyperValues(),
               group.getCompensationHyperAttr()) +
            ", " + digestOf(compensation.getOnce()) +
            digestOf(compensation.getEach()));
  }
}

/// Adds a field. `column` is its first column, for fields without the clause
/// `columns`. All calls share `names`, which numbers the values of the module
/// once.
void PartCollector::addField(FieldOp field, int64_t column, AsmState &names) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  field->print(stream, names);
  text.erase(0, text.find(" : ") + 3);
  if (!field.getColumnsAttr())
    text += " from column " + std::to_string(column);
  printMissingTexts(stream, cast<RecordOp>(field->getParentOp()));
  add(training, "field " + std::to_string(fields.at(field)), text);
}

/// Returns true if the group has a clip by norm. `nn-split-clips` then makes a
/// group for each of its symbols, which counts steps of its own.
bool PartCollector::isClippedBySymbol(GroupOp group) {
  FlatSymbolRefAttr name = group.getClipAttr();
  return name &&
         symbols.lookup<ClipOp>(name.getValue()).getKind() == ClipKind::norm;
}

LogicalResult PartCollector::run() {
  for (auto program : module.getOps<ProgramOp>())
    addProgram(program);
  if (failed(checkLinked()))
    return failure();
  std::string groups;
  for (auto group : module.getOps<GroupOp>()) {
    if (!trainedGroups.contains(group.getSymNameAttr()))
      continue;
    groups += (groups.empty() ? "@" : ", @") + group.getSymName().str();
    if (isClippedBySymbol(group))
      groups += " by symbol";
    addGroup(group);
  }
  if (!groups.empty())
    add(optimizer, "groups with steps", groups);
  for (Operation &op : *module.getBody())
    if (op.hasTrait<HoldsState>())
      addSymbol(&op);
  addKeys();
  addFields();
  if (auto compute =
          module->getAttrOfType<StringAttr>(NNDialect::kComputeAttrName))
    add(training, "large products", compute.getValue().str());
  OpBuilder end = OpBuilder::atBlockEnd(module.getBody());
  FingerprintOp::create(end, module.getLoc(), builder.getDictionaryAttr(state),
                        builder.getDictionaryAttr(optimizer),
                        builder.getDictionaryAttr(training));
  return success();
}

namespace {
struct Fingerprint : pdlc::impl::NNFingerprintBase<Fingerprint> {
  void runOnOperation() override {
    for (auto old :
         llvm::make_early_inc_range(getOperation().getOps<FingerprintOp>()))
      old.erase();
    if (failed(PartCollector(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
