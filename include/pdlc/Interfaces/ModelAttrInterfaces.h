//===- ModelAttrInterfaces.h - Interfaces of model attributes ---*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLC_INTERFACES_MODELATTRINTERFACES_H
#define PDLC_INTERFACES_MODELATTRINTERFACES_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "pdlabi/abi/symbols.h"
#include <optional>

#include "pdlc/Interfaces/ModelAttrInterfaces.h.inc"

#endif // PDLC_INTERFACES_MODELATTRINTERFACES_H
