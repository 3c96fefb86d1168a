//===- ServingHeader.h - How C calls a model that serves --------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_CONVERSION_SERVINGHEADER_H
#define PDLC_CONVERSION_SERVINGHEADER_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace pdlc {

/// A name of the model as one of C: what it may not hold becomes `_`. "model"
/// for a module without a name.
std::string servingNameOf(mlir::ModuleOp module);

/// The function of a library that gives its functions to who links it.
std::string servingAccessorOf(mlir::ModuleOp module);

/// Writes the C header of a module's programs, for libraries: for each program
/// a struct of its inputs, one of its outputs, and a function over them, in
/// terms of pdl/serving.h. The module is in phase `tasks`.
void writeServingHeader(mlir::ModuleOp module, llvm::raw_ostream &out);

/// Writes the file that tells pkg-config where the library is.
void writePackageConfig(mlir::ModuleOp module, llvm::raw_ostream &out);

} // namespace pdlc

#endif // PDLC_CONVERSION_SERVINGHEADER_H
