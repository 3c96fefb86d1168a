#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a training on a stream, and restarts it after failures.

    keep_training.py [--to-end] LOG PIPE... -- COMMAND...

Makes the pipes, feeds them from LOG (with feed.py in the same folder), and runs COMMAND. COMMAND is
a training that reads the pipes and gets --checkpoint and --resume. If COMMAND or the feeder fails,
the other one is ended too, and both are restarted. The feeder starts with the first line of the
log. The training starts with its last checkpoint, and skips the rows that it has already trained.
SIGTERM and Ctrl-C shut the training down gracefully. With --to-end, the training ends at the end of
the log; otherwise the log may grow forever. If three consecutive starts fail without a new
checkpoint, this program gives up.
"""

import argparse
import contextlib
import ctypes
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

FEEDER = pathlib.Path(__file__).with_name("feed.py")
MAX_FAILURES = 3
# The status of programs that do not understand their flags.
BAD_FLAGS = 2


SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
LIBC = ctypes.CDLL(None)


def start(command):
    """Starts a command in a session of its own, because Ctrl-C is for this process, which stops its
    children in order. The command gets a SIGTERM if this process dies."""
    return subprocess.Popen(command, start_new_session=True,
                            preexec_fn=lambda: LIBC.prctl(SET_DEATH_SIGNAL, signal.SIGTERM))


def say(text):
    print(f"keep_training.py: {text}", file=sys.stderr, flush=True)


class Pipe:
    """A new pipe, because an old one may still contain bytes. This process also opens it, so that
    trainers wait for the next feeder after one has died. A pipe without a writer has ended, and
    with it the stream."""

    def __init__(self, path):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        os.mkfifo(path)
        self.both = os.open(path, os.O_RDWR)
        self.end = os.open(path, os.O_WRONLY)
        self.reader = select.poll()
        self.reader.register(self.end, 0)

    def release(self):
        """Called after the end of the feeder. Closes the pipe as soon as a reader has opened it,
        which then gets the content and the end. If the pipe were closed earlier, its content would
        be lost."""
        self.close_both()
        if self.end is not None and not self.reader.poll(0):
            self.close()

    def close_both(self):
        if self.both is not None:
            os.close(self.both)
        self.both = None

    def close(self):
        self.close_both()
        if self.end is not None:
            os.close(self.end)
        self.end = None


class Training:
    def __init__(self, flags):
        self.flags = flags
        self.folder = pathlib.Path(flags.command[flags.command.index("--checkpoint") + 1])
        self.stopped = None
        self.command = None
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)

    def stop(self, number, _):
        self.stopped = number
        if self.command:
            self.command.send_signal(signal.SIGTERM)

    def run_once(self):
        """The status of the command; None where the feeder failed."""
        to_end = ["--to-end"] if self.flags.to_end else []
        with contextlib.ExitStack() as ends:
            pipes = [Pipe(path) for path in self.flags.pipes]
            for pipe in pipes:
                ends.callback(pipe.close)
            feeder = start([sys.executable, FEEDER, *to_end, self.flags.log, *self.flags.pipes])
            self.command = start(self.flags.command)
            if self.stopped:
                self.command.send_signal(signal.SIGTERM)
            try:
                is_fed = True
                while self.command.poll() is None and is_fed:
                    if feeder.poll() == 0:
                        # All was sent: the stream ends.
                        for pipe in pipes:
                            pipe.release()
                    elif feeder.poll() is not None and not self.stopped:
                        say(f"the feeder ended with {feeder.returncode}")
                        is_fed = False
                        self.command.send_signal(signal.SIGTERM)
                    time.sleep(0.05)
                status = self.command.wait()
                return status if is_fed else None
            finally:
                feeder.kill()
                feeder.wait()

    def newest(self):
        """The name of the newest checkpoint."""
        return max((path.name for path in self.folder.glob("step-" + 12 * "[0-9]")), default="")

    def run(self):
        failures = 0
        while True:
            before = self.newest()
            status = self.run_once()
            if self.stopped:
                return 128 + self.stopped
            if status in (0, BAD_FLAGS):
                return status
            failures = failures + 1 if self.newest() == before else 0
            if failures == MAX_FAILURES:
                say(f"the training failed {failures} times without a new checkpoint; see what "
                    "it says above")
                return 1
            say("starts again" if status is None else
                f"the training ended with {status}; starts again")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        usage="keep_training.py [--to-end] LOG PIPE... -- COMMAND...")
    parser.add_argument("--to-end", action="store_true")
    parser.add_argument("log")
    parser.add_argument("pipes", nargs="+")
    words = sys.argv[1:]
    if "--" not in words:
        parser.error("no command behind --")
    flags = parser.parse_args(words[:words.index("--")])
    flags.command = words[words.index("--") + 1:]
    for flag in "--checkpoint", "--resume":
        if flag not in flags.command[:-1]:
            parser.error(f"the command lacks {flag}, without which it could not go on")
    sys.exit(Training(flags).run())


if __name__ == "__main__":
    main()
