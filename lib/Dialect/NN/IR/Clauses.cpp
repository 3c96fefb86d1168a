//===- Clauses.cpp - Clauses of a symbol, in any order --------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Clauses.h"
#include "AssemblyDirectives.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace pdlc::nn;

//===----------------------------------------------------------------------===//
// General clauses
//===----------------------------------------------------------------------===//

/// If `text` begins with a word and a parenthesis, returns the word: it is the
/// name of an unknown clause. Otherwise returns an empty text. What may follow
/// a symbol legally is a location, or the name of the next op, which contains a
/// dot or has no parenthesis.
static StringRef wordOfClause(const char *text) {
  const char *end = text;
  while (llvm::isAlnum(*end) || *end == '_')
    ++end;
  StringRef word(text, end - text);
  while (*end == ' ')
    ++end;
  return *end == '(' && word != "loc" ? word : StringRef();
}

ParseResult pdlc::nn::parseClauses(OpAsmParser &parser,
                                   ArrayRef<Clause> clauses) {
  SmallVector<StringRef> keywords = llvm::map_to_vector(
      clauses, [](const Clause &clause) { return clause.keyword; });
  SmallVector<bool> seen(clauses.size(), false);
  for (;;) {
    SMLoc location = parser.getCurrentLocation();
    StringRef keyword;
    if (failed(parser.parseOptionalKeyword(&keyword, keywords))) {
      StringRef word = wordOfClause(location.getPointer());
      if (!word.empty())
        return parser.emitError(location)
               << "has no clause '" << word << "'; the clauses are "
               << llvm::join(keywords, ", ");
      break;
    }
    size_t index = llvm::find(keywords, keyword) - keywords.begin();
    if (seen[index])
      return parser.emitError(location)
             << "has clause '" << keyword << "' a second time";
    seen[index] = true;
    if (clauses[index].parse())
      return failure();
  }
  for (auto [clause, isThere] : llvm::zip_equal(clauses, seen))
    if (clause.isRequired && !isThere)
      return parser.emitError(parser.getCurrentLocation())
             << "expected clause '" << clause.keyword << "(...)'";
  return success();
}

/// Prints ` keyword(attribute)` if the attribute is set.
template <typename Print>
static void printClause(OpAsmPrinter &printer, StringRef keyword,
                        Attribute attribute, Print print) {
  if (!attribute)
    return;
  printer << ' ' << keyword << '(';
  print();
  printer << ')';
}

static void printClause(OpAsmPrinter &printer, StringRef keyword,
                        Attribute attribute) {
  printClause(printer, keyword, attribute,
              [&] { printer.printAttributeWithoutType(attribute); });
}

/// Syntax: `(@cosine {steps = 10.0})`, a symbol with the numbers passed to it.
static std::function<ParseResult()>
named(OpAsmParser &parser, FlatSymbolRefAttr &symbol, DictionaryAttr &hyper) {
  return inParentheses(parser, [&parser, &symbol, &hyper]() -> ParseResult {
    Type none = parser.getBuilder().getType<NoneType>();
    if (parser.parseCustomAttributeWithFallback(symbol, none))
      return failure();
    OptionalParseResult parsed = parser.parseOptionalAttribute(hyper, none);
    return failure(parsed.has_value() && failed(*parsed));
  });
}

static void printNamed(OpAsmPrinter &printer, StringRef keyword,
                       FlatSymbolRefAttr symbol, DictionaryAttr hyper) {
  printClause(printer, keyword, symbol, [&] {
    printer.printAttributeWithoutType(symbol);
    if (hyper) {
      printer << ' ';
      printer.printAttributeWithoutType(hyper);
    }
  });
}

//===----------------------------------------------------------------------===//
// nn.group
//===----------------------------------------------------------------------===//

ParseResult pdlc::nn::parseGroupClauses(
    OpAsmParser &parser, FlatSymbolRefAttr &rule, DictionaryAttr &ruleHyper,
    FloatAttr &rate, FlatSymbolRefAttr &schedule, DictionaryAttr &scheduleHyper,
    ArrayAttr &decay, FlatSymbolRefAttr &clip, UntouchedAttr &untouched,
    FlatSymbolRefAttr &average, DictionaryAttr &averageHyper, MergeAttr &merge,
    RateOverAttr &rateOver, FlatSymbolRefAttr &compensation,
    DictionaryAttr &compensationHyper) {
  Type none = parser.getBuilder().getType<NoneType>();
  Type f64 = parser.getBuilder().getF64Type();
  return parseClauses(
      parser, {{"rule", named(parser, rule, ruleHyper), /*isRequired=*/true},
               {"rate", inParentheses(parser, rate, f64), /*isRequired=*/true},
               {"schedule", named(parser, schedule, scheduleHyper)},
               {"decay",
                inParentheses(
                    parser, [&] { return parseAttributeList(parser, decay); })},
               {"clip", inParentheses(parser, clip, none)},
               {"untouched", inParentheses(parser, untouched, Type())},
               {"average", named(parser, average, averageHyper)},
               {"merge", inParentheses(parser, merge, Type())},
               {"rate_over", inParentheses(parser, rateOver, Type())},
               {"compensate", named(parser, compensation, compensationHyper)}});
}

