//===- AssemblyDirectives.h - Custom assembly directives of nn --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsers and printers that the declarative assembly formats use. Include this
// file only together with TableGen's op definitions.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_IR_ASSEMBLYDIRECTIVES_H
#define LIB_DIALECT_NN_IR_ASSEMBLYDIRECTIVES_H

#include "HyperBounds.h"
#include "mlir/IR/Builders.h"
#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc::nn {

/// Parses a type of bags. If a second type follows, it is the type of the bags
/// that they must match; otherwise both types are equal.
inline mlir::ParseResult parseTypeAndLike(mlir::OpAsmParser &parser,
                                          mlir::Type &type, mlir::Type &like) {
  if (parser.parseType(type))
    return mlir::failure();
  like = type;
  if (mlir::succeeded(parser.parseOptionalComma()))
    return parser.parseType(like);
  return mlir::success();
}

inline void printTypeAndLike(mlir::OpAsmPrinter &printer, mlir::Operation *,
                             mlir::Type type, mlir::Type like) {
  printer << type;
  if (like != type)
    printer << ", " << like;
}

/// Syntax: `(show, click)`.
inline mlir::ParseResult parseNames(mlir::OpAsmParser &parser,
                                    mlir::ArrayAttr &names) {
  llvm::SmallVector<mlir::Attribute> list;
  auto parseOne = [&]() -> mlir::ParseResult {
    std::string name;
    if (parser.parseKeywordOrString(&name))
      return mlir::failure();
    list.push_back(parser.getBuilder().getStringAttr(name));
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::OpAsmParser::Delimiter::Paren,
                                     parseOne))
    return mlir::failure();
  names = parser.getBuilder().getArrayAttr(list);
  return mlir::success();
}

inline void printNames(mlir::OpAsmPrinter &printer, mlir::Operation *,
                       mlir::ArrayAttr names) {
  printer << "(";
  llvm::interleaveComma(
      names.getAsValueRange<mlir::StringAttr>(), printer,
      [&](llvm::StringRef name) { printer.printKeywordOrString(name); });
  printer << ")";
}

/// Syntax: `show(%0) click(%1)`.
inline mlir::ParseResult parseNamedOperands(
    mlir::OpAsmParser &parser, mlir::ArrayAttr &names,
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &operands) {
  llvm::SmallVector<mlir::Attribute> list;
  std::string name;
  while (mlir::succeeded(parser.parseOptionalKeywordOrString(&name))) {
    if (parser.parseLParen() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseRParen())
      return mlir::failure();
    list.push_back(parser.getBuilder().getStringAttr(name));
  }
  names = parser.getBuilder().getArrayAttr(list);
  return mlir::success();
}

inline void printNamedOperands(mlir::OpAsmPrinter &printer, mlir::Operation *,
                               mlir::ArrayAttr names,
                               mlir::ValueRange operands) {
  llvm::interleave(
      llvm::zip(names.getAsValueRange<mlir::StringAttr>(), operands), printer,
      [&](auto named) {
        printer.printKeywordOrString(std::get<0>(named));
        printer << "(" << std::get<1>(named) << ")";
      },
      " ");
}

/// Parses a type, followed by a second type that all of the operands share.
inline mlir::ParseResult
parseOneTypeOf(mlir::OpAsmParser &parser, mlir::Type &first,
               llvm::SmallVectorImpl<mlir::Type> &types,
               const llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>
                   &operands) {
  mlir::Type type;
  if (parser.parseType(first) || parser.parseComma() || parser.parseType(type))
    return mlir::failure();
  types.assign(operands.size(), type);
  return mlir::success();
}

inline void printOneTypeOf(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::Type first, mlir::TypeRange types,
                           mlir::ValueRange) {
  printer << first << ", " << types.front();
}

