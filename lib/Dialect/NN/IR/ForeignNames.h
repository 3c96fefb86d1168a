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

/// Returns the op to use in place of `name`, the name of an op of PyTorch,
/// TensorFlow or Paddle without dialect prefix. Returns an empty string if
/// `name` is not known, or is also the name of the op of PDL.
llvm::StringRef sayInsteadOf(llvm::StringRef name);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_FOREIGNNAMES_H
