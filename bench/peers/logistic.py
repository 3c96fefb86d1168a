# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares logistic regression on hashed ids, from text, with Vowpal Wabbit."""

import math
import re

from .click import NUMBERS, SLOTS, write_text
from .contest import Line, PEERS, run, seconds, trainer_rate


def model():
    return f"""
module @logistic {{
  nn.record @click {{
    nn.field @label : tensor<?x1xf32>
    nn.field @numbers : tensor<?x{NUMBERS}xf32>
    nn.field @categories : tensor<?x{SLOTS}xi64> hash(#nn.hash<xxh64, salt = slot>)
  }}
  nn.group @linear rule(@adagrad) rate(1.0e-2)
  nn.table @weights : i64 -> tensor<1xf32> in @linear init(#nn.zeros)
  nn.param @slopes : tensor<{NUMBERS}x1xf32> in @linear init(#nn.zeros)
  nn.param @bias : tensor<1xf32> in @linear init(#nn.zeros)
  nn.metric @log_loss : #nn.log_loss
  nn.program @train reads(@click) {{
  ^bb0(%label: tensor<?x1xf32>, %numbers: tensor<?x{NUMBERS}xf32>, %categories: tensor<?x{SLOTS}xi64>):
    %x = nn.signed_log1p %numbers : tensor<?x{NUMBERS}xf32>
    %a = nn.linear %x, @slopes, @bias : (tensor<?x{NUMBERS}xf32>) -> tensor<?x1xf32>
    %w = nn.lookup @weights[%categories] pool(sum) : (tensor<?x{SLOTS}xi64>) -> tensor<?x{SLOTS}x1xf32>
    %s = nn.reduce sum %w axes [1] : tensor<?x{SLOTS}x1xf32>
    %z = nn.add %a, %s : tensor<?x1xf32>, tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
    nn.minimize %l over [@linear] : tensor<?x1xf32>
  }}
}}
"""


def write_vowpal(source, path):
    """Writes the same rows in Vowpal Wabbit's format. It does not transform numbers, so it gets
    their logarithms, which PDL computes."""
    with open(source, encoding="ascii") as rows, open(path, "w", encoding="ascii") as out:
        for row in rows:
            cells = row.rstrip("\n").split("\t")
            numbers = " ".join(f"{i}:{math.log1p(float(x)):.5g}"
                               for i, x in enumerate(cells[1:1 + NUMBERS]))
            ids = " ".join(f"{i}_{x}" for i, x in enumerate(cells[1 + NUMBERS:]))
            out.write(f"{2 * int(cells[0]) - 1} |n {numbers} |c {ids}\n")
    return path


class Logistic:
    WHAT = ("Logistic regression from text, 13 numbers and 26 hashed ids per row, Adagrad, one "
            "core, by CPU time of all threads. Vowpal Wabbit reads its own text format and uses "
            "its default rule (adaptive, normalized, invariant).")
    GOAL = ">= 2 times Vowpal Wabbit's rows/s"
    REASON = ("Profile by perf on 24 November 2026: searching keys 24 %, distinct keys 17 %, "
              "hashing 7 %, finding cells 6 %, numbers 4 %, updates 4 %, pooling rows of one "
              "element and its gradient 4 %.")

    @staticmethod
    def measure(context):
        rows = 50_000 if context.quick else 200_000
        data = write_text(context.folder / "logistic.tsv", rows)
        own = write_vowpal(data, context.folder / "logistic.vw")
        trainer = context.translate(model(), "logistic")

        def vowpal(passes):
            command = [context.python, PEERS / "vowpal.py", own, passes]
            return seconds(command, 1, False)

        line = Line("from text", "rows/s", 2)
        for _ in range(context.rounds):
            line.add(trainer_rate(trainer, data, rows, passes=3),
                     Vowpal_Wabbit=rows / (vowpal(2) - vowpal(1)))
        said = run([trainer, "train", "--data", data, "--threads", 1]).stdout
        found = re.search(r"train log loss ([0-9.]+)", said)
        peer = run([context.python, PEERS / "vowpal.py", own, 1]).stdout
        line.what += (f", log loss of one pass {float(found[1]):.4f}, Vowpal Wabbit's "
                      f"{float(peer.split()[-1]):.4f}")
        return [line]
