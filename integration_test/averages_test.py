# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Frozen programs read the averages of groups that keep one, in the interpreter, in a
process with its own state and through servers, while training goes on from the values
themselves."""

import array
import random
import re
import unittest

import exactness
import programs
import tensorfile
from cluster import Cluster
from programs import PDL_TRANSLATE, run
from tensorfile import Tensor

PDL_CHECKPOINT = programs.BUILD / "bin" / "pdl-checkpoint"
BATCH, STEPS, ROWS = 8, 6, 70
MODEL = f"""module @averaged {{
  nn.record @r {{
    nn.field @x : tensor<?x{ROWS}xf32>
    nn.field @id : tensor<?x1xi64>
    nn.field @label : tensor<?x1xf32>
  }}
  nn.metric @error : #nn.mae
  nn.group @dense rule(@adam) rate(0.05) average(@ema {{decay = 0.75}})
  nn.group @sparse rule(@adagrad) rate(0.25) untouched(lazy)
    average(@model_average {{least = 2.0, most = 4.0, share = 0.5}})
  nn.group @plain rule(@sgd) rate(0.0625)
  nn.param @w : tensor<{ROWS}x2xf32> in @dense init(#nn.truncated_normal<0.0, 0.5>)
  nn.table @t : i64 -> tensor<2xf32> in @sparse init(#nn.truncated_normal<0.0, 0.5>)
  nn.param @v : tensor<2x1xf32> in @plain init(#nn.uniform<-1.0, 1.0>)

  nn.func private @z(%x: tensor<?x{ROWS}xf32>, %id: tensor<?x1xi64>) -> tensor<?x1xf32> {{
    %a = nn.linear %x, @w act(tanh) : (tensor<?x{ROWS}xf32>) -> tensor<?x2xf32>
    %e = nn.lookup @t[%id] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %b = nn.flatten %e from 1 : tensor<?x1x2xf32>
    %s = nn.add %a, %b : tensor<?x2xf32>, tensor<?x2xf32>
    %z = nn.linear %s, @v : (tensor<?x2xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }}
  nn.program @train reads(@r) {{
  ^bb0(%x: tensor<?x{ROWS}xf32>, %id: tensor<?x1xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%x, %id) : (tensor<?x{ROWS}xf32>, tensor<?x1xi64>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %label : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse, @plain] : tensor<?x1xf32>
  }}
  nn.program @evaluate frozen reads(@r) {{
  ^bb0(%x: tensor<?x{ROWS}xf32>, %id: tensor<?x1xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%x, %id) : (tensor<?x{ROWS}xf32>, tensor<?x1xi64>) -> tensor<?x1xf32>
    nn.observe @error(%z, %label) : tensor<?x1xf32>, tensor<?x1xf32>
  }}
  nn.program @predict frozen reads(@r) {{
  ^bb0(%x: tensor<?x{ROWS}xf32>, %id: tensor<?x1xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%x, %id) : (tensor<?x{ROWS}xf32>, tensor<?x1xi64>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }}
}}
"""


class Averages(exactness.ExactnessTest):

    def setUp(self):
        super().setUp()
        self.source = self.path / "model.mlir"
        self.source.write_text(MODEL)
        draw = random.Random(5)
        count = BATCH * STEPS
        self.data = self.path / "data.safetensors"
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
                                  "--checkpoint", self.path / "saved")
        seen = self.predict(trainer, "--init-from", dump)
        self.assertEqual(seen, self.predict(trainer, "--checkpoint", self.path / "saved"))

        # The model without averages has the same losses, and the same predictions where
        # its values are the averages.
        plain = self.path / "plain.mlir"
        plain.write_text(re.sub(r"\s+average\(.*\)$", "", MODEL, flags=re.MULTILINE))
        trainer = programs.compile_model(plain, self.path / "plain", "--numerics=strict")
        self.assertEqual(losses, self.train(trainer, "plain", self.data, "--batch-size",
                                            BATCH)[1])
        held = tensorfile.read(dump)
        values = {"w": held["w.slot.average"], "v": held["v"], "t.keys": held["t.keys"],
                  "t.values": held["t.slot.average"]}
        self.assertNotEqual(values["w"].data, held["w"].data)
        self.assertNotEqual(values["t.values"].data, held["t.values"].data)
        tensorfile.write(self.path / "values.safetensors", values)
        self.assertEqual(seen, self.predict(trainer, "--init-from",
                                            self.path / "values.safetensors"))

    def test_an_average_begins_as_the_value(self):
        """Before the first step, and where a file has values alone."""
        trainer = self.compile_strict(self.source)
        dump = self.path / "values.safetensors"
        run(trainer, "train", "--data", self.data, "--seed", 7, "--batch-size", BATCH,
            "--dump", dump)
        plain = self.path / "plain.mlir"
        plain.write_text(re.sub(r"\s+average\(.*\)$", "", MODEL, flags=re.MULTILINE))
        other = programs.compile_model(plain, self.path / "plain", "--numerics=strict")
        self.assertEqual(self.predict(trainer, "--init-from", dump),
                         self.predict(other, "--init-from", dump))
        first = self.path / "first.safetensors"
        run(trainer, "train", "--data", self.data, "--seed", 7, "--steps", 0, "--dump",
            first, "--dump-slots")
        held = tensorfile.read(first)
        self.assertEqual(held["w.slot.average"].data, held["w"].data)

    def test_servers_hold_them(self):
        """Tests between the epochs, which bring averages to the trainers, leave the
        training as it is."""
        units = ("--min-block-elements=64", "--target-block-bytes=256")
        for mode in ("local", "sync", "async"):
            run(PDL_TRANSLATE, self.source, "-o", self.path / mode, "--numerics=strict",
                f"--mode={mode}", *(() if mode == "local" else units))

        def flags(name):
            return ["--data", self.data, "--evaluate-data", self.data, "--seed", 7,
                    "--batch-size", BATCH, "--epochs", 2, "--checkpoint",
                    self.path / f"{name}.saved"]

        def tested(text):
            return re.findall(r"^test MAE \S+", text, re.MULTILINE)

        for mode, trainers in (("sync", 2), ("async", 1)):
            with self.subTest(mode=mode):
                alone = f"alone_{mode}"
                here = run(self.path / "local" / "trainer", "train", *flags(alone),
                           "--replicas", f"{trainers}x1").stdout
                with Cluster(self.path / mode, trainers, 2,
                             [*flags(mode), "--replicas", "1x1"],
                             ["--seed", 7]) as cluster:
                    there = cluster.start().finish()[0]
                run(PDL_CHECKPOINT, "diff", self.path / f"{alone}.saved",
                    self.path / f"{mode}.saved")
                self.assertEqual(len(tested(here)), 1, here)
                self.assertEqual(tested(here), tested(there))


if __name__ == "__main__":
    unittest.main()
