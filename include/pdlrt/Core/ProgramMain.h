//===- ProgramMain.h - Common main function of programs ---------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Common behavior of all programs: an error message is one line, and no
// exception leaves the main function.
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

/// Prints `message` as a line with the level of an error to the standard error
/// (`logError`). Returns the exit status of `code`, so that `main` can return
/// it.
int fail(ExitCode code, const std::string &message);
/// Prints the message of `failure` in the same way. Returns the exit status
/// that belongs to the error code of `failure`.
int fail(const Status &failure);
/// Like `fail`, for the error of a check of flags. If the error code is
/// PDL_INVALID_ARGUMENT, returns the exit status of `ExitCode::Usage`. Other
/// errors, such as a missing file that a flag names, keep the exit status of
/// `fail`.
int failUsage(const Status &failure);

/// Calls `run` and returns its result. First opens /dev/null in place of closed
/// standard streams, and ignores SIGXFSZ, so that a write beyond the file size
/// limit returns an error. If `run` throws an exception, prints an error
/// message and returns the exit status for it. If memory was exhausted, the
/// message ends with `memoryRemedy`.
int runProgram(const std::string &memoryRemedy,
               const std::function<int()> &run);

/// Returns the last message that `fail` or `failUsage` printed; empty if there
/// was none.
std::string lastErrorMessage();

/// Sets a function that is called with the exit status at the end of
/// `runProgram`, and by `endProgram`.
void atEndOfProgram(std::function<void(int status)> call);
/// Calls the function of `atEndOfProgram`. Programs call this before they end
/// the process without returning from `runProgram`.
void endProgram(int status);

/// Returns true if the standard output was closed when `runProgram` started.
/// Printed output is then lost, which is an error for programs that print their
/// results.
bool isStandardOutputClosed();

/// Returns true if `descriptor` is a pipe or socket whose other end is closed.
bool isReaderGone(int descriptor);

} // namespace pdlrt

#endif // PDLRT_CORE_PROGRAMMAIN_H
