# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values that metrics observe, row by row (evaluate --output), and the content of rows in the form
of requests (predict --dump-inputs)."""

import array
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from programs import compile_model, fails, run

import tensorfile

MODEL = """
module @observed {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x2xf32> missing(0.5)
    nn.field @user : tensor<?x1xi64> hash(#nn.hash<xxh64>) missing("?")
    nn.field @tags : !nn.ragged<?x2x*xi64> hash(#nn.hash<xxh64, salt = slot>) separator("|")
    nn.field @item : tensor<?x1xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @two : tensor<2x1xf32> in @g init(#nn.constant<2.0>)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.metric @rmse : #nn.rmse
  nn.metric @mean : #nn.mean
  nn.metric @gauc : #nn.grouped_auc
  nn.metric @mrr : #nn.mrr
  nn.program @train reads(@r except [@user, @tags, @item]) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x2xf32>):
    %z = nn.linear %x, @two : (tensor<?x2xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@r except [@tags, @item]) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x2xf32>, %user: tensor<?x1xi64>):
    %z = nn.linear %x, @two : (tensor<?x2xf32>) -> tensor<?x1xf32>
    %w = nn.slice %x axis 1 offset 1 size 1 : tensor<?x2xf32>
    nn.observe @rmse(%z, %y) weight %w : tensor<?x1xf32>
    nn.observe @mean(%z) : tensor<?x1xf32>
    nn.observe @gauc(%z, %y) group %user : tensor<?x1xf32>
    nn.observe @rmse(%y, %z) : tensor<?x1xf32>
    nn.observe @mrr(%x, %y) : tensor<?x2xf32>, tensor<?x1xf32>
  }
  nn.program @nothing frozen reads(@r except [@y, @user, @tags, @item]) {
  ^bb0(%x: tensor<?x2xf32>):
    nn.return %x : tensor<?x2xf32>
  }
  nn.program @predict frozen reads(@r except @y) {
  ^bb0(%x: tensor<?x2xf32>, %user: tensor<?x1xi64>, %tags: !nn.ragged<?x2x*xi64>, %item: tensor<?x1xi64>):
    %z = nn.linear %x, @two : (tensor<?x2xf32>) -> tensor<?x1xf32>
    %a = nn.lookup @t[%tags] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x1xf32>
    %b = nn.lookup @t[%user] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %c = nn.lookup @t[%item] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %all = nn.concat %a, %b, %c axis 1 : tensor<?x2x1xf32>, tensor<?x1x1xf32>, tensor<?x1x1xf32>
    %s = nn.reduce sum %all axes [1] : tensor<?x4x1xf32>
    %p = nn.add %z, %s : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %p : tensor<?x1xf32>
  }
}
"""

ROWS = ("1,1,2,u1,a|b,,7\n"
        "0,,4,?,?,c|?|d,8\n"
        "1,bad,4,u3,,,9\n"
        "0,3,1,\" u,4 \",x,y,10\n")


class ObservedRowsTest(SharedFolderTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.root / "model.mlir").write_text(MODEL)
        cls.trainer = compile_model(cls.root / "model.mlir", cls.root / "out", "--numerics=strict")
        cls.data = cls.root / "rows.csv"
        cls.data.write_text(ROWS)
        cls.start = cls.root / "start.safetensors"
        run(cls.trainer, "train", "--data", cls.data, "--steps", 0, "--dump", cls.start,
            "--max-bad-rows", 1)

    def command(self, name, *flags):
        return [str(part) for part in (
            self.trainer, name, "--data", self.data, "--init-from", self.start,
            "--max-bad-rows", 1, *flags)]

    def refused(self, name, *flags):
        said = fails(*self.command(name, *flags), status=None)
        self.assertEqual(said.count("\n"), 1, said)
        return said

    def test_observed_as_text(self):
        """Rows keep their numbers, whatever is skipped and whatever the batches are."""
        printed = set()
        for batch in 1, 2, 100:
            written = self.root / f"observed{batch}.csv"
            said = run(*self.command("evaluate", "--output", written, "--batch-size", batch))
            printed.add(said.stdout.partition("\n")[2])
            with self.subTest(batch):
                lines = [line.split(",") for line in written.read_text().splitlines()]
                self.assertEqual(lines[0], [
                    "row", "rmse.prediction", "rmse.label", "rmse.weight", "mean.value",
                    "gauc.prediction", "gauc.label", "gauc.group", "rmse.2.prediction",
                    "rmse.2.label", "mrr.prediction.0", "mrr.prediction.1", "mrr.label"])
                self.assertEqual([line[:7] for line in lines[1:]],
                                 [["0", "6", "1", "2", "6", "6", "1"],
                                  ["1", "9", "0", "4", "9", "9", "0"],
                                  ["3", "8", "0", "1", "8", "8", "0"]])
                self.assertEqual(lines[1][8:], ["1", "6", "1", "2", "1"])
                # Groups are shown by the keys that the model looks up.
                self.assertEqual(len({line[7] for line in lines[1:]}), 3)
        # The printed output is the same as without the flag.
        printed.add(run(*self.command("evaluate")).stdout.partition("\n")[2])
        self.assertEqual(len(printed), 1, printed)

    def test_observed_as_tensors(self):
        written = self.root / "observed.safetensors"
        run(*self.command("evaluate", "--output", written))
        found = tensorfile.read(written)
        self.assertEqual((found["row"].type, list(found["row"].data)), ("I64", [0, 1, 3]))
        self.assertEqual((found["mrr.prediction"].type, found["mrr.prediction"].shape),
                         ("F32", [3, 2]))
        self.assertEqual(found["gauc.group"].type, "I64")

    def test_observed_is_refused(self):
        out = ["--output", self.root / "x.csv"]
        self.assertIn("--output of evaluate is a file", self.refused("evaluate", "--output", "-"))
        self.assertIn("leave --replicas out", self.refused("evaluate", *out, "--replicas", "2x1"))
        self.assertIn("observes nothing that --output could write",
                      self.refused("evaluate", *out, "--program", "nothing"))
        self.assertIn("--output-format requires --output",
                      self.refused("evaluate", "--output-format", "csv"))
        self.assertFalse((self.root / "x.csv").exists())

    def inputs(self, *flags):
        written = self.root / "inputs.safetensors"
        run(*self.command("predict", "--dump-inputs", written, "--output", self.root / "p", *flags))
        return {name: (tensor.type, list(tensor.data))
                for name, tensor in tensorfile.read(written).items()}

    def test_inputs_of_text(self):
        found = self.inputs()
        for batch in 1, 2:
            self.assertEqual(self.inputs("--batch-size", batch), found)
        self.assertEqual(found[".rows"], ("I64", [0, 1, 3]))
        self.assertEqual(found[".samples"], ("I64", [0, 1, 3]))
        self.assertEqual(found["x"], ("F32", [1, 2, 0.5, 4, 3, 1]))
        self.assertEqual(found["item"], ("I64", [7, 8, 10]))
        self.assertEqual(found["tags.splits"], ("I64", [0, 2, 2, 2, 4, 5, 6]))
        self.assertEqual(len(found["user"][1]), 3)

        def texts(field):
            content, ends = bytes(found[f"{field}.texts"][1]), found[f"{field}.text_ends"][1]
            return [content[a:b] for a, b in zip([0, *ends], ends)]
        self.assertEqual(texts("user"), [b"u1", b"?", b"u,4"])
        self.assertEqual(texts("item"), [b"7", b"8", b"10"])
        self.assertEqual(texts("tags"), [b"a", b"b", b"?", b"c", b"?", b"d", b"x", b"y"])
        self.assertEqual(found["tags.text_splits"], ("I64", [0, 2, 2, 3, 6, 7, 8]))
        # Rows from the middle on, and rows from a cache.
        self.assertEqual(self.inputs("--rows", "3:")[".samples"], ("I64", [3]))
        for _ in range(2):
            self.assertEqual(self.inputs("--cache", self.root / "cache"), found)

    def test_inputs_of_tensors(self):
        """Rows of tensors have keys, but no texts."""
        ids = tensorfile.Tensor("U64", [1], array.array("Q", [5]))
        tensorfile.write(str(self.root / "d.safetensors"), {
            "x": tensorfile.Tensor("F32", [1, 2], array.array("f", [1, 2])), "user": ids,
            "item": ids, "tags.values": tensorfile.Tensor("U64", [0], array.array("Q")),
            "tags.splits": tensorfile.Tensor("I32", [3], array.array("i", [0, 0, 0]))})
        written = self.root / "tensors.safetensors"
        run(self.trainer, "predict", "--data", self.root / "d.safetensors", "--init-from",
            self.start, "--dump-inputs", written, "--output", self.root / "p")
        found = tensorfile.read(written)
        self.assertEqual(sorted(found), [".rows", ".samples", "item", "tags.splits", "tags.values",
                                         "user", "x"])
        self.assertEqual(list(found["user"].data), [5])
        done = subprocess.run(
            [str(part) for part in (self.trainer, "predict", "--data", self.data,
                                    self.root / "d.safetensors", "--init-from", self.start,
                                    "--dump-inputs", written)],
            capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("predict them one by one", done.stderr)

    def test_inputs_are_refused(self):
        written = self.root / "y.safetensors"
        self.assertIn("--id", self.refused("predict", "--dump-inputs", written, "--id", "user"))
        self.assertIn("both", self.refused("predict", "--dump-inputs", self.root / "z", "--output",
                                           self.root / "z"))


if __name__ == "__main__":
    unittest.main()
