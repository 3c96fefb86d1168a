//===- ProgramOutput.h - Runs a program for its output ----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_PROGRAMOUTPUT_H
#define PDLRT_CORE_PROGRAMOUTPUT_H

#include "pdlrt/Core/Status.h"

#include <string>

namespace pdlrt {

/// Standard output of a program that has ended.
struct ProgramOutput {
  std::string text;
  /// True if the exit status was 0.
  bool hasSucceeded = false;
};

/// Runs the program at `path` with one argument, waits until it ends, and
/// returns its standard output. Returns an error if it cannot be started, whose
/// message ends with `remedy`.
Expected<ProgramOutput> outputOfProgram(const std::string &path,
                                        const std::string &argument,
                                        const std::string &remedy);

} // namespace pdlrt

#endif // PDLRT_CORE_PROGRAMOUTPUT_H
