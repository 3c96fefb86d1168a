# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions that wait for a condition, with a time limit."""

import contextlib
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


def _states_of(number):
    """Returns the states of the threads of a process, such as S for one that sleeps."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for thread in pathlib.Path(f"/proc/{number}/task").iterdir():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                # The state follows the name, which is in parentheses and may contain some itself.
                found.append((thread / "stat").read_text().rpartition(")")[2].split()[0])
    return found


def suspend(number):
    """Stops process `number` with SIGSTOP. Returns when all its threads are stopped. On a loaded
    machine, the thread that gets the signal may run late, and until then other threads respond to
    requests."""
    os.kill(number, signal.SIGSTOP)
    wait_until(lambda: all(state in "TZX" for state in _states_of(number)),
               said=lambda: f"process {number} does not stop", pause=0.001)


def are_asleep(numbers):
    """Returns true if no thread of the processes runs. A thread that could run but waits for a CPU
    or for a disk does not sleep."""
    return all(state in "SZX" for number in numbers for state in _states_of(number))


def wait_until_idle(numbers, progress, said=lambda: "", looks=15):
    """Waits until the processes `numbers` have nothing more to do until they get data, a reader or
    a signal: `looks` times, no thread runs, and `progress` returns the same as before. Threads may
    wake up in between, for example to send heartbeats. On a loaded machine, this takes longer.
    Returns the result of `progress`."""
    found, count = progress(), 0

    def is_idle():
        nonlocal found, count
        asleep, now = are_asleep(numbers), progress()
        count = count + asleep if now == found else 0
        found = now
        return count >= looks

    wait_until(is_idle, said=said, pause=0.1)
    return found


def cpu_ticks(number):
    """Returns the CPU time of a process, in ticks of usually 10 ms."""
    stat = pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    return int(stat[11]) + int(stat[12])
