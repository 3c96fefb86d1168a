#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds pipes from a log: its lines to the pipes in turn, from the first line on, then those
that are appended to it. It ends when it is ended; with --to-end at the end of the log.

    feed.py [--to-end] LOG PIPE...

Which line goes into which pipe follows from its number alone, so that each start sends the same
bytes: a trainer that goes on from a checkpoint passes over those that it has trained on.
"""

import argparse
import os
import sys
import threading
import time

PIECE = 1 << 16
# How often it looks for new lines.
INTERVAL = 0.05


def own_lines(log, own, count, to_end):
    """The whole lines of the log with number % count == own, in pieces."""
    number, rest, size = 0, b"", 0
    while True:
        piece = log.read(PIECE)
        size += len(piece)
        if not piece:
            if os.fstat(log.fileno()).st_size < size:
                raise OSError("the log has become shorter; feed from another one")
            if to_end:
                break
            time.sleep(INTERVAL)
            continue
        *lines, rest = (rest + piece).split(b"\n")
        first = (own - number) % count
        number += len(lines)
        if mine := lines[first::count]:
            yield b"\n".join(mine) + b"\n"
    if rest:
        raise OSError("the last line of the log does not end")


def feed(path, pipe, own, count, to_end):
    with open(path, "rb") as log, open(pipe, "wb") as out:
        for lines in own_lines(log, own, count, to_end):
            out.write(lines)
            out.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--to-end", action="store_true",
                        help="end at the end of the log, and the stream with it")
    parser.add_argument("log")
    parser.add_argument("pipes", nargs="+")
    flags = parser.parse_args()
    failed = threading.Event()

    def run(own):
        try:
            feed(flags.log, flags.pipes[own], own, len(flags.pipes), flags.to_end)
        except OSError as error:
            print(f"feed.py: {flags.log} to {flags.pipes[own]}: {error}", file=sys.stderr)
            failed.set()

    # Each pipe has a thread of its own. Trainers of mode sync wait for each other: a feeder that
    # waits for room in one pipe while the other one is empty would wait for ever.
    threads = [threading.Thread(target=run, args=(own,), daemon=True)
               for own in range(len(flags.pipes))]
    for thread in threads:
        thread.start()
    while not failed.is_set() and any(thread.is_alive() for thread in threads):
        failed.wait(INTERVAL)
    # At once: other threads may wait for readers.
    sys.stderr.flush()
    os._exit(failed.is_set())


if __name__ == "__main__":
    main()
