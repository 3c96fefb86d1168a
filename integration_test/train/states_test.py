# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several losses in a program, and states that it writes. The golden case `states` has batch norm,
data norm, calibration, a counter, and a second loss with its own weights. It has the same bits in
the interpreter, with any number of threads, with servers, and after an interruption. The same holds
for the cases `cycle`, with alternating programs, and `mixed`, with f64 and f32."""

import array
import json
import math
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import exactness
import programs
from cluster import Cluster
from programs import PDL_CHECKPOINT, PDL_TRANSLATE, run

import tensorfile
from tensorfile import Tensor

OPS = programs.SOURCE / "integration_test" / "oracles" / "goldens" / "ops"


class OfCase(exactness.ExactnessTest):
    """Tests of any such case. The second loss trains the group `second`."""

    case, second = "", ""

    def setUp(self):
        super().setUp()
        self.folder_of_case = OPS / self.case
        facts = json.loads((self.folder_of_case / "case.json").read_text())
        self.batch, self.steps = facts["batch_size"], facts["steps"]
        self.source = self.folder_of_case / "model.mlir"
        self.data = self.folder_of_case / "data.safetensors"

    def test_interpreter_and_program_give_the_same_bits(self):
        trainer = self.compile_strict(self.source)
        self.check_program(self.source, trainer, self.data, self.batch, self.steps)

    def test_threads_and_resumed_trainings_give_the_same_bits(self):
        trainer = self.compile_strict(self.source)
        flags = ["--data", self.data, "--seed", 7, "--batch-size", self.batch,
                 "--replicas", "2x1", "--epochs", 4]

        def train(name, *more):
            return run(trainer, "train", *flags, "--checkpoint", self.root / name,
                       *more).stdout

        whole = train("whole", "--threads", 1)
        train("threads", "--threads", 2)
        train("parts", "--steps", 5)
        last = train("parts", "--resume")
        for name in ("threads", "parts"):
            run(PDL_CHECKPOINT, "diff", self.root / "whole", self.root / name)
        # The second loss is reported like a metric, and continues like one after an interruption.
        reported = [re.findall(rf"^train mean .*@loss of {self.second} in train.*$",
                               text, re.MULTILINE) for text in (whole, last)]
        self.assertEqual(len(reported[0]), 1, whole)
        self.assertEqual(*reported)

    def test_servers_give_the_bits_of_one_process(self):
        units = ("--min-block-elements=64", "--target-block-bytes=256")
        for mode in ("local", "sync", "async"):
            run(PDL_TRANSLATE, self.source, "-o", self.root / mode,
                "--numerics=strict", f"--mode={mode}",
                *(() if mode == "local" else units))

        def flags(name):
            return ["--data", self.data, "--seed", 7, "--batch-size", self.batch,
                    "--epochs", 2, "--checkpoint", self.root / f"{name}.saved"]

        for mode, trainers, workers, servers in (("sync", 2, 2, 2), ("async", 1, 1, 2)):
            with self.subTest(mode=mode):
                alone = f"alone_{mode}"
                run(self.root / "local" / "trainer", "train", *flags(alone),
                    "--replicas", f"{trainers}x{workers}")
                with Cluster(self.root / mode, trainers, servers,
                             [*flags(mode), "--replicas", f"1x{workers}"],
                             ["--seed", 7]) as cluster:
                    cluster.start().finish()
                run(PDL_CHECKPOINT, "diff", self.root / f"{alone}.saved",
                    self.root / f"{mode}.saved")


# The second loss is infinite if y is 0.
INFINITE_IN_TURNS_OF_OTHERS = """
nn.record @r {
  nn.field @x : tensor<?x2xf32>
  nn.field @y : tensor<?x1xf32>
}
nn.group @a rule(@sgd) rate(0.05)
nn.group @b rule(@sgd) rate(0.05)
nn.param @w : tensor<2x1xf32> in @a init(#nn.xavier)
nn.param @v : tensor<1xf32> in @b init(#nn.constant<1.0>)
nn.program @one reads(@r) {
^bb0(%x: tensor<?x2xf32>, %y: tensor<?x1xf32>):
  %z = nn.linear %x, @w : (tensor<?x2xf32>) -> tensor<?x1xf32>
  %e = nn.squared_error %z, %y : tensor<?x1xf32>
  nn.minimize %e over @a : tensor<?x1xf32>
}
nn.program @two reads(@r except @x) {
^bb0(%y: tensor<?x1xf32>):
  %v = nn.read @v : tensor<1xf32>
  %l = nn.log %y : tensor<?x1xf32>
  %z = nn.mul %l, %v : tensor<?x1xf32>, tensor<1xf32>
  nn.minimize %z over @b : tensor<?x1xf32>
}
nn.cycle @train [@one, @two]
"""


class Cycle(OfCase):
    case, second = "cycle", "generator"

    def test_what_has_no_weight_may_be_infinite(self):
        source = self.root / "infinite.mlir"
        source.write_text(INFINITE_IN_TURNS_OF_OTHERS)
        data = self.root / "turns.safetensors"
        tensorfile.write(data, {
            "x": Tensor("F32", [6, 2], array.array("f", [0.5] * 12)),
            "y": Tensor("F32", [6, 1], array.array("f", [0.0, 0.5] * 3))})
        after = self.root / "after.safetensors"
        run(self.compile_strict(source), "train", "--data", data, "--batch-size", 1,
            "--steps", 6, "--dump", after)
        # Three steps of the second program, each with rate * log(0.5).
        self.assertAlmostEqual(tensorfile.read(after)["v"].data[0],
                               1 - 3 * 0.05 * math.log(0.5), places=6)


class MixedTypes(OfCase):
    case, second = "mixed", "second"


class States(OfCase):
    case, second = "states", "critic"

    def test_an_objective_without_weight_leaves_its_groups_alone(self):
        trainer = self.compile_strict(self.source)
        batch = tensorfile.read(self.data)
        batch["weight"] = Tensor("F32", batch["weight"].shape,
                                 type(batch["weight"].data)(
                                     "f", [0.0] * len(batch["weight"].data)))
        data = self.root / "unweighted.safetensors"
        tensorfile.write(data, batch)
        after = self.root / "after.safetensors"
        common = ["--data", data, "--batch-size", self.batch, "--init-from",
                  self.folder_of_case / "init.safetensors", "--dump-slots"]
        run(trainer, "train", *common, "--steps", self.steps, "--dump", after)
        left = tensorfile.read(self.folder_of_case / "init.safetensors")
        found = tensorfile.read(after)
        for name in ("critic_w", "predicted", "clicked"):
            self.assertEqual(found[name].data, left[name].data, name)
        for name in ("scale", "mean", "variance", "wide_mean", "size", "sum"):
            self.assertNotEqual(found[name].data, left[name].data, name)
        self.assertEqual(found["steps"].data[0], self.steps)
        self.assertEqual(list(found["seen"].data), list(left["seen"].data))


del OfCase  # has no case of its own


if __name__ == "__main__":
    unittest.main()
