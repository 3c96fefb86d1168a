//===- Version.cpp - Version of PDL ---------------------------------------===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The build writes pdl_commit.inc (cmake/WriteCommit.cmake). Only this file
// includes it, so that a new commit compiles one file again.
//
//===----------------------------------------------------------------------===//

#include "pdlabi/version.h"

#include "pdlabi/abi.h"

std::string pdlabi::versionLine(const std::string &program,
                                const std::string &commit,
                                const std::string &more) {
  return program + " " + PDL_VERSION + " (" +
         (commit.empty() ? "" : "commit " + commit + ", ") + "ABI " +
         std::to_string(PDL_ABI_VERSION) + (more.empty() ? "" : ", " + more) +
         ")";
}