/// Parses the types of a metric's operands: the type of the predictions,
/// followed by the type of the labels if it is different.
inline mlir::ParseResult parseObserveTypes(
    mlir::OpAsmParser &parser,
    const std::optional<mlir::OpAsmParser::UnresolvedOperand> &labels,
    const std::optional<mlir::OpAsmParser::UnresolvedOperand> &weights,
    const std::optional<mlir::OpAsmParser::UnresolvedOperand> &group,
    mlir::Type &predictionType, mlir::Type &labelType, mlir::Type &weightType,
    mlir::Type &groupType) {
  if (parser.parseType(predictionType))
    return mlir::failure();
  if (group)
    groupType = mlir::RankedTensorType::get({mlir::ShapedType::kDynamic, 1},
                                            parser.getBuilder().getI64Type());
  if (labels) {
    labelType = predictionType;
    if (mlir::succeeded(parser.parseOptionalComma()) &&
        parser.parseType(labelType))
      return mlir::failure();
  }
  if (!weights)
    return mlir::success();
  mlir::Type element = mlir::getElementTypeOrSelf(predictionType);
  if (!mlir::TensorType::isValidElementType(element))
    return parser.emitError(parser.getCurrentLocation())
           << "observes " << predictionType << "; expected a tensor";
  weightType =
      mlir::RankedTensorType::get({mlir::ShapedType::kDynamic, 1}, element);
  return mlir::success();
}

inline void printObserveTypes(mlir::OpAsmPrinter &printer, mlir::Operation *,
                              mlir::Value, mlir::Value, mlir::Value,
                              mlir::Type predictionType, mlir::Type labelType,
                              mlir::Type, mlir::Type) {
  printer << predictionType;
  if (labelType && labelType != predictionType)
    printer << ", " << labelType;
}

/// Syntax: `relu`. The word `none` means that there is no attribute.
inline mlir::ParseResult parseActivation(mlir::OpAsmParser &parser,
                                         mlir::StringAttr &activation) {
  llvm::StringRef name;
  if (parser.parseKeyword(&name))
    return mlir::failure();
  if (name != "none")
    activation = parser.getBuilder().getStringAttr(name);
  return mlir::success();
}

inline void printActivation(mlir::OpAsmPrinter &printer, mlir::Operation *,
                            mlir::StringAttr activation) {
  printer << activation.getValue();
}

/// Syntax: `sum`. The word `none` means that there is no attribute.
inline mlir::ParseResult parseLookupPooling(mlir::OpAsmParser &parser,
                                            PoolingAttr &pooling) {
  llvm::StringRef name;
  llvm::SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return mlir::failure();
  if (name == "none")
    return mlir::success();
  std::optional<Pooling> known = symbolizePooling(name);
  if (!known)
    return parser.emitError(location, "unknown pooling '")
           << name << "'; expected sum, mean, sqrtn or none";
  pooling = PoolingAttr::get(parser.getContext(), *known);
  return mlir::success();
}

inline void printLookupPooling(mlir::OpAsmPrinter &printer, mlir::Operation *,
                               PoolingAttr pooling) {
  printer << (pooling ? stringifyPooling(pooling.getValue()) : "none");
}

/// A dictionary with one entry per line.
inline mlir::ParseResult parseParts(mlir::OpAsmParser &parser,
                                    mlir::DictionaryAttr &parts) {
  return parser.parseAttribute(parts);
}

inline void printParts(mlir::OpAsmPrinter &printer, mlir::Operation *,
                       mlir::DictionaryAttr parts) {
  printer << '{';
  printer.increaseIndent();
  llvm::interleave(
      parts,
      [&](mlir::NamedAttribute part) {
        printer.printNewline();
        printer.printString(part.getName());
        printer << " = ";
        printer.printAttribute(part.getValue());
      },
      [&] { printer << ','; });
  printer.decreaseIndent();
  if (!parts.empty())
    printer.printNewline();
  printer << '}';
}

