# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Columns that `predict` writes: outputs by their names, and an id that is copied from data of
each format."""

import array
import gzip
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from programs import compile_model, fails, run

import tensorfile

MODEL = """
module @two_rates {
  nn.record @r {
    nn.field @request : tensor<?x1xi64> hash(#nn.hash<xxh64>)
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x1xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @two : tensor<1x1xf32> in @g init(#nn.constant<2.0>)
  nn.param @pair : tensor<1x2xf32> init(#nn.constant<3.0>)
  nn.program @train reads(@r except @request) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @two : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r except [@request, @y]) {
  ^bb0(%x: tensor<?x1xf32>):
    %ctr = nn.linear %x, @two : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %pair = nn.linear %x, @pair : (tensor<?x1xf32>) -> tensor<?x2xf32>
    nn.return %ctr as "ctr", %pair as "cvr of" : tensor<?x1xf32>, tensor<?x2xf32>
  }
  nn.program @same frozen reads(@r except [@request, @y]) {
  ^bb0(%x: tensor<?x1xf32>):
    nn.return %x as "request" : tensor<?x1xf32>
  }
  nn.program @unnamed frozen reads(@r except @y) {
  ^bb0(%request: tensor<?x1xi64>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @two : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
}
"""


class PredictColumns(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        (cls.root / "model.mlir").write_text(MODEL)
        cls.trainer = compile_model(cls.root / "model.mlir", cls.root / "out")
        (cls.root / "train.csv").write_text("a,0,1\n")
        cls.start = cls.root / "start.safetensors"
        run(cls.trainer, "train", "--data", cls.root / "train.csv", "--steps", 0,
            "--dump", cls.start)

    def put(self, name, text):
        path = self.root / name
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)
        return path

    def command(self, data, *flags):
        return [str(part) for part in (self.trainer, "predict", "--data", data,
                                       "--init-from", self.start, *flags)]

    def predicted(self, data, *flags):
        printed = run(*self.command(data, *flags)).stdout
        return [line.split("\t") for line in printed.splitlines()]

    def refused(self, data, *flags):
        return fails(*self.command(data, *flags), status=None)

    def test_outputs_have_their_names(self):
        data = self.put("a.csv", "r1,0,1\nr2,0,2\n")
        self.assertEqual(self.predicted(data), [
            ["ctr", "cvr of.0", "cvr of.1"], ["2", "3", "3"], ["4", "6", "6"]])
        self.assertEqual(self.predicted(data, "--program", "unnamed"),
                         [["output0"], ["2"], ["4"]])

    def test_an_id_travels_through_each_format(self):
        tensors = {"x": tensorfile.Tensor("F32", [2, 1], array.array("f", [1, 2])),
                   "request": tensorfile.Tensor("U64", [2], array.array("Q", [2**63, 7]))}
        tensorfile.write(str(self.root / "d.safetensors"), tensors)
        texts = ["r 1,/\"q\"", "007"]
        cases = [
            (self.put("a.csv", '"r 1,/""q""",0,1\n 007 ,0,2\n'), (), texts),
            (self.put("b.tsv.gz", '\t'.join((texts[0], "0", "1")) + "\n007\t0\t2\n"), (),
             texts),
            (self.put("c.csv", 'x,request\n1,"r 1,/""q"""\n2,007\n'), ("--header",), texts),
            (self.put("d.csv", '1|r 1,/"q"\n2|007\n'),
             ("--columns", "x,request", "--delimiter", "|"), texts),
            (self.root / "d.safetensors", (), [str(2**63), "7"])]
        for data, flags, ids in cases:
            with self.subTest(data=data.name):
                # One program reads the field, the other does not.
                self.assertEqual(
                    self.predicted(data, *flags, "--id", "request"),
                    [["request", "ctr", "cvr of.0", "cvr of.1"], [ids[0], "2", "3", "3"],
                     [ids[1], "4", "6", "6"]])
                self.assertEqual(
                    self.predicted(data, *flags, "--id", "request", "--program", "unnamed"),
                    [["request", "output0"], [ids[0], "2"], [ids[1], "4"]])

    def test_several_columns_travel_through_each_format(self):
        data = self.put("several.csv", 'u,x,name,request\n1,1,"a, b",r1\n2,bad,,r2\n3,3,c,r3\n')
        flags = ("--header", "--program", "unnamed", "--max-bad-rows", 1,
                 "--copy-column", "name", "--copy-column", 1)
        self.assertEqual(self.predicted(data, *flags), [
            ["name", "column1", "output0"], ["a, b", "1", "2"], ["", "2", "nan"],
            ["c", "3", "6"]])
        self.assertIn("--copy-column names `name` twice",
                      self.refused(data, *flags, "--copy-column", "name"))

    def test_a_line_is_a_row(self):
        names, bad = ["ctr", "cvr of.0", "cvr of.1"], ["nan"] * 3
        flags = ("--max-bad-rows", 9)
        data = self.put("one.csv", "1\n\n3\n\n")
        self.assertEqual(self.predicted(data, "--columns", "x", *flags),
                         [names, ["2", "3", "3"], bad, ["6", "9", "9"], bad])
        data = self.put("three.csv", "r1,0,1\n\nr3,0,3\n")
        self.assertEqual(self.predicted(data, *flags),
                         [names, ["2", "3", "3"], bad, ["6", "9", "9"]])

    def test_a_bad_row_keeps_its_id(self):
        data = self.put("bad.csv", "r1,0,1\nr2,0,one\nr3,0,3\n")
        lines = self.predicted(data, "--id", "request", "--max-bad-rows", 1,
                               "--program", "unnamed")
        self.assertEqual(lines, [["request", "output0"], ["r1", "2"], ["r2", "nan"],
                                 ["r3", "6"]])

    def test_no_two_columns_have_one_name(self):
        data = self.put("named.csv", "cvr of.1,y,x\nr1,0,1\n")
        self.assertIn("two columns `cvr of.1`: what --id or --copy-column lets through, and "
                      "an output of program @predict; give the output another name",
                      self.refused(data, "--header", "--columns", "request,y,x",
                                   "--copy-column", "cvr of.1"))
        self.assertIn("two columns `request`",
                      self.refused(self.put("a.csv", "r1,0,1\n"), "--id", "request",
                                   "--program", "same"))

    def test_refuses(self):
        data = self.put("a.csv", "r1,0,1\n")
        self.assertIn("--id names `user`, but the record has no such field, only request",
                      self.refused(data, "--id", "user"))
        self.assertIn("--id names field `x`, which is not one id a sample; an id is a field of "
                      "type tensor<?x1xi64>, with hash(...) if it is text",
                      self.refused(data, "--id", "x"))
        self.assertIn("--copy-column", self.refused(data, "--id", "request",
                                                    "--copy-column", 1))
        tensorfile.write(str(self.root / "x.safetensors"),
                         {"x": tensorfile.Tensor("F32", [1, 1], array.array("f", [1]))})
        self.assertIn("has no tensor `request`",
                      self.refused(self.root / "x.safetensors", "--id", "request"))


if __name__ == "__main__":
    unittest.main()
