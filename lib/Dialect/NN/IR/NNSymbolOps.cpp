//===- NNSymbolOps.cpp - Symbols of a model -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"
#include "ScalarRegion.h"
#include "StateChecks.h"
#include "VerifierUtils.h"
#include "pdlabi/abi/symbols.h"
#include "pdlabi/names.h"
#include "pdlc/Dialect/NN/IR/ElementTypeOf.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "pdlc/Support/FloatConversion.h"
#include "llvm/ADT/StringSet.h"
#include <array>
#include <cmath>

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

LogicalResult RecordOp::verify() {
  if (ArrayAttr texts = getMissingTextsAttr())
    for (StringRef text : texts.getAsValueRange<StringAttr>())
      if (text.empty() || text.trim(" \t\r") != text)
        return emitOpError()
               << "has the missing text '" << text << "', which "
               << (text.empty() ? "is missing anyway; leave it out"
                                : "begins or ends with a blank; cells have "
                                  "none at their ends")
               << " (C3)";
  return success();
}

LogicalResult RecordOp::verifyRegions() {
  for (Operation &op : getBody().getOps())
    if (!isa<FieldOp>(op))
      return op.emitOpError(
          "stands in a record, which holds nn.field only (C1)");
  llvm::StringMap<FieldOp> fields;
  for (FieldOp field : getBody().getOps<FieldOp>())
    fields.try_emplace(field.getSymName(), field);
  for (FieldOp bag : getBody().getOps<FieldOp>()) {
    if (!bag.isRagged())
      continue;
    for (const char *part : {".values", ".splits"}) {
      FieldOp other = fields.lookup((bag.getSymName() + part).str());
      if (!other)
        continue;
      InFlightDiagnostic diagnostic =
          other.emitOpError()
          << "has name '" << bag.getSymName() << part
          << "', which files of batches give to a part of ragged field @"
          << bag.getSymName() << "; give it another one (nn.field, C5)";
      diagnostic.attachNote(bag.getLoc()) << "the ragged field is here";
      return failure();
    }
  }
  return success();
}

int64_t FieldOp::getWidth() {
  if (auto ragged = dyn_cast<RaggedType>(getType()))
    return ragged.getSlots();
  return cast<RankedTensorType>(getType()).getDimSize(1);
}

bool FieldOp::isRagged() { return isa<RaggedType>(getType()); }

bool FieldOp::isFloat() {
  return isa_and_nonnull<FloatType>(elementTypeOf(getType()));
}

/// Limit of column positions. No row of a file has more cells.
static constexpr int64_t kMaxColumns = int64_t(1) << 31;

/// Returns the number that formulas read for `number`. `isSettledNumber` must
/// return true for it.
static double settledNumber(Attribute number) {
  if (auto decimal = dyn_cast<FloatAttr>(number))
    return decimal.getValueAsDouble();
  return cast<IntegerAttr>(number).getValue().signedRoundToDouble();
}

/// Returns true if `number` is a 64-bit integer or a finite float.
static bool isSettledNumber(Attribute number) {
  if (auto integer = dyn_cast<IntegerAttr>(number))
    return integer.getValue().isSignedIntN(64);
  auto decimal = dyn_cast<FloatAttr>(number);
  return decimal && std::isfinite(decimal.getValueAsDouble());
}

/// Verifies the replacement for missing values in the clause `clause`.
static LogicalResult verifyMissing(FieldOp field, StringRef clause,
                                   Attribute missing) {
  if (!missing)
    return success();
  const bool hashed = field.getHash() && field.getHash()->getXxh64();
  if (field.isFloat() && !isSettledNumber(missing))
    return field.emitOpError()
           << "has " << clause << "(...) that is not a finite number (C3)";
  if (!field.isFloat() && hashed && !isa<StringAttr>(missing))
    return field.emitOpError() << "is hashed; its " << clause
                               << "(...) is the text that stands "
                                  "for a missing one, a string (C3)";
  if (!field.isFloat() && !hashed &&
      !(isa<IntegerAttr>(missing) && isSettledNumber(missing)))
    return field.emitOpError() << "holds decimal ids; its " << clause
                               << "(...) is a 64-bit integer (C3)";
  return success();
}

