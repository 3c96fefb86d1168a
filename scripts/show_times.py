#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows which build steps and which tests of a build folder took the most time.

    scripts/show_times.py [FOLDER] [--count N] [--markdown]

Build steps come from Ninja's log, and their times are summed by folder of the outputs. Tests come
from CTest's last log, and their times are summed by program. Seconds are wall-clock times of single
steps, several of which ran at the same time, so only their ratios are meaningful."""

import argparse
import collections
import pathlib
import re
import sys


def build_steps(folder):
    """Returns the seconds of the last run of each build step, by output."""
    seconds = {}
    for line in (folder / ".ninja_log").read_text().splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        seconds[output] = (int(end) - int(start)) / 1000
    return seconds


def group_of_step(output):
    """Returns the row of the table that a build step belongs to."""
    path = pathlib.PurePosixPath(output)
    if path.is_absolute() or path.suffix in (".inc", ".md", ".json"):
        return "generated files"
    if "CMakeFiles" in path.parts:
        if path.suffix == ".pch":
            return "precompiled headers"
        return str(pathlib.PurePosixPath(*path.parts[:path.parts.index("CMakeFiles")]))
    return "links, archives, lists of tests"


def tests(folder):
    """Returns the seconds of each test of the last run of CTest, by name."""
    text = (folder / "Testing" / "Temporary" / "LastTest.log").read_text(errors="replace")
    seconds, name = {}, None
    for line in text.splitlines():
        if started := re.match(r"\d+/\d+ Testing: (.*)", line):
            name = started[1]
        elif ended := re.match(r"Test time = +([0-9.]+) sec", line):
            seconds[name] = float(ended[1])
    return seconds


def group_of_test(name):
    """Returns the row of the table that a test belongs to."""
    if name.startswith("integration.") or "." not in name:
        return name
    return "unit tests (GoogleTest)"


def show(title, seconds, group, arguments):
    sums, counts = collections.Counter(), collections.Counter()
    for name, each in seconds.items():
        sums[group(name)] += each
        counts[group(name)] += 1
    total = sum(sums.values())
    print(f"{title}: {total:.0f} s in {len(seconds)} steps\n")
    form = "| {} | {} | {} | {} |" if arguments.markdown else "{:>8} {:>6} {:>6}  {}"
    order = (lambda name, count, s, part: (name, count, s, part)) if arguments.markdown else (
        lambda name, count, s, part: (s, part, count, name))
    print(form.format(*order("what", "steps", "seconds", "share")))
    if arguments.markdown:
        print("|---|---|---|---|")
    rows = sums.most_common()
    for name, each in rows[:arguments.count]:
        print(form.format(*order(name, counts[name], f"{each:.0f}", f"{100 * each / total:.0f} %")))
    if rest := rows[arguments.count:]:
        each = sum(seconds for _, seconds in rest)
        print(form.format(*order(f"{len(rest)} others", sum(counts[name] for name, _ in rest),
                                 f"{each:.0f}", f"{100 * each / total:.0f} %")))
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default="build", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=20, help="rows of each table (20)")
    parser.add_argument("--markdown", action="store_true", help="tables for a page")
    arguments = parser.parse_args()
    for title, read, group in (("build", build_steps, group_of_step), ("tests", tests, group_of_test)):
        try:
            seconds = read(arguments.folder)
        except OSError as error:
            print(f"no {title} to show: {error.filename} cannot be read ({error.strerror}); "
                  f"name a build folder in which that has run", file=sys.stderr)
            continue
        if seconds:
            show(title, seconds, group, arguments)


if __name__ == "__main__":
    main()
