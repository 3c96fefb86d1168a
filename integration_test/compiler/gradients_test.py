# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gradients of each differentiable op equal the slopes of the losses; see
oracles/check_gradients.py."""

import argparse
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import programs

import check_gradients

OPS = programs.SOURCE / "integration_test" / "oracles" / "goldens" / "ops"
CASES = ("unary", "gelu", "activations", "select", "binary", "comparisons", "broadcast",
         "reduce", "shapes", "linear", "products", "batched", "normalization",
         "interactions", "lookup", "weighted", "recurrence", "choices",
         "selection", "segments", "mixing", "drawing",
         "sampled_losses", "losses", "composite_losses", "batch_sums", "mixed_slopes")


class Gradients(unittest.TestCase):

    def test_central_differences(self):
        options = argparse.Namespace(
            pdl_opt=programs.PDL_OPT, directions=1, seed=0,
            # Parameter that unary/model.mlir reads through nn.stop_gradient.
            stopped=["x34_shift"])
        for case in CASES:
            with self.subTest(case=case), tempfile.TemporaryDirectory() as folder:
                problems, compared = check_gradients.check(
                    options, str(OPS / case), folder)
                self.assertFalse(problems, "\n".join(problems))
                self.assertGreater(compared, 0)


if __name__ == "__main__":
    unittest.main()