LogicalResult FieldOp::verify() {
  if (!isRagged()) {
    auto tensor = dyn_cast<RankedTensorType>(getType());
    bool ok =
        tensor && tensor.getRank() == 2 && tensor.isDynamicDim(0) &&
        !tensor.isDynamicDim(1) && tensor.getDimSize(1) >= 1 &&
        (tensor.getElementType().isF32() || tensor.getElementType().isF64() ||
         tensor.getElementType().isInteger(64));
    if (!ok)
      return emitOpError() << "has type " << getType()
                           << "; a field is tensor<?xNxf32>, tensor<?xNxi64> "
                              "or ragged, !nn.ragged<?xNx*xi64> or xf32, with "
                              "N >= 1 (C1)";
  }
  if (getWidth() > kMaxWidth)
    return emitOpError() << "has " << getWidth() << " columns; a field has at "
                         << "most " << kMaxWidth << " (C1)";
  if (getHash() && isFloat())
    return emitOpError("hashes a numeric field; hash(...) needs ids (C2)");
  if (getValues() && !isFloat())
    return emitOpError("maps texts to numbers in a field of ids; values(...) "
                       "needs a float field (C2)");
  if (getSeparator()) {
    if (!isRagged())
      return emitOpError("separates values in a field that holds one a cell; "
                         "separator(...) needs a ragged type (C2)");
    if (getSeparator()->size() != 1 ||
        static_cast<unsigned char>(getSeparator()->front()) > 127)
      return emitOpError(
          "has a separator that is not one ASCII character (C2)");
  }
  if (getMissingElementAttr() && !isRagged())
    return emitOpError("holds one value a cell; missing_element(...) needs a "
                       "ragged type (C3)");
  if (failed(verifyMissing(*this, "missing", getMissingAttr())) ||
      failed(verifyMissing(*this, "missing_element", getMissingElementAttr())))
    return failure();
  if (DictionaryAttr values = getValuesAttr())
    for (NamedAttribute entry : values)
      if (!isSettledNumber(entry.getValue()))
        return emitOpError()
               << "maps '" << entry.getName().getValue()
               << "' to something that is not a finite number (C2)";
  if (ArrayAttr columns = getColumnsAttr()) {
    if (static_cast<int64_t>(columns.size()) != getWidth())
      return emitOpError() << "names " << columns.size() << " columns for "
                           << getWidth() << " slots (C4)";
    bool positions = llvm::all_of(columns, llvm::IsaPred<IntegerAttr>);
    bool names = llvm::all_of(columns, llvm::IsaPred<StringAttr>);
    if (!positions && !names)
      return emitOpError("has columns that are neither all positions nor all "
                         "header names (C4)");
    if (positions)
      for (auto position : columns.getAsRange<IntegerAttr>())
        if (position.getValue().isNegative() ||
            position.getValue().sge(kMaxColumns))
          return emitOpError() << "has a column position that is negative or "
                                  "not below "
                               << kMaxColumns << " (C4)";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

// Random numbers of the standard normal distribution are computed from 24 bits,
// so their magnitude does not exceed 5.8.
std::array<double, 2> pdlc::nn::extremesOf(InitializerAttrInterface attribute,
                                           ArrayRef<int64_t> shape) {
  const pdl_initializer initializer = attribute.getNumbers(shape);
  double maxDeviations = 5.8;
  switch (initializer.kind) {
  case PDL_INIT_UNIFORM:
    return {initializer.a, initializer.b};
  case PDL_INIT_TRUNCATED_NORMAL:
    maxDeviations = 2;
    [[fallthrough]];
  case PDL_INIT_NORMAL:
    return {initializer.a - maxDeviations * initializer.b,
            initializer.a + maxDeviations * initializer.b};
  default:
    return {initializer.a, initializer.a};
  }
}

LogicalResult pdlc::nn::verifyInitializer(Operation *op, Attribute init,
                                          ArrayRef<int64_t> shape,
                                          int64_t rank) {
  auto initializer = dyn_cast<InitializerAttrInterface>(init);
  if (!initializer)
    return op->emitOpError()
           << "has initial value " << init
           << "; expected #nn.zeros, #nn.constant<v>, #nn.uniform<low, high>, "
              "#nn.normal<mean, deviation>, "
              "#nn.truncated_normal<mean, deviation>, #nn.xavier, "
              "#nn.xavier_normal, #nn.msra_uniform<fan_in> or "
              "#nn.msra_normal<fan_in>";
  std::optional<int64_t> needed = initializer.getNeededRank();
  if (needed && rank != *needed)
    return op->emitOpError()
           << "uses " << init << ", which needs rank " << *needed << " (C3)";
  for (double number : extremesOf(initializer, shape))
    if (!convertFloat(APFloat(number), APFloat::IEEEsingle()).isFinite())
      return op->emitOpError()
             << "uses " << init
             << ", which gives numbers beyond f32, in which all programs draw "
                "initial values (C3)";
  return success();
}

LogicalResult pdlc::nn::verifyStateName(Operation *op, StringRef name) {
  if (name.ends_with(".keys") || name.ends_with(".values") ||
      name.contains(".slot."))
    return op->emitOpError()
           << "has name '" << name
           << "', which dumps give to a part of another symbol; use a name "
              "that does not end in .keys or .values and has no .slot. in it "
              "(C4)";
  return success();
}

FlatSymbolRefAttr pdlc::nn::groupOf(Operation *symbol) {
  if (auto param = dyn_cast_or_null<ParamOp>(symbol))
    return param.getGroupAttr();
  if (auto table = dyn_cast_or_null<TableOp>(symbol))
    return table.getGroupAttr();
  return {};
}

RankedTensorType pdlc::nn::heldTypeOf(Operation *symbol) {
  if (auto table = dyn_cast<TableOp>(symbol))
    return table.getRowType();
  if (auto param = dyn_cast<ParamOp>(symbol))
    return cast<RankedTensorType>(param.getType());
  return cast<RankedTensorType>(cast<StateOp>(symbol).getType());
}

LogicalResult pdlc::nn::verifyDenseType(Operation *op, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  FailureOr<int64_t> count =
      tensor ? countElements(tensor.getShape()) : FailureOr<int64_t>(0);
  if (failed(count))
    return op->emitOpError() << "has type " << type << ", of more than "
                             << kMaxElements << " elements (C1)";
  if (*count == 0 || !tensor.hasStaticShape() ||
      !(tensor.getElementType().isF32() || tensor.getElementType().isF64()))
    return op->emitOpError() << "has type " << type
                             << "; expected a static, non-empty tensor of f32 "
                                "or f64 (C1)";
  return success();
}

/// Verifies that `reference`, if given, names an op of type `OpT`.
template <typename OpT>
static LogicalResult
verifyReference(Operation *user, SymbolTableCollection &symbols,
                FlatSymbolRefAttr reference, StringRef constraint) {
  if (!reference || symbols.lookupNearestSymbolFrom<OpT>(user, reference))
    return success();
  return user->emitOpError() << "names " << reference << ", which is not an "
                             << OpT::getOperationName() << " (" << constraint
                             << ")" << meantSymbol<OpT>(user, reference);
}

LogicalResult ParamOp::verify() {
  if (failed(verifyDenseType(*this, getType())) ||
      failed(verifyStateName(*this, getSymName())))
    return failure();
  auto shape = cast<RankedTensorType>(getType()).getShape();
  return verifyInitializer(*this, getInit(), shape, shape.size());
}

LogicalResult ParamOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyReference<GroupOp>(*this, symbols, getGroupAttr(), "C2");
}

LogicalResult StateOp::verify() {
  if (failed(verifyDenseType(*this, getType())) ||
      failed(verifyStateName(*this, getSymName())))
    return failure();
  auto shape = cast<RankedTensorType>(getType()).getShape();
  return verifyInitializer(*this, getInit(), shape, shape.size());
}

LogicalResult MetricOp::verify() {
  if (!isa<MetricAttrInterface>(getKind()))
    return emitOpError() << "is of kind " << getKind() << "; expected "
                         << listMetrics() << " (C1)";
  return success();
}

//===----------------------------------------------------------------------===//
// Groups, clips, rules, schedules
//===----------------------------------------------------------------------===//

LogicalResult ClipOp::verify() {
  double limit = getLimit().convertToDouble();
  if (!std::isfinite(limit) || limit <= 0)
    return emitOpError("needs a finite limit > 0 (C1)");
  return success();
}

LogicalResult GroupOp::verify() {
  if (!std::isfinite(getRate().convertToDouble()))
    return emitOpError("has a learning rate that is not finite (C3)");
  if (ArrayAttr decay = getDecayAttr())
    for (Attribute term : decay)
      if (!isa<RegularizerAttrInterface>(term))
        return emitOpError() << "has decay term " << term
                             << "; expected #nn.l1<c> or #nn.l2<c> (C4)";
  return success();
}

/// Verifies the hyper-parameters `hyper` of a group: each name is one of
/// `names`, and each number is within its bounds.
static LogicalResult verifyHyper(Operation *op, DictionaryAttr hyper,
                                 ArrayAttr names,
                                 std::optional<ArrayRef<double>> bounds,
                                 FlatSymbolRefAttr owner) {
  if (!hyper)
    return success();
  for (NamedAttribute entry : hyper) {
    if (!isSettledNumber(entry.getValue()))
      return op->emitOpError()
             << "gives '" << entry.getName().getValue() << "' of " << owner
             << " a value that is not a finite number (C2)";
    if (const auto *found = llvm::find(names, entry.getName());
        found != names.end()) {
      HyperBounds own = HyperBounds::at(bounds.value_or(ArrayRef<double>()),
                                        found - names.begin());
      if (own.contains(settledNumber(entry.getValue())))
        continue;
      std::string text;
      llvm::raw_string_ostream stream(text);
      own.print(stream);
      return op->emitOpError()
             << "gives '" << entry.getName().getValue() << "' of " << owner
             << " a number out of its bounds; expected one" << text << " (C2)";
    }
    InFlightDiagnostic diagnostic = op->emitOpError()
                                    << "gives '" << entry.getName().getValue()
                                    << "' to " << owner << ", ";
    if (names.empty())
      return diagnostic << "which has no hyper-parameters; leave it out (C2)";
    return diagnostic << "whose hyper-parameters are " << names
                      << "; name one of these, or leave it out (C2)";
  }
  return success();
}

/// Clause in which a group names a rule.
enum class RuleUse { Training, Average, Compensation };

/// Reports an error if `group` names a rule in a clause for which the rule is
/// not made. For example, `average(...)` requires a rule `of averages`.
static LogicalResult verifyPurpose(GroupOp group, FlatSymbolRefAttr name,
                                   RulePurpose purpose, RuleUse use) {
  switch (use) {
  case RuleUse::Training:
    if (purpose == RulePurpose::averages)
      return group.emitOpError()
             << "trains by " << name
             << ", which is a rule `of averages`; name it in the clause "
                "`average` (C1)";
    if (purpose == RulePurpose::delays)
      return group.emitOpError()
             << "trains by " << name
             << ", which is a rule `of delays`; name it in the clause "
                "`compensate` (C1)";
    return success();
  case RuleUse::Average:
    if (purpose != RulePurpose::averages)
      return group.emitOpError()
             << "keeps its average by " << name
             << ", which is not a rule `of averages`; name one that is, such "
                "as @ema (C1)";
    return success();
  case RuleUse::Compensation:
    if (purpose != RulePurpose::delays)
      return group.emitOpError()
             << "compensates delays by " << name
             << ", which is not a rule `of delays`; name one that is, such as "
                "@delay_compensation (C1)";
    return success();
  }
  llvm_unreachable("an enumerator without case");
}

/// Reports that `group` names `symbol` where an op called `kind` belongs.
static LogicalResult refuseKind(GroupOp group, Operation *symbol,
                                FlatSymbolRefAttr name, StringRef kind) {
  auto error = group.emitOpError()
               << "names " << name << ", which is not an " << kind << " (C1)";
  error.attachNote(symbol->getLoc())
      << "'" << symbol->getName() << "' has this name here, and hides the "
      << kind << " of the standard library, if there is one; rename it";
  return failure();
}

/// Verifies a rule that `group` names, and the numbers passed to it.
static LogicalResult verifyRuleUse(GroupOp group,
                                   SymbolTableCollection &symbols,
                                   FlatSymbolRefAttr name, DictionaryAttr hyper,
                                   RuleUse use) {
  Operation *symbol =
      name ? symbols.lookupNearestSymbolFrom(group, name) : nullptr;
  if (!symbol)
    return success();
  auto rule = dyn_cast<RuleOp>(symbol);
  if (!rule)
    return refuseKind(group, symbol, name, "nn.rule");
  if (failed(verifyPurpose(group, name, rule.getPurpose(), use)))
    return failure();
  if (rule.getPurpose() == RulePurpose::gradients &&
      group.getRate().convertToDouble() < 0)
    return group.emitOpError()
           << "has a learning rate below 0, by which the loss would grow; "
              "minimize the negated loss instead (C3)";
  if (rule.getPurpose() == RulePurpose::states &&
      group.getMerge() == Merge::sum)
    return group.emitOpError()
           << "merges steps by sum, but its rule " << name
           << " is for states, which accumulate means; leave merge(sum) out "
              "(C8)";
  if (rule.getPurpose() == RulePurpose::states && group.getCompensationAttr())
    return group.emitOpError()
           << "compensates delays, but its rule " << name
           << " is for states, which have no gradients; leave compensate out "
              "(C10)";
  if (use == RuleUse::Average && rule.hasRow())
    return group.emitOpError() << "keeps its average by " << name
                               << ", which reduces over rows or parameters; "
                                  "name a rule of `once` and `each` "
                                  "alone, such as @ema (C1)";
  return verifyHyper(group, hyper, rule.getHyperNames(), rule.getHyperBounds(),
                     name);
}

/// Verifies a symbol of a group. `element` is the element type of the symbols
/// that were verified before, and null for the first one. All symbols of a
/// group must have the same type, because the scalars of the group are rounded
/// to it once.
static LogicalResult verifyMember(Operation *symbol, GroupOp group,
                                  Type &element) {
  auto name = FlatSymbolRefAttr::get(group.getSymNameAttr());
  auto table = dyn_cast<TableOp>(symbol);
  auto type = dyn_cast<RankedTensorType>(
      table ? table.getRow() : cast<ParamOp>(symbol).getType());
  // A type that is not a tensor has a message of its own.
  if (type && element && type.getElementType() != element)
    return symbol->emitOpError()
           << "has elements of " << type.getElementType() << " in group "
           << name << ", whose other symbols have " << element
           << "; use two groups (nn.group, C6)";
  if (type)
    element = type.getElementType();
  // Delay compensation requires that the seen values of a table are known.
  if (!table || !group.getCompensationAttr())
    return success();
  if (table.getStored())
    return table.emitOpError()
           << "is stored in 16 bits, and its group " << name
           << " compensates delays, for which rows travel as they are; "
              "leave one of the two out (nn.group, C10)";
  if (group.getUntouched() == Untouched::dense) {
    InFlightDiagnostic diagnostic =
        group.emitOpError()
        << "compensates delays and updates rows that no sample looked up, "
           "so no worker has seen them; write untouched(lazy), or leave "
           "compensate out (C10)";
    diagnostic.attachNote(table.getLoc()) << "the group trains this table";
    return diagnostic;
  }
  return success();
}

/// Verifies all groups of a module and their symbols in a single walk. One walk
/// per group would take quadratic time.
static LogicalResult verifyGroups(Region &module) {
  DenseMap<Attribute, GroupOp> groups, byClip;
  for (auto group : module.getOps<GroupOp>()) {
    groups[FlatSymbolRefAttr::get(group.getSymNameAttr())] = group;
    if (!group.getClipAttr())
      continue;
    // A joint norm is either one of means or one of sums.
    GroupOp first =
        byClip.try_emplace(group.getClipAttr(), group).first->second;
    if (first.getMerge().value_or(Merge::mean) !=
        group.getMerge().value_or(Merge::mean))
      return group.emitOpError()
             << "merges steps otherwise than group @" << first.getSymName()
             << ", which has the same clip; give each a clip of its own (C9)";
  }
  DenseMap<Operation *, Type> elements;
  for (Operation &op : module.getOps()) {
    FlatSymbolRefAttr name = groupOf(&op);
    GroupOp group = name ? groups.lookup(name) : GroupOp();
    if (group && failed(verifyMember(&op, group, elements[group])))
      return failure();
  }
  return success();
}

/// Returns true if `group` is the first group of its module. Searches backwards
/// only to the previous group, so that calls for all groups visit each op once.
static bool isFirstGroup(GroupOp group) {
  for (Operation *op = group->getPrevNode(); op; op = op->getPrevNode())
    if (isa<GroupOp>(op))
      return false;
  return true;
}

LogicalResult GroupOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // A rule or schedule that the module does not define may be in the standard
  // library. `nn-link-std` reports names that are not there either.
  if (failed(verifyRuleUse(*this, symbols, getRuleAttr(), getRuleHyperAttr(),
                           RuleUse::Training)) ||
      failed(verifyRuleUse(*this, symbols, getAverageAttr(),
                           getAverageHyperAttr(), RuleUse::Average)) ||
      failed(verifyRuleUse(*this, symbols, getCompensationAttr(),
                           getCompensationHyperAttr(), RuleUse::Compensation)))
    return failure();
  if (getScheduleAttr())
    if (Operation *symbol =
            symbols.lookupNearestSymbolFrom(*this, getScheduleAttr())) {
      auto schedule = dyn_cast<ScheduleOp>(symbol);
      if (!schedule)
        return refuseKind(*this, symbol, getScheduleAttr(), "nn.schedule");
      if (failed(verifyHyper(*this, getScheduleHyperAttr(),
                             schedule.getHyperNames(),
                             schedule.getHyperBounds(), getScheduleAttr())))
        return failure();
    }
  if (isFirstGroup(*this) && failed(verifyGroups(*(*this)->getParentRegion())))
    return failure();
  return verifyReference<ClipOp>(*this, symbols, getClipAttr(), "C1");
}

