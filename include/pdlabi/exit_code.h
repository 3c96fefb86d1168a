//===- pdlabi/exit_code.h - Exit statuses of programs -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exit statuses of all programs. A supervisor decides by them whether to
// start a program again. docs/Reference/ExitCodes.md has the same table for
// users, and a test compares the two.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_EXIT_CODE_H
#define PDLABI_EXIT_CODE_H

#include "pdlabi/abi/status.h"

#include <cerrno>

namespace pdlabi {

/// Exit status of a program that no signal has stopped.
enum class ExitCode {
  Success = 0,
  /// Permanent: bad data, a damaged file, a state that does not fit. The same
  /// command fails again.
  Failure = 1,
  /// Permanent: wrong flags or words. The program has done nothing.
  Usage = 2,
  /// The same command may succeed later: a process or a device cannot be
  /// reached, a time limit has passed, memory or disk space is exhausted, or a
  /// system call has failed.
  Retry = 3,
};

/// Returns the number that the program ends with.
constexpr int statusOf(ExitCode code) { return static_cast<int>(code); }

/// Returns the exit status of a program that ends early because of a stop
/// signal, as shells do for a program that the signal itself has ended.
constexpr int statusOfSignal(int signal) { return 128 + signal; }

/// Returns the exit code of a failure with that code. Wrong flags end a program
/// with `ExitCode::Usage`, which no code stands for, because only the program
/// knows where a value comes from. Codes that this program does not know are
/// permanent failures.
constexpr ExitCode exitCodeOf(pdl_status code) {
  switch (code) {
  case PDL_OK:
    return ExitCode::Success;
  case PDL_OUT_OF_MEMORY:
  case PDL_UNAVAILABLE:
  case PDL_IO_ERROR:
  case PDL_DEADLINE_EXCEEDED:
  case PDL_RESOURCE_EXHAUSTED:
  // If the process itself got the signal, the program ends with
  // `statusOfSignal` instead.
  case PDL_CANCELLED:
    return ExitCode::Retry;
  case PDL_INVALID_ARGUMENT:
  case PDL_INTERNAL:
  case PDL_NOT_FOUND:
  case PDL_DATA_LOSS:
  case PDL_FAILED_PRECONDITION:
    return ExitCode::Failure;
  }
  return ExitCode::Failure;
}

/// Returns the code of a failed system call, by its errno value: NotFound if a
/// file is missing; FailedPrecondition if permissions or the kind of file
/// forbid the call; ResourceExhausted for a full disk, a quota or a limit;
/// Unavailable for an address in use or a process that cannot be reached;
/// DeadlineExceeded for a timeout; otherwise IoError.
constexpr pdl_status codeOfErrno(int error) {
  switch (error) {
  case ENOENT:
  case ENOTDIR:
  case ENXIO:
  case ENODEV:
    return PDL_NOT_FOUND;
  case EACCES:
  case EPERM:
  case EROFS:
  case EISDIR:
  case EEXIST:
  case ENOTEMPTY:
  case EINVAL:
  case ELOOP:
  case ENAMETOOLONG:
  case ENOTSUP:
  case EADDRNOTAVAIL:
    return PDL_FAILED_PRECONDITION;
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
  case EMFILE:
  case ENFILE:
  case ENOMEM:
  case ENOLCK:
  case EAGAIN:
    return PDL_RESOURCE_EXHAUSTED;
  case EADDRINUSE:
  case ECONNREFUSED:
  case ECONNRESET:
  case EHOSTUNREACH:
  case ENETUNREACH:
  case ENETDOWN:
  case EBUSY:
    return PDL_UNAVAILABLE;
  case ETIMEDOUT:
    return PDL_DEADLINE_EXCEEDED;
  default:
    return PDL_IO_ERROR;
  }
}

} // namespace pdlabi

#endif // PDLABI_EXIT_CODE_H
