//===- NNSymbolOps.cpp - Symbols of a model -----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"
#include "ScalarRegion.h"
#include "mlir/Interfaces/FunctionImplementation.h"
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

LogicalResult RecordOp::verifyRegions() {
  for (Operation &op : getBody().getOps())
    if (!isa<FieldOp>(op))
      return op.emitOpError(
          "stands in a record, which holds nn.field only (C1)");
  for (FieldOp bag : getBody().getOps<FieldOp>()) {
    if (!bag.isRagged())
      continue;
    for (const char *part : {".values", ".splits"}) {
      Operation *other = mlir::SymbolTable::lookupSymbolIn(
          *this, StringAttr::get(getContext(), bag.getSymName() + part));
      if (!other)
        continue;
      InFlightDiagnostic diagnostic =
          other->emitOpError()
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
  auto tensor = dyn_cast<RankedTensorType>(getType());
  return tensor && isa<FloatType>(tensor.getElementType());
}

/// Elements of a row, and columns of a field: offsets within a sample stay
/// small numbers.
static constexpr int64_t kMaxWidth = 1 << 20;

/// Positions of columns are below this: no row of a file has more cells.
static constexpr int64_t kMaxColumns = int64_t(1) << 31;

/// Whether `number` is an integer of 64 bits, or a finite float.
static bool isSettledNumber(Attribute number) {
  if (auto integer = dyn_cast<IntegerAttr>(number))
    return integer.getValue().isSignedIntN(64);
  auto decimal = dyn_cast<FloatAttr>(number);
  return decimal && std::isfinite(decimal.getValueAsDouble());
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
                              "or !nn.ragged<?xNx*xi64> with N >= 1 (C1)";
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
      return emitOpError("separates ids in a field that holds one a cell; "
                         "separator(...) needs a ragged type (C2)");
    if (getSeparator()->size() != 1 ||
        static_cast<unsigned char>(getSeparator()->front()) > 127)
      return emitOpError(
          "has a separator that is not one ASCII character (C2)");
  }
  if (Attribute missing = getMissingAttr()) {
    bool hashed = getHash() && getHash()->getXxh64();
    if (isFloat() && !isSettledNumber(missing))
      return emitOpError("has missing(...) that is not a finite number (C3)");
    if (!isFloat() && hashed && !isa<StringAttr>(missing))
      return emitOpError("is hashed; its missing(...) is the text that stands "
                         "for a missing one, a string (C3)");
    if (!isFloat() && !hashed &&
        !(isa<IntegerAttr>(missing) && isSettledNumber(missing)))
      return emitOpError(
          "holds decimal ids; its missing(...) is a 64-bit integer (C3)");
  }
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

/// The numbers of largest amount that an initializer may give. No number of a
/// standard normal distribution is more than 5.8: it is made of 24 bits.
static std::array<double, 2> extremesOf(const pdl_initializer &initializer) {
  constexpr double mostDeviations = 5.8;
  switch (initializer.kind) {
  case PDL_INIT_UNIFORM:
    return {initializer.a, initializer.b};
  case PDL_INIT_NORMAL:
    return {initializer.a - mostDeviations * initializer.b,
            initializer.a + mostDeviations * initializer.b};
  default:
    return {initializer.a, initializer.a};
  }
}

/// `shape` is that of the symbol, or of one row, and `rank` the number of
/// dimensions as which it counts.
static LogicalResult verifyInitializer(Operation *op, Attribute init,
                                       ArrayRef<int64_t> shape, int64_t rank) {
  auto initializer = dyn_cast<InitializerAttrInterface>(init);
  if (!initializer)
    return op->emitOpError()
           << "has initial value " << init
           << "; expected #nn.zeros, #nn.constant<v>, #nn.uniform<low, high>, "
              "#nn.normal<mean, deviation> or #nn.xavier";
  std::optional<int64_t> needed = initializer.getNeededRank();
  if (needed && rank != *needed)
    return op->emitOpError()
           << "uses " << init << ", which needs rank " << *needed << " (C3)";
  for (double number : extremesOf(initializer.getNumbers(shape)))
    if (!convertFloat(APFloat(number), APFloat::IEEEsingle()).isFinite())
      return op->emitOpError()
             << "uses " << init
             << ", which gives numbers beyond f32, in which all programs draw "
                "initial values (C3)";
  return success();
}

/// Dumps and checkpoints join names with dots: a table's keys are `t.keys`, a
/// slot is `w.slot.m`. No symbol may have a name that looks like such a part.
static LogicalResult verifyStateName(Operation *op, StringRef name) {
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

static LogicalResult verifyDenseType(Operation *op, Type type) {
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

/// Checks that `reference`, if given, names an op of type `OpT`.
template <typename OpT>
static LogicalResult
verifyReference(Operation *user, SymbolTableCollection &symbols,
                FlatSymbolRefAttr reference, StringRef constraint) {
  if (!reference || symbols.lookupNearestSymbolFrom<OpT>(user, reference))
    return success();
  return user->emitOpError()
         << "names " << reference << ", which is not an "
         << OpT::getOperationName() << " (" << constraint << ")";
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

LogicalResult TableOp::verify() {
  if (!getKey().isInteger(64))
    return emitOpError() << "has keys of type " << getKey()
                         << "; the key type is i64 (C1)";
  auto row = dyn_cast<RankedTensorType>(getRow());
  if (!row || row.getRank() != 1)
    return emitOpError() << "has rows of type " << getRow()
                         << "; a row is a static float tensor of rank 1 (C1)";
  if (failed(verifyDenseType(*this, row)) ||
      failed(verifyStateName(*this, getSymName())))
    return failure();
  if (row.getDimSize(0) > kMaxWidth)
    return emitOpError() << "has rows of " << row.getDimSize(0)
                         << " elements; a row has at most " << kMaxWidth
                         << " (C1)";
  // A row of n elements counts as a matrix [1, n].
  return verifyInitializer(*this, getInit(), row.getShape(), 2);
}

LogicalResult TableOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyReference<GroupOp>(*this, symbols, getGroupAttr(), "C2");
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

/// Checks that all symbols of `group` have one element type: its scalars are
/// rounded to it once, for all of them.
static LogicalResult verifyOneElementType(GroupOp group) {
  Type element;
  auto name = FlatSymbolRefAttr::get(group.getSymNameAttr());
  for (Operation &op :
       SymbolTable::getNearestSymbolTable(group)->getRegion(0).getOps()) {
    if (groupOf(&op) != name)
      continue;
    auto param = dyn_cast<ParamOp>(op);
    auto type = dyn_cast<RankedTensorType>(param ? param.getType()
                                                 : cast<TableOp>(op).getRow());
    // A type of another kind has its own sentence.
    if (!type)
      continue;
    if (element && type.getElementType() != element)
      return op.emitOpError()
             << "has elements of " << type.getElementType() << " in group "
             << name << ", whose other symbols have " << element
             << "; use two groups (nn.group, C6)";
    element = type.getElementType();
  }
  return success();
}

/// Checks that each name of `hyper` is one of `names`, with a number.
static LogicalResult verifyHyper(Operation *op, DictionaryAttr hyper,
                                 ArrayAttr names, FlatSymbolRefAttr owner) {
  if (!hyper)
    return success();
  for (NamedAttribute entry : hyper) {
    if (!isSettledNumber(entry.getValue()))
      return op->emitOpError()
             << "gives '" << entry.getName().getValue() << "' of " << owner
             << " a value that is not a finite number (C2)";
    if (!llvm::is_contained(names, entry.getName()))
      return op->emitOpError()
             << "gives '" << entry.getName().getValue() << "' to " << owner
             << ", whose hyper-parameters are " << names << " (C2)";
  }
  return success();
}

LogicalResult GroupOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // A rule or schedule that nothing defines comes from the standard library:
  // the pass that links it complains about unknown names.
  if (Operation *symbol =
          symbols.lookupNearestSymbolFrom(*this, getRuleAttr())) {
    auto rule = dyn_cast<RuleOp>(symbol);
    if (!rule)
      return emitOpError() << "names " << getRuleAttr()
                           << ", which is not an nn.rule (C1)";
    if (failed(verifyHyper(*this, getRuleHyperAttr(), rule.getHyperNames(),
                           getRuleAttr())))
      return failure();
  }
  if (getScheduleAttr())
    if (Operation *symbol =
            symbols.lookupNearestSymbolFrom(*this, getScheduleAttr())) {
      auto schedule = dyn_cast<ScheduleOp>(symbol);
      if (!schedule)
        return emitOpError() << "names " << getScheduleAttr()
                             << ", which is not an nn.schedule (C1)";
      if (failed(verifyHyper(*this, getScheduleHyperAttr(),
                             schedule.getHyperNames(), getScheduleAttr())))
        return failure();
    }
  if (failed(verifyOneElementType(*this)))
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

/// Verifies `sum` and `row` of a rule, whose `once` yields `scalars` values.
/// Returns how many values `row` hands on to `each`.
static FailureOr<size_t> verifyRowRegions(RuleOp rule, size_t scalars,
                                          Type element) {
  const size_t slots = rule.getSlotNames().size(),
               rowSlots = rule.getRowSlotNames().size();
  if (rule.getSum().empty() != rule.getRow().empty() ||
      (!rule.hasRow() && rowSlots))
    return rule.emitOpError(
        "needs both regions 'sum' and 'row' if it has one of them or row "
        "slots; one that sums nothing yields nothing from 'sum' (C4)");
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
  arguments.append(rowSlots + scalars, element);
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

LogicalResult RuleOp::verifyRegions() {
  if (failed(
          verifyNamedNumbers(*this, getHyperNames(), getHyperValuesAttr())) ||
      failed(verifyNamedNumbers(*this, getSlotNames(), getSlotValuesAttr())) ||
      failed(verifyNamedNumbers(
          *this, getAllSlotNames(),
          DenseF64ArrayAttr::get(getContext(), getAllSlotValues()))))
    return failure();
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
      names.push_back("rate");
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
  if (failed(verifyNamedNumbers(*this, getHyperNames(), getHyperValuesAttr())))
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

//===----------------------------------------------------------------------===//
// Functions and programs
//===----------------------------------------------------------------------===//

/// `(@w: tensor<4x8xf32>, @emb: i64 -> tensor<8xf32>)`.
static ParseResult parseTakenSymbols(OpAsmParser &parser,
                                     SmallVectorImpl<Attribute> &symbols,
                                     SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Paren, [&]() -> ParseResult {
        StringAttr name;
        Type type, row;
        if (parser.parseSymbolName(name) || parser.parseColonType(type))
          return failure();
        if (succeeded(parser.parseOptionalArrow())) {
          if (parser.parseType(row))
            return failure();
          type = parser.getBuilder().getFunctionType(type, row);
        }
        symbols.push_back(FlatSymbolRefAttr::get(name));
        types.push_back(type);
        return success();
      });
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<Attribute> symbols;
  SmallVector<Type> symbolTypes, results;
  (void)impl::parseOptionalVisibilityKeyword(parser, result.attributes);
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name),
                             result.attributes) ||
      parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren,
                               /*allowType=*/true))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("with"))) {
    if (parseTakenSymbols(parser, symbols, symbolTypes))
      return failure();
    result.addAttribute(getSymbolsAttrName(result.name),
                        builder.getArrayAttr(symbols));
    result.addAttribute(getSymbolTypesAttrName(result.name),
                        builder.getTypeArrayAttr(symbolTypes));
  }
  if (parser.parseOptionalArrowTypeList(results) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  SmallVector<Type> argumentTypes;
  for (const OpAsmParser::Argument &argument : arguments)
    argumentTypes.push_back(argument.type);
  result.addAttribute(
      getFunctionTypeAttrName(result.name),
      TypeAttr::get(builder.getFunctionType(argumentTypes, results)));
  return parser.parseRegion(*result.addRegion(), arguments);
}

/// `tensor<4x8xf32>`, or `i64 -> tensor<8xf32>` of a table.
static void printStateType(raw_ostream &stream, Type type) {
  if (auto table = dyn_cast<FunctionType>(type))
    stream << table.getInput(0) << " -> " << table.getResult(0);
  else
    stream << type;
}

void FuncOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  if (std::optional<StringRef> visibility = getSymVisibility())
    printer << *visibility << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  llvm::interleaveComma(
      getBody().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ')';
  if (getSymbols()) {
    printer << " with(";
    llvm::interleaveComma(getTakenSymbols(), printer, [&](const auto &taken) {
      printer << taken.first << ": ";
      printStateType(printer.getStream(), taken.second);
    });
    printer << ')';
  }
  printer.printOptionalArrowTypeList(getResultTypes());
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getFunctionTypeAttrName(), getSymbolsAttrName(),
       getSymbolTypesAttrName(), getSymVisibilityAttrName()});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