static LogicalResult verifyNamedNumbers(Operation *op, ArrayAttr names,
                                        DenseF64ArrayAttr values) {
  llvm::StringSet<> seen;
  if (names.size() != static_cast<size_t>(values.size()))
    return op->emitOpError("has not as many names as numbers");
  for (auto name : names.getAsRange<StringAttr>())
    if (!seen.insert(name.getValue()).second)
      return op->emitOpError() << "names '" << name.getValue() << "' twice";
  for (auto [name, value] :
       llvm::zip_equal(names.getAsRange<StringAttr>(), values.asArrayRef()))
    if (!std::isfinite(value))
      return op->emitOpError() << "gives '" << name.getValue()
                               << "' a default that is not finite (C3)";
  return success();
}

/// Verifies that the defaults of hyper-parameters are within their bounds.
static LogicalResult verifyHyperDefaults(Operation *op, ArrayAttr names,
                                         ArrayRef<double> values,
                                         std::optional<ArrayRef<double>> bounds,
                                         StringRef constraint) {
  if (!bounds)
    return success();
  if (bounds->size() != HyperBounds::kNumbers * values.size())
    return op->emitOpError()
           << "has " << bounds->size() << " numbers of bounds for "
           << values.size() << " hyper-parameters (" << constraint << ")";
  for (auto [number, value] : llvm::enumerate(values)) {
    const HyperBounds own = HyperBounds::at(*bounds, number);
    if (own.contains(value))
      continue;
    InFlightDiagnostic diagnostic =
        op->emitOpError() << "gives " << names[number]
                          << " a default out of its bounds; expected one";
    own.print(diagnostic);
    return diagnostic << " (" << constraint << ")";
  }
  return success();
}

