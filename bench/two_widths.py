#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures memory and time of a table with deferred embedding vectors (weight first, vector later),
compared with a table of the same width. Uses one thread, and a model that does almost nothing
except look up, count and update rows. Needs only the standard library.

    python3 bench/two_widths.py [--build FOLDER] [--rounds N]

The data are those of table_life.py: most keys occur once or twice. A key scores one each time it
occurs; about a tenth of the keys reach three. `one` is the table without the clause. `widen` has
vectors from a score of three on. `all` has them from one on, so that each key has both rows. It
shows the cost of two tables themselves; its bits are those of `one`, except for the sums that the
rule stores for each row. The programs run alternately. Time is the CPU time of the whole process in
a pass over the data, per row (an id of a sample), also as the ratio to `one` in the same round.
Memory is the size of keys and rows of the tables per key, by the trainer's report. Times are
medians of the rounds.
"""

import pathlib
import re
import statistics
import subprocess
import tempfile

from stored_rows import IDS, SAMPLES, arguments, run
from table_life import write_data

# Numbers of columns of the vector.
WIDTHS = (16, 64)
CLAUSES = {"one": "", "widen": " score(show = 1.0) widen(from = 1, score = 3.0)",
           "all": " score(show = 1.0) widen(from = 1, score = 1.0)"}


def model(width, clause):
    return f"""module @widths {{
  nn.record @r {{
    nn.field @label : tensor<?x1xf32>
    nn.field @ids : tensor<?x{IDS}xi64>
  }}
  nn.group @clicks rule(@click_adagrad) rate(0.01) untouched(lazy)
  nn.table @t : i64 -> tensor<{1 + width}xf32> in @clicks init(#nn.uniform<-0.01, 0.01>){clause}
  nn.program @train reads(@r) {{
  ^bb0(%y: tensor<?x1xf32>, %ids: tensor<?x{IDS}xi64>):
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x{IDS}xi64>) -> tensor<?x{IDS}x{1 + width}xf32>
    %s = nn.reduce sum %e axes [1, 2] : tensor<?x{IDS}x{1 + width}xf32>
    %z = nn.reshape %s : (tensor<?xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %ones = nn.broadcast %one like %y : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.count @t[%ids] show(%ones) click(%y) : tensor<?x{IDS}xi64>, tensor<?x1xf32>
    nn.minimize %l over [@clicks] : tensor<?x1xf32>
  }}
}}
"""


def main():
    given = arguments(__doc__, rounds=5)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "data.safetensors"
        write_data(data)
        for width in WIDTHS:
            programs = {}
            for case, clause in CLAUSES.items():
                source = folder / "model.mlir"
                source.write_text(model(width, clause))
                programs[case] = folder / f"{case}{width}"
                subprocess.run([given.build / "bin" / "pdl-translate", source, "-o",
                                programs[case]], check=True)
            seconds, held = {case: [] for case in programs}, {}
            for _ in range(given.rounds):
                for case, program in programs.items():
                    spent, _, said = run(program, data, 1)
                    seconds[case].append(spent / (SAMPLES * IDS))
                    held[case] = {name: (int(keys), float(size) * 2 ** 20) for name, keys, size
                                  in re.findall(r"table @(\S+) keys (\d+), (\S+) MiB", said)}
            for case, tables in held.items():
                ratios = [a / b for a, b in zip(seconds[case], seconds["one"])]
                keys = tables["t"][0]
                size = sum(size for _, size in tables.values())
                vectors = tables.get("t.vector", (keys,))[0]
                of_one = size / held["one"]["t"][1]
                print(f"1 + {width}, {case:5}: {size / keys:6.1f} bytes a key, {of_one:.2f} of one; "
                      f"{vectors / keys:.1%} of {keys} keys have vectors; "
                      f"{statistics.median(seconds[case]) * 1e9:6.1f} ns a row, "
                      f"{statistics.median(ratios):.2f} of one", flush=True)


if __name__ == "__main__":
    main()