SmallVector<std::pair<FlatSymbolRefAttr, Type>> FuncOp::getTakenSymbols() {
  SmallVector<std::pair<FlatSymbolRefAttr, Type>> taken;
  if (getSymbols() && getSymbolTypes())
    for (auto [symbol, type] :
         llvm::zip(getSymbols()->getAsRange<FlatSymbolRefAttr>(),
                   getSymbolTypes()->getAsValueRange<TypeAttr>()))
      taken.emplace_back(symbol, type);
  return taken;
}

/// Whether a parameter can have the type, or a table such keys and rows.
static bool isStateType(Type type) {
  auto table = dyn_cast<FunctionType>(type);
  if (table && (table.getNumInputs() != 1 || table.getNumResults() != 1 ||
                !table.getInput(0).isInteger(64)))
    return false;
  auto tensor = dyn_cast<RankedTensorType>(table ? table.getResult(0) : type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() > 0 &&
         (tensor.getElementType().isF32() || tensor.getElementType().isF64()) &&
         (!table || tensor.getRank() == 1);
}

/// Checks the symbols that a function takes.
static LogicalResult verifyTakenSymbols(FuncOp function) {
  if (function.getSymbols().has_value() !=
          function.getSymbolTypes().has_value() ||
      (function.getSymbols() &&
       function.getSymbols()->size() != function.getSymbolTypes()->size()))
    return function.emitOpError("has not as many symbols as types of them "
                                "(C2)");
  llvm::StringSet<> seen;
  for (auto [symbol, type] : function.getTakenSymbols()) {
    if (!seen.insert(symbol.getValue()).second)
      return function.emitOpError() << "takes two symbols " << symbol
                                    << "; give one of them another name (C2)";
    if (!isStateType(type))
      return function.emitOpError()
             << "takes " << symbol << " of type " << type
             << "; write the type of a parameter, such as tensor<4x8xf32>, or "
                "that of a table, such as i64 -> tensor<8xf32> (C2)";
  }
  return success();
}

LogicalResult FuncOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto [symbol, type] : getTakenSymbols())
    if (Operation *other = symbols.lookupNearestSymbolFrom(*this, symbol)) {
      InFlightDiagnostic diagnostic =
          emitOpError() << "takes " << symbol
                        << ", and the model has a symbol of that name; give "
                           "what the function takes a name of its own (C2)";
      diagnostic.attachNote(other->getLoc()) << "that of the model is here";
      return failure();
    }
  return success();
}

