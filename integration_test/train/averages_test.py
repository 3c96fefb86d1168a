# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Frozen programs read the averages of groups that keep averages: in the interpreter, in a process
with its own state and with servers. Training continues from the values themselves."""

import array
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import exactness
import programs
from averaged_model import BATCH, MODEL, ROWS, STEPS
from cluster import Cluster
from programs import PDL_CHECKPOINT, PDL_TRANSLATE, run

import tensorfile
from tensorfile import Tensor


class Averages(exactness.ExactnessTest):

    def setUp(self):
        super().setUp()
        self.source = self.root / "model.mlir"
        self.source.write_text(MODEL)
        draw = random.Random(5)
        count = BATCH * STEPS
        self.data = self.root / "data.safetensors"
        tensorfile.write(self.data, {
            "x": Tensor("F32", [count, ROWS],
                        array.array("f", (draw.gauss(0, 1) for _ in range(count * ROWS)))),
            "id": Tensor("I64", [count, 1],
                         array.array("q", (draw.randrange(9) for _ in range(count)))),
            "label": Tensor("F32", [count, 1],
                            array.array("f", (draw.gauss(0, 1) for _ in range(count))))})

    def predict(self, trainer, *state):
        return run(trainer, "predict", "--data", self.data, "--batch-size", BATCH,
                   "--seed", 7, *state).stdout

    def test_frozen_programs_read_them_and_training_does_not(self):
        trainer = self.compile_strict(self.source)
        self.check_program(self.source, trainer, self.data, BATCH, STEPS)
        dump, losses = self.train(trainer, "averaged", self.data, "--batch-size", BATCH,
                                  "--checkpoint", self.root / "saved")
        seen = self.predict(trainer, "--init-from", dump)
        self.assertEqual(seen, self.predict(trainer, "--checkpoint", self.root / "saved"))

        # The model without averages has the same losses, and the same predictions where
        # its values are the averages.
        plain = self.root / "plain.mlir"
        plain.write_text(re.sub(r"\s+average\(.*\)$", "", MODEL, flags=re.MULTILINE))
        trainer = programs.compile_model(plain, self.root / "plain", "--numerics=strict")
        self.assertEqual(losses, self.train(trainer, "plain", self.data, "--batch-size",
                                            BATCH)[1])
        held = tensorfile.read(dump)
        values = {"w": held["w.slot.average"], "v": held["v"], "t.keys": held["t.keys"],
                  "t.values": held["t.slot.average"]}
        self.assertNotEqual(values["w"].data, held["w"].data)
        self.assertNotEqual(values["t.values"].data, held["t.values"].data)
        tensorfile.write(self.root / "values.safetensors", values)
        self.assertEqual(seen, self.predict(trainer, "--init-from",
                                            self.root / "values.safetensors"))

    def test_an_average_begins_as_the_value(self):
        """Before the first step, and with a file that has only values, the average equals the
        value."""
        trainer = self.compile_strict(self.source)
        dump = self.root / "values.safetensors"
        run(trainer, "train", "--data", self.data, "--seed", 7, "--batch-size", BATCH,
            "--dump", dump)
        plain = self.root / "plain.mlir"
        plain.write_text(re.sub(r"\s+average\(.*\)$", "", MODEL, flags=re.MULTILINE))
        other = programs.compile_model(plain, self.root / "plain", "--numerics=strict")
        self.assertEqual(self.predict(trainer, "--init-from", dump),
                         self.predict(other, "--init-from", dump))
        first = self.root / "first.safetensors"
        run(trainer, "train", "--data", self.data, "--seed", 7, "--steps", 0, "--dump",
            first, "--dump-slots")
        held = tensorfile.read(first)
        self.assertEqual(held["w.slot.average"].data, held["w"].data)

    def test_servers_hold_them(self):
        """Tests between epochs, which load averages into the trainers, do not change the training.
        """
        units = ("--min-block-elements=64", "--target-block-bytes=256")
        for mode in ("local", "sync", "async"):
            run(PDL_TRANSLATE, self.source, "-o", self.root / mode, "--numerics=strict",
                f"--mode={mode}", *(() if mode == "local" else units))

        def flags(name):
            return ["--data", self.data, "--evaluate-data", self.data, "--seed", 7,
                    "--batch-size", BATCH, "--epochs", 2, "--checkpoint",
                    self.root / f"{name}.saved"]

        def tested(text):
            return re.findall(r"^test MAE \S+", text, re.MULTILINE)

        for mode, trainers in (("sync", 2), ("async", 1)):
            with self.subTest(mode=mode):
                alone = f"alone_{mode}"
                here = run(self.root / "local" / "trainer", "train", *flags(alone),
                           "--replicas", f"{trainers}x1").stdout
                with Cluster(self.root / mode, trainers, 2,
                             [*flags(mode), "--replicas", "1x1"],
                             ["--seed", 7]) as cluster:
                    there = cluster.start().finish()[0]
                run(PDL_CHECKPOINT, "diff", self.root / f"{alone}.saved",
                    self.root / f"{mode}.saved")
                self.assertEqual(len(tested(here)), 1, here)
                self.assertEqual(tested(here), tested(there))


if __name__ == "__main__":
    unittest.main()
