//===- RowLoops.h - Loops over rows -----------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_NNTORT_ROWLOOPS_H
#define LIB_CONVERSION_NNTORT_ROWLOOPS_H

#include "StageEmitter.h"

namespace pdlc {

/// Emits the loop over rows that ends at `op` (`BufferPlan::rowStepsOf`).
void emitRowLoop(mlir::Operation *op, StageEmitter &emitter);

} // namespace pdlc

#endif // LIB_CONVERSION_NNTORT_ROWLOOPS_H
