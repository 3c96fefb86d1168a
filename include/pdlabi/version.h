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

/// Returns the line that `--version` of a program prints: `program`, the
/// version of PDL, and in parentheses `commit` if it is not empty, the version
/// of the ABI, and `more`, such as "LLVM 22.1.8". Programs that call it must
/// link the library PDLVersion.
std::string versionLine(const std::string &program, const std::string &commit,
                        const std::string &more = {});

/// Returns the commit from which the program was built; empty if it was not
/// known. A program that calls this is a different file for each commit.
std::string builtCommit();

} // namespace pdlabi

#endif // PDLABI_VERSION_H
