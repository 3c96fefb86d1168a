//===- ParseHints.cpp - Hints for parse errors ----------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "pdlc/Support/ParseHints.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/LineIterator.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;

/// Returns the line of `location`; empty if its file cannot be read again.
static std::string lineAt(FileLineColLoc location) {
  auto buffer = llvm::MemoryBuffer::getFile(location.getFilename().getValue());
  if (!buffer)
    return {};
  for (llvm::line_iterator line(**buffer, /*SkipBlanks=*/false);
       !line.is_at_eof(); ++line)
    if (line.line_number() == location.getLine())
      return line->str();
  return {};
}

/// Searches `line` for a number without a decimal point, such as `1e-3`, that
/// contains or touches `column` (from 0). Returns it with a point, such as
/// `1.0e-3`; empty if there is none.
static std::string numberWithPoint(StringRef line, size_t column) {
  for (size_t begin = 0; begin < line.size();) {
    auto isWord = [](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$' || c == '@' ||
             c == '%' || c == '#';
    };
    if (!isWord(line[begin])) {
      ++begin;
      continue;
    }
    size_t digits = begin, end = begin;
    while (digits < line.size() && llvm::isDigit(line[digits]))
      ++digits;
    end = digits;
    bool isNumber =
        digits > begin && end < line.size() && llvm::toLower(line[end]) == 'e';
    if (isNumber) {
      ++end;
      if (end < line.size() && (line[end] == '-' || line[end] == '+'))
        ++end;
      size_t exponent = end;
      while (end < line.size() && llvm::isDigit(line[end]))
        ++end;
      isNumber = end > exponent;
    }
    if (isNumber && begin <= column && column <= end)
      return (line.slice(begin, digits) + ".0" + line.slice(digits, end)).str();
    end = std::max(end, begin + 1);
    while (end < line.size() && isWord(line[end]))
      ++end;
    begin = end;
  }
  return {};
}

/// If the error is about an op of a dialect that models do not use, reports
/// which dialects they use.
static LogicalResult explainDialect(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  StringRef rest = text;
  if (!rest.consume_front("Dialect `"))
    return failure();
  auto [dialect, after] = rest.split("' not found for custom op '");
  if (after.empty())
    return failure();
  emitError(diagnostic.getLocation())
      << "op '" << after.split('\'').first << "' is of dialect '" << dialect
      << "', which models do not use; functions and programs hold ops of nn, "
         "rules and schedules hold scalar ops of arith and math (nn.rule, C2)";
  return success();
}

/// Returns the text with f32 replaced by f64.
static std::string withWideFloats(StringRef text) {
  std::string wide = text.str();
  for (size_t at = 0; (at = wide.find("f32", at)) != std::string::npos;)
    wide.replace(at, 3, "f64");
  return wide;
}

/// Adds a hint for a value with the wrong float type: how to convert it.
static void explainFloats(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  StringRef types = StringRef(text)
                        .split(" expects different type than prior uses: '")
                        .second;
  auto [wanted, given] = types.split("' vs '");
  given.consume_back("'");
  if (!given.empty() && withWideFloats(wanted) == withWideFloats(given))
    diagnostic.attachNote()
        << "an op computes with floats of one type; nn.cast "
           "makes f64 of f32, and f32 of f64";
}

/// If the line spells out a result type that follows from the types of the
/// operands, adds a note that says how to write the op.
static void explainTypes(Diagnostic &diagnostic, StringRef line) {
  std::string text = diagnostic.str();
  if (!line.contains("->"))
    return;
  if (StringRef(text).contains("invalid kind of type specified: expected "
                               "builtin.tensor, but found '(") ||
      StringRef(text).contains("number of operands and types do not match") ||
      StringRef(text).contains("expects different type than prior uses: '("))
    diagnostic.attachNote()
        << "an op whose result's type follows from its operands has the types "
           "of its operands after the colon, and no others: write neither "
           "`->` and what follows it, nor parentheses around the operands' "
           "types";
}

/// Adds a hint for a word that stands for an attribute and lacks a prefix.
static void explainAttribute(Diagnostic &diagnostic, StringRef line,
                             size_t column) {
  const std::string text = diagnostic.str();
  const bool isUnknown = StringRef(text).ends_with("expected attribute value");
  if (!isUnknown && !StringRef(text).ends_with("expected '<'"))
    return;
  const StringRef before = line.take_front(column).rtrim();
  const StringRef word =
      line.drop_front(before.size()).ltrim().take_while([](char c) {
        return llvm::isAlnum(c) || c == '_';
      });
  if (word.empty() || llvm::isDigit(word.front()))
    return;
  if (isUnknown)
    diagnostic.attachNote()
        << "attributes of the dialect have a prefix: write #nn." << word;
  else if (before.ends_with("hash("))
    diagnostic.attachNote()
        << "a hash is an attribute: write hash(#nn.hash<" << word << ">)";
}

static LogicalResult addHint(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return failure();
  if (succeeded(explainDialect(diagnostic)))
    return success();
  explainFloats(diagnostic);
  auto location = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
  if (!location || location.getColumn() == 0)
    return failure();
  std::string line = lineAt(location);
  explainTypes(diagnostic, line);
  explainAttribute(diagnostic, line, location.getColumn() - 1);
  std::string number = numberWithPoint(line, location.getColumn() - 1);
  if (!number.empty())
    diagnostic.attachNote()
        << "a number with an exponent needs a point: write " << number;
  // Other handlers print the diagnostic.
  return failure();
}

void pdlc::attachParseHints(MLIRContext &context) {
  context.getDiagEngine().registerHandler(addHint);
}
