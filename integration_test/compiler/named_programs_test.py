# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Commands that run a frozen program with another name."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import compile_model, fails, run

MODEL = """
module @two_scores {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x1xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<1x1xf32> in @g init(#nn.constant<2.0>)
  nn.metric @error : #nn.mean
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r except @y) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @squares frozen reads(@r except @y) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %s = nn.mul %z, %z : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %s : tensor<?x1xf32>
  }
  nn.program @distance frozen reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.observe @error(%l) : tensor<?x1xf32>
  }
}
"""


class NamedPrograms(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.folder.name)
        (folder / "model.mlir").write_text(MODEL)
        (folder / "new.csv").write_text("x\n1\n3\n")
        (folder / "rows.csv").write_text("0,1\n0,3\n")
        cls.trainer = compile_model(folder / "model.mlir", folder / "out")
        cls.start = folder / "start.safetensors"
        run(cls.trainer, "train", "--data", folder / "rows.csv", "--steps", "0",
            "--dump", cls.start)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def command(self, name, data, *flags):
        return [str(part) for part in (
            self.trainer, name, "--data", pathlib.Path(self.folder.name, data),
            "--init-from", self.start, *flags)]

    def scores(self, *flags):
        printed = run(*self.command("predict", "new.csv", "--header", *flags)).stdout
        return [float(line) for line in printed.splitlines()[1:]]

    def refused(self, *arguments):
        return fails(*self.command(*arguments), status=None)

    def test_predicts(self):
        self.assertEqual(self.scores(), [2.0, 6.0])
        self.assertEqual(self.scores("--program", "squares"), [4.0, 36.0])
        # The name in the form of the model.
        self.assertEqual(self.scores("--program", "@squares"), [4.0, 36.0])

    def test_evaluates(self):
        printed = run(*self.command("evaluate", "rows.csv", "--program", "distance"))
        self.assertRegex(printed.stdout, r"20\.0+ \(@error\)|@error.*20\.")

    def test_refuses(self):
        self.assertIn("has no program @square, only @train, @predict",
                      self.refused("predict", "new.csv", "--header", "--program", "square"))
        self.assertIn("program @train is not frozen, and would change the model",
                      self.refused("evaluate", "rows.csv", "--program", "train"))
        self.assertIn("program @distance has no outputs",
                      self.refused("predict", "rows.csv", "--program", "distance"))


if __name__ == "__main__":
    unittest.main()