void pdlc::nn::printGroupClauses(
    OpAsmPrinter &printer, Operation *op, FlatSymbolRefAttr rule,
    DictionaryAttr ruleHyper, FloatAttr rate, FlatSymbolRefAttr schedule,
    DictionaryAttr scheduleHyper, ArrayAttr decay, FlatSymbolRefAttr clip,
    UntouchedAttr untouched, FlatSymbolRefAttr average,
    DictionaryAttr averageHyper, MergeAttr merge, RateOverAttr rateOver,
    FlatSymbolRefAttr compensation, DictionaryAttr compensationHyper) {
  printNamed(printer, "rule", rule, ruleHyper);
  printClause(printer, "rate", rate);
  printNamed(printer, "schedule", schedule, scheduleHyper);
  printClause(printer, "decay", decay,
              [&] { printAttributeList(printer, op, decay); });
  printClause(printer, "clip", clip);
  printClause(printer, "untouched", untouched,
              [&] { printer.printStrippedAttrOrType(untouched); });
  printNamed(printer, "average", average, averageHyper);
  printClause(printer, "merge", merge,
              [&] { printer.printStrippedAttrOrType(merge); });
  printClause(printer, "rate_over", rateOver,
              [&] { printer.printStrippedAttrOrType(rateOver); });
  printNamed(printer, "compensate", compensation, compensationHyper);
}

//===----------------------------------------------------------------------===//
// nn.field
//===----------------------------------------------------------------------===//

ParseResult pdlc::nn::parseFieldClauses(OpAsmParser &parser, HashAttr &hash,
                                        Attribute &missing,
                                        Attribute &missingElement,
                                        DictionaryAttr &values,
                                        ArrayAttr &columns,
                                        StringAttr &separator) {
  Type none = parser.getBuilder().getType<NoneType>();
  return parseClauses(
      parser,
      {{"hash", inParentheses(parser, hash, Type())},
       {"missing",
        inParentheses(parser, [&] { return parser.parseAttribute(missing); })},
       {"missing_element",
        inParentheses(parser,
                      [&] { return parser.parseAttribute(missingElement); })},
       {"values", inParentheses(parser, values, none)},
       {"columns", inParentheses(parser, columns, none)},
       {"separator", inParentheses(parser, separator, none)}});
}

void pdlc::nn::printFieldClauses(OpAsmPrinter &printer, Operation *,
                                 HashAttr hash, Attribute missing,
                                 Attribute missingElement,
                                 DictionaryAttr values, ArrayAttr columns,
                                 StringAttr separator) {
  printClause(printer, "hash", hash,
              [&] { printer.printStrippedAttrOrType(hash); });
  printClause(printer, "missing", missing,
              [&] { printer.printAttribute(missing); });
  printClause(printer, "missing_element", missingElement,
              [&] { printer.printAttribute(missingElement); });
  printClause(printer, "values", values);
  printClause(printer, "columns", columns);
  printClause(printer, "separator", separator);
}

//===----------------------------------------------------------------------===//
// nn.param, nn.table
//===----------------------------------------------------------------------===//

/// Returns the clauses that parameters and tables share.
static SmallVector<Clause>
stateClauses(OpAsmParser &parser, FlatSymbolRefAttr &group, Attribute &init) {
  auto parseGroup = [&parser, &group]() -> ParseResult {
    return parser.parseCustomAttributeWithFallback(
        group, parser.getBuilder().getType<NoneType>());
  };
  auto parseInit = [&parser, &init] { return parser.parseAttribute(init); };
  return {{"in", parseGroup},
          {"init", inParentheses(parser, parseInit), /*isRequired=*/true}};
}

ParseResult pdlc::nn::parseStateClauses(OpAsmParser &parser,
                                        FlatSymbolRefAttr &group,
                                        Attribute &init) {
  return parseClauses(parser, stateClauses(parser, group, init));
}

void pdlc::nn::printStateClauses(OpAsmPrinter &printer, Operation *,
                                 FlatSymbolRefAttr group, Attribute init) {
  if (group) {
    printer << " in ";
    printer.printAttributeWithoutType(group);
  }
  printClause(printer, "init", init, [&] { printer.printAttribute(init); });
}

