//===- ScalarRegions.h - Inline scalar regions of rules ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_NN_SCALARREGIONS_H
#define LIB_TRANSFORMS_NN_SCALARREGIONS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"

namespace pdlc {

/// Copies the ops of a scalar region, such as a region of an `nn.rule`, to the
/// insertion point of `builder`. Uses `arguments` in place of the region's
/// arguments. Returns the yielded values.
llvm::SmallVector<mlir::Value> inlineRegion(mlir::OpBuilder &builder,
                                            mlir::Region &region,
                                            mlir::ValueRange arguments);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_SCALARREGIONS_H
