# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Waiting for a condition, for a bounded time."""

import time

# Longer than any machine takes: only a defect makes a test wait for so long.
LONG = 180


def wait_until(holds, seconds=LONG, said=lambda: "", pause=0.02):
    """Calls `holds` until its result is true, and returns the result. After `seconds` it fails with
    the text that `said` returns."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        if time.monotonic() > end:
            raise AssertionError(f"it did not become so within {seconds} s:\n{said()}")
        time.sleep(pause)
    return found
