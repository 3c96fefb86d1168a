# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model that trains a parameter and a table with the same rule on the same gradients, and its
data."""

import array
import re

import programs
import tensorfile
from programs import run
from tensorfile import Tensor

ROWS, WIDTH, STEPS = 24, 5, 20


# Rules for averages, for delays, and for states that restart. None of them trains.
OTHERS = ("delay_compensation", "ema", "model_average", "cyclic_counter", "step_counter",
          "moving_average", "running_sum")
# Rules that use the counts of each row (row_rules_test.py).
OF_COUNTS = ("click_adagrad",)
# Rules for whole parameters. In models with such a parameter, the table has the corresponding rule
# for rows.
OF_PARAMETERS = ("lamb", "lars")


def rules():
    """Returns the rules of the library that train."""
    names = run(programs.PDL_OPT, "--print-std").stdout.strip().split(", ")
    return [name for name in names
            if name not in (*OTHERS, *OF_COUNTS) and
            f"nn.rule @{name} " in run(programs.PDL_OPT, f"--print-std={name}").stdout]


def model_text(twins, width=WIDTH, rows=ROWS):
    """Returns the text of the model. `twins`: for each name, the rule and clauses of two groups:
    one with the parameter p_NAME, and one with the table t_NAME. Sample i of a batch is one-hot in
    row i and has key i, so that both get the same cotangents."""
    lines = ["module @twins {", "  nn.record @r {",
             f"    nn.field @row : tensor<?x{rows}xf32>",
             "    nn.field @key : tensor<?x1xi64>",
             f"    nn.field @pull : tensor<?x{width}xf32>", "  }"]
    wide = f"tensor<?x{width}xf32>"
    body, total = [], None
    for name, clauses in twins.items():
        init = "init(#nn.uniform<-1.0, 1.0>)"
        of_rows = re.sub(rf"@({'|'.join(OF_PARAMETERS)})\b", r"@rowwise_\1", clauses)
        lines += [
            f"  nn.group @dense_{name} {clauses}",
            f"  nn.group @sparse_{name} {of_rows} untouched(lazy)",
            f"  nn.param @p_{name} : tensor<{rows}x{width}xf32> in @dense_{name} {init}",
            f"  nn.table @t_{name} : i64 -> tensor<{width}xf32> in @sparse_{name} {init}"]
        n = f"%{name}"
        body += [
            f"    {n}_a = nn.linear %row, @p_{name} : (tensor<?x{rows}xf32>) -> {wide}",
            f"    {n}_e = nn.lookup @t_{name}[%key] pool(sum) : (tensor<?x1xi64>) -> "
            f"tensor<?x1x{width}xf32>",
            f"    {n}_b = nn.flatten {n}_e from 1 : tensor<?x1x{width}xf32>",
            f"    {n}_c = nn.squared_error {n}_a, %pull : {wide}",
            f"    {n}_d = nn.squared_error {n}_b, %pull : {wide}",
            f"    {n}_f = nn.add {n}_c, {n}_d : {wide}, {wide}"]
        if total is not None:
            body.append(f"    {n}_s = nn.add {total}, {n}_f : {wide}, {wide}")
        total = f"{n}_f" if total is None else f"{n}_s"
    groups = ", ".join(f"@dense_{name}, @sparse_{name}" for name in twins)
    lines += ["  nn.program @train reads(@r) {",
              f"  ^bb0(%row: tensor<?x{rows}xf32>, %key: tensor<?x1xi64>, %pull: {wide}):",
              *body,
              f"    %l = nn.reduce sum {total} axes [1] keep : {wide}",
              f"    nn.minimize %l over [{groups}] : tensor<?x1xf32>", "  }", "}", ""]
    return "\n".join(lines)


def write_data(path, draw, width=WIDTH, rows=ROWS, steps=STEPS):
    """Writes batches that have as many samples as there are rows. Returns the file."""
    hot, keys, pulls = (array.array(c) for c in "fqf")
    for sample in range(rows * steps):
        row = sample % rows
        hot.extend(1.0 if i == row else 0.0 for i in range(rows))
        keys.append(row)
        pulls.extend(draw.gauss(0, 1) for _ in range(width))
    tensorfile.write(path, {
        "row": Tensor("F32", [rows * steps, rows], hot),
        "key": Tensor("I64", [rows * steps, 1], keys),
        "pull": Tensor("F32", [rows * steps, width], pulls)})
    return path