/// Verifies the regions `sum` and `row` of a rule. `scalars` is the number of
/// values that `once` yields. Returns the number of values that `row` passes to
/// `each`.
static FailureOr<size_t> verifyRowRegions(RuleOp rule, size_t scalars,
                                          Type element) {
  const size_t slots = rule.getSlotNames().size(),
               rowSlots = rule.getRowSlotNames().size(),
               counts = rule.getCountNames().size();
  if (rule.getSum().empty() != rule.getRow().empty() ||
      (!rule.hasRow() && (rowSlots || counts)))
    return rule.emitOpError(
        "needs both regions 'sum' and 'row' if it has one of them, row slots "
        "or counts; one that sums nothing yields nothing from 'sum' (C4)");
  if (rule.getWhole() && (rowSlots || counts))
    return rule.emitOpError(
        "has row slots or counts, and a region 'param', which knows no "
        "rows; write region 'row' (C4)");
  if (!rule.hasRow())
    return 0;
  Type f64 = Float64Type::get(rule.getContext());
  auto sums =
      verifyScalarRegion(rule, rule.getSum(), "sum",
                         SmallVector<Type>(2 + slots + scalars, element));
  if (failed(sums))
    return failure();
  if (*sums != SmallVector<Type>(sums->size(), f64))
    return rule.emitOpError("yields from 'sum' a value that is not f64 (C4)");
  SmallVector<Type> arguments(1 + sums->size(), f64);
  arguments.append(rowSlots + counts + scalars, element);
  auto yielded = verifyScalarRegion(rule, rule.getRow(), "row", arguments);
  if (failed(yielded))
    return failure();
  if (yielded->size() < rowSlots ||
      *yielded != SmallVector<Type>(yielded->size(), element))
    return rule.emitOpError()
           << "yields from 'row' " << *yielded << "; expected " << rowSlots
           << " row slots and what 'each' gets, all " << element << " (C4)";
  return yielded->size() - rowSlots;
}

