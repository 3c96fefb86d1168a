//===- Passes.h - The interpreter as a pass ---------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERPRETER_PASSES_H
#define PDLC_INTERPRETER_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace pdlc {

#define GEN_PASS_DECL
#include "pdlc/Interpreter/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pdlc/Interpreter/Passes.h.inc"

} // namespace pdlc

#endif // PDLC_INTERPRETER_PASSES_H
