//===- Clauses.h - Clauses of a symbol, in any order ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declarations of symbols contain clauses such as `rate(1.0e-3)`. Clauses are
// parsed in any order and printed in a fixed order. Include this file only
// together with TableGen's op definitions.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_IR_CLAUSES_H
#define LIB_DIALECT_NN_IR_CLAUSES_H

#include "mlir/IR/OpImplementation.h"
#include "pdlc/Dialect/NN/IR/NN.h"

namespace pdlc::nn {

/// A clause: a keyword, and the parser of the text that follows it.
struct Clause {
  llvm::StringRef keyword;
  std::function<mlir::ParseResult()> parse;
  bool isRequired = false;
};

/// Parses clauses in any order until other text follows. Each clause may occur
/// only once. If a clause is unknown, repeated or missing, the error message
/// lists the possible clauses.
mlir::ParseResult parseClauses(mlir::OpAsmParser &parser,
                               llvm::ArrayRef<Clause> clauses);

/// Returns a parser of the text in the parentheses of a clause.
template <typename Parse>
std::function<mlir::ParseResult()> inParentheses(mlir::OpAsmParser &parser,
                                                 Parse parse) {
  return [&parser, parse]() -> mlir::ParseResult {
    if (parser.parseLParen() || parse() || parser.parseRParen())
      return mlir::failure();
    return mlir::success();
  };
}

/// Returns a parser of an attribute in parentheses.
template <typename AttrT>
std::function<mlir::ParseResult()>
inParentheses(mlir::OpAsmParser &parser, AttrT &attribute, mlir::Type type) {
  return inParentheses(parser, [&parser, &attribute, type] {
    return parser.parseCustomAttributeWithFallback(attribute, type);
  });
}

mlir::ParseResult
parseGroupClauses(mlir::OpAsmParser &parser, mlir::FlatSymbolRefAttr &rule,
                  mlir::DictionaryAttr &ruleHyper, mlir::FloatAttr &rate,
                  mlir::FlatSymbolRefAttr &schedule,
                  mlir::DictionaryAttr &scheduleHyper, mlir::ArrayAttr &decay,
                  mlir::FlatSymbolRefAttr &clip, UntouchedAttr &untouched,
                  mlir::FlatSymbolRefAttr &average,
                  mlir::DictionaryAttr &averageHyper, MergeAttr &merge,
                  RateOverAttr &rateOver, mlir::FlatSymbolRefAttr &compensation,
                  mlir::DictionaryAttr &compensationHyper);
void printGroupClauses(mlir::OpAsmPrinter &printer, mlir::Operation *,
                       mlir::FlatSymbolRefAttr rule,
                       mlir::DictionaryAttr ruleHyper, mlir::FloatAttr rate,
                       mlir::FlatSymbolRefAttr schedule,
                       mlir::DictionaryAttr scheduleHyper,
                       mlir::ArrayAttr decay, mlir::FlatSymbolRefAttr clip,
                       UntouchedAttr untouched, mlir::FlatSymbolRefAttr average,
                       mlir::DictionaryAttr averageHyper, MergeAttr merge,
                       RateOverAttr rateOver,
                       mlir::FlatSymbolRefAttr compensation,
                       mlir::DictionaryAttr compensationHyper);

mlir::ParseResult parseFieldClauses(mlir::OpAsmParser &parser, HashAttr &hash,
                                    mlir::Attribute &missing,
                                    mlir::Attribute &missingElement,
                                    mlir::DictionaryAttr &values,
                                    mlir::ArrayAttr &columns,
                                    mlir::StringAttr &separator);
void printFieldClauses(mlir::OpAsmPrinter &printer, mlir::Operation *,
                       HashAttr hash, mlir::Attribute missing,
                       mlir::Attribute missingElement,
                       mlir::DictionaryAttr values, mlir::ArrayAttr columns,
                       mlir::StringAttr separator);

/// Parses the clauses of a parameter or table: `in @group` and `init(...)`. A
/// table may also have `unknown(...)`, `stored(...)`, `admit(...)`,
/// `shrink(...)`, `score(...)` and `widen(...)`.
mlir::ParseResult parseStateClauses(mlir::OpAsmParser &parser,
                                    mlir::FlatSymbolRefAttr &group,
                                    mlir::Attribute &init);
void printStateClauses(mlir::OpAsmPrinter &printer, mlir::Operation *,
                       mlir::FlatSymbolRefAttr group, mlir::Attribute init);
mlir::ParseResult
parseTableClauses(mlir::OpAsmParser &parser, mlir::FlatSymbolRefAttr &group,
                  mlir::Attribute &init, UnknownAttr &unknown,
                  StorageAttr &stored, mlir::IntegerAttr &admitCount,
                  mlir::FloatAttr &admitProbability,
                  mlir::FloatAttr &admitScore, mlir::IntegerAttr &shrinkEvery,
                  mlir::IntegerAttr &shrinkUnseen, mlir::FloatAttr &shrinkDecay,
                  mlir::FloatAttr &shrinkLeast, mlir::DictionaryAttr &score,
                  mlir::IntegerAttr &widenFrom, mlir::FloatAttr &widenScore,
                  mlir::Attribute &widenInit);
void printTableClauses(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                       mlir::FlatSymbolRefAttr group, mlir::Attribute init,
                       UnknownAttr unknown, StorageAttr stored,
                       mlir::IntegerAttr admitCount,
                       mlir::FloatAttr admitProbability,
                       mlir::FloatAttr admitScore,
                       mlir::IntegerAttr shrinkEvery,
                       mlir::IntegerAttr shrinkUnseen,
                       mlir::FloatAttr shrinkDecay, mlir::FloatAttr shrinkLeast,
                       mlir::DictionaryAttr score, mlir::IntegerAttr widenFrom,
                       mlir::FloatAttr widenScore, mlir::Attribute widenInit);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_CLAUSES_H