LogicalResult FuncOp::verify() {
  if (failed(verifyTakenSymbols(*this)))
    return failure();
  if (getBody().empty())
    return emitOpError("needs a body (C1)");
  Operation *last =
      getBody().front().empty() ? nullptr : &getBody().front().back();
  if (!isa_and_nonnull<ReturnOp>(last))
    return emitOpError("needs nn.return at the end of its body (C1)");
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "calls " << getCalleeAttr()
                         << ", which is not an nn.func (C1)";
  if (callee.getFunctionType() !=
      FunctionType::get(getContext(), getOperandTypes(), getResultTypes()))
    return emitOpError() << "does not match the type of " << getCalleeAttr()
                         << ", " << callee.getFunctionType() << " (C1)";
  const auto taken = callee.getTakenSymbols();
  ArrayRef<Attribute> given;
  if (getSymbols())
    given = getSymbols()->getValue();
  auto describe = [](std::pair<FlatSymbolRefAttr, Type> one) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    stream << one.first << ": ";
    printStateType(stream, one.second);
    return text;
  };
  if (given.size() != taken.size()) {
    InFlightDiagnostic diagnostic =
        emitOpError() << "gives " << given.size() << " symbols to "
                      << getCalleeAttr() << ", which takes " << taken.size();
    if (taken.empty())
      diagnostic << "; leave `with(...)` out (C2)";
    else
      diagnostic << ": write `with(...)` with one for each of ("
                 << llvm::join(llvm::map_range(taken, describe), ", ")
                 << ") (C2)";
    return diagnostic;
  }
  for (auto [symbol, wanted] : llvm::zip_equal(given, taken)) {
    Type type =
        stateSymbolType(*this, symbols, cast<FlatSymbolRefAttr>(symbol));
    if (type == wanted.second)
      continue;
    InFlightDiagnostic diagnostic = emitOpError() << "gives " << symbol
                                                  << " to " << getCalleeAttr();
    if (!type)
      return diagnostic << ", which is no nn.param, nn.state or nn.table"
                        << "; it takes " << describe(wanted) << " (C2)";
    std::string text;
    llvm::raw_string_ostream stream(text);
    printStateType(stream, type);
    return diagnostic << " of type " << text << ", but it takes "
                      << describe(wanted) << " (C2)";
  }
  return success();
}

