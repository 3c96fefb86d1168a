# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""If a number of the model becomes infinite or NaN, the training ends with an error message that
names it, in one process and with servers. No saved file is lost, and no damaged state is saved."""

import math
import pathlib
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import programs
from cluster import Cluster
from folders import FolderTest
from not_finite_models import COUNTS, DIVIDES, GROWS, SCALES, rows, text
from waiting import LONG

import tensorfile

# The value that the metric observes and that `predict` writes is NaN for a negative x.
LOGARITHM = """
module @tiny {
  nn.record @sample {
    nn.field @label : tensor<?x1xf32>
    nn.field @x : tensor<?x1xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<1x1xf32> in @g init(#nn.constant<1.0>)
  nn.metric @auc : #nn.auc<buckets = 64>
  nn.program @train reads(@sample) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over @g : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@sample) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %p = nn.log %z : tensor<?x1xf32>
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@sample except @label) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %p = nn.log %z : tensor<?x1xf32>
    nn.return %p : tensor<?x1xf32>
  }
}
"""


class NotFinite(FolderTest):

    def setUp(self):
        super().setUp()
        self.data = self.write("data.csv", rows(40))

    def write(self, name, lines):
        path = self.root / name
        path.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
        return path

    def compile(self, source, *flags):
        file = self.root / "model.mlir"
        file.write_text(source)
        return programs.compile_model(file, self.root / "out", "--numerics=strict",
                                      *flags)

    def stops(self, command, *sentences):
        done = subprocess.run([str(a) for a in command], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for message in sentences:
            self.assertIn(message, done.stderr)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)

    def check_stop(self, source, steps, *sentences, data=None):
        """Checks that the training stops after `steps` good steps. The checkpoint of the last good
        step stays the newest one, and is complete."""
        trainer = self.compile(source)
        saved = self.root / "saved"
        self.stops([trainer, "train", "--data", data or self.data, "--batch-size",
                    4, "--replicas", "1x1", "--epochs", 5, "--checkpoint", saved,
                    "--checkpoint-steps", 1], *sentences)
        kept = sorted(p for p in saved.iterdir() if p.is_dir()) \
            if saved.exists() else []
        if steps == 0:
            self.assertFalse(kept, kept)
            return
        shown = programs.run(programs.BUILD / "bin" / "pdl-checkpoint", "inspect",
                             kept[-1]).stdout
        self.assertIn(f"group @wide: {steps} updates", shown)
        dump = programs.run(programs.BUILD / "bin" / "pdl-checkpoint", "dump",
                            kept[-1], "-o", self.root / "kept.safetensors")
        self.assertEqual(dump.returncode, 0)

    def test_schedule_that_ends_at_what_the_rule_divides_by(self):
        self.check_stop(
            text(rules=DIVIDES, group="rule(@divides) rate(4.0) "
                                      "schedule(@cosine {steps = 3.0})"),
            3, "group @wide cannot be updated at its step 4",
            "its rate is 0, by which its rule divides", "nothing of this step")

    def test_ftrl_stands_where_its_rate_is_zero(self):
        trainer = self.compile(text(
            group="rule(@ftrl) rate(0.5) schedule(@cosine {steps = 3.0})",
            start="0.0"))
        dumps = []
        for steps in (4, 9):
            dumps.append(self.root / f"{steps}.safetensors")
            done = programs.run(trainer, "train", "--data", self.data, "--batch-size", 4,
                                "--replicas", "1x1", "--steps", steps, "--dump", dumps[-1])
            # The schedule ends with step 3.
            self.assertEqual(done.stderr.count("group @wide: the learning rate is 0"), 1)
        first, last = (tensorfile.read(dump)["w"].data for dump in dumps)
        self.assertEqual(first, last)
        self.assertTrue(any(first))

    def test_rate_beyond_f32(self):
        file = self.root / "bad.mlir"
        file.write_text(text(group="rule(@sgd) rate(1.0e39)"))
        self.stops([programs.PDL_TRANSLATE, file, "-o", self.root / "bad"],
                   "bad.mlir:", "at the first update")

    def test_scalar_of_once(self):
        self.check_stop(
            text(rules=GROWS, group="rule(@grows) rate(0.01)"), 2,
            "group @wide cannot be updated at its step 3",
            "its value 1 of region 'once' of rule @grows is inf")

    def test_values_that_overflow(self):
        self.check_stop(
            text(rules=SCALES, group="rule(@scales) rate(1.0)"), 1,
            "the rule of group @wide gave @w a value or slot that is not finite "
            "at the group's step 2")

    def test_row_of_a_table(self):
        self.check_stop(
            text(rules=COUNTS, deep="rule(@counts) rate(0.001) untouched(lazy)"),
            3, "the rule of group @deep gave key", "of @emb",
            "at the group's step 4", data=self.write(
                "one.csv", [(1, 1.0, 0.1, 0.2, 77)] * 40))

    def test_negative_weight(self):
        lines = rows(40)
        lines[9] = (1, -1.0, 0.5, 0.5, 3)
        data = self.write("negative.csv", lines)
        trainer = self.compile(text())
        for flags in (("train", "--replicas", "1x1"), ("train", "--replicas", "2x1")):
            self.stops([trainer, *flags, "--data", data, "--batch-size", 4,
                        "--shuffle-window", 0], "a weight is negative or not finite",
                       "batch", "weights are finite and at least 0")

    def warns_of_weights(self, trainer, data):
        done = programs.run(trainer, "train", "--replicas", "1x1", "--data", data,
                            "--batch-size", 4)
        self.assertRegex(done.stderr, f"all weights in .*{data.name} are 0, so that "
                         "nothing was trained")

    def test_weights_that_are_all_zero(self):
        data = self.write("zeros.csv", rows(40, weight=0.0))
        trainer = self.compile(text())
        self.warns_of_weights(trainer, data)
        # Some weights of 0 cause no warning.
        data = self.write("some.csv", rows(8, weight=0.0) + rows(8))
        done = programs.run(trainer, "train", "--replicas", "1x1", "--data", data,
                            "--batch-size", 4, "--shuffle-window", 0)
        self.assertNotIn("nan", done.stdout)

    def test_weights_that_round_to_zero(self):
        data = self.write("tiny.csv", rows(40, weight=1e-46))
        self.warns_of_weights(self.compile(text()), data)

    # --- frozen programs ----------------------------------------------------

    def test_predictions(self):
        trainer = self.compile(LOGARITHM)
        good = self.write("good.csv", [(1, 0.5), (0, 0.25), (1, 0.75)])
        model = self.root / "model"
        programs.run(trainer, "train", "--data", good, "--steps", 0, "--dump", model)
        flags = ("--replicas", "1x1", "--batch-size", 2, "--init-from", model)
        done = programs.run(trainer, "evaluate", "--data", good, *flags)
        self.assertRegex(done.stdout, r"test AUC [0-9.]+ \(@auc; exact to [0-9.]+\)")
        # Their logarithms are below 0.
        self.assertEqual(done.stderr.count("metric @auc expects probabilities, and 3 "
                                           "predictions so far lie outside of [0, 1]"), 1)
        # Labels of -1 and 1 with a cross entropy. There is one warning for both epochs.
        signs = self.write("signs.csv", [(1, 0.5), (-1, 0.25), (1, 0.75), (-1, 0.5)])
        for data, count in ((good, 0), (signs, 1)):
            done = programs.run(trainer, "train", "--data", data, "--epochs", 2, *flags)
            self.assertEqual(done.stderr.count("2 samples so far have a label outside of "
                                               "[0, 1] under a loss that takes labels from 0 to 1"), count)
            self.assertNotIn("labels.range", done.stdout + done.stderr)
        bad = self.write("bad.csv", [(1, 0.5), (0, 0.25), (1, 0.75), (0, -1.0)])
        message = "metric @auc observed a number that is not finite in batch 1 of"
        self.stops([trainer, "evaluate", "--data", bad, *flags], message)
        # If a test fails, no trained step is lost.
        self.stops([trainer, "train", "--data", good, "--evaluate-data", bad,
                    "--replicas", "1x1", "--batch-size", 2, "--dump",
                    self.root / "kept"], message)
        self.assertIn("w", tensorfile.read(self.root / "kept"))
        done = programs.run(trainer, "predict", "--data", bad, "--init-from", model)
        self.assertEqual(done.stdout.splitlines()[-1], "nan")
        self.assertIn("outputs of 1 rows are not finite, first of row 3, counted "
                      "from 0", done.stderr)

    def test_values_of_init_from(self):
        trainer = self.compile(LOGARITHM)
        good = self.write("good.csv", [(1, 0.5), (0, 0.25)])
        model = self.root / "model"
        programs.run(trainer, "train", "--data", good, "--steps", 0, "--dump", model)
        content = bytearray(model.read_bytes())
        content[-4:] = struct.pack("<f", math.nan)
        model.write_bytes(content)
        for command in ("train", "evaluate", "predict"):
            self.stops([trainer, command, "--data", good, "--init-from", model],
                       "tensor 'w' has a number that is not finite at [0, 0]")

    def test_a_metric_without_a_value_says_why(self):
        trainer = self.compile(LOGARITHM)
        good = self.write("good.csv", [(1, 0.5), (1, 0.25)])
        model = self.root / "model"
        programs.run(trainer, "train", "--data", good, "--steps", 0, "--dump", model)
        shown = programs.run(trainer, "evaluate", "--data", good, "--init-from",
                             model).stdout
        self.assertIn("test AUC undefined: no negative labels of any weight (@auc)",
                      shown)

    # --- servers -----------------------------------------------------------

    def check_job(self, mode, source, *sentences):
        self.compile(source, f"--mode={mode}")
        saved = self.root / "saved"
        with Cluster(self.root / "out", 2, 2,
                     ["--data", self.data, "--batch-size", 4, "--replicas", "1x1",
                      "--epochs", 5, "--checkpoint", saved]) as cluster:
            cluster.start()
            for process in cluster.processes():
                self.assertEqual(process.wait(LONG), 1, process.output)
            trainers = "".join(t.output for t in cluster.trainers)
            servers = "".join(s.output for s in cluster.servers)
        for message in sentences:
            self.assertIn(message, trainers)
            self.assertIn(message, servers)
        if saved.exists():
            self.assertFalse([p for p in saved.iterdir() if p.is_dir()])

    def test_scalar_on_servers(self):
        for mode in ("sync", "async"):
            with self.subTest(mode=mode):
                self.check_job(mode, text(rules=GROWS,
                                          group="rule(@grows) rate(0.01)"),
                               "group @wide cannot be updated at its step 3")

    def test_new_value_on_servers(self):
        for mode in ("sync", "async"):
            with self.subTest(mode=mode):
                self.check_job(
                    mode, text(rules=COUNTS,
                               deep="rule(@counts) rate(0.001) untouched(lazy)"),
                    "the rule of group @deep gave key")


if __name__ == "__main__":
    unittest.main()
