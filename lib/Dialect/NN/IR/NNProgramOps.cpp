//===- NNProgramOps.cpp - Functions and programs of a model ---------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AssemblyDirectives.h"
#include "VerifierUtils.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "pdlc/Dialect/NN/IR/ElementTypeOf.h"
#include "pdlc/Dialect/NN/IR/NN.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace pdlc;
using namespace pdlc::nn;

/// Syntax: `(@w: tensor<4x8xf32>, @emb: i64 -> tensor<8xf32>)`.
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

/// Prints `tensor<4x8xf32>`, or `i64 -> tensor<8xf32>` for a table.
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
  // An op that was not verified yet may lack a body.
  if (!getBody().empty())
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

/// Returns true if the type is valid for a parameter, or for the keys and rows
/// of a table.
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

/// Verifies the symbol parameters of a function.
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
                         << ", which is not an nn.func (C1)"
                         << meantSymbol<FuncOp>(*this, getCalleeAttr());
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
           << " outputs; write `as \"name\"` after each of them, or after "
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

/// Verifies the names of a program's outputs and of their columns.
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

/// Returns the types of the block arguments of a program that reads `fields`.
static SmallVector<Type> getArgumentTypes(ArrayRef<FieldOp> fields,
                                          bool splitRagged) {
  SmallVector<Type> types;
  for (FieldOp field : fields) {
    MLIRContext *context = field.getContext();
    if (field.isRagged() && splitRagged) {
      types.push_back(RankedTensorType::get({ShapedType::kDynamic},
                                            elementTypeOf(field.getType())));
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
  Operation *changes = nullptr;
  for (Operation &op : getBody().front()) {
    if (getFrozen() &&
        isa<MinimizeOp, AccumulateOp, CountOp, CountPooledOp, OnceOp, UpdateOp>(
            op))
      return op.emitOpError() << "stands in frozen program @" << getSymName()
                              << ", which only reads (C3)";
    if (isa<AccumulateOp, CountOp>(op))
      changes = &op;
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
  if (changes && trained.empty())
    return changes->emitOpError()
           << "stands in program @" << getSymName()
           << ", which has no nn.minimize: only what trains changes state ("
           << (isa<AccumulateOp>(changes) ? "C4" : "C5") << ")";
  return success();
}

LogicalResult ProgramOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto record =
      symbols.lookupNearestSymbolFrom<RecordOp>(*this, getRecordAttr());
  if (!record)
    return emitOpError() << "reads " << getRecordAttr()
                         << ", which is not an nn.record (C1)"
                         << meantSymbol<RecordOp>(*this, getRecordAttr());
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

//===----------------------------------------------------------------------===//
// CycleOp
//===----------------------------------------------------------------------===//

LogicalResult CycleOp::verify() {
  // The position is counted in the element type of the model.
  constexpr int64_t kMax = 65536;
  int64_t length = 0;
  for (int64_t count : getSteps()) {
    if (count < 1 || count > kMax)
      return emitOpError() << "has a turn of " << count
                           << " steps; expected 1 to " << kMax << " (C1)";
    length += count;
  }
  if (length < 1 || length > kMax)
    return emitOpError() << "has " << length << " steps; expected 1 to " << kMax
                         << " (C1)";
  if (getPrograms().size() != getSteps().size())
    return emitOpError() << "names " << getPrograms().size() << " programs and "
                         << getSteps().size() << " numbers of steps (C1)";
  return success();
}

LogicalResult CycleOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (auto name : getPrograms().getAsRange<FlatSymbolRefAttr>()) {
    auto program = symbols.lookupNearestSymbolFrom<ProgramOp>(*this, name);
    if (!program)
      return emitOpError() << "names " << name
                           << ", which is not an nn.program (C2)"
                           << meantSymbol<ProgramOp>(*this, name);
    auto refuse = [&](const char *why) {
      InFlightDiagnostic diagnostic = emitOpError() << "names " << name << ", "
                                                    << why << " (C2)";
      diagnostic.attachNote(program.getLoc()) << "the program is here";
      return diagnostic;
    };
    if (program.getFrozen())
      return refuse("which is frozen, and trains nothing; take it off the "
                    "list, or `frozen` off the program");
    if (program.getBody().getOps<MinimizeOp>().empty())
      return refuse("which has no nn.minimize, and trains nothing; take it off "
                    "the list, or give it one");
    if (program.getReturn().getNumOperands() != 0)
      return refuse(
          "which has outputs that no caller would get; return them from "
          "a frozen program");
  }
  return success();
}
