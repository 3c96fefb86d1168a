//===- OpObligations.h - What each op has -----------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TRANSFORMS_OPOBLIGATIONS_H
#define PDLC_TRANSFORMS_OPOBLIGATIONS_H

namespace llvm {
class raw_ostream;
} // namespace llvm
namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace pdlc {

/// Writes a line for each op of dialect `nn` that may stand in a program: its
/// name, the first and the last phase that it may stand in, and which of these
/// words hold: `elementwise`, `adjoint`, `stops-gradients`, `interpreted`,
/// `staged` (nn-to-rt puts it into a stage), `applied` (it becomes a kernel
/// instead). scripts/op_obligations.py makes a table of it.
void printOpObligations(llvm::raw_ostream &stream,
                        const mlir::DialectRegistry &registry);

} // namespace pdlc

#endif // PDLC_TRANSFORMS_OPOBLIGATIONS_H
