# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ctrl-C and SIGTERM end the check at any place, except while a process or folder is created or
removed."""

import contextlib
import signal

SIGNALS = signal.SIGINT, signal.SIGTERM

# `depth`: number of active blocks of `uninterrupted`. `received`: the signal that was received.
depth, received = 0, None


class Stopped(BaseException):
    """Raised by the signal `number`. While it is propagated, started servers are ended and files
    are removed."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


def check():
    """Raises Stopped if a signal was received. Long loops must call this, because Python drops
    exceptions that a signal raises in a destructor."""
    if received and not depth:
        raise Stopped(received)


def note(number, _):
    global received
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    received = number
    check()


def watch():
    """Makes signals raise Stopped."""
    for each in SIGNALS:
        signal.signal(each, note)


@contextlib.contextmanager
def uninterrupted():
    """Delays signals until the end of this block. Otherwise, a signal between the creation of a
    process or folder and the registration of its owner would leave a process or folder that nothing
    removes."""
    global depth
    depth += 1
    try:
        yield
    finally:
        depth -= 1
    check()
