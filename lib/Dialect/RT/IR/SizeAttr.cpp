//===- SizeAttr.cpp - Sizes of arenas -------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectImplementation.h"
#include "pdlc/Dialect/RT/IR/RT.h"

using namespace mlir;
using namespace pdlc::rt;

LogicalResult SizeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t constant, int64_t perBatch,
                               int64_t perBatchSquared, ArrayRef<int64_t> perId,
                               ArrayRef<int64_t> perKey,
                               ArrayRef<int64_t> perOccurrence) {
  auto isNegative = [](int64_t bytes) { return bytes < 0; };
  if (isNegative(constant) || isNegative(perBatch) ||
      isNegative(perBatchSquared) || llvm::any_of(perId, isNegative) ||
      llvm::any_of(perKey, isNegative) ||
      llvm::any_of(perOccurrence, isNegative))
    return emitError() << "a size has no negative part (C1)";
  return success();
}

static ParseResult parseNumbers(AsmParser &parser,
                                SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, [&] {
    return parser.parseInteger(numbers.emplace_back());
  });
}

/// Parses `<` constant `+` number `*` `batch` (`,` part)* `>`. The parts may be
/// in any order, and each occurs at most once.
Attribute SizeAttr::parse(AsmParser &parser, Type) {
  int64_t constant = 0, perBatch = 0;
  SmallVector<int64_t> perBatchSquared, perId, perKey, perOccurrence;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(constant) ||
      parser.parsePlus() || parser.parseInteger(perBatch) ||
      parser.parseStar() || parser.parseKeyword("batch"))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef part;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&part))
      return {};
    SmallVector<int64_t> *numbers = part == "batch_squared" ? &perBatchSquared
                                    : part == "ids"         ? &perId
                                    : part == "keys"        ? &perKey
                                    : part == "occurrences" ? &perOccurrence
                                                            : nullptr;
    if (!numbers || !numbers->empty()) {
      parser.emitError(at) << "expected batch_squared, ids, keys or "
                              "occurrences, each once";
      return {};
    }
    if (parseNumbers(parser, *numbers))
      return {};
  }
  if (perBatchSquared.size() > 1) {
    parser.emitError(loc, "batch_squared is one number");
    return {};
  }
  if (parser.parseGreater())
    return {};
  auto emitError = [&] { return parser.emitError(loc); };
  int64_t squared = perBatchSquared.empty() ? 0 : perBatchSquared.front();
  return SizeAttr::getChecked(
      function_ref<InFlightDiagnostic()>(emitError), parser.getContext(),
      constant, perBatch, squared, ArrayRef<int64_t>(perId),
      ArrayRef<int64_t>(perKey), ArrayRef<int64_t>(perOccurrence));
}

void SizeAttr::print(AsmPrinter &printer) const {
  printer << '<' << getConstant() << " + " << getPerBatch() << " * batch";
  auto print = [&](StringRef part, ArrayRef<int64_t> numbers) {
    if (numbers.empty())
      return;
    printer << ", " << part << '(';
    llvm::interleaveComma(numbers, printer);
    printer << ')';
  };
  if (getPerBatchSquared() != 0)
    print("batch_squared", getPerBatchSquared());
  print("ids", getPerId());
  print("keys", getPerKey());
  print("occurrences", getPerOccurrence());
  printer << '>';
}
