//===- OpObligations.h - Table of the properties of ops ---------*- C++ -*-===//
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

/// Writes one line for each op of dialect `nn` that a program may contain: its
/// name, its first and its last phase, and its properties. These are
/// `elementwise`, `adjoint`, `stops-gradients`, `interpreted`, `staged`
/// (`nn-to-rt` emits the op into a stage) and `applied` (the op becomes an
/// update kernel instead). scripts/op_obligations.py converts the output to a
/// table.
void printOpObligations(llvm::raw_ostream &stream,
                        const mlir::DialectRegistry &registry);

} // namespace pdlc

#endif // PDLC_TRANSFORMS_OPOBLIGATIONS_H
