//===- ScalarRegions.h - Regions of rules, copied ---------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_SCALARREGIONS_H
#define LIB_TRANSFORMS_SCALARREGIONS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Region.h"

namespace pdlc {

/// Copies the ops of a region of scalars, such as those of `nn.rule`, to where
/// `builder` stands, with `arguments` for its arguments; returns what it
/// yields.
llvm::SmallVector<mlir::Value> inlineRegion(mlir::OpBuilder &builder,
                                            mlir::Region &region,
                                            mlir::ValueRange arguments);

} // namespace pdlc

#endif // LIB_TRANSFORMS_SCALARREGIONS_H
