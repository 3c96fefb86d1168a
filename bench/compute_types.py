#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Throughput of CTR-DNN with each type of products (--compute), on one thread.

    python3 bench/compute_types.py [--build FOLDER] [--rounds N] [--batch-size N] [TYPE ...]

The model and the data are those of bench/peers.py: 26 ids of dimension 10, three layers of 400,
Adam, without clip and decay. The programs take turns, so that other load affects all of them.
Rates are samples per second of CPU time, from two runs with different numbers of passes. Prints
each round and the median of the ratios to f32 in the same round.
"""

import argparse
import pathlib
import statistics
import tempfile

from peers.click import model, write_text
from peers.contest import SOURCE, run, trainer_rate

ROWS = 16000
TYPES = ("f32", "bf16", "bf16x3", "bf16x6")


def compile_types(given, folder):
    """The trainer of each type."""
    source = folder / "click.mlir"
    source.write_text(model())
    for name in given.types:
        run([given.build / "bin" / "pdl-translate", source, f"--compute={name}", "-o",
             folder / name])
    return {name: folder / name / "trainer" for name in given.types}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=1000)
    parser.add_argument("types", nargs="*", default=TYPES, metavar="TYPE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = write_text(folder / "click.tsv", ROWS)
        trainers = compile_types(given, folder)
        rates = {name: [] for name in trainers}
        for _ in range(given.rounds):
            for name, trainer in trainers.items():
                rates[name].append(trainer_rate(trainer, data, ROWS,
                                                flags=["--batch-size", given.batch_size]))
            print(", ".join(f"{name} {all_[-1]:,.0f}" for name, all_ in rates.items()),
                  "samples/s", flush=True)
        first = next(iter(rates))
        for name, all_ in rates.items():
            ratios = [a / b for a, b in zip(all_, rates[first])]
            print(f"{name}: median {statistics.median(all_):,.0f} samples/s, "
                  f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) "
                  f"times {first}")


if __name__ == "__main__":
    main()
