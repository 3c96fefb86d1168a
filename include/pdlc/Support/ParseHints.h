//===- ParseHints.h - Hints for parse errors --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_SUPPORT_PARSEHINTS_H
#define PDLC_SUPPORT_PARSEHINTS_H

namespace mlir {
class MLIRContext;
} // namespace mlir

namespace pdlc {

/// Adds hints to parse errors of MLIR, such as how models write numbers and
/// which dialects exist. Call it once per context.
void attachParseHints(mlir::MLIRContext &context);

} // namespace pdlc

#endif // PDLC_SUPPORT_PARSEHINTS_H
