//===- StageOpInterface.h - Ops that stages contain -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_STAGEOPINTERFACE_H
#define PDLC_INTERFACES_STAGEOPINTERFACE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"

namespace pdlc {
class ProgramSizes;
class StageEmitter;
struct Columns;
struct Extent;
struct Home;
struct HomeNumbers;
} // namespace pdlc

#include "pdlc/Interfaces/StageOpInterface.h.inc"

#endif // PDLC_INTERFACES_STAGEOPINTERFACE_H
