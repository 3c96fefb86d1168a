# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Properties of each rule of the standard library. A rule is compiled to a loop over a dense block
and to a kernel over rows. With the same values and gradients, both give the same bits over 20
steps. With rate 0, values stay unchanged. Servers apply rules and clips as one process does."""

import array
import json
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import programs
from cluster import Cluster
from folders import FolderTest
from programs import ORACLES, PDL_CHECKPOINT, PDL_TRANSLATE, compile_model, run
from twins import OF_PARAMETERS, ROWS, WIDTH, model_text, rules, write_data

import tensorfile
from tensorfile import Tensor

DECAY = "decay(#nn.l2<0.01>, #nn.l1<0.001>)"


class Rules(FolderTest):

    def write_data(self, draw):
        return write_data(self.root / "data.safetensors", draw)

    def train_twins(self, twins, draw):
        """Trains a model for STEPS steps. Returns the initial values and the dump."""
        source = self.root / "twins.mlir"
        source.write_text(model_text(twins))
        trainer = compile_model(source, self.root / "out", "--numerics=strict")
        values = array.array("f", (draw.gauss(0, 1) for _ in range(ROWS * WIDTH)))
        initial = {}
        for name in twins:
            initial[f"p_{name}"] = Tensor("F32", [ROWS, WIDTH], values)
            initial[f"t_{name}.keys"] = Tensor("I64", [ROWS],
                                               array.array("q", range(ROWS)))
            initial[f"t_{name}.values"] = Tensor("F32", [ROWS, WIDTH], values)
        tensorfile.write(self.root / "init.safetensors", initial)
        run(trainer, "train", "--data", self.write_data(draw), "--init-from",
            self.root / "init.safetensors", "--batch-size", ROWS, "--dump",
            self.root / "dump.safetensors", "--dump-slots")
        return values, tensorfile.read(self.root / "dump.safetensors")

    def test_ftrl_learns_at_any_batch(self):
        """The published settings are for one sample per step, so gradients are sums."""
        text = programs.model("logistic_regression").read_text(encoding="utf-8")
        source = self.root / "ftrl.mlir"
        source.write_text(text.replace(
            "rule(@adagrad) rate(1.0e-1)",
            "rule(@ftrl {l1 = 1.0, l2 = 1.0}) rate(1.0e-1) untouched(lazy)"))
        trainer = compile_model(source, self.root / "out", "--numerics=strict")
        found = {}
        for batch in (1, 16, 256, 4096):
            said = run(trainer, "train", "--data", programs.ADULT, "--rows", "0%:80%",
                       "--evaluate-rows", "80%:", "--batch-size", batch)
            found[batch] = programs.metric(said.stdout + said.stderr, "test AUC")
        print(f"@ftrl on Adult, test AUC by batch: {found}")
        for value in found.values():
            self.assertGreater(value, 0.895)

    def test_dense_and_rows_have_equal_bits(self):
        slots = 0
        for rule in rules():
            if rule in OF_PARAMETERS:
                continue
            with self.subTest(rule=rule):
                twins = {"plain": f"rule(@{rule}) rate(0.05)",
                         "decayed": f"rule(@{rule}) rate(0.05) {DECAY}",
                         "still": f"rule(@{rule}) rate(0.0) {DECAY}"}
                values, dump = self.train_twins(twins, random.Random(rule))
                for name in twins:
                    left = dump[f"p_{name}"].data.tobytes()
                    self.assertEqual(left, dump[f"t_{name}.values"].data.tobytes())
                    # With rate 0, values stay unchanged.
                    self.assertEqual(left == values.tobytes(), name == "still")
                    for slot in [n for n in dump if n.startswith(f"p_{name}.slot.")]:
                        self.assertEqual(dump[slot].data.tobytes(),
                                         dump["t" + slot[1:]].data.tobytes(), slot)
                        slots += 1
        self.assertGreater(slots, 0)

    def check_modes(self, name, source, data, batch):
        """Compares the checkpoints after all batches of the data with those of one process: for
        sync with two trainers and three servers, and for async with one worker and two servers."""
        root = self.root / name
        root.mkdir()
        units = ("--min-block-elements=64", "--target-block-bytes=256")
        for mode in ("local", "sync", "async"):
            run(PDL_TRANSLATE, source, "-o", root / mode, "--numerics=strict",
                f"--mode={mode}", *(() if mode == "local" else units))

        def flags(name):
            return ["--data", data, "--seed", 7, "--batch-size", batch,
                    "--checkpoint", root / f"{name}.saved"]

        for mode, trainers, servers in (("sync", 2, 3), ("async", 1, 2)):
            with self.subTest(model=name, mode=mode):
                alone = f"local{trainers}"
                run(root / "local" / "trainer", "train", *flags(alone),
                    "--replicas", f"{trainers}x1")
                with Cluster(root / mode, trainers, servers,
                             [*flags(mode), "--replicas", "1x1"],
                             ["--seed", 7]) as cluster:
                    cluster.start().finish()
                run(PDL_CHECKPOINT, "diff", root / f"{alone}.saved",
                    root / f"{mode}.saved")

    def test_servers_give_the_bits_of_one_process(self):
        """All rules are in one job."""
        source = self.root / "all.mlir"
        source.write_text(model_text(
            {rule: f"rule(@{rule}) rate(0.05)" for rule in rules()}))
        self.check_modes("all", source, self.write_data(random.Random(1)), ROWS)

    def test_servers_own_rows_of_a_parameter(self):
        """The parameter has four blocks of 64 rows, and rules store a value for each row. A
        parameter with a rule for whole parameters has one block."""
        rows = 200
        source = self.root / "blocks.mlir"
        source.write_text(model_text(
            {rule: f"rule(@{rule}) rate(0.05)"
             for rule in ("adam", "rowwise_adagrad", "rowwise_lamb", "lamb", "lars")}, rows=rows))
        data = write_data(self.root / "blocks.safetensors", random.Random(2), rows=rows,
                          steps=6)
        self.check_modes("blocks", source, data, rows // 2)

    def test_servers_clip_as_one_process(self):
        """Golden cases of clips. One of them limits gradients only in some steps and for some
        symbols."""
        for name in ("clip", "clip_norm", "clip_value"):
            case = ORACLES / "goldens" / "ops" / name
            batch = json.loads((case / "case.json").read_text())["batch_size"]
            self.check_modes(name, case / "model.mlir", case / "data.safetensors", batch)


if __name__ == "__main__":
    unittest.main()
