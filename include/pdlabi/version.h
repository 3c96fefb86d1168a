//===- version.h - Version of PDL -------------------------------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_VERSION_H
#define PDLABI_VERSION_H

#include <string>

namespace pdlabi {

/// Returns the line that `--version` of a program prints: its name, the version
/// of PDL, and in parentheses `commit` if it is not empty, the version of the
/// ABI, and `more`, such as "LLVM 22.1.8". Programs link the library PDLVersion
/// for it.
std::string versionLine(const std::string &program, const std::string &commit,
                        const std::string &more = {});

/// Returns the commit that the program was built from; empty if the build did
/// not know it. A program that calls this differs from commit to commit.
std::string builtCommit();

} // namespace pdlabi

#endif // PDLABI_VERSION_H
