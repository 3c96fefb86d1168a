# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mode sync gives the bits of mode local: real processes over gRPC, and one
process with as many replicas; losses, metrics, and after 200 steps values and
slots compared."""

import pathlib
import subprocess
import tempfile
import unittest

from cluster import Cluster
from programs import ADULT, BUILD, PDL_TRANSLATE, model, run, test_data

PDL_CHECKPOINT = BUILD / "bin" / "pdl-checkpoint"
STEPS = 200
# Trainers and servers; each trainer has two workers.
TOPOLOGIES = [(1, 1), (2, 1), (2, 2), (2, 3)]

# Small enough for every rule: a table, a parameter of several blocks, a vector,
# and a parameter that is read but never trained.
SMALL = """
module @small {
  nn.record @person {
    nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
    nn.field @categories : tensor<?x8xi64> hash(#nn.hash<xxh64, salt = slot>) missing("?")
      columns([1, 3, 5, 6, 7, 8, 9, 13])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
  }
  CLIP
  nn.group @dense rule(RULE) rate(RATE) OPTIONS
  nn.group @sparse rule(RULE) rate(RATE) OPTIONS untouched(lazy)
  nn.table @emb : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.1, 0.1>)
  nn.param @w1 : tensor<133x70xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<70xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<70x1xf32> in @dense init(#nn.xavier)
  nn.param @scale : tensor<5xf32> init(#nn.constant<0.001>)
  nn.program @train reads(@person) {
  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x8xi64>, %label: tensor<?x1xf32>):
    %e = nn.lookup @emb[%categories] pool(sum) : (tensor<?x8xi64>) -> tensor<?x8x16xf32>
    %f = nn.flatten %e from 1 : (tensor<?x8x16xf32>) -> tensor<?x128xf32>
    %s = nn.read @scale : tensor<5xf32>
    %n = nn.mul %numbers, %s : (tensor<?x5xf32>, tensor<5xf32>) -> tensor<?x5xf32>
    %t = nn.signed_log1p %n : tensor<?x5xf32>
    %x = nn.concat %f, %t axis 1 : (tensor<?x128xf32>, tensor<?x5xf32>) -> tensor<?x133xf32>
    %h = nn.linear %x, @w1, @b1 act(relu) : (tensor<?x133xf32>) -> tensor<?x70xf32>
    %z = nn.linear %h, @w2 : (tensor<?x70xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }
}
"""

RATES = {"@sgd": "0.05", "@momentum": "0.01", "@adagrad": "0.05",
         "@adam": "0.002", "@ftrl": "0.05"}


def small_model(rule, clip, decay, warm_up, untouched="lazy"):
    options = []
    if warm_up:
        options.append("schedule(@warm_up {steps = 50.0})")
    if decay:
        options.append("decay(#nn.l2<1.0e-4>)")
    if clip:
        options.append("clip(@joint)")
    return (SMALL.replace("CLIP", "nn.clip @joint : global_norm(0.5)"
                          if clip else "")
            .replace("RULE", rule).replace("RATE", RATES[rule])
            .replace("OPTIONS", " ".join(options))
            .replace("untouched(lazy)", f"untouched({untouched})"))


class Sync(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def translate(self, source):
        for mode, flags in (("local", []),
                            ("sync", ["--min-block-elements=1024",
                                      "--target-block-bytes=16384"])):
            run(PDL_TRANSLATE, source, "-o", self.root / mode,
                "--numerics=strict", f"--mode={mode}", *flags)

    def flags(self, data, name, steps=STEPS):
        return [*data, "--seed", 7, "--shuffle-window", 1000, "--steps", steps,
                "--log-losses", self.root / f"{name}.losses",
                "--checkpoint", self.root / f"{name}.saved"]

    def metrics(self, output):
        lines = [line for line in output.splitlines()
                 if line.startswith("train ")]
        self.assertTrue(lines, output)
        return lines

    def check(self, data, topologies):
        local, metrics = {}, {}
        for trainers, servers in topologies:
            one, name = f"local{trainers}", f"{trainers}x{servers}"
            if trainers not in local:
                done = run(self.root / "local" / "trainer", "train",
                           *self.flags(data, one), "--replicas",
                           f"{trainers}x2")
                local[trainers] = (self.root / f"{one}.losses").read_text()
                metrics[trainers] = self.metrics(done.stdout)
                self.assertEqual(len(local[trainers].split()), STEPS)
            with Cluster(self.root / "sync", trainers, servers,
                         [*self.flags(data, name), "--replicas", "1x2"],
                         ["--seed", 7]) as cluster:
                outputs = cluster.start().finish()
            # All trainers write the same file: what one wrote is what each did.
            self.assertEqual((self.root / f"{name}.losses").read_text(),
                             local[trainers])
            for output in outputs:
                self.assertEqual(self.metrics(output), metrics[trainers])
            run(PDL_CHECKPOINT, "diff", self.root / f"{one}.saved",
                self.root / f"{name}.saved")
        # Other replicas are another result, so the comparison means something.
        self.assertEqual(len(set(local.values())), len(local))

    def check_small(self, rule, topologies=((2, 2),), clip=False, decay=False,
                    warm_up=False, untouched="lazy"):
        self.root = pathlib.Path(self.folder.name, rule)
        self.root.mkdir()
        source = self.root / "small.mlir"
        source.write_text(small_model(rule, clip, decay, warm_up, untouched))
        self.translate(source)
        self.check(["--data", ADULT, "--rows", "0:6000", "--batch-size", 64],
                   topologies)

    def test_sgd(self):
        self.check_small("@sgd", TOPOLOGIES)

    def test_momentum(self):
        self.check_small("@momentum", warm_up=True)

    def test_adagrad(self):
        self.check_small("@adagrad", decay=True)

    def test_adam(self):
        self.check_small("@adam", TOPOLOGIES, clip=True, decay=True,
                         warm_up=True)

    def test_ftrl(self):
        self.check_small("@ftrl")

    def test_rows_without_gradient(self):
        """All rows of the table decay in each step, but those that the next
        step reads first are new in that step."""
        self.check_small("@sgd", decay=True, untouched="dense")

    def test_rows_without_gradient_with_clip(self):
        self.check_small("@sgd", clip=True, decay=True, untouched="dense")

    def test_every_rule_with_clip(self):
        for rule in ("@sgd", "@momentum", "@adagrad", "@ftrl"):
            with self.subTest(rule=rule):
                self.check_small(rule, clip=True)

    def test_checkpoints_go_from_cluster_to_cluster(self):
        """50 steps on 2 servers, 20 on 3, 15 in one process, 15 on 1 server."""
        source = self.root / "small.mlir"
        source.write_text(small_model("@adam", True, True, True))
        self.translate(source)
        data = ["--data", ADULT, "--rows", "0:6000", "--batch-size", 64]
        local = [self.root / "local" / "trainer", "train"]
        run(*local, *self.flags(data, "whole", 100), "--replicas", "2x2")

        def go_on(servers, steps, *resume):
            flags = self.flags(data, "parts", steps)
            with Cluster(self.root / "sync", 2, servers,
                         [*flags, "--replicas", "1x2", *resume],
                         ["--seed", 7, "--checkpoint",
                          self.root / "parts.saved", *resume]) as cluster:
                cluster.start().finish()

        go_on(2, 50)
        go_on(3, 70, "--resume")
        run(*local, *self.flags(data, "parts", 85), "--replicas", "2x2",
            "--resume")
        go_on(1, 100, "--resume")
        run(PDL_CHECKPOINT, "diff", self.root / "whole.saved",
            self.root / "parts.saved")
        # Half a checkpoint is none.
        newest = max((self.root / "parts.saved").glob("step-*"))
        next(newest.glob("dense*.safetensors")).unlink()
        done = subprocess.run([PDL_CHECKPOINT, "inspect", newest],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout)

    def test_wide_deep(self):
        self.translate(model("wide_deep"))
        self.check(["--data", ADULT, "--rows", "0:20000", "--batch-size", 64],
                   TOPOLOGIES)

    def test_ctr_dnn(self):
        data = test_data("criteo", "kaggle_head10k.tsv.gz")
        self.translate(model("ctr_dnn"))
        self.check(["--data", data, "--batch-size", 32], TOPOLOGIES)


if __name__ == "__main__":
    unittest.main()