/// Verifies a rule that compensates delayed gradients.
static LogicalResult verifyDelays(RuleOp rule, size_t scalars, Type element) {
  if (!rule.getAllSlotNames().empty() || !rule.getCountNames().empty() ||
      rule.hasRow() || rule.getUndivided())
    return rule.emitOpError(
        "is of delays, and has slots, counts, regions 'sum' and 'row', or is "
        "undivided; it makes a gradient of one element alone (C8)");
  auto gradient = verifyScalarRegion(rule, rule.getEach(), "each",
                                     SmallVector<Type>(3 + scalars, element));
  if (failed(gradient))
    return failure();
  if (*gradient != SmallVector<Type>{element})
    return rule.emitOpError()
           << "is of delays, and yields from 'each' " << gradient->size()
           << " values; expected the gradient, of " << element << " (C8)";
  return success();
}

LogicalResult RuleOp::verifyRegions() {
  if (failed(
          verifyNamedNumbers(*this, getHyperNames(), getHyperValuesAttr())) ||
      failed(verifyHyperDefaults(*this, getHyperNames(), getHyperValues(),
                                 getHyperBounds(), "C6")) ||
      failed(verifyNamedNumbers(*this, getSlotNames(), getSlotValuesAttr())) ||
      failed(verifyNamedNumbers(
          *this, getAllSlotNames(),
          DenseF64ArrayAttr::get(getContext(), getAllSlotValues()))))
    return failure();
  llvm::StringSet<> counts;
  for (StringRef name : getCountNames().getAsValueRange<StringAttr>())
    if (!counts.insert(name).second)
      return emitOpError() << "names count '" << name << "' twice (C7)";
  if (getFrozenSlotAttr() &&
      !llvm::is_contained(getSlotNames(), getFrozenSlotAttr()))
    return emitOpError() << "has frozen programs read '" << *getFrozenSlot()
                         << "', which is none of its slots " << getSlotNames()
                         << "; name one of them (C5)";
  Type f64 = Float64Type::get(getContext());
  size_t hypers = getHyperNames().size(), slots = getSlotNames().size();
  auto once = verifyScalarRegion(*this, getOnce(), "once",
                                 SmallVector<Type>(2 + hypers, f64));
  if (failed(once))
    return failure();
  for (Type type : *once)
    if (type != f64)
      return emitOpError("yields from 'once' a value that is not f64 (C1)");
  Block &each = getEach().front();
  if (each.getNumArguments() == 0 ||
      !isa<FloatType>(each.getArgument(0).getType()))
    return emitOpError("needs value, gradient, slots and the yields of 'once' "
                       "as arguments of 'each' (C1)");
  Type element = each.getArgument(0).getType();
  if (isOfDelays())
    return verifyDelays(*this, once->size(), element);
  auto handedOn = verifyRowRegions(*this, once->size(), element);
  if (failed(handedOn))
    return failure();
  auto updated = verifyScalarRegion(
      *this, getEach(), "each",
      SmallVector<Type>(2 + slots + once->size() + *handedOn, element));
  if (failed(updated))
    return failure();
  if (*updated != SmallVector<Type>(1 + slots, element))
    return emitOpError() << "yields from 'each' " << updated->size()
                         << " values; expected the new value and " << slots
                         << " slots, all " << element << " (C1)";
  return success();
}

