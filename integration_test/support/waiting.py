# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Function that waits for a condition, with a time limit."""

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
