//===- ProgramMain.h - Common main function of programs ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Common behavior of all programs: an error is one line, and no exception
// leaves the main function.
//
//===----------------------------------------------------------------------===//

#ifndef PDLRT_CORE_PROGRAMMAIN_H
#define PDLRT_CORE_PROGRAMMAIN_H

#include "pdlabi/exit_code.h"
#include "pdlrt/Core/Status.h"

#include <functional>
#include <string>

namespace pdlrt {

using pdlabi::ExitCode;
using pdlabi::exitCodeOf;
using pdlabi::statusOf;
using pdlabi::statusOfSignal;

/// Prints "error: " and `sentence` as a line on the error stream. Returns the
/// number of `code`, so that a program can return it.
int fail(ExitCode code, const std::string &sentence);
/// Does the same with the message of a failure and the exit code of its code.
int fail(const Status &failure);
/// Does the same for a failed check of flags. Returns the number of
/// `ExitCode::Usage` for a wrong value, but not for a file or folder that a
/// flag names and that is missing or does not fit.
int failUsage(const Status &failure);

/// Calls `run` and returns its result. First redirects closed standard streams
/// to /dev/null, and turns exceeding the file size limit (RLIMIT_FSIZE) into an
/// error of the write instead of a signal. Reports an exception as an error
/// message and returns the exit code for it; if memory was exhausted, the
/// message ends with `memoryRemedy`.
int runProgram(const std::string &memoryRemedy,
               const std::function<int()> &run);

/// Returns true if printed output is lost because the standard output was
/// closed when `runProgram` started. For programs whose result is their output.
bool isStandardOutputClosed();

/// Returns true if a descriptor is a pipe or socket whose other end is closed.
bool isReaderGone(int descriptor);

} // namespace pdlrt

#endif // PDLRT_CORE_PROGRAMMAIN_H
