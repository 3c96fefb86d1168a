//===- Dialects.h - Dialects that PDL's tools read --------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TRANSFORMS_DIALECTS_H
#define PDLC_TRANSFORMS_DIALECTS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace pdlc {

/// Adds every dialect that a module of any phase may contain.
void registerDialects(mlir::DialectRegistry &registry);

} // namespace pdlc

#endif // PDLC_TRANSFORMS_DIALECTS_H
