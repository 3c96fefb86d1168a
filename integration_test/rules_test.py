# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A rule becomes a loop over a dense block and a kernel over rows: fed the same
values and the same gradients, both give the same bits, over 20 steps."""

import array
import pathlib
import random
import tempfile
import unittest

import programs
import tensorfile
from programs import compile_model, run
from tensorfile import Tensor

ROWS, WIDTH, STEPS = 24, 5, 20

# Sample i of a batch is one-hot in row i and holds key i, so that row i of the
# parameter and row i of the table see the same cotangent.
MODEL = f"""
module @twins {{
  nn.record @r {{
    nn.field @row : tensor<?x{ROWS}xf32>
    nn.field @key : tensor<?x1xi64>
    nn.field @pull : tensor<?x{WIDTH}xf32>
  }}
  nn.group @dense rule(RULE) rate(0.05) DECAY
  nn.group @sparse rule(RULE) rate(0.05) DECAY untouched(lazy)
  nn.param @p : tensor<{ROWS}x{WIDTH}xf32> in @dense init(#nn.zeros)
  nn.table @t : i64 -> tensor<{WIDTH}xf32> in @sparse init(#nn.zeros)
  nn.program @train reads(@r) {{
  ^bb0(%row: tensor<?x{ROWS}xf32>, %key: tensor<?x1xi64>, %pull: tensor<?x{WIDTH}xf32>):
    %a = nn.linear %row, @p : (tensor<?x{ROWS}xf32>) -> tensor<?x{WIDTH}xf32>
    %e = nn.lookup @t[%key] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x{WIDTH}xf32>
    %b = nn.flatten %e from 1 : (tensor<?x1x{WIDTH}xf32>) -> tensor<?x{WIDTH}xf32>
    %c = nn.squared_error %a, %pull : tensor<?x{WIDTH}xf32>
    %d = nn.squared_error %b, %pull : tensor<?x{WIDTH}xf32>
    %f = nn.add %c, %d : (tensor<?x{WIDTH}xf32>, tensor<?x{WIDTH}xf32>) -> tensor<?x{WIDTH}xf32>
    %l = nn.reduce sum %f axes [1] keep : (tensor<?x{WIDTH}xf32>) -> tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }}
}}
"""

RULES = ["@sgd", "@momentum", "@nesterov", "@adagrad", "@adam",
         "@ftrl"]


class Rules(unittest.TestCase):

    def check(self, rule, decay):
        draw = random.Random(rule)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            model = folder / "twins.mlir"
            model.write_text(MODEL.replace("RULE", rule)
                             .replace("DECAY", decay))
            trainer = compile_model(model, folder / "out", "--numerics=strict")
            samples = ROWS * STEPS
            rows, keys, pulls = (array.array(c) for c in "fqf")
            for sample in range(samples):
                row = sample % ROWS
                rows.extend(1.0 if i == row else 0.0 for i in range(ROWS))
                keys.append(row)
                pulls.extend(draw.gauss(0, 1) for _ in range(WIDTH))
            values = array.array("f", (draw.gauss(0, 1)
                                       for _ in range(ROWS * WIDTH)))
            tensorfile.write(folder / "data.safetensors", {
                "row": Tensor("F32", [samples, ROWS], rows),
                "key": Tensor("I64", [samples, 1], keys),
                "pull": Tensor("F32", [samples, WIDTH], pulls)})
            tensorfile.write(folder / "init.safetensors", {
                "p": Tensor("F32", [ROWS, WIDTH], values),
                "t.keys": Tensor("I64", [ROWS], array.array("q", range(ROWS))),
                "t.values": Tensor("F32", [ROWS, WIDTH], values)})
            run(trainer, "train", "--data", folder / "data.safetensors",
                "--init-from", folder / "init.safetensors", "--batch-size",
                ROWS, "--dump", folder / "dump.safetensors", "--dump-slots")
            dump = tensorfile.read(folder / "dump.safetensors")
        self.assertNotEqual(dump["p"].data, values)
        self.assertEqual(dump["p"].data.tobytes(),
                         dump["t.values"].data.tobytes())
        slots = [n for n in dump if n.startswith("p.slot.")]
        for slot in slots:
            self.assertEqual(dump[slot].data.tobytes(),
                             dump["t" + slot[1:]].data.tobytes(), slot)
        return len(slots)

    def test_dense_and_rows_have_equal_bits(self):
        found = 0
        for rule in RULES:
            for decay in ("", "decay(#nn.l2<0.01>, #nn.l1<0.001>)"):
                with self.subTest(rule=rule, decay=decay):
                    found += self.check(rule, decay)
        self.assertGreater(found, 0)


if __name__ == "__main__":
    unittest.main()
