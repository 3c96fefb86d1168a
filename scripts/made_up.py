# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common code of the scripts that generate data: files with the same lines in each run."""

import argparse
import random


def write_lines(path, line, count):
    """Writes `count` results of `line`, which gets a source of random numbers. `line` may only use
    random(), whose numbers are the same in all versions of Python."""
    draw = random.Random(1)
    with open(path, "w") as file:
        file.writelines(line(draw) for _ in range(count))


def main(description, line):
    """Parses the command line of a script, FILE and --rows, and writes the file."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--rows", type=int, default=20000)
    arguments = parser.parse_args()
    write_lines(arguments.file, line, arguments.rows)
