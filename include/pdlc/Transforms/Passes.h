//===- Passes.h - Passes from model to tasks --------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_TRANSFORMS_PASSES_H
#define PDLC_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "pdlabi/defaults.h"
#include <memory>

namespace pdlc {

#define GEN_PASS_DECL
#include "pdlc/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "pdlc/Transforms/Passes.h.inc"

} // namespace pdlc

#endif // PDLC_TRANSFORMS_PASSES_H
