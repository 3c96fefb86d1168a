# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the scripts share that make up data: files of the same lines each time."""

import argparse
import random


def write_lines(path, line, count):
    """`count` times what `line` makes of a source of random numbers. Of that it takes
    only random(), whose numbers are the same in all versions of Python."""
    draw = random.Random(1)
    with open(path, "w") as file:
        file.writelines(line(draw) for _ in range(count))


def main(description, line):
    """A script's command line: FILE and --rows."""
    parser = argparse.ArgumentParser(description=description,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--rows", type=int, default=20000)
    arguments = parser.parse_args()
    write_lines(arguments.file, line, arguments.rows)
