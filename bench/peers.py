#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares our programs with those of other frameworks, and writes bench/PEERS.md.

    python3 bench/peers.py [--only ROW[,ROW]] [--quick] [--environment FOLDER]
                           [--build FOLDER] [--output FILE] [--list]

Installs the peers (PyTorch, TensorFlow, Vowpal Wabbit, gensim) into a temporary environment;
--environment keeps it in a folder. If a row fails, the others are still measured. Contenders run
alternately on the same cores, so other load affects all of them. A figure is the median of the
rounds. If there are many peers, only the two best of the first round continue. bench/peers/
contains the setup of each peer, one file for each kind of work. Our programs run with default
settings, and read and parse text unless a row says otherwise; peers have their data in memory.

Rows of one thread are throughput by CPU time of the process. Rows of two threads are by wall
clock: run them on an idle machine.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(BENCH))
from peers import environment, rows, table  # noqa: E402


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n", maxsplit=1)[0],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="ROW[,ROW]",
                        help="measure these rows; the file keeps the others")
    parser.add_argument("--quick", action="store_true",
                        help="fewer rounds and less data; writes no file")
    parser.add_argument("--environment", metavar="FOLDER", type=pathlib.Path,
                        help="install the peers here and keep them")
    parser.add_argument("--build", metavar="FOLDER", type=pathlib.Path,
                        default=BENCH.parent / "build",
                        help="where bin/pdl-translate is (default: build)")
    parser.add_argument("--output", metavar="FILE", type=pathlib.Path,
                        default=BENCH / "PEERS.md",
                        help="the table (default: bench/PEERS.md)")
    parser.add_argument("--list", action="store_true", help="name the rows")
    options = parser.parse_args()
    options.rows = options.only.split(",") if options.only else list(rows.ALL)
    for name in options.rows:
        if name not in rows.ALL:
            parser.error(f"{name} is no row; there are {', '.join(rows.ALL)}")
    if not (options.build / "bin" / "pdl-translate").exists():
        parser.error(f"{options.build}/bin/pdl-translate is not there; build the "
                     "project, or give --build")
    return options


def run(options, python, folder):
    """Returns the rows that failed; the others are measured all the same."""
    context, failed = rows.Context(options.build, python, folder, options.quick), []
    for name in options.rows:
        print(f"{name}: {rows.ALL[name].GOAL}", flush=True)
        try:
            lines = rows.ALL[name].measure(context)
        except (subprocess.CalledProcessError, rows.Failed) as error:
            print(f"error: {name}: {error}", file=sys.stderr, flush=True)
            failed.append(name)
            continue
        for line in lines:
            print("  " + line.text(), flush=True)
        if not options.quick:
            table.keep(options.output, name, rows.ALL, lines)
    return failed


def main():
    options = parse()
    if options.list:
        for name, row in rows.ALL.items():
            print(f"{name:12} {row.GOAL}")
        return 0
    with tempfile.TemporaryDirectory(prefix="pdl-peers-") as folder:
        folder = pathlib.Path(folder)
        try:
            python = environment.install(options.environment or folder / "environment")
            failed = run(options, python, folder)
        except KeyboardInterrupt:
            print("stopped; rows that were measured are kept", file=sys.stderr)
            return 130
        except subprocess.CalledProcessError as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
