//===- AssemblyDirectives.h - Custom assembly directives of rt --*- C++ -*-===//
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

#ifndef LIB_DIALECT_RT_IR_ASSEMBLYDIRECTIVES_H
#define LIB_DIALECT_RT_IR_ASSEMBLYDIRECTIVES_H

#include "pdlc/Dialect/RT/IR/RT.h"

namespace pdlc::rt {

using UnresolvedOperands =
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand>;

/// Syntax: `(%a : memref<?xi64> bags(%sa : memref<?xi32>), ...)`.
inline mlir::ParseResult
parseBagList(mlir::OpAsmParser &parser, UnresolvedOperands &ids,
             llvm::SmallVectorImpl<mlir::Type> &idTypes,
             UnresolvedOperands &splits,
             llvm::SmallVectorImpl<mlir::Type> &splitTypes) {
  auto parseOne = [&]() -> mlir::ParseResult {
    return mlir::failure(parser.parseOperand(ids.emplace_back()) ||
                         parser.parseColonType(idTypes.emplace_back()) ||
                         parser.parseKeyword("bags") || parser.parseLParen() ||
                         parser.parseOperand(splits.emplace_back()) ||
                         parser.parseColonType(splitTypes.emplace_back()) ||
                         parser.parseRParen());
  };
  return parser.parseCommaSeparatedList(mlir::OpAsmParser::Delimiter::Paren,
                                        parseOne);
}

inline void printBagList(mlir::OpAsmPrinter &printer, mlir::Operation *,
                         mlir::OperandRange ids, mlir::TypeRange,
                         mlir::OperandRange splits, mlir::TypeRange) {
  printer << "(";
  llvm::interleaveComma(llvm::zip_equal(ids, splits), printer, [&](auto bags) {
    auto [id, split] = bags;
    printer << id << " : " << id.getType() << " bags(" << split << " : "
            << split.getType() << ")";
  });
  printer << ")";
}

} // namespace pdlc::rt

#endif // LIB_DIALECT_RT_IR_ASSEMBLYDIRECTIVES_H