ParseResult pdlc::nn::parseReturned(
    OpAsmParser &parser,
    SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
    SmallVectorImpl<Type> &types, ArrayAttr &names) {
  SmallVector<Attribute> found;
  const SMLoc place = parser.getCurrentLocation();
  do {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult parsed = parser.parseOptionalOperand(operand);
    if (!parsed.has_value() && operands.empty())
      return success();
    std::string name;
    if (!parsed.has_value())
      return parser.parseOperand(operand);
    if (failed(*parsed))
      return failure();
    operands.push_back(operand);
    if (succeeded(parser.parseOptionalKeyword("as"))) {
      if (parser.parseString(&name))
        return failure();
      found.push_back(parser.getBuilder().getStringAttr(name));
    }
  } while (succeeded(parser.parseOptionalComma()));
  if (!found.empty() && found.size() != operands.size())
    return parser.emitError(place)
           << "names " << found.size() << " of " << operands.size()
           << " outputs; write `as \"name\"` behind each of them, or behind "
              "none (nn.return, C2)";
  if (!found.empty())
    names = parser.getBuilder().getArrayAttr(found);
  return parser.parseColonTypeList(types);
}

void pdlc::nn::printReturned(OpAsmPrinter &printer, Operation *,
                             OperandRange operands, TypeRange types,
                             ArrayAttr names) {
  if (operands.empty())
    return;
  llvm::interleaveComma(llvm::enumerate(operands), printer, [&](auto operand) {
    printer << operand.value();
    if (names)
      printer << " as " << names[operand.index()];
  });
  printer << " : " << types;
}

