//===- HyperValues.h - Hyper-parameters of rules ----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_NN_HYPERVALUES_H
#define LIB_TRANSFORMS_NN_HYPERVALUES_H

#include "mlir/IR/BuiltinAttributes.h"

namespace pdlc {

/// Returns the values of the hyper-parameters of a rule or schedule, in the
/// order of `names`. `values` are the defaults. A number in `others`, a
/// dictionary of the group that may be null, replaces the default of that name.
llvm::SmallVector<double> hyperValues(mlir::ArrayAttr names,
                                      llvm::ArrayRef<double> values,
                                      mlir::DictionaryAttr others);

} // namespace pdlc

#endif // LIB_TRANSFORMS_NN_HYPERVALUES_H
