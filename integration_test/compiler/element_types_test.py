# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs with fields, state and outputs of f32 and of f64. Each buffer has the size, and each
number the meaning, of its own type."""

import array
import math
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import programs
from folders import FolderTest

import tensorfile

STATELESS = """
module {
  nn.record @sample {
    nn.field @x : tensor<?x2xf32>
  }
  nn.program @predict frozen reads(@sample) {
  ^bb0(%x: tensor<?x2xf32>):
    %sum = nn.add %x, %x : tensor<?x2xf32>, tensor<?x2xf32>
    nn.return %sum : tensor<?x2xf32>
  }
}
"""

CASTS = """
module {
  nn.record @sample {
    nn.field @x : tensor<?x2xf64>
  }
  nn.program @predict frozen reads(@sample) {
  ^bb0(%x: tensor<?x2xf64>):
    %narrow = nn.cast %x : (tensor<?x2xf64>) -> tensor<?x2xf32>
    %wide = nn.cast %narrow : (tensor<?x2xf32>) -> tensor<?x2xf64>
    nn.return %narrow, %wide : tensor<?x2xf32>, tensor<?x2xf64>
  }
}
"""

# The first symbol is f32. The trained symbol, a field and an output are f64. The rows of the table
# are f32 and are selected by buckets of an f64 field.
MIXED = """
module {
  nn.record @sample {
    nn.field @label : tensor<?x1xf64>
    nn.field @x : tensor<?x2xf64>
    nn.field @n : tensor<?x3xf32>
  }
  nn.rule @descent hyper() slots(sum = 0.0) once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f64, %gradient: f64, %sum: f64, %rate: f64):
    %change = arith.mulf %rate, %gradient : f64
    %new_value = arith.subf %value, %change : f64
    %new_sum = arith.addf %sum, %gradient : f64
    nn.yield %new_value, %new_sum : f64, f64
  }
  nn.group @wide rule(@descent) rate(0.1)
  nn.state @scale : tensor<3xf32> init(#nn.constant<0.1>)
  nn.param @w : tensor<2x1xf64> in @wide init(#nn.constant<0.1>)
  nn.table @emb : i64 -> tensor<2xf32> init(#nn.constant<0.7>)
  nn.table @rows : i64 -> tensor<5xf64> in @wide init(#nn.constant<0.3>)

  nn.program @train reads(@sample except @n) {
  ^bb0(%label: tensor<?x1xf64>, %x: tensor<?x2xf64>):
    %w = nn.read @w : tensor<2x1xf64>
    %z = nn.matmul %x, %w : tensor<?x2xf64>, tensor<2x1xf64>
    %b = nn.bucketize %x boundaries [0.0] : tensor<?x2xf64>
    %r = nn.lookup @rows[%b] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x5xf64>
    %s = nn.reduce sum %r axes [1, 2] : tensor<?x2x5xf64>
    %t = nn.reshape %s : (tensor<?xf64>) -> tensor<?x1xf64>
    %p = nn.add %z, %t : tensor<?x1xf64>, tensor<?x1xf64>
    %d = nn.sub %p, %label : tensor<?x1xf64>, tensor<?x1xf64>
    %l = nn.mul %d, %d : tensor<?x1xf64>, tensor<?x1xf64>
    nn.minimize %l over [@wide] : tensor<?x1xf64>
  }
  nn.program @predict frozen reads(@sample except @label) {
  ^bb0(%x: tensor<?x2xf64>, %n: tensor<?x3xf32>):
    %scale = nn.read @scale : tensor<3xf32>
    %narrow = nn.mul %n, %scale : tensor<?x3xf32>, tensor<3xf32>
    %b = nn.bucketize %x boundaries [0.0] : tensor<?x2xf64>
    %e = nn.lookup @emb[%b] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x2xf32>
    %w = nn.read @w : tensor<2x1xf64>
    %z = nn.matmul %x, %w : tensor<?x2xf64>, tensor<2x1xf64>
    nn.return %z, %narrow, %e
      : tensor<?x1xf64>, tensor<?x3xf32>, tensor<?x2x2xf32>
  }
}
"""

ROWS = [(1.0, 0.1, -0.2, 1, 2, 3), (0.0, -0.3, 16777216.6, 4, 5, 6),
        (0.5, 16777216.9, 0.7, 7, 8, 9)]
TRAINED = [(1.0, 0.1, -0.2), (0.0, -0.3, 0.4), (0.5, 0.6, 0.7), (2.0, 0.8, -0.9)]


def float32(number):
    return array.array("f", [number])[0]


def expected_training(steps):
    """Returns @w, the sums of its gradients, and the rows of buckets 0 and 1 after `steps` steps.
    """
    # Initial values are 32-bit numbers, widened.
    w, sums = [float32(0.1)] * 2, [0.0, 0.0]
    rows = [[float32(0.3)] * 5, [float32(0.3)] * 5]
    for _ in range(steps):
        gradient, moved = [0.0, 0.0], [[0.0] * 5, [0.0] * 5]
        for label, *x in TRAINED:
            buckets = [int(value >= 0) for value in x]
            p = x[0] * w[0] + x[1] * w[1] + sum(sum(rows[b]) for b in buckets)
            slope = 2 * (p - label)
            gradient = [g + slope * value for g, value in zip(gradient, x)]
            for b in buckets:
                moved[b] = [m + slope for m in moved[b]]
        gradient = [g / len(TRAINED) for g in gradient]
        w = [value - 0.1 * g for value, g in zip(w, gradient)]
        sums = [s + g for s, g in zip(sums, gradient)]
        rows = [[value - 0.1 * m / len(TRAINED) for value, m in zip(row, move)]
                for row, move in zip(rows, moved)]
    return w, sums, rows


class ElementTypes(FolderTest):

    def compile(self, text, *flags):
        source = self.root / "model.mlir"
        source.write_text(text)
        return programs.compile_model(source, self.root / "out", *flags)

    def write(self, name, rows):
        path = self.root / name
        path.write_text("".join(",".join(map(repr, row)) + "\n" for row in rows))
        return path

    def predict(self, trainer, data, *flags):
        out = self.root / "scores.tsv"
        programs.run(trainer, "predict", "--data", data, "--output", out, *flags)
        # Skip the line of names.
        return [line.split("\t") for line in out.read_text().splitlines()[1:]]

    def test_outputs_without_state_have_the_requested_type(self):
        data = self.write("x.csv", [(0.1, 0.7), (1e300, -0.3)])
        trainer = self.compile(STATELESS, "--element-type=f64")
        nothing = self.root / "nothing.safetensors"
        tensorfile.write(nothing, {})
        self.assertEqual(self.predict(trainer, data, "--init-from", nothing),
                         [["0.2", "1.4"], ["2e+300", "-0.6"]])
        report = programs.run(trainer, "--version").stdout
        self.assertRegex(report, r"element type +f64")

    def test_a_cast_rounds_once_to_the_nearest_even_number(self):
        # Two ties, numbers next to a tie, too large numbers, the smallest numbers, too small
        # numbers, and -0.
        rows = [(16777217.0, 16777219.0), (16777217.000000002, -16777217.0), (1e300, -3.5e38),
                (1.5e-45, 2.9e-45), (1e-46, -0.0), (3.4028235677973366e38, 0.1)]
        trainer = self.compile(CASTS, "--numerics=strict")
        nothing = self.root / "nothing.safetensors"
        tensorfile.write(nothing, {})
        cells = self.predict(trainer, self.write("x.csv", rows), "--init-from", nothing)
        for row, line in zip(rows, cells, strict=True):
            for value, narrow, wide in zip(row, line[:2], line[2:]):
                right = float32(value)
                self.assertEqual(float32(float(narrow)).hex(), right.hex())
                self.assertEqual(float(wide).hex(), right.hex())
        self.assertEqual([float(cells[i][2]) for i in range(3)],
                         [16777216.0, 16777218.0, math.inf])

    def test_fields_state_and_outputs_of_both_types(self):
        trainer = self.compile(MIXED, "--numerics=strict")
        data = self.write("rows.csv", ROWS)
        start = self.root / "start.safetensors"
        programs.run(trainer, "train", "--data", self.write("t.csv", [(*row, 0, 0, 0) for row in TRAINED]),
                     "--steps", "0", "--dump", start)
        scores = self.predict(trainer, data, "--init-from", start)
        self.assertEqual(len(scores), len(ROWS))
        for cells, (_, a, b, *n) in zip(scores, ROWS):
            self.assertAlmostEqual(float(cells[0]), float32(0.1) * (a + b), delta=1e-9)
            for cell, value in zip(cells[1:4], n):
                self.assertEqual(float32(float(cell)),
                                 float32(float32(0.1) * value))
            self.assertEqual([float32(float(c)) for c in cells[4:8]],
                             [float32(0.7)] * 4)
        report = programs.run(trainer, "--version").stdout
        self.assertRegex(report, r"element type +f32 and f64")

    def check_dump(self, path, steps):
        w, sums, rows = expected_training(steps)
        dump = tensorfile.read(path)
        types = {name: tensor.type for name, tensor in dump.items()}
        self.assertEqual(types["scale"], "F32")
        self.assertEqual(types["w"], "F64")
        self.assertEqual(types["w.slot.sum"], "F64")
        self.assertEqual(types["rows.values"], "F64")
        self.assertEqual(list(dump["scale"].data), [float32(0.1)] * 3)
        flat = [value for row in rows for value in row]
        for name, expected in (("w", w), ("w.slot.sum", sums), ("rows.values", flat)):
            for value, right in zip(dump[name].data, expected, strict=True):
                self.assertAlmostEqual(value, right, delta=1e-12, msg=name)
        return path.read_bytes()

    def test_training_in_f64_with_f32_state(self):
        trainer = self.compile(MIXED, "--numerics=strict")
        data = self.write("t.csv", [(*row, 0, 0, 0) for row in TRAINED])
        flags = ("--data", data, "--batch-size", "4")
        whole = self.root / "whole.safetensors"
        programs.run(trainer, "train", *flags, "--epochs", "6", "--dump", whole,
                     "--dump-slots")
        expected = self.check_dump(whole, 6)
        # The same training, interrupted by a checkpoint.
        kept, again = self.root / "kept", self.root / "again.safetensors"
        programs.run(trainer, "train", *flags, "--epochs", "3", "--checkpoint", kept)
        programs.run(trainer, "train", *flags, "--epochs", "6", "--checkpoint",
                     kept, "--resume", "--dump", again, "--dump-slots")
        self.assertEqual(self.check_dump(again, 6), expected)
        listed = programs.run(programs.BUILD / "bin" / "pdl-checkpoint", "inspect", kept)
        self.assertRegex(listed.stdout, r"parameter @scale: F32 \[3\]")
        self.assertRegex(listed.stdout, r"table @rows: F64 \[5\]")

    def test_two_types_in_one_group_are_refused(self):
        source = self.root / "bad.mlir"
        source.write_text(MIXED.replace("nn.state @scale : tensor<3xf32>",
                                        "nn.param @scale : tensor<3xf32> in @wide"))
        done = subprocess.run([programs.PDL_TRANSLATE, source, "-o", self.root / "bad"],
                              capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr,
                         r"bad\.mlir:\d+:\d+: error: .*has elements of 'f64' in group "
                         r"@wide, whose other symbols have 'f32'; use two groups")


if __name__ == "__main__":
    unittest.main()
