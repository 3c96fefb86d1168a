//===- CombineRow.h - Reduce a row inside of a loop -------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_RTCALLSTOLLVM_COMBINEROW_H
#define LIB_CONVERSION_RTCALLSTOLLVM_COMBINEROW_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/PatternMatch.h"

namespace pdlc {

/// Adds the pattern that converts `rt.combine_row` to inline code. The code
/// uses the lanes and the tree of `pdlrt_reduce_rows`, so the results are
/// bit-identical.
void populateCombineRowPattern(const mlir::LLVMTypeConverter &converter,
                               mlir::RewritePatternSet &patterns);

} // namespace pdlc

#endif // LIB_CONVERSION_RTCALLSTOLLVM_COMBINEROW_H