/// Parses the contents of a clause, such as `from = 1, score = 2.0`. At least
/// one number is required, and each name may occur only once.
static ParseResult
parseNumbers(OpAsmParser &parser, StringRef clause,
             ArrayRef<std::pair<StringRef, function_ref<ParseResult()>>> all) {
  SmallVector<StringRef> given;
  return parser.parseCommaSeparatedList([&]() -> ParseResult {
    const SMLoc location = parser.getCurrentLocation();
    StringRef word;
    const bool isWord = succeeded(parser.parseOptionalKeyword(&word));
    const auto *found = llvm::find_if(
        all, [&](const auto &number) { return number.first == word; });
    if (found == all.end() || llvm::is_contained(given, word)) {
      InFlightDiagnostic diagnostic = parser.emitError(location) << clause;
      if (isWord)
        diagnostic << " has '" << word << "'"
                   << (found == all.end() ? "" : " twice");
      else
        diagnostic << " has no name of a number here";
      diagnostic << "; expected ";
      llvm::interleave(
          all,
          [&](const auto &number) { diagnostic << number.first << " = ..."; },
          [&] { diagnostic << ", "; });
      return diagnostic;
    }
    given.push_back(found->first);
    return failure(parser.parseEqual() || found->second());
  });
}

/// Parses an integer of a clause that fits into 64 bits with its sign.
static ParseResult parseWhole(OpAsmParser &parser, StringRef clause,
                              StringRef name, IntegerAttr &number) {
  const SMLoc location = parser.getCurrentLocation();
  APInt value;
  const OptionalParseResult parsed = parser.parseOptionalInteger(value);
  if (parsed.has_value() && failed(*parsed))
    return failure();
  if (!parsed.has_value() || !value.isSignedIntN(64))
    return parser.emitError(location)
           << clause << " has a " << name
           << (parsed.has_value() ? " that is too large"
                                  : " that is no whole number")
           << "; expected such as " << name << " = 10";
  number = parser.getBuilder().getI64IntegerAttr(
      value.sextOrTrunc(64).getSExtValue());
  return success();
}

ParseResult pdlc::nn::parseTableClauses(
    OpAsmParser &parser, FlatSymbolRefAttr &group, Attribute &init,
    UnknownAttr &unknown, StorageAttr &stored, IntegerAttr &admitCount,
    FloatAttr &admitProbability, FloatAttr &admitScore,
    IntegerAttr &shrinkEvery, IntegerAttr &shrinkUnseen, FloatAttr &shrinkDecay,
    FloatAttr &shrinkLeast, DictionaryAttr &score, IntegerAttr &widenFrom,
    FloatAttr &widenScore, Attribute &widenInit) {
  Type f64 = parser.getBuilder().getF64Type();
  SmallVector<Clause> clauses = stateClauses(parser, group, init);
  clauses.push_back({"unknown", inParentheses(parser, unknown, Type())});
  auto parseStored = [&parser, &stored]() -> ParseResult {
    SMLoc location = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<Storage> storage = symbolizeStorage(word);
    if (!storage)
      return parser.emitError(location)
             << "has rows stored in '" << word << "'; expected bf16 or f16";
    stored = StorageAttr::get(parser.getContext(), *storage);
    return success();
  };
  clauses.push_back({"stored", inParentheses(parser, parseStored)});
  auto parseCount = [&] {
    return parseWhole(parser, "admit", "count", admitCount);
  };
  auto parseProbability = [&] {
    return parser.parseAttribute(admitProbability, f64);
  };
  auto parseEvery = [&] {
    return parseWhole(parser, "shrink", "every", shrinkEvery);
  };
  auto parseUnseen = [&] {
    return parseWhole(parser, "shrink", "unseen", shrinkUnseen);
  };
  auto parseAdmission = [&] { return parser.parseAttribute(admitScore, f64); };
  auto parseAdmit = [&]() -> ParseResult {
    const SMLoc location = parser.getCurrentLocation();
    if (parseNumbers(parser, "admit",
                     {{"count", parseCount},
                      {"probability", parseProbability},
                      {"score", parseAdmission}}))
      return failure();
    if (!!admitCount + !!admitProbability + !!admitScore > 1)
      return parser.emitError(location)
             << "admit has more than one of a count, a probability and a "
                "score; expected one of them";
    return success();
  };
  auto parseShrink = [&]() -> ParseResult {
    const SMLoc location = parser.getCurrentLocation();
    auto parseDecay = [&] { return parser.parseAttribute(shrinkDecay, f64); };
    auto parseLeast = [&] { return parser.parseAttribute(shrinkLeast, f64); };
    if (parseNumbers(parser, "shrink",
                     {{"every", parseEvery},
                      {"unseen", parseUnseen},
                      {"decay", parseDecay},
                      {"least", parseLeast}}))
      return failure();
    if (!shrinkEvery || !shrinkUnseen)
      return parser.emitError(location)
             << "shrink needs every = ..., the updates of a period, and unseen "
                "= ..., how many periods a row may go without update";
    return success();
  };
  clauses.push_back({"admit", inParentheses(parser, parseAdmit)});
  clauses.push_back({"shrink", inParentheses(parser, parseShrink)});
  auto parseScore = [&]() -> ParseResult {
    NamedAttrList weights;
    auto parseWeight = [&]() -> ParseResult {
      StringRef word;
      FloatAttr weight;
      const SMLoc location = parser.getCurrentLocation();
      if (failed(parser.parseOptionalKeyword(&word)))
        return parser.emitError(location)
               << "score has no name of a row slot here; expected such as "
                  "show = 0.1, click = 0.9";
      if (parser.parseEqual() || parser.parseAttribute(weight, f64))
        return failure();
      if (weights.get(word))
        return parser.emitError(location) << "score has '" << word << "' twice";
      weights.append(word, weight);
      return success();
    };
    if (parser.parseCommaSeparatedList(parseWeight))
      return failure();
    score = weights.getDictionary(parser.getContext());
    return success();
  };
  clauses.push_back({"score", inParentheses(parser, parseScore)});
  auto parseFrom = [&] {
    return parseWhole(parser, "widen", "from", widenFrom);
  };
  auto parseThreshold = [&] { return parser.parseAttribute(widenScore, f64); };
  auto parseWiden = [&]() -> ParseResult {
    const SMLoc location = parser.getCurrentLocation();
    auto parseInit = [&] { return parser.parseAttribute(widenInit); };
    if (parseNumbers(parser, "widen",
                     {{"from", parseFrom},
                      {"score", parseThreshold},
                      {"init", parseInit}}))
      return failure();
    if (!widenFrom || !widenScore)
      return parser.emitError(location)
             << "widen needs from = ..., the first column of the vector, and "
                "score = ..., what a key scores before it has one";
    return success();
  };
  clauses.push_back({"widen", inParentheses(parser, parseWiden)});
  return parseClauses(parser, clauses);
}

