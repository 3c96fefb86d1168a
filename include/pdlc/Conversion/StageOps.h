//===- StageOps.h - Code generation of ops in stages ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_CONVERSION_STAGEOPS_H
#define PDLC_CONVERSION_STAGEOPS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace pdlc {

/// Attaches StageOpInterface to the ops of dialect `nn`. The pass `nn-to-rt`
/// uses it.
void registerStageOps(mlir::DialectRegistry &registry);

} // namespace pdlc

#endif // PDLC_CONVERSION_STAGEOPS_H