/// Parses `(name = 1.0, other = 2.0)`. After each number, calls `parseRest`, if
/// it is given, to parse further text.
inline mlir::ParseResult
parseNamedNumbers(mlir::OpAsmParser &parser, mlir::ArrayAttr &names,
                  mlir::DenseF64ArrayAttr &values,
                  llvm::function_ref<mlir::ParseResult()> parseRest = nullptr) {
  llvm::SmallVector<mlir::Attribute> nameList;
  llvm::SmallVector<double> valueList;
  auto parseOne = [&]() -> mlir::ParseResult {
    std::string name;
    double value = 0;
    if (parser.parseKeywordOrString(&name) || parser.parseEqual() ||
        parser.parseFloat(value) || (parseRest && parseRest()))
      return mlir::failure();
    nameList.push_back(parser.getBuilder().getStringAttr(name));
    valueList.push_back(value);
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::OpAsmParser::Delimiter::Paren,
                                     parseOne))
    return mlir::failure();
  names = parser.getBuilder().getArrayAttr(nameList);
  values = parser.getBuilder().getDenseF64ArrayAttr(valueList);
  return mlir::success();
}

/// Prints `(name = 1.0, other = 2.0)`. After number i, calls `printRest(i)`, if
/// it is given, to print further text.
inline void
printNamedNumbers(mlir::OpAsmPrinter &printer, mlir::Operation *,
                  mlir::ArrayAttr names, mlir::DenseF64ArrayAttr values,
                  llvm::function_ref<void(size_t)> printRest = nullptr) {
  printer << "(";
  size_t place = 0;
  llvm::interleaveComma(
      llvm::zip(names, values.asArrayRef()), printer, [&](auto pair) {
        printer.printKeywordOrString(
            llvm::cast<mlir::StringAttr>(std::get<0>(pair)).getValue());
        printer << " = ";
        printer.printFloat(llvm::APFloat(std::get<1>(pair)));
        if (printRest)
          printRest(place);
        ++place;
      });
  printer << ")";
}

/// Syntax: `(name = 1.0 from 0.0 below 2.0, other = 2.0)`.
inline mlir::ParseResult parseHypers(mlir::OpAsmParser &parser,
                                     mlir::ArrayAttr &names,
                                     mlir::DenseF64ArrayAttr &values,
                                     mlir::DenseF64ArrayAttr &bounds) {
  llvm::SmallVector<double> boundList;
  bool hasBounds = false;
  auto parseBound = [&](llvm::StringRef closed, llvm::StringRef open,
                        double &bound,
                        bool &isOpen) -> mlir::OptionalParseResult {
    const bool opens = mlir::succeeded(parser.parseOptionalKeyword(open));
    if (!opens && mlir::failed(parser.parseOptionalKeyword(closed)))
      return std::nullopt;
    if (std::isfinite(bound))
      return parser.emitError(parser.getCurrentLocation())
             << "expected one bound on each side, such as from 0.0 below 1.0";
    isOpen = opens;
    hasBounds = true;
    if (parser.parseFloat(bound))
      return mlir::failure();
    if (!std::isfinite(bound))
      return parser.emitError(parser.getCurrentLocation())
             << "expected a finite bound; leave out the one that nothing "
                "reaches";
    return mlir::success();
  };
  auto parseBounds = [&]() -> mlir::ParseResult {
    HyperBounds own;
    for (;;) {
      mlir::OptionalParseResult bound =
          parseBound("from", "above", own.least, own.isAbove);
      if (!bound.has_value())
        bound = parseBound("to", "below", own.most, own.isBelow);
      if (!bound.has_value())
        break;
      if (mlir::failed(*bound))
        return mlir::failure();
    }
    boundList.append(
        {own.least, own.most, double(own.isAbove), double(own.isBelow)});
    return mlir::success();
  };
  if (parseNamedNumbers(parser, names, values, parseBounds))
    return mlir::failure();
  if (hasBounds)
    bounds = parser.getBuilder().getDenseF64ArrayAttr(boundList);
  return mlir::success();
}

