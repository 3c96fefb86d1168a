# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cumulative sums. An element that is infinite or NaN affects only the sums that include it, and
each sum is computed in ascending order from +0, bit for bit."""

import array
import math
import pathlib
import random
import struct
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import compile_model, run

import tensorfile

WIDTH = 37
CLAUSES = ("", " exclusive", " reversed", " exclusive reversed")
MODEL = f"""
module @sums {{
  nn.record @r {{
    nn.field @x : tensor<?x{WIDTH}xf32>
    nn.field @d : tensor<?x{WIDTH}xf32>
  }}
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<{WIDTH}x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r except @d) {{
  ^bb0(%x: tensor<?x{WIDTH}xf32>):
    %l = nn.linear %x, @w : (tensor<?x{WIDTH}xf32>) -> tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }}
  nn.program @predict frozen reads(@r) {{
  ^bb0(%x: tensor<?x{WIDTH}xf32>, %d: tensor<?x{WIDTH}xf32>):
    %q = nn.div %x, %d : tensor<?x{WIDTH}xf32>, tensor<?x{WIDTH}xf32>
""" + "".join(f"    %{n} = nn.cumulative_sum %q{clause} : tensor<?x{WIDTH}xf32>\n"
              for n, clause in enumerate(CLAUSES)) + """
    nn.return %0, %1, %2, %3 : """ + ", ".join([f"tensor<?x{WIDTH}xf32>"] * 4) + """
  }
}
"""


def f32(number):
    return struct.unpack("f", struct.pack("f", number))[0]


def expected(row, clause):
    """Computes each sum separately, and rounds after each addition."""
    sums = []
    for i in range(len(row)):
        own = 0 if "exclusive" in clause else 1
        part = row[i + 1 - own:] if "reversed" in clause else row[:i + own]
        total = 0.0
        for number in part:
            total = f32(total + number)
        sums.append(total)
    return sums


class CumulativeSum(unittest.TestCase):

    def test_bits(self):
        drawn = random.Random(7)
        rows = [[f32(drawn.uniform(-1, 1) * 10 ** drawn.randint(-4, 4)) for _ in range(WIDTH)]
                for _ in range(5)] + [[-0.0] * WIDTH]
        # Data are finite. Values that are not finite are computed as 1 / 0 and 0 / 0.
        divisors = [[1.0] * WIDTH for _ in rows]
        for row, at, number in ((1, 10, 1.0), (2, 20, 0.0), (3, 5, -1.0), (3, 30, 1.0)):
            rows[row][at], divisors[row][at] = number, 0.0
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "model.mlir").write_text(MODEL)
            trainer = compile_model(folder / "model.mlir", folder / "out", "--numerics=strict")
            data, start, out = (folder / f"{one}.safetensors" for one in ("x", "start", "p"))
            tensorfile.write(data, {
                one: tensorfile.Tensor("F32", [len(rows), WIDTH],
                                       array.array("f", [number for row in given for number in row]))
                for one, given in (("x", rows), ("d", divisors))})
            run(trainer, "train", "--data", data, "--steps", 0, "--dump", start)
            run(trainer, "predict", "--data", data, "--init-from", start, "--output", out)
            rows[1][10], rows[2][20], rows[3][5], rows[3][30] = (
                math.inf, math.nan, -math.inf, math.inf)
            file = tensorfile.read(out)
            for n, clause in enumerate(CLAUSES):
                found = list(file[f"output{n}"].data)
                wanted = [one for row in rows for one in expected(row, clause)]
                for one, other in zip(found, wanted, strict=True):
                    same = struct.pack("f", one) == struct.pack("f", other)
                    self.assertTrue(same or (math.isnan(one) and math.isnan(other)),
                                    (clause, one, other))


if __name__ == "__main__":
    unittest.main()
