# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fields whose bags nn.same_bags joins: a batch in which they differ in length stops
each command with one sentence, however long they are."""

import pathlib
import subprocess
import tempfile
import unittest

from programs import compile_model, run

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
                        self.assertIn("bags that nn.same_bags joins differ in length: "
                                      "bag 1 of the batch", done.stderr)


if __name__ == "__main__":
    unittest.main()
