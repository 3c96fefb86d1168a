# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Negatives that were left out of the training data: with the corrected logit, or with weights,
clicks over predicted clicks (COPC) on all data stays 1."""

import math
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from programs import compile_model, metric, run

RATE = 0.1  # Of the negatives that the training data keep.
MODEL = """module @sampled {{
  nn.record @line {{
    nn.field @label : tensor<?x1xf32>
    nn.field @ids : tensor<?x2xi64> hash(#nn.hash<xxh64, salt = slot>)
    nn.field @weight : tensor<?x1xf32>
  }}
  nn.group @g rule(@adagrad) rate(0.1) untouched(lazy)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.metric @copc : #nn.copc
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.func private @logit(%ids: tensor<?x2xi64>) -> tensor<?x1xf32> {{
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x1xf32>
    %f = nn.flatten %e from 1 : tensor<?x2x1xf32>
    %z = nn.reduce sum %f axes [1] keep : tensor<?x2xf32>
    nn.return %z : tensor<?x1xf32>
  }}
  nn.program @train reads(@line) {{
  ^bb0(%y: tensor<?x1xf32>, %ids: tensor<?x2xi64>, %w: tensor<?x1xf32>):
    %z = nn.call @logit(%ids) : (tensor<?x2xi64>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l {weights} over [@g] : tensor<?x1xf32>{weight_type}
  }}
  nn.program @evaluate frozen reads(@line except @weight) {{
  ^bb0(%y: tensor<?x1xf32>, %ids: tensor<?x2xi64>):
    %z = nn.call @logit(%ids) : (tensor<?x2xi64>) -> tensor<?x1xf32>
    %rate = nn.constant dense<{added}> : tensor<1xf32>
    %c = nn.add %z, %rate : tensor<?x1xf32>, tensor<1xf32>
    %p = nn.sigmoid %c : tensor<?x1xf32>
    nn.observe @copc(%p, %y) : tensor<?x1xf32>
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
  }}
}}
"""


class SampledNegatives(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(11)
        worth = [[draw.gauss(0, 0.8) for _ in range(20)] for _ in range(2)]
        cls.all, cls.kept = cls.root / "all.csv", cls.root / "kept.csv"
        with open(cls.all, "w") as every, open(cls.kept, "w") as kept:
            for _ in range(60000):
                ids = [draw.randrange(20) for _ in range(2)]
                logit = -3 + sum(each[i] for each, i in zip(worth, ids))
                click = draw.random() < 1 / (1 + math.exp(-logit))
                row = f"{int(click)},{ids[0]},{ids[1]}"
                every.write(f"{row},1\n")
                if click or draw.random() < RATE:
                    kept.write(f"{row},{1 if click else 1 / RATE}\n")

    def measured(self, name, data, added=0.0, weighted=False):
        source = self.root / f"{name}.mlir"
        source.write_text(MODEL.format(
            added=f"{added:.7f}", weights="weight %w" if weighted else "",
            weight_type=", tensor<?x1xf32>" if weighted else ""))
        trainer = compile_model(source, self.root / name)
        dump = self.root / f"{name}.safetensors"
        # About as many steps for both.
        run(trainer, "train", "--data", data, "--epochs", 20 if data == self.all else 120,
            "--batch-size", 512, "--shuffle-window", 100000, "--dump", dump)
        said = run(trainer, "evaluate", "--data", self.all, "--init-from", dump).stdout
        return metric(said, "COPC"), metric(said, "AUC")

    def test_corrections(self):
        whole, auc = self.measured("whole", self.all)
        self.assertAlmostEqual(whole, 1, delta=0.03)
        biased, _ = self.measured("biased", self.kept)
        self.assertLess(biased, 0.4)
        for name, flags in (("logit", {"added": math.log(RATE)}), ("weights", {"weighted": True})):
            with self.subTest(name=name):
                copc, sampled_auc = self.measured(name, self.kept, **flags)
                self.assertAlmostEqual(copc, 1, delta=0.03)
                self.assertAlmostEqual(sampled_auc, auc, delta=0.01)


if __name__ == "__main__":
    unittest.main()
