//===- CompilerIdentity.h - Identity of the compiler build ------*- C++ -*-===//
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

/// Returns bytes that identify the build of the running program and of all
/// libraries that it has loaded. Among these are LLVM, which generates code,
/// and the C library, whose functions LLVM uses to fold constants.
std::string getCompilerIdentity();

} // namespace pdlc

#endif // LIB_TARGET_COMPILERIDENTITY_H
