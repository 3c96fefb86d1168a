//===- ParseHints.h - What to write instead ---------------------*- C++ -*-===//
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

/// From now on MLIR's own sentences on a text that does not parse say what a
/// model would have there: how numbers are written, and which dialects there
/// are. To be called once for a context.
void attachParseHints(mlir::MLIRContext &context);

} // namespace pdlc

#endif // PDLC_SUPPORT_PARSEHINTS_H
