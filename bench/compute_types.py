#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Throughput of CTR-DNN with each type of products, on one thread.

    python3 bench/compute_types.py [--build FOLDER] [--rounds N] [--batch-size N]
                                   [--torch PYTHON] [TYPE ...]

The model and the data are those of bench/peers.py: 26 ids of dimension 10, three layers of 400,
Adam, without clip and decay. A type is a value of --compute, or `default`: f32 as trainers compute
it. `f32` uses f32 kernels alone (--no-bf16x6). With --torch, PyTorch of that interpreter takes part
with products in f32 ("highest"). The programs take turns, so that other load affects all of them.
Rates are samples per second of CPU time, from two runs with different numbers of passes. Prints
each round and the median of the ratios to f32 in the same round.
"""

import argparse
import pathlib
import statistics
import tempfile

from peers.click import model, torch_rate, write_text
from peers.contest import SOURCE, Context, run, trainer_rate

ROWS = 16000
TYPES = ("f32", "default", "bf16", "bf16x3", "bf16x6")


def compile_types(given, folder):
    """Returns the trainer of each type."""
    source = folder / "click.mlir"
    source.write_text(model())
    for name in given.types:
        compute = "f32" if name == "default" else name
        run([given.build / "bin" / "pdl-translate", source, f"--compute={compute}", "-o",
             folder / name])
    return {name: folder / name / "trainer" for name in given.types}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=1000)
    parser.add_argument("--torch", metavar="PYTHON", help="interpreter that has PyTorch")
    parser.add_argument("types", nargs="*", default=TYPES, metavar="TYPE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = write_text(folder / "click.tsv", ROWS)
        trainers = compile_types(given, folder)
        size = ["--batch-size", given.batch_size]
        rates = {name: [] for name in trainers}
        context = Context(given.build, given.torch, folder, quick=True) if given.torch else None
        for _ in range(given.rounds):
            for name, trainer in trainers.items():
                flags = [*size, "--no-bf16x6"] if name == "f32" else size
                rates[name].append(trainer_rate(trainer, data, ROWS, flags=flags))
            if context:
                rates.setdefault("PyTorch", []).append(
                    torch_rate(context, "--batch", given.batch_size))
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