inline void printHypers(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                        mlir::ArrayAttr names, mlir::DenseF64ArrayAttr values,
                        mlir::DenseF64ArrayAttr bounds) {
  printNamedNumbers(printer, op, names, values, [&](size_t place) {
    if (bounds)
      HyperBounds::at(bounds.asArrayRef(), place).print(printer);
  });
}

/// Parses the word `row`, or `param` for a whole parameter, and the region.
inline mlir::ParseResult parseRowRegion(mlir::OpAsmParser &parser,
                                        mlir::Region &row,
                                        mlir::UnitAttr &whole) {
  if (mlir::succeeded(parser.parseOptionalKeyword("param")))
    whole = parser.getBuilder().getUnitAttr();
  else if (mlir::failed(parser.parseOptionalKeyword("row")))
    return parser.emitError(parser.getCurrentLocation())
           << "expected region 'row' or 'param' after region 'sum'";
  return parser.parseRegion(row);
}

inline void printRowRegion(mlir::OpAsmPrinter &printer, mlir::Operation *,
                           mlir::Region &row, mlir::UnitAttr whole) {
  printer << (whole ? "param " : "row ");
  printer.printRegion(row);
}

/// Parses the value of a constant, such as `dense<0.1> : tensor<4xf32>`. If f32
/// cannot represent the numbers as they are written, sets `exact` to the same
/// numbers in f64.
mlir::ParseResult parseConstantValue(mlir::OpAsmParser &parser,
                                     mlir::ElementsAttr &value,
                                     mlir::ElementsAttr &exact);
void printConstantValue(mlir::OpAsmPrinter &printer, mlir::Operation *,
                        mlir::ElementsAttr value, mlir::ElementsAttr exact);

/// Syntax: `#a, #b`.
inline mlir::ParseResult parseAttributeList(mlir::OpAsmParser &parser,
                                            mlir::ArrayAttr &list) {
  llvm::SmallVector<mlir::Attribute> attributes;
  if (parser.parseCommaSeparatedList(
          [&] { return parser.parseAttribute(attributes.emplace_back()); }))
    return mlir::failure();
  list = parser.getBuilder().getArrayAttr(attributes);
  return mlir::success();
}

inline void printAttributeList(mlir::OpAsmPrinter &printer, mlir::Operation *,
                               mlir::ArrayAttr list) {
  llvm::interleaveComma(list, printer);
}

/// Parses `@a` and adds it to a list.
inline mlir::ParseResult
parseSymbol(mlir::OpAsmParser &parser,
            llvm::SmallVectorImpl<mlir::Attribute> &symbols) {
  mlir::StringAttr name;
  if (parser.parseSymbolName(name))
    return mlir::failure();
  symbols.push_back(mlir::FlatSymbolRefAttr::get(name));
  return mlir::success();
}

/// Syntax: `[@a, @b]`, or `@a` without brackets for a single symbol.
inline mlir::ParseResult parseSymbolList(mlir::OpAsmParser &parser,
                                         mlir::ArrayAttr &list) {
  llvm::SmallVector<mlir::Attribute> symbols;
  auto parseOne = [&] { return parseSymbol(parser, symbols); };
  if (mlir::succeeded(parser.parseOptionalLSquare())) {
    if (parser.parseCommaSeparatedList(parseOne) || parser.parseRSquare())
      return mlir::failure();
  } else if (parseOne()) {
    return mlir::failure();
  }
  list = parser.getBuilder().getArrayAttr(symbols);
  return mlir::success();
}

inline void printSymbolList(mlir::OpAsmPrinter &printer, mlir::Operation *,
                            mlir::ArrayAttr list) {
  if (list.size() == 1) {
    printer << list[0];
    return;
  }
  printer << "[";
  llvm::interleaveComma(list, printer);
  printer << "]";
}

