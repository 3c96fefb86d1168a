#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rate of a table of which a tenth fits in memory (--table-spill), beside the same table in
memory. Standard library only.

    python3 bench/table_spill.py [--build FOLDER] [--rounds N]

The data and the model are those of table_life.py: 26 ids a sample, key k in proportion to
1 / (k + 1), and nothing but rows to compute, which is the worst case: a model that computes
more waits less for its rows. The limit is the same program with a bound that is never
reached. Samples a second are of the whole process, by the clock; ratios are of one round,
medians of the rounds.
"""

import pathlib
import re
import statistics
import subprocess
import tempfile
import time

from stored_rows import SAMPLES, arguments, model, run
from table_life import RULE, WIDTH, write_data


def main():
    given = arguments(__doc__, rounds=3)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data, source, program = folder / "data.safetensors", folder / "model.mlir", folder / "out"
        write_data(data)
        source.write_text(model(WIDTH, RULE, "f32"))
        subprocess.run([given.build / "bin" / "pdl-translate", source, "-o", program], check=True)
        rates = {"in memory": [], "spilled": []}
        spilled = 0
        for _ in range(given.rounds):
            for case, flags in (("in memory", ["--max-table-memory", "1TiB"]),
                                ("spilled", ["--max-table-memory", "12MiB", "--table-spill",
                                             folder / "rows"])):
                begin = time.monotonic()
                _, _, said = run(program, data, 1, *flags)
                rates[case].append(SAMPLES / (time.monotonic() - begin))
                found = re.search(r"^rows spilled (\d+)$", said, re.MULTILINE)
                spilled = int(found[1]) if found else spilled
        ratios = [a / b for a, b in zip(rates["spilled"], rates["in memory"])]
        for case, measured in rates.items():
            print(f"{case}: {statistics.median(measured):,.0f} samples/s")
        print(f"ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}), "
              f"{spilled:,} rows were spilled")


if __name__ == "__main__":
    main()
