# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ids to which nn.log_probability assigns no probability make a row bad. The row is reported with
file, line and field, and skipped if --max-bad-rows permits it."""

import array
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import cluster
from folders import FolderTest
from programs import compile_model, run

import tensorfile

# The model uses the log probabilities of columns 1 and 2 of @seen, after a concatenation, and
# those of @next by counts.
MODEL = """
module @drawn {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @seen : tensor<?x3xi64>
    nn.field @next : tensor<?x1xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %seen: tensor<?x3xi64>, %next: tensor<?x1xi64>):
    %both = nn.concat %next, %seen axis 1 : tensor<?x1xi64>, tensor<?x3xi64>
    %two = nn.slice %both axis 1 offset 2 size 2 : tensor<?x4xi64>
    %own = OWN
    %q = nn.log_probability %two from 0 below 10 uniform : (tensor<?x2xi64>) -> tensor<?x2xf32>
    %n = nn.log_probability %own from 0 below 4 counts(dense<[5, 0, 1, 2]> : tensor<4xi64>) power(0.75) : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %e = nn.lookup @t[%next] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %z = nn.reshape %e : (tensor<?x1x1xf32>) -> tensor<?x1xf32>
    %s = nn.reduce sum %q axes [1] keep : tensor<?x2xf32>
    %a = nn.add %z, %s : tensor<?x1xf32>, tensor<?x1xf32>
    %p = nn.add %a, %n : tensor<?x1xf32>, tensor<?x1xf32>
    %l = nn.squared_error %p, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
"""
OF_FIELD = "nn.reshape %next : (tensor<?x1xi64>) -> tensor<?x1xi64>"
COMPUTED = "nn.id_arithmetic remainder %next with 4 : tensor<?x1xi64>"


class DrawnIds(FolderTest):

    def compile(self, own, *flags):
        source = self.root / "model.mlir"
        source.write_text(MODEL.replace("OWN", own))
        return compile_model(source, self.root / "out", *flags)

    def train(self, trainer, rows, *flags):
        """Trains on `rows`, each of which has y, three ids and one id. Returns the completed
        process and the path of the dump."""
        data, dump = self.root / "data.csv", self.root / "dump.safetensors"
        data.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
        command = [str(part) for part in (trainer, "train", "--data", data, "--dump", dump,
                                          "--batch-size", 2, "--replicas", "1x1", *flags)]
        return subprocess.run(command, capture_output=True, text=True, check=False), dump

    def test_bad_rows(self):
        trainer = self.compile(OF_FIELD)
        good = [(1, 99, 0, 9, 0), (0, -1, 3, 3, 2), (1, 10, 5, 5, 3)]
        plain, dump = self.train(trainer, good)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        expected = dump.read_bytes()
        for row, place, said in (
                ((1, 0, 10, 0, 0), 3, "field `seen` has the id 10 in its column 1"),
                ((1, 0, 0, -1, 0), 4, "field `seen` has the id -1 in its column 2"),
                ((1, 0, 0, 0, 4), 5, "field `next` has the id 4 in its column 0"),
                ((1, 0, 0, 0, 1), 5, "takes ids from 0 below 4 whose count is not 0; give it a "
                                     "count of 1")):
            rows = [good[0], row, *good[1:]]
            with self.subTest(row=row):
                done, _ = self.train(trainer, rows)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(f"{self.root / 'data.csv'}:2:{place}: ", done.stderr)
                self.assertIn(said, done.stderr)
                done, dump = self.train(trainer, rows, "--max-bad-rows", 1)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(dump.read_bytes() == expected, "the rest trains something else")

    def test_tensors(self):
        trainer = self.compile(OF_FIELD)
        data = self.root / "data.safetensors"
        tensorfile.write(data, {
            "y": tensorfile.Tensor("F32", [3, 1], array.array("f", [1, 0, 1])),
            "seen": tensorfile.Tensor("I64", [3, 3], array.array("q", [0, 1, 2, 0, 1, 70, 0, 1, 2])),
            "next": tensorfile.Tensor("I64", [3, 1], array.array("q", [0, 2, 3]))})
        done = subprocess.run([str(trainer), "train", "--data", str(data)], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"{data}: row 1, counted from 0: field `seen` has the id 70 in its column 2",
                      done.stderr)
        self.assertIn("bad rows skipped 1",
                      run(trainer, "train", "--data", data, "--max-bad-rows", 1).stdout)

    def test_servers(self):
        """The trainer of a cluster skips the same rows as one process."""
        folder = self.compile(OF_FIELD, "--mode=sync").parent
        data = self.root / "data.csv"
        data.write_text("1,99,0,9,0\n1,0,0,0,1\n0,-1,3,3,2\n")
        checkpoints = self.root / "c"
        with cluster.Cluster(folder, 1, 1, ["--data", data, "--batch-size", 1, "--max-bad-rows", 1,
                                            "--checkpoint", checkpoints]) as job:
            job.start().finish()

    def test_computed_ids(self):
        """If ids are computed, bad rows are not known in advance."""
        trainer = self.compile(COMPUTED)
        done, _ = self.train(trainer, [(1, 0, 0, 0, 4), (1, 0, 0, 0, 5)], "--max-bad-rows", 5)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("nn.log_probability meets the id 1, whose count is 0", done.stderr)


if __name__ == "__main__":
    unittest.main()