/// Parses turns such as `[@a * 5, @b]`: names of programs, each with its number
/// of consecutive steps. Without a number, it is one step.
inline mlir::ParseResult parseTurns(mlir::OpAsmParser &parser,
                                    mlir::ArrayAttr &programs,
                                    mlir::DenseI64ArrayAttr &steps) {
  llvm::SmallVector<mlir::Attribute> symbols;
  llvm::SmallVector<int64_t> counts;
  auto parseOne = [&]() -> mlir::ParseResult {
    counts.push_back(1);
    if (parseSymbol(parser, symbols))
      return mlir::failure();
    if (mlir::failed(parser.parseOptionalStar()))
      return mlir::success();
    return parser.parseInteger(counts.back());
  };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Square,
                                     parseOne))
    return mlir::failure();
  programs = parser.getBuilder().getArrayAttr(symbols);
  steps = parser.getBuilder().getDenseI64ArrayAttr(counts);
  return mlir::success();
}

inline void printTurns(mlir::OpAsmPrinter &printer, mlir::Operation *,
                       mlir::ArrayAttr programs,
                       mlir::DenseI64ArrayAttr steps) {
  printer << "[";
  llvm::interleaveComma(llvm::zip_equal(programs, steps.asArrayRef()), printer,
                        [&](auto turn) {
                          printer << std::get<0>(turn);
                          if (std::get<1>(turn) != 1)
                            printer << " * " << std::get<1>(turn);
                        });
  printer << "]";
}

/// Syntax: `[bias, relu]`, which are enumerators without their dialect prefix.
template <typename AttrT, typename Symbolize>
mlir::ParseResult parseEnumerators(mlir::OpAsmParser &parser,
                                   mlir::ArrayAttr &list, Symbolize symbolize,
                                   llvm::StringRef expected) {
  llvm::SmallVector<mlir::Attribute> attributes;
  auto parseOne = [&]() -> mlir::ParseResult {
    llvm::StringRef keyword;
    llvm::SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return mlir::failure();
    auto value = symbolize(keyword);
    if (!value)
      return parser.emitError(location, "unknown '")
             << keyword << "'; expected " << expected;
    attributes.push_back(AttrT::get(parser.getContext(), *value));
    return mlir::success();
  };
  if (parser.parseCommaSeparatedList(mlir::OpAsmParser::Delimiter::Square,
                                     parseOne))
    return mlir::failure();
  list = parser.getBuilder().getArrayAttr(attributes);
  return mlir::success();
}

inline mlir::ParseResult parsePostOps(mlir::OpAsmParser &parser,
                                      mlir::ArrayAttr &list) {
  return parseEnumerators<PostOpAttr>(
      parser, list, [](llvm::StringRef text) { return symbolizePostOp(text); },
      "bias, relu or relu_gradient");
}

inline void printPostOps(mlir::OpAsmPrinter &printer, mlir::Operation *,
                         mlir::ArrayAttr list) {
  printer << "[";
  llvm::interleaveComma(list, printer, [&](mlir::Attribute attribute) {
    printer << stringifyPostOp(llvm::cast<PostOpAttr>(attribute).getValue());
  });
  printer << "]";
}

using UnresolvedOperands =
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>;

/// Syntax: `(%a bags(%sa), %b bags(%sb))`.
mlir::ParseResult parseBagList(mlir::OpAsmParser &parser,
                               UnresolvedOperands &ids,
                               UnresolvedOperands &splits);
void printBagList(mlir::OpAsmPrinter &printer, mlir::Operation *,
                  mlir::OperandRange ids, mlir::OperandRange splits);

/// Syntax: `(%a bags(%sa) mean, %b sum)`.
mlir::ParseResult parsePoolInputs(mlir::OpAsmParser &parser,
                                  UnresolvedOperands &ids,
                                  UnresolvedOperands &splits,
                                  mlir::ArrayAttr &poolings,
                                  mlir::DenseBoolArrayAttr &bagged);
void printPoolInputs(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::OperandRange ids, mlir::OperandRange splits,
                     mlir::ArrayAttr poolings, mlir::DenseBoolArrayAttr bagged);

