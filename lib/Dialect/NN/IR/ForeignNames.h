//===- ForeignNames.h - Op names of other frameworks ------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_NN_IR_FOREIGNNAMES_H
#define LIB_DIALECT_NN_IR_FOREIGNNAMES_H

#include "llvm/ADT/StringRef.h"

namespace pdlc::nn {

/// Returns the op to use instead of the op `name` of PyTorch, TensorFlow or
/// Paddle. `name` has no dialect prefix. Returns an empty string if no
/// framework has such an op, or if its name is the same here.
llvm::StringRef sayInsteadOf(llvm::StringRef name);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_FOREIGNNAMES_H
