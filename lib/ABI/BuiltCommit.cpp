//===- BuiltCommit.cpp - The commit of a build ----------------------------===//
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

#include "pdl_commit.inc"

std::string pdlabi::builtCommit() { return PDL_COMMIT; }
