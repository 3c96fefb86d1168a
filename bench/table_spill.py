#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the throughput of a table of which a tenth fits into memory (--table-spill) with that of
the same table in memory. Needs only the standard library.

    python3 bench/table_spill.py [--build FOLDER] [--rounds N]

The data are those of table_life.py: 26 ids, key k in proportion to 1 / (k + 1). `rows` is the model
of table_life.py, which only computes rows. This is the worst case, because a model that computes
more waits less for rows. `more rows` is the same with four times the samples, so that most rows are
in files and not in the memory of the system. `ctr_dnn` is models/ctr_dnn with these ids instead of
hashed ones, and 13 numbers per sample that are all 1. The limit is the same program with a bound
that is never reached. Samples per second are those of the whole process, by wall clock. Ratios are
those of one round; prints medians of the rounds.
"""

import array
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

from stored_rows import IDS, SAMPLES, SOURCE, arguments, model, run
from table_life import RULE, WIDTH, write_data

NUMBERS = 13


def ctr_dnn():
    """Returns the model with ids as fields of these data."""
    text = (SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir").read_text()
    for old, new in (("!nn.ragged<?x26x*xi64>", f"tensor<?x{IDS}xi64>"),
                     (" hash(#nn.hash<xxh64, salt = slot>)", ""), ("@categories", "@ids")):
        if old not in text:
            raise SystemExit(f"models/ctr_dnn is not what this was written for: no {old}")
        text = text.replace(old, new)
    return text


def rows():
    return model(WIDTH, RULE, "f32")


# The model, a tenth of the size of its table, and the number of samples.
CASES = {"rows": (rows, "12MiB", SAMPLES), "more rows": (rows, "35MiB", 4 * SAMPLES),
         "ctr_dnn": (ctr_dnn, "8MiB", SAMPLES)}


def measure(case, program, data, bound, samples, folder, rounds):
    rates = {"in memory": [], "spilled": []}
    spilled = held = 0
    for _ in range(rounds):
        for way, flags in (("in memory", ["--max-table-memory", "1TiB"]),
                           ("spilled", ["--max-table-memory", bound, "--table-spill",
                                        folder / "rows"])):
            begin = time.monotonic()
            _, _, said = run(program, data, 1, *flags)
            rates[way].append(samples / (time.monotonic() - begin))
            if way == "in memory":
                held = re.search(r"^table @\S+ keys \d+, (\S+ MiB)", said, re.MULTILINE)[1]
            else:
                spilled = int(re.search(r"^rows spilled (\d+)$", said, re.MULTILINE)[1])
    ratios = [a / b for a, b in zip(rates["spilled"], rates["in memory"])]
    print(f"{case}: {statistics.median(rates['in memory']):,.0f} samples/s in memory ({held}), "
          f"{statistics.median(rates['spilled']):,.0f} with {bound}; ratio "
          f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), "
          f"{spilled:,} rows were spilled", flush=True)


def main():
    given = arguments(__doc__, rounds=3)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data, source = folder / "data.safetensors", folder / "model.mlir"
        for case, (text, bound, samples) in CASES.items():
            write_data(data, samples, numbers=array.array("f", [1.0]) * (samples * NUMBERS))
            program = folder / case
            source.write_text(text())
            subprocess.run([given.build / "bin" / "pdl-translate", source, "-o", program],
                           check=True)
            measure(case, program, data, bound, samples, folder, given.rounds)


if __name__ == "__main__":
    main()