std::string ReturnOp::getOutputName(unsigned number) {
  if (ArrayAttr names = getNamesAttr())
    return cast<StringAttr>(names[number]).str();
  return "output" + std::to_string(number);
}

static bool isControl(unsigned char character) {
  return character < 0x20 || character == 0x7F;
}

/// Checks the names of the outputs of a program, and of their columns.
static LogicalResult verifyOutputNames(ReturnOp op) {
  ArrayAttr names = op.getNamesAttr();
  if (!names)
    return success();
  if (names.size() != op.getNumOperands())
    return op.emitOpError() << "has " << names.size() << " names for "
                            << op.getNumOperands() << " outputs (C2)";
  llvm::StringSet<> columns;
  for (auto [attribute, type] :
       llvm::zip_equal(names.getAsRange<StringAttr>(), op.getOperandTypes())) {
    StringRef name = attribute.getValue();
    if (name.empty() || llvm::any_of(name, isControl))
      return op.emitOpError() << "has the output name " << attribute
                              << "; a name is not empty and holds no tabs, "
                                 "line breaks or other control characters "
                                 "(C2)";
    const int64_t width = ShapedType::getNumElements(
        cast<RankedTensorType>(type).getShape().drop_front());
    for (int64_t i = 0; i < width; ++i) {
      std::string column = name.str();
      if (width > 1)
        column += "." + std::to_string(i);
      if (!columns.insert(column).second)
        return op.emitOpError() << "names two columns '" << column
                                << "'; give each output another name (C2)";
    }
  }
  return success();
}

