# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors that end a check."""

import errno


# Exit codes for failures (docs/Reference/ExitCodes.md).
PERMANENT = 1
RETRY = 3

# Errors of system calls that may not occur again on a retry.
_BRIEF = {errno.EIO, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EMFILE, errno.ENFILE,
          errno.ENOMEM, errno.EAGAIN, errno.ECONNREFUSED, errno.ECONNRESET, errno.EPIPE,
          errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ETIMEDOUT, errno.EADDRINUSE, errno.ESTALE}


def exit_code_of(error):
    """Returns the exit code of a failed system call."""
    return RETRY if error.errno in _BRIEF else PERMANENT


class Failure(Exception):
    """Error message about a difference, or about the reason why nothing can be compared."""

    def __init__(self, message, exit_code=PERMANENT):
        super().__init__(message)
        self.exit_code = exit_code
