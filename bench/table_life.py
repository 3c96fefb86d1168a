#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures memory and time of a table with feature admission and eviction: one thread, and a model
that does almost nothing except look up and update rows. Needs only the standard library.

    python3 bench/table_life.py [--build FOLDER] [--rounds N]

Each sample has 26 ids of sixteen million. Key k is drawn in proportion to 1 / (k + 1), like the ids
of a stream: most keys occur once or twice. The programs run alternately. Time is the CPU time of
the whole process in a pass over the data, per row (an id of a sample). It is also given as the
ratio to a table without clauses in the same round. `count = 1` gives the same bits, so its ratio is
the cost of the clauses themselves. Memory is the size of keys and rows of the table, by the
trainer's report. Times are medians of the rounds.
"""

import array
import pathlib
import random
import re
import statistics
import subprocess
import tempfile

from stored_rows import IDS, SAMPLES, arguments, model, run, write_tensors

KEYS = 1 << 24
CLAUSES = {"none": "", "count = 1": " admit(count = 1)", "count = 3": " admit(count = 3)",
           "probability": " admit(probability = 0.25)",
           "shrink": " shrink(every = 16, unseen = 2)",
           "both": " admit(count = 3) shrink(every = 16, unseen = 2)"}
FLAGS = {"bound": ["--max-table-memory", "32MiB"]}
WIDTH, RULE = 16, "@adam"


def write_data(path, samples=SAMPLES, **more):
    """Writes numbers that are uniform on a logarithmic scale, which have that density. `more`: as
    for `write_tensors`."""
    draw = random.Random(7)
    labels = array.array("f", (float(draw.random() < 0.25) for _ in range(samples)))
    ids = array.array("q", (int(KEYS ** draw.random()) - 1 for _ in range(samples * IDS)))
    write_tensors(path, ids, labels, **more)


def main():
    given = arguments(__doc__, rounds=5)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "data.safetensors"
        write_data(data)
        runs = {}
        for number, (case, clause) in enumerate(CLAUSES.items()):
            source, program = folder / "model.mlir", folder / str(number)
            source.write_text(re.sub(r"(nn.table .*)", rf"\1{clause}", model(WIDTH, RULE, "f32")))
            subprocess.run([given.build / "bin" / "pdl-translate", source, "-o", program],
                           check=True)
            runs[case] = program, []
        for case, flags in FLAGS.items():
            runs[case] = folder / "0", flags
        seconds, held = {case: [] for case in runs}, {}
        for _ in range(given.rounds):
            for case, (program, flags) in runs.items():
                spent, _, said = run(program, data, 1, *flags)
                seconds[case].append(spent / (SAMPLES * IDS))
                held[case] = re.search(r"table @t keys (\d+), (\S+ MiB)", said).groups()
        for case in runs:
            ratios = [a / b for a, b in zip(seconds[case], seconds["none"])]
            print(f"{case:11}: {statistics.median(seconds[case]) * 1e9:6.1f} ns a row, "
                  f"{statistics.median(ratios):.2f} of none, {held[case][0]} rows, "
                  f"{held[case][1]}", flush=True)


if __name__ == "__main__":
    main()
