//===- InterpretableOpInterface.h - Interpreter support of ops --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_INTERPRETABLEOPINTERFACE_H
#define PDLC_INTERFACES_INTERPRETABLEOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"

namespace pdlc::interpreter {
class Frame;
} // namespace pdlc::interpreter

#include "pdlc/Interfaces/InterpretableOpInterface.h.inc"

#endif // PDLC_INTERFACES_INTERPRETABLEOPINTERFACE_H
