//===- CheckStart.h - Whether a pipeline may start with a module -*- C++
//-*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_CHECKSTART_H
#define LIB_TRANSFORMS_CHECKSTART_H

#include "mlir/Pass/Pass.h"
#include "pdlc/Dialect/PS/IR/PS.h"
#include "pdlc/Support/Phases.h"
#include <memory>

namespace pdlc {

/// A pass that changes nothing. It refuses a module that is not in phase
/// `from`, that was cut for another mode than `mode`, or that lacks the modules
/// of roles with which later phases go on; `isRole` says that the module is one
/// of those. Only pipelines run it, which know what they are about to do.
std::unique_ptr<mlir::Pass> createCheckStart(Phase from, ps::Mode mode,
                                             bool isRole);

/// So that a pipeline that was printed can be read again.
void registerCheckStart();

} // namespace pdlc

#endif // LIB_TRANSFORMS_CHECKSTART_H
