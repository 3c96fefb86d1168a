# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that wait for a condition, with a time limit."""

import os
import pathlib
import signal
import time

# Longer than any machine needs. Only a defect makes a test wait for this time.
LONG = 180


def wait_until(holds, seconds=LONG, said=lambda: "", pause=0.02):
    """Calls `holds` until its result is true, and returns the result. After `seconds`, fails with
    the text that `said` returns."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > end:
            raise AssertionError(f"it did not become so within {seconds} s:\n{said()}")
        time.sleep(pause)
    return found


def suspend(number):
    """Stops process `number` with SIGSTOP. Returns when all its threads are stopped. On a loaded
    machine, the thread that gets the signal may run late, and until then other threads respond to
    requests."""
    os.kill(number, signal.SIGSTOP)

    def is_stopped(thread):
        try:
            # The state follows the name, which is in parentheses and may contain some itself.
            return (thread / "stat").read_text().rpartition(")")[2].split()[0] in "TZX"
        except (FileNotFoundError, ProcessLookupError):
            return True

    wait_until(lambda: all(map(is_stopped, pathlib.Path(f"/proc/{number}/task").iterdir())),
               said=lambda: f"process {number} does not stop", pause=0.001)