LogicalResult ReturnOp::verify() {
  if (auto function = dyn_cast<FuncOp>((*this)->getParentOp())) {
    if (getOperandTypes() != function.getFunctionType().getResults())
      return emitOpError() << "returns other types than the function's, "
                           << function.getFunctionType().getResults()
                           << " (C1)";
    if (getNames())
      return emitOpError("names what a function returns; names are for outputs "
                         "of programs: leave `as` out (C2)");
    return success();
  }
  for (Type type : getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() < 1 || !tensor.isDynamicDim(0) ||
        !isa<FloatType>(tensor.getElementType()))
      return emitOpError() << "outputs " << type
                           << "; an output is a float tensor with the batch as "
                              "first dimension (C1)";
  }
  return verifyOutputNames(*this);
}

SmallVector<FieldOp> ProgramOp::getFields() {
  auto record =
      SymbolTable::lookupNearestSymbolFrom<RecordOp>(*this, getRecordAttr());
  SmallVector<FieldOp> fields;
  if (!record)
    return fields;
  ArrayAttr except = getExceptAttr();
  for (FieldOp field : record.getBody().getOps<FieldOp>())
    if (!except || !llvm::is_contained(
                       except, FlatSymbolRefAttr::get(field.getSymNameAttr())))
      fields.push_back(field);
  return fields;
}

ReturnOp ProgramOp::getReturn() {
  return cast<ReturnOp>(getBody().front().getTerminator());
}

/// The block argument types of a program that reads `fields`.
static SmallVector<Type> getArgumentTypes(ArrayRef<FieldOp> fields,
                                          bool splitRagged) {
  SmallVector<Type> types;
  for (FieldOp field : fields) {
    MLIRContext *context = field.getContext();
    if (field.isRagged() && splitRagged) {
      types.push_back(RankedTensorType::get({ShapedType::kDynamic},
                                            IntegerType::get(context, 64)));
      types.push_back(RankedTensorType::get({ShapedType::kDynamic},
                                            IntegerType::get(context, 32)));
      continue;
    }
    types.push_back(field.getType());
  }
  return types;
}

LogicalResult ProgramOp::verifyRegions() {
  DenseMap<Attribute, Operation *> trained;
  AccumulateOp accumulates;
  for (Operation &op : getBody().front()) {
    if (getFrozen() && isa<MinimizeOp, AccumulateOp, OnceOp, UpdateOp>(op))
      return op.emitOpError() << "stands in frozen program @" << getSymName()
                              << ", which only reads (C3)";
    if (auto accumulate = dyn_cast<AccumulateOp>(op))
      accumulates = accumulate;
    auto minimize = dyn_cast<MinimizeOp>(op);
    if (!minimize)
      continue;
    for (Attribute group : minimize.getGroups()) {
      auto [first, isNew] = trained.try_emplace(group, minimize);
      if (isNew || first->second == minimize)
        continue;
      InFlightDiagnostic diagnostic =
          minimize.emitOpError()
          << "trains group " << group << ", which another nn.minimize of @"
          << getSymName()
          << " trains; add the losses up, or give each its own groups (C4)";
      diagnostic.attachNote(first->second->getLoc()) << "that one is here";
      return diagnostic;
    }
  }
  if (accumulates && trained.empty())
    return accumulates.emitOpError()
           << "stands in program @" << getSymName()
           << ", which has no nn.minimize: only what trains changes state "
              "(C4)";
  return success();
}

LogicalResult ProgramOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto record =
      symbols.lookupNearestSymbolFrom<RecordOp>(*this, getRecordAttr());
  if (!record)
    return emitOpError() << "reads " << getRecordAttr()
                         << ", which is not an nn.record (C1)";
  if (ArrayAttr except = getExceptAttr())
    for (auto name : except.getAsRange<FlatSymbolRefAttr>())
      if (!SymbolTable::lookupSymbolIn(record, name.getAttr()))
        return emitOpError()
               << "excepts " << name << ", which is not a field of "
               << getRecordAttr() << " (C1)";
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto phase = module->getAttrOfType<StringAttr>(NNDialect::kPhaseAttrName);
  bool splitRagged = phase && phase.getValue() != "model";
  SmallVector<Type> expected = getArgumentTypes(getFields(), splitRagged);
  if (SmallVector<Type>(getBody().getArgumentTypes()) != expected)
    return emitOpError() << "has arguments (" << getBody().getArgumentTypes()
                         << "), but the fields that it reads are (" << expected
                         << ") (C2)";
  return success();
}
