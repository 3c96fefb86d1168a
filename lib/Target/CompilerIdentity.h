//===- CompilerIdentity.h - Which build this is -----------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TARGET_COMPILERIDENTITY_H
#define LIB_TARGET_COMPILERIDENTITY_H

#include <string>

namespace pdlc {

/// Bytes that differ wherever the running program, or a library that it has
/// loaded, is another build: of LLVM, which makes code, but also of the C
/// library, whose functions LLVM folds constants with.
std::string getCompilerIdentity();

} // namespace pdlc

#endif // LIB_TARGET_COMPILERIDENTITY_H