int32_t RuleOp::getFrozenPart() {
  if (!getFrozenSlotAttr())
    return 0;
  return static_cast<int32_t>(
      1 + std::distance(getSlotNames().begin(),
                        llvm::find(getSlotNames(), getFrozenSlotAttr())));
}

ArrayAttr RuleOp::getAllSlotNames() {
  SmallVector<Attribute> names(getSlotNames().getValue());
  llvm::append_range(names, getRowSlotNames());
  return ArrayAttr::get(getContext(), names);
}

SmallVector<double> RuleOp::getAllSlotValues() {
  SmallVector<double> values(getSlotValues());
  llvm::append_range(values, getRowSlotValues());
  return values;
}

SmallVector<std::string> RuleOp::getScalarNames() {
  Block &once = getOnce().front();
  Value rate = once.getArgument(1);
  SmallVector<std::string> names;
  for (Value yielded : once.getTerminator()->getOperands()) {
    auto hyper = llvm::find(once.getArguments().drop_front(2), yielded);
    if (yielded == rate)
      names.push_back(pdlabi::rateScalarName);
    else if (hyper != once.args_end())
      names.push_back(
          "hyper-parameter " +
          cast<StringAttr>(
              getHyperNames()[hyper - once.getArguments().begin() - 2])
              .str());
    else
      names.push_back("value " + std::to_string(names.size() + 1) +
                      " of region 'once' of rule @" + getSymName().str());
  }
  return names;
}

LogicalResult ScheduleOp::verifyRegions() {
  if (failed(
          verifyNamedNumbers(*this, getHyperNames(), getHyperValuesAttr())) ||
      failed(verifyHyperDefaults(*this, getHyperNames(), getHyperValues(),
                                 getHyperBounds(), "C3")))
    return failure();
  Type f64 = Float64Type::get(getContext());
  auto yielded =
      verifyScalarRegion(*this, getBody(), "body",
                         SmallVector<Type>(2 + getHyperNames().size(), f64));
  if (failed(yielded))
    return failure();
  if (*yielded != SmallVector<Type>{f64})
    return emitOpError("yields the rate, one f64 (C1)");
  return success();
}
