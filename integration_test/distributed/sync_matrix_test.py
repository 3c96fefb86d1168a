# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mode sync gives the bits of mode local for each rule, with and without clip, regularizer and
warm-up, in each topology. Batches that join to the batch of one process give the same numbers,
except for rounding."""

import itertools
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import joined
from cluster import Cluster
from programs import ADULT, PDL_CHECKPOINT, is_nightly, model, run, test_data
from sync_comparison import RATES, STEPS, TOPOLOGIES, SyncComparison, options_text

import tensorfile

# Each group has a tower of its own. All towers have the same initial values and inputs, so they
# differ only in the rule and options.
HEADER = """
module @towers {
  nn.record @person {
    nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
    nn.field @categories : tensor<?x8xi64> hash(#nn.hash<xxh64, salt = slot>) missing("?")
      columns([1, 3, 5, 6, 7, 8, 9, 13])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
  }
  nn.param @scale : tensor<5xf32> init(#nn.constant<0.001>)
"""

STATE = """
  CLIP
  nn.group @gI rule(RULE) rate(RATE) OPTIONS untouched(lazy)
  nn.table @eI : i64 -> tensor<8xf32> in @gI init(#nn.zeros)
  nn.param @wI : tensor<69x1xf32> in @gI init(#nn.constant<0.1>)
  nn.param @bI : tensor<1xf32> in @gI init(#nn.zeros)
"""

# The rule uses counts, which a clip does not change.
COUNTED = """
  CLIP
  nn.group @counted rule(@click_adagrad) rate(0.1) OPTIONS untouched(lazy)
  nn.table @rows : i64 -> tensor<8xf32> in @counted init(#nn.zeros)
"""

BEGIN = """
  nn.program @train reads(@person) {
  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x8xi64>, %label: tensor<?x1xf32>):
    %s = nn.read @scale : tensor<5xf32>
    %n = nn.mul %numbers, %s : tensor<?x5xf32>, tensor<5xf32>
    %t = nn.signed_log1p %n : tensor<?x5xf32>
"""

TOWER = """
    %eI = nn.lookup @eI[%categories] pool(sum) : (tensor<?x8xi64>) -> tensor<?x8x8xf32>
    %fI = nn.flatten %eI from 1 : tensor<?x8x8xf32>
    %xI = nn.concat %fI, %t axis 1 : tensor<?x64xf32>, tensor<?x5xf32>
    %zI = nn.linear %xI, @wI, @bI : (tensor<?x69xf32>) -> tensor<?x1xf32>
"""

COUNTED_TOWER = """
    %rows = nn.lookup @rows[%categories] pool(sum) : (tensor<?x8xi64>) -> tensor<?x8x8xf32>
    %flat = nn.flatten %rows from 1 : tensor<?x8x8xf32>
    %counted = nn.reduce sum %flat axes [1] keep : tensor<?x64xf32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %ones = nn.broadcast %one like %label : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.count @rows[%categories] show(%ones) click(%label) : tensor<?x8xi64>, tensor<?x1xf32>
    %sum = nn.add %towers, %counted : tensor<?x1xf32>, tensor<?x1xf32>
"""

END = """
    %l = nn.sigmoid_cross_entropy %sum, %label : tensor<?x1xf32>
    nn.minimize %l over [GROUPS] : tensor<?x1xf32>
  }
}
"""


def towers(clip):
    """Returns a model with a group for each rule, with and without regularizer and warm-up. All
    groups have a clip of their own, or none has one."""
    kinds = list(itertools.product(RATES, (False, True), (False, True)))
    text = [HEADER]
    for i, (rule, decay, warm_up) in enumerate(kinds):
        text.append(
            STATE.replace("CLIP", f"nn.clip @c{i} : global_norm(0.05)"
                          if clip else "")
            .replace("RULE", rule).replace("RATE", RATES[rule])
            .replace("OPTIONS", options_text(
                f"c{i}" if clip else "", "1.0e-3" if decay else "", warm_up))
            .replace("I", str(i)))
    text.append(COUNTED.replace("CLIP", "nn.clip @own : global_norm(0.05)" if clip else "")
                .replace("OPTIONS", options_text("own" if clip else "", "1.0e-3", False)))
    text.append(BEGIN)
    total = None
    for i in range(len(kinds)):
        text.append(TOWER.replace("I", str(i)))
        if total is None:
            total = f"%z{i}"
            continue
        name = "%towers" if i == len(kinds) - 1 else f"%sum{i}"
        text.append(f"    {name} = nn.add {total}, %z{i} : tensor<?x1xf32>, "
                    "tensor<?x1xf32>")
        total = name
    text.append(COUNTED_TOWER)
    text.append(END.replace("GROUPS", ", ".join(
        [*(f"@g{i}" for i in range(len(kinds))), "@counted"])))
    return "\n".join(text), kinds


class SyncMatrix(SyncComparison):

    def dump(self, checkpoint):
        """Returns the file with the values and slots of the newest checkpoint in
        `checkpoint`.saved."""
        path = self.root / f"{checkpoint}.dump"
        run(PDL_CHECKPOINT, "dump", self.root / f"{checkpoint}.saved", "-o",
            path)
        return path

    def check_towers(self, clip):
        text, kinds = towers(clip)
        source = self.root / "towers.mlir"
        source.write_text(text)
        self.translate(source, blocks=("--min-block-elements=64",
                                       "--target-block-bytes=256"))
        self.check(["--data", ADULT, "--rows", "0:6000", "--batch-size", 32],
                   TOPOLOGIES)
        values = tensorfile.read(self.dump("2x3"))
        # Each sample shows 8 rows. The last batches of epochs are smaller.
        shows, clicks = (sum(values[f"rows.slot.{name}"].data) for name in ("show", "click"))
        self.assertEqual((shows % 8, clicks % 8), (0, 0))
        self.assertGreater(shows, 8 * 0.99 * STEPS * 2 * 2 * 32)
        self.assertGreater(clicks, 0)
        weights = [tuple(values[f"w{i}"].data) for i in range(len(kinds))]
        self.assertEqual(len(set(weights)), len(kinds),
                         "an option has changed nothing")
        return weights

    def test_every_rule_and_option(self):
        """5 rules, with and without clip, regularizer and warm-up."""
        root = self.root
        weights = []
        for clip in (False, True):
            self.root = root / f"clip{clip}"
            self.root.mkdir()
            weights += self.check_towers(clip)
        self.assertEqual(len(set(weights)), len(weights),
                         "a clip has changed nothing")

    def check_model(self, name, data, options):
        """Tests the model `name` with each rule instead of its own, and with `options` for groups
        that have no clip. Without --nightly, each rule has one topology, in turn;
        test_every_rule_and_option has all rules in all topologies, and sync_test.py has these
        models."""
        text = model(name).read_text()
        root = self.root
        for number, (rule, rate) in enumerate(RATES.items()):
            topologies = (TOPOLOGIES if is_nightly() else
                          [TOPOLOGIES[-1 - number % len(TOPOLOGIES)]])
            with self.subTest(rule=rule):
                self.root = root / rule[1:]
                self.root.mkdir()

                def group(match, rule=rule, rate=rate):
                    rest = "clip(@joint)" if "clip(" in match[2] else options
                    return (f"{match[1]} rule({rule}) rate({rate}) {rest} "
                            "untouched(lazy)\n")
                changed, count = re.subn(r"(nn\.group @\w+)(.*)\n", group, text)
                self.assertEqual(count, 2)
                source = self.root / f"{name}.mlir"
                source.write_text(changed)
                self.translate(source)
                self.check(data, topologies)

    def test_wide_deep_with_every_rule(self):
        # All groups have warm-up and decay; there is no clip.
        self.check_model(
            "wide_deep", ["--data", ADULT, "--rows", "0:12000",
                          "--batch-size", 32],
            options_text(decay="1.0e-5", warm_up=True))

    def test_ctr_dnn_with_every_rule(self):
        # The model has a clip of its own, but not with its rule for rows.
        data = test_data("criteo", "kaggle_head10k.tsv.gz")
        self.check_model("ctr_dnn", ["--data", data, "--batch-size", 16],
                         options_text(decay="1.0e-6"))

    def test_two_trainers_are_one_batch(self):
        """2 trainers with B/2 samples per step are compared with one process with B samples, in
        f64."""
        self.translate(model("wide_deep"), "--element-type=f64")

        def flags(name, batch):
            # Without a shuffle, which distributes windows, the batches of a round join to one
            # batch.
            return ["--data", ADULT, "--rows", "0:6000", "--seed", 7,
                    "--batch-size", batch, "--checkpoint",
                    self.root / f"{name}.saved", "--log-losses",
                    self.root / f"{name}.losses"]
        run(self.root / "local" / "trainer", "train", *flags("one", 256))
        with Cluster(self.root / "sync", 2, 2, flags("two", 128),
                     ["--seed", 7]) as cluster:
            cluster.start().finish()
        joined.compare(self, *[
            (self.dump(name), (self.root / f"{name}.losses").read_text())
            for name in ("two", "one")])


if __name__ == "__main__":
    unittest.main()