void pdlc::nn::printTableClauses(
    OpAsmPrinter &printer, Operation *op, FlatSymbolRefAttr group,
    Attribute init, UnknownAttr unknown, StorageAttr stored,
    IntegerAttr admitCount, FloatAttr admitProbability, FloatAttr admitScore,
    IntegerAttr shrinkEvery, IntegerAttr shrinkUnseen, FloatAttr shrinkDecay,
    FloatAttr shrinkLeast, DictionaryAttr score, IntegerAttr widenFrom,
    FloatAttr widenScore, Attribute widenInit) {
  printStateClauses(printer, op, group, init);
  printClause(printer, "unknown", unknown,
              [&] { printer.printStrippedAttrOrType(unknown); });
  printClause(printer, "stored", stored,
              [&] { printer.printStrippedAttrOrType(stored); });
  printClause(printer, "admit", admitCount, [&] {
    printer << "count = ";
    printer.printAttributeWithoutType(admitCount);
  });
  printClause(printer, "admit", admitProbability, [&] {
    printer << "probability = ";
    printer.printAttributeWithoutType(admitProbability);
  });
  printClause(printer, "admit", admitScore, [&] {
    printer << "score = ";
    printer.printAttributeWithoutType(admitScore);
  });
  printClause(printer, "shrink", shrinkEvery, [&] {
    printer << "every = ";
    printer.printAttributeWithoutType(shrinkEvery);
    printer << ", unseen = ";
    printer.printAttributeWithoutType(shrinkUnseen);
    for (auto [name, number] :
         {std::pair("decay", shrinkDecay), std::pair("least", shrinkLeast)})
      if (number) {
        printer << ", " << name << " = ";
        printer.printAttributeWithoutType(number);
      }
  });
  printClause(printer, "score", score, [&] {
    llvm::interleaveComma(score, printer, [&](NamedAttribute weight) {
      printer << weight.getName().getValue() << " = ";
      printer.printAttributeWithoutType(weight.getValue());
    });
  });
  printClause(printer, "widen", widenFrom, [&] {
    printer << "from = ";
    printer.printAttributeWithoutType(widenFrom);
    printer << ", score = ";
    printer.printAttributeWithoutType(widenScore);
    if (widenInit) {
      printer << ", init = ";
      printer.printAttribute(widenInit);
    }
  });
}
