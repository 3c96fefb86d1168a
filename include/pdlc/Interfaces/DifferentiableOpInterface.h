//===- DifferentiableOpInterface.h - Reverse-mode rules of ops --*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_DIFFERENTIABLEOPINTERFACE_H
#define PDLC_INTERFACES_DIFFERENTIABLEOPINTERFACE_H

#include "mlir/IR/OpDefinition.h"
#include "pdlc/Interfaces/AdjointBuilder.h"

#include "pdlc/Interfaces/DifferentiableOpInterface.h.inc"

#endif // PDLC_INTERFACES_DIFFERENTIABLEOPINTERFACE_H
