//===- pdlabi/exit_code.h - Exit statuses of programs -----------*- C++ -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exit statuses of all programs. A supervisor, such as systemd, uses them
// to decide whether to start a program again. docs/Reference/ExitCodes.md has
// the same table for users; a test compares the two.
//
//===----------------------------------------------------------------------===//

#ifndef PDLABI_EXIT_CODE_H
#define PDLABI_EXIT_CODE_H

#include "pdlabi/abi/status.h"

#include <cerrno>

namespace pdlabi {

/// Exit statuses of a program that was not stopped by a signal.
enum class ExitCode {
  Success = 0,
  /// Permanent error: invalid data, a damaged file, or a state that does not
  /// match the program. The same command would fail again.
  Failure = 1,
  /// Permanent error: wrong arguments. The program has done nothing.
  Usage = 2,
  /// Temporary error: the same command may succeed later. A process or a device
  /// cannot be reached, a time limit has passed, memory or disk space is
  /// exhausted, or a system call has failed.
  Retry = 3,
};

/// Returns the exit status as a number.
constexpr int statusOf(ExitCode code) { return static_cast<int>(code); }

/// Returns the exit status of a program that ends early because of a stop
/// signal. Shells report the same status for a program that a signal has
/// killed.
constexpr int statusOfSignal(int signal) { return 128 + signal; }

/// Returns the exit code for an error with code `code`. Never returns
/// `ExitCode::Usage`, because the error code does not tell whether an invalid
/// value comes from a flag; the program decides this. Unknown codes are
/// permanent errors.
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

/// Returns the error code of a failed system call with errno value `error`. The
/// result is NotFound if a file is missing; FailedPrecondition if permissions
/// or the kind of file forbid the call; ResourceExhausted for a full disk, a
/// quota or a limit; Unavailable for an address in use or a process that cannot
/// be reached; DeadlineExceeded for a timeout; otherwise IoError.
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
