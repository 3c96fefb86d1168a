//===- ServingHeader.h - C header of a serving library ----------*- C++ -*-===//
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

/// Returns the name of the model as a C identifier. Characters that C does not
/// allow become `_`. Returns "model" if the module has no name.
std::string servingNameOf(mlir::ModuleOp module);

/// Returns the name of the function through which a program that links the
/// library obtains its functions.
std::string servingAccessorOf(mlir::ModuleOp module);

/// Writes the C header of a library. For each program of the module, the header
/// has a struct of inputs, a struct of outputs, and a function that uses them
/// and the types of pdl/serving.h. The module must be in phase `tasks`.
void writeServingHeader(mlir::ModuleOp module, llvm::raw_ostream &out);

/// Writes the pkg-config file that locates the library.
void writePackageConfig(mlir::ModuleOp module, llvm::raw_ostream &out);

} // namespace pdlc

#endif // PDLC_CONVERSION_SERVINGHEADER_H
