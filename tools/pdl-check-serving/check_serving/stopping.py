# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C and SIGTERM end the work, wherever it is, but where something is started or ended."""

import contextlib
import signal

SIGNALS = signal.SIGINT, signal.SIGTERM

# How many blocks of `uninterrupted` the program is in, and the signal that came.
depth, received = 0, None


class Stopped(BaseException):
    """By the signal `number`. Servers that were started are ended, and files go, on its way."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def check():
    """Raises Stopped where a signal came. Long loops ask this: what a signal raises inside of a
    destructor, Python drops."""
    if received and not depth:
        raise Stopped(received)


def note(number, _):
    global received
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    received = number
    check()


def watch():
    """From now on a signal raises Stopped."""
    for each in SIGNALS:
        signal.signal(each, note)


@contextlib.contextmanager
def uninterrupted():
    """A signal waits for the end of this block: between a process or a folder that was made and
    the one who will clear it away, it would leave that behind."""
    global depth
    depth += 1
    try:
        yield
    finally:
        depth -= 1
    check()
