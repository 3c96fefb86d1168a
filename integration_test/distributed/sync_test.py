# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mode sync gives the bits of mode local. Real processes over gRPC are compared with one process
that has as many replicas: losses, metrics, and values and slots after 200 steps.
sync_matrix_test.py tests all rules and options."""

import gzip
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from programs import ADULT, PDL_CHECKPOINT, model, run, test_data
from small_model import METRICS, OBSERVATIONS, small_model
from sync_comparison import TOPOLOGIES, SyncComparison


class Sync(SyncComparison):

    def check_small(self, rule, clip=False, decay=False, warm_up=False,
                    untouched="lazy", topologies=TOPOLOGIES):
        source = self.root / "small.mlir"
        source.write_text(small_model(rule, clip, decay, warm_up, untouched))
        self.translate(source)
        self.check(["--data", ADULT, "--rows", "0:6000", "--batch-size", 64],
                   topologies)

    def test_sgd(self):
        self.check_small("@sgd")

    def test_adam(self):
        self.check_small("@adam", clip=True, decay=True, warm_up=True)

    def test_metrics(self):
        """All trainers report the same metrics, which equal those of one process with as many
        replicas."""
        before, after = "  nn.program @train", "    nn.minimize"
        text = small_model("@sgd", False, False, False)
        text = text.replace(before, METRICS + before)
        text = text.replace(after, OBSERVATIONS + after)
        source = self.root / "small.mlir"
        source.write_text(text)
        self.translate(source)
        self.check(["--data", ADULT, "--rows", "0:6000", "--batch-size", 64],
                   [(1, 1), (2, 2)])
        report = run(self.root / "local" / "trainer", "train", "--data", ADULT,
                     "--rows", "0:6000", "--batch-size", 64).stdout
        for line in ("AUC", "RMSE", "accuracy", "bucket error", "NDCG@3", "MRR"):
            self.assertRegex(report, rf"train {line} 0\.\d+ \(@")

    def test_one_trainer_reports_the_figures_of_the_job(self):
        """The others say what they have done."""
        source = self.root / "small.mlir"
        source.write_text(small_model("@sgd", False, False, False))
        self.translate(source)
        with Cluster(self.root / "sync", 2, 1,
                     ["--data", ADULT, "--rows", "0:1280", "--batch-size", 64, "--epochs", 2,
                      "--seed", 7], ["--seed", 7], figures=False) as cluster:
            first, second = cluster.start().finish()
        for epoch in (1, 2):
            self.assertRegex(first, rf"epoch {epoch}: train loss 0\.\d+")
            self.assertRegex(second, rf"epoch {epoch}: ended after 10 steps")
        self.assertRegex(first, r"(?m)^train loss 0\.\d+")
        self.assertNotIn("loss", second)
        for output in (first, second):
            self.assertIn("trained 20 steps, 2560 samples in", output)

    def test_a_damaged_checkpoint_is_not_half_used(self):
        """Servers skip damaged state. Trainers, which do not read it, use the checkpoint that the
        servers use."""
        source = self.root / "small.mlir"
        source.write_text(small_model("@sgd", False, False, False))
        self.translate(source)
        data = ["--data", ADULT, "--rows", "0:6000", "--batch-size", 64]

        def job(steps):
            return Cluster(
                self.root / "sync", 1, 2,
                [*self.flags(data, "damaged", steps), "--resume"],
                ["--seed", 7, "--checkpoint", self.root / "damaged.saved",
                 "--resume"])

        for steps in (5, 10):
            with job(steps) as cluster:
                cluster.start().finish()
        newest = max((self.root / "damaged.saved").glob("step-*"))
        part = next(newest.glob("dense*.safetensors"))
        content = bytearray(part.read_bytes())
        content[-1] ^= 1
        part.write_bytes(content)
        with job(15) as cluster:
            output, = cluster.start().finish()
        self.assertRegex(output, f"warning: passed over {newest}, which servers have found "
                                 "damaged; the training goes on from .*step-000000000005")
        self.assertIn("resumed after 5 steps", output)

    def test_a_bad_row_costs_nothing_that_was_trained(self):
        """One trainer finds a bad row. All processes end after the same step with a checkpoint.
        The resumed job gives the bits of a job that skipped the row."""
        source = self.root / "small.mlir"
        source.write_text(small_model("@adam", True, True, True))
        self.translate(source)
        with gzip.open(ADULT, "rt") as file:
            rows = file.readlines()[:1500]
        (self.root / "part0.csv").write_text("".join(rows[:700]))
        # The row belongs to the fifth round of two batches.
        spoilt = rows[700:1240] + ["what\n"] + rows[1240:]
        (self.root / "part1.csv").write_text("".join(spoilt))

        def job(name, *more):
            saved = self.root / f"{name}.saved"
            return Cluster(
                self.root / "sync", 2, 2,
                ["--data", self.root / "part0.csv", self.root / "part1.csv",
                 "--seed", 7, "--batch-size", 64, "--replicas", "1x2",
                 "--epochs", 2, "--checkpoint", saved, "--resume", *more],
                ["--seed", 7, "--checkpoint", saved, "--resume"])

        with job("bad") as cluster:
            cluster.start()
            failed, other = cluster.trainers[1], cluster.trainers[0]
            self.assertEqual(failed.wait(), 1, failed.output)
            self.assertIn("part1.csv:541:", failed.output)
            self.assertEqual(other.wait(), 128 + signal.SIGTERM, other.output)
            for server in cluster.servers:
                server.wait()
        newest = max((self.root / "bad.saved").glob("step-*"))
        self.assertEqual(newest.name, "step-000000000004")
        for name in ("bad", "whole"):
            with job(name, "--max-bad-rows", 1) as cluster:
                cluster.start().finish()
        run(PDL_CHECKPOINT, "diff", self.root / "bad.saved",
            self.root / "whole.saved")

    def test_rows_without_gradient(self):
        """All rows of the table decay in each step, except those that are created because the next
        step reads them."""
        self.check_small("@sgd", decay=True, untouched="dense",
                         topologies=[(2, 2)])

    def test_rows_without_gradient_with_clip(self):
        self.check_small("@sgd", clip=True, decay=True, untouched="dense",
                         topologies=[(2, 2)])

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
        # An incomplete checkpoint is not used.
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

    def test_bf16(self):
        """Servers apply gradients of products with rounded factors in the same way as one process.
        """
        data = test_data("criteo", "kaggle_head10k.tsv.gz")
        self.translate(model("ctr_dnn"), "--compute=bf16")
        self.check(["--data", data, "--batch-size", 32, "--emulate-bf16"],
                   [(1, 1)])


if __name__ == "__main__":
    unittest.main()
