//===- ForeignNames.h - What others call the ops of nn ----------*- C++ -*-===//
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

/// What to write for an op that PyTorch, TensorFlow or Paddle call `name`
/// (without dialect); empty if the name is of none of them, or the same here.
llvm::StringRef sayInsteadOf(llvm::StringRef name);

} // namespace pdlc::nn

#endif // LIB_DIALECT_NN_IR_FOREIGNNAMES_H
