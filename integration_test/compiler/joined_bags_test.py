# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fields whose bags are joined by nn.same_bags. A row is bad if its bags have different lengths,
whatever the lengths are. Other rows are used."""

import array
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import compile_model, run

import tensorfile

# The cross of the joined bags is prepared before they are compared.
MODEL = """
module @joined {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : !nn.ragged<?x1x*xi64> separator(" ")
    nn.field @d : !nn.ragged<?x1x*xi64> separator(" ")
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.metric @error : #nn.mean
  nn.func private @score(%c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32> {
    %e = nn.lookup @t[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %s = nn.same_bags %d like %c : !nn.ragged<?x1x*xi64>
    %k = nn.cross %s : !nn.ragged<?x1x*xi64>
    %f = nn.lookup @t[%k] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %h = nn.lookup @t[%s] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    %u = nn.segment_sum %h of %c : (tensor<?x1xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf32>
    %p = nn.add %e, %f : tensor<?x1x1xf32>, tensor<?x1x1xf32>
    %q = nn.add %p, %u : tensor<?x1x1xf32>, tensor<?x1x1xf32>
    %z = nn.reshape %q : (tensor<?x1x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
    %z = nn.call @score(%c, %d) : (!nn.ragged<?x1x*xi64>, !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
    %z = nn.call @score(%c, %d) : (!nn.ragged<?x1x*xi64>, !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    nn.observe @error(%z) : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x1x*xi64>, %d: !nn.ragged<?x1x*xi64>):
    %z = nn.call @score(%c, %d) : (!nn.ragged<?x1x*xi64>, !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
}
"""

WEIGHTED = """
    %s = nn.same_bags %d like %c : !nn.ragged<?x1x*xf32>, !nn.ragged<?x1x*xi64>
    %w = nn.cast %s : (!nn.ragged<?x1x*xf32>) -> tensor<?x1xf32>
    %q = nn.lookup @t[%c] weights(%w) pool(sum) : (!nn.ragged<?x1x*xi64>, tensor<?x1xf32>) -> tensor<?x1x1xf32>
"""


class JoinedBags(unittest.TestCase):

    def test_bags_that_differ(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "model.mlir").write_text(MODEL)
            trainer = compile_model(folder / "model.mlir", folder / "out")
            good, bad = folder / "good.csv", folder / "bad.csv"
            start = folder / "start.safetensors"
            good.write_text("1,1 2 3,4 5 6\n0,,\n1,7,8\n")
            run(trainer, "train", "--data", good, "--dump", start)
            many = " ".join(str(i) for i in range(100_000))
            for row in (f"1,{many},5", f"1,5,{many}", "1,1,", "1,,1"):
                bad.write_text(f"0,1 2,3 4\n{row}\n")
                for command in (["train"], ["evaluate", "--init-from", start],
                                ["predict", "--init-from", start]):
                    with self.subTest(command=command[0], row=row[:20]):
                        done = subprocess.run(
                            [str(part) for part in (trainer, *command, "--data", bad)],
                            capture_output=True, text=True)
                        self.assertEqual(done.returncode, 1, done.stderr)
                        self.assertIn(f"{bad}:2:3: field `d` and field `c` belong together "
                                      "(nn.same_bags), but have", done.stderr)
            scores = folder / "scores"
            bad.write_text("0,1 2,3 4\n1,1,\n0,1 2,3 4\n")
            for command in (["train"], ["evaluate", "--init-from", start],
                            ["predict", "--init-from", start, "--output", scores]):
                run(trainer, *command, "--data", bad, "--max-bad-rows", 1)
            lines = scores.read_text().splitlines()[1:]
            self.assertEqual(lines[1], "nan")
            self.assertEqual(lines[0], lines[2])
            self.assertEqual(len(lines), 3)

    def test_numbers_of_bags(self):
        """Training from text and from tensors, with one and two replicas, gives the same bits,
        because all sums are exact. Bags with different lengths stop each command."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            text = MODEL.replace("nn.field @d : !nn.ragged<?x1x*xi64>",
                                 "nn.field @d : !nn.ragged<?x1x*xf32>")
            text = text.replace("%d: !nn.ragged<?x1x*xi64>", "%d: !nn.ragged<?x1x*xf32>")
            text = text.replace("(!nn.ragged<?x1x*xi64>, !nn.ragged<?x1x*xi64>)",
                                "(!nn.ragged<?x1x*xi64>, !nn.ragged<?x1x*xf32>)")
            text = text.replace("rate(0.1)", "rate(0.125)")
            begin, end = text.index("    %e = "), text.index("    %z = nn.reshape")
            text = text[:begin] + WEIGHTED + text[end:]
            (folder / "model.mlir").write_text(text)
            trainer = compile_model(folder / "model.mlir", folder / "out")
            good, bad = folder / "good.csv", folder / "bad.csv"
            good.write_text("1,1 2 3,0.5 -1.25 2\n0,,\n1,7,0.375\n1,2 1,0.25 4\n" * 2)
            splits = [0, 3, 3, 4, 6, 9, 9, 10, 12]
            tensors = folder / "good.safetensors"
            tensorfile.write(tensors, {
                "y": tensorfile.Tensor("F32", [8, 1], array.array("f", [1, 0, 1, 1] * 2)),
                "c.values": tensorfile.Tensor("I64", [12],
                                              array.array("q", [1, 2, 3, 7, 2, 1] * 2)),
                "c.splits": tensorfile.Tensor("I32", [9], array.array("i", splits)),
                "d.values": tensorfile.Tensor(
                    "F32", [12], array.array("f", [0.5, -1.25, 2, 0.375, 0.25, 4] * 2)),
                "d.splits": tensorfile.Tensor("I32", [9], array.array("i", splits))})
            trained = []
            for data, flags in ((good, ("--batch-size", 8)), (tensors, ("--batch-size", 8)),
                                (good, ("--batch-size", 4, "--replicas", "2x1"))):
                dump = folder / f"{len(trained)}.safetensors"
                run(trainer, "train", "--data", data, *flags, "--dump", dump)
                trained.append(dump.read_bytes())
            self.assertTrue(trained[1] == trained[0], "tensors train something else")
            self.assertTrue(trained[2] == trained[0], "two replicas train something else")
            rows = tensorfile.read(folder / "0.safetensors")["t.values"]
            # -0.125 / 8 times 2 (0 - 1) times the weights of ids 1, 2, 3 and 7.
            self.assertEqual(sorted(rows.data), sorted(
                weight / 16 for weight in (4.5, -1.0, 2.0, 0.375)))
            start = folder / "0.safetensors"
            run(trainer, "evaluate", "--data", good, "--init-from", start)
            predicted = folder / "predicted"
            run(trainer, "predict", "--data", good, "--init-from", start, "--output",
                predicted)
            bad.write_text("0,1 2,3.5 4\n1,1 2,0.5\n")
            for command in (["train"], ["evaluate", "--init-from", start],
                            ["predict", "--init-from", start]):
                done = subprocess.run(
                    [str(part) for part in (trainer, *command, "--data", bad)],
                    capture_output=True, text=True)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("have 1 and 2 values in this row", done.stderr)


if __name__ == "__main__":
    unittest.main()