/// Syntax: `(%a bags(%sa) mean from %da, %b sum)`.
mlir::ParseResult parsePoolGradientInputs(mlir::OpAsmParser &parser,
                                          UnresolvedOperands &ids,
                                          UnresolvedOperands &splits,
                                          UnresolvedOperands &cotangents,
                                          mlir::ArrayAttr &poolings,
                                          mlir::DenseBoolArrayAttr &bagged,
                                          mlir::DenseBoolArrayAttr &present);
void printPoolGradientInputs(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                             mlir::OperandRange ids, mlir::OperandRange splits,
                             mlir::OperandRange cotangents,
                             mlir::ArrayAttr poolings,
                             mlir::DenseBoolArrayAttr bagged,
                             mlir::DenseBoolArrayAttr present);

/// Syntax: `{@w = %g : tensor<4x1xf32>, @emb[%keys] = %ge : tensor<?x10xf32>}`.
mlir::ParseResult parseSymbolGradients(mlir::OpAsmParser &parser,
                                       mlir::ArrayAttr &symbols,
                                       UnresolvedOperands &gradients,
                                       llvm::SmallVectorImpl<mlir::Type> &types,
                                       UnresolvedOperands &keys,
                                       mlir::DenseBoolArrayAttr &keyed);
void printSymbolGradients(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                          mlir::ArrayAttr symbols, mlir::OperandRange gradients,
                          mlir::TypeRange types, mlir::OperandRange keys,
                          mlir::DenseBoolArrayAttr keyed);

/// Syntax: `(weight, clip_factor, "rate")`.
mlir::ParseResult parseScalarNames(mlir::OpAsmParser &parser,
                                   mlir::ArrayAttr &names);
void printScalarNames(mlir::OpAsmPrinter &printer, mlir::Operation *,
                      mlir::ArrayAttr names);

/// Syntax: `(@a, @b)`.
inline mlir::ParseResult parseSymbolArguments(mlir::OpAsmParser &parser,
                                              mlir::ArrayAttr &list) {
  llvm::SmallVector<mlir::Attribute> symbols;
  auto parseOne = [&] { return parseSymbol(parser, symbols); };
  if (parser.parseCommaSeparatedList(mlir::AsmParser::Delimiter::Paren,
                                     parseOne))
    return mlir::failure();
  list = parser.getBuilder().getArrayAttr(symbols);
  return mlir::success();
}

inline void printSymbolArguments(mlir::OpAsmPrinter &printer, mlir::Operation *,
                                 mlir::ArrayAttr list) {
  printer << "(";
  llvm::interleaveComma(list, printer);
  printer << ")";
}

/// Parses returned values, such as `%p as "ctr", %q as "cvr" : type, type`, or
/// nothing. Names are optional.
mlir::ParseResult parseReturned(
    mlir::OpAsmParser &parser,
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &operands,
    llvm::SmallVectorImpl<mlir::Type> &types, mlir::ArrayAttr &names);
void printReturned(mlir::OpAsmPrinter &printer, mlir::Operation *,
                   mlir::OperandRange operands, mlir::TypeRange types,
                   mlir::ArrayAttr names);

/// Parses a region with block arguments. If it does not end in an `nn.return`,
/// adds one without operands.
inline mlir::ParseResult parseProgramBody(mlir::OpAsmParser &parser,
                                          mlir::Region &body) {
  if (parser.parseRegion(body))
    return mlir::failure();
  if (body.empty())
    body.emplaceBlock();
  ProgramOp::ensureTerminator(body, parser.getBuilder(),
                              parser.getEncodedSourceLoc(parser.getNameLoc()));
  return mlir::success();
}

inline void printProgramBody(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                             mlir::Region &body) {
  bool hasOutputs = !body.empty() && !body.front().empty() &&
                    body.front().back().getNumOperands() != 0;
  printer.printRegion(body, /*printEntryBlockArgs=*/true,
                      /*printBlockTerminators=*/hasOutputs);
}

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_ASSEMBLYDIRECTIVES_H
