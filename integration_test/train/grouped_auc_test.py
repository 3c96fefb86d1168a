# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A metric of groups of samples. Its value equals that of counting the pairs of each group, and
has the same bits for all batch sizes, replicas and interruptions."""

import pathlib
import random
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from folders import SharedFolderTest
from programs import compile_model, run
from waiting import LONG

MODEL = """
module @by_user {
  nn.record @r {
    nn.field @user : tensor<?x1xi64> hash(#nn.hash<xxh64>)
    nn.field @x : tensor<?x1xf32>
    nn.field @y : tensor<?x1xf32>
    nn.field @w : tensor<?x1xf32>
  }
  nn.group @g rule(@sgd) rate(0.125)
  nn.param @scale : tensor<1x1xf32> in @g init(#nn.constant<1.0>)
  nn.metric @auc : #nn.auc<buckets = 64>
  nn.metric @gauc : #nn.grouped_auc
  nn.metric @weighted : #nn.grouped_auc
  nn.program @train reads(@r) {
  ^bb0(%user: tensor<?x1xi64>, %x: tensor<?x1xf32>, %y: tensor<?x1xf32>, %w: tensor<?x1xf32>):
    %z = nn.linear %x, @scale : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    OBSERVE
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@r) {
  ^bb0(%user: tensor<?x1xi64>, %x: tensor<?x1xf32>, %y: tensor<?x1xf32>, %w: tensor<?x1xf32>):
    %z = nn.linear %x, @scale : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
    nn.observe @gauc(%z, %y) group %user : tensor<?x1xf32>
    nn.observe @weighted(%z, %y) group %user weight %w : tensor<?x1xf32>
  }
}
"""
OBSERVE = "nn.observe @weighted(%z, %y) group %user weight %w : tensor<?x1xf32>"


def grouped_auc(rows):
    """Returns the value, the number of users that do not count, and the number of all users. A row
    is (user, x, y, w)."""
    total = weight = 0.0
    rows = [row for row in rows if row[3]]  # others are no samples
    users = sorted({row[0] for row in rows})
    skipped = 0
    for user in users:
        own = [row[1:] for row in rows if row[0] == user]
        pairs = right = 0.0
        for x, y, w in own:
            for other, label, factor in own:
                if y > label:
                    pairs += w * factor
                    right += w * factor * ((x > other) + 0.5 * (x == other))
        if pairs == 0:
            skipped += 1
            continue
        own_weight = sum(w for _, _, w in own)
        total += own_weight * right / pairs
        weight += own_weight
    return total / weight, skipped, len(users)


class GroupedAuc(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = cls.root / "model.mlir"
        cls.model.write_text(MODEL.replace("OBSERVE", OBSERVE))
        cls.trainer = compile_model(cls.model, cls.root / "local", "--numerics=strict")
        numbers = random.Random(11)
        # Some users have one sample, some have samples in the whole file, and some have equal
        # labels.
        cls.rows = [(f"u{min(numbers.randrange(40), numbers.randrange(60))}",
                     numbers.randrange(-8, 9) / 4, numbers.randrange(3) // 2,
                     numbers.randrange(4) / 4) for _ in range(700)]
        cls.data = cls.root / "rows.csv"
        cls.data.write_text("".join(f"{u},{x},{y},{w}\n" for u, x, y, w in cls.rows))
        cls.start = cls.root / "start.safetensors"
        run(cls.trainer, "train", "--data", cls.data, "--steps", 0, "--dump", cls.start)

    def evaluate(self, *flags):
        done = run(self.trainer, "evaluate", "--data", self.data, "--init-from", self.start,
                   *flags)
        return re.findall(r"^test grouped .*$", done.stdout, re.MULTILINE)

    def test_counts_the_pairs_of_each_user(self):
        lines = []
        for name, rows in (("gauc", [(*row[:3], 1) for row in self.rows]),
                           ("weighted", self.rows)):
            value, skipped, users = grouped_auc(rows)
            self.assertGreater(skipped, 0)
            lines.append(f"test grouped AUC {value:.4f} (@{name}; {skipped} of {users} "
                         "groups have labels of one kind and do not count)")
        self.assertEqual(self.evaluate(), lines)
        for flags in (("--batch-size", 1), ("--batch-size", 700), ("--replicas", "1x3"),
                      ("--replicas", "2x2", "--batch-size", 16, "--threads", 2)):
            self.assertEqual(self.evaluate(*flags), lines, flags)

    def test_a_training_goes_on_from_a_checkpoint(self):
        for replicas in ("1x1", "2x2"):
            flags = ("--data", self.data, "--batch-size", 10, "--replicas", replicas,
                     "--shuffle-window", 90, "--epochs", 2)
            whole = run(self.trainer, "train", *flags).stdout
            saved = self.root / f"saved-{replicas}"
            stopped = run(self.trainer, "train", *flags, "--steps", 9, "--checkpoint", saved)
            self.assertNotEqual(stopped.stdout, whole)
            resumed = run(self.trainer, "train", *flags, "--checkpoint", saved,
                          "--checkpoint-steps", 5, "--resume").stdout
            lines = [re.findall(r"^train grouped .*$", text, re.MULTILINE)
                     for text in (whole, resumed)]
            self.assertTrue(lines[0])
            self.assertEqual(*lines)
            # The second epoch does not count samples of the first one.
            self.assertEqual(len({line.split("; ")[1] for line in lines[0]}), 1)

    def test_a_training_that_observes_none_goes_on(self):
        """Groups that only @evaluate observes are in no checkpoint."""
        trainer = self.translated("local", "") / "trainer"
        flags = ("--data", self.data, "--batch-size", 10, "--steps")
        saved = self.root / "saved-without"
        run(trainer, "train", *flags, 9, "--checkpoint", saved)
        resumed = run(trainer, "train", *flags, 20, "--checkpoint", saved, "--resume",
                      "--dump", self.root / "resumed.safetensors")
        self.assertNotIn("damaged", resumed.stderr)
        run(trainer, "train", *flags, 20, "--dump", self.root / "whole.safetensors")
        self.assertEqual((self.root / "resumed.safetensors").read_bytes(),
                         (self.root / "whole.safetensors").read_bytes())

    def test_keeps_no_more_samples_than_allowed(self):
        def refused(*flags):
            done = subprocess.run(
                [str(part) for part in (self.trainer, *flags, "--data", self.data)],
                capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("metrics of groups keep more samples than --max-grouped-samples ",
                          done.stderr)
            self.assertIn("allow more, test fewer rows", done.stderr)
        # One metric of groups stores each sample, the other each sample with a weight.
        weighted = sum(1 for row in self.rows if row[3])
        self.assertLess(weighted, 700)
        both = 700 + weighted
        evaluate = ("evaluate", "--init-from", self.start, "--max-grouped-samples")
        refused(*evaluate, both - 1)
        refused(*evaluate, both - 1, "--replicas", "2x2")
        self.assertTrue(self.evaluate("--max-grouped-samples", both))
        refused("train", "--max-grouped-samples", weighted - 1, "--epochs", 2)
        # Each epoch starts without samples.
        run(self.trainer, "train", "--max-grouped-samples", weighted, "--epochs", 2,
            "--data", self.data)

    def translated(self, mode, observe):
        source = self.root / f"{mode}.mlir"
        source.write_text(MODEL.replace("OBSERVE", observe))
        folder = self.root / f"{mode}{len(observe)}"
        compile_model(source, folder, f"--mode={mode}", "--numerics=strict")
        return folder

    def test_one_trainer_with_servers(self):
        programs = self.translated("sync", OBSERVE)
        flags = ("--data", self.data, "--batch-size", 16, "--replicas", "1x2")
        local = run(self.trainer, "train", *flags).stdout
        with Cluster(programs, 1, 1, flags) as cluster:
            output = cluster.start().finish()[0]
        # A log contains both streams: the line of the epoch and the report.
        found = [set(re.findall(r"train grouped .*", text)) for text in (local, output)]
        self.assertEqual(len(found[0]), 1)
        self.assertEqual(*found)

    def assert_refused(self, cluster, why):
        for rank in range(cluster.counts[0]):
            cluster.start_trainer(rank)
        cluster.start_server(0)
        for trainer in cluster.trainers:
            self.assertNotEqual(trainer.wait(LONG), 0)
            self.assertIn(
                f"program @train observes a metric of groups, whose samples {why}; leave "
                "--on-failure=wait out, or observe it in a program that one process runs",
                trainer.output)

    def test_several_trainers(self):
        """Users with samples in several trainers, a training that resumes within an epoch, and a
        limit for all trainers together."""
        programs = self.translated("sync", OBSERVE)
        saved = self.root / "several"
        flags = ("--data", self.data, "--batch-size", 16, "--epochs", 2)
        local = run(self.trainer, "train", *flags, "--replicas", "2x1")

        def found(which, text):
            return set(re.findall(rf"{which} grouped AUC [0-9.]+ \(@\w+; [^)]*\)", text))

        test = ("--evaluate-data", self.data)
        with Cluster(programs, 2, 2, (*flags, *test)) as cluster:
            whole = cluster.start().finish()
        # There is one value for each epoch; the log has both.
        wanted, tested = found("train", local.stdout + local.stderr), found("test", whole[0])
        self.assertEqual((len(wanted), len(tested)), (2, 2))
        for output in whole:
            self.assertEqual(found("train", output), wanted)
        # Stop within the second epoch, which has 22 steps. The first trainer has the samples that
        # were stored before, in addition to its half of the limit.
        checkpoint = ("--checkpoint", saved, "--max-grouped-samples", 700)
        for more in (("--steps", 31), ("--resume",)):
            with Cluster(programs, 2, 2, (*flags, *checkpoint, *more),
                         (*checkpoint[:2], *more[:more == ("--resume",)])) as cluster:
                resumed = cluster.start().finish()
        for output in resumed:
            self.assertLessEqual(found("train", output), wanted)
            self.assertIn(*found("train", output), found("train", local.stdout))
        # A trainer that exceeds its share stops immediately, not when all trainers meet after the
        # epoch.
        with Cluster(programs, 2, 1, (*flags, "--max-grouped-samples", 300)) as cluster:
            cluster.start_server(0)
            for rank in range(2):
                cluster.start_trainer(rank)
            said = ""
            for trainer in cluster.trainers:
                self.assertEqual(trainer.wait(LONG), 1)
                said += trainer.output
            self.assertRegex(said, r"metrics of groups keep more samples than "
                             r"--max-grouped-samples 300 allows this trainer, 150, in .*batch 1\d")
            self.assertNotIn("epoch 1: ", said)

    def test_several_trainers_of_mode_async(self):
        """No step is common to all trainers. All samples are counted, and those of the last test
        are ranked by the state that all have trained."""
        programs = self.translated("async", OBSERVE)
        flags = ("--data", self.data, "--batch-size", 16)
        with Cluster(programs, 2, 1, flags) as cluster:
            outputs = cluster.start().finish()
        _, skipped, users = grouped_auc(self.rows)
        self.assertIn(f"; {skipped} of {users} groups have labels of one kind", outputs[0])

    def test_a_trainer_that_rejoins_is_refused(self):
        wait = ("--on-failure", "wait")
        saved = ("--checkpoint", self.root / "wait")
        with Cluster(self.translated("sync", OBSERVE), 1, 1,
                     ("--data", self.data, *wait, *saved), wait) as job:
            self.assert_refused(job, "are lost with a trainer that is restarted within its job")

    def test_only_programs_that_observe_are_refused(self):
        # The message suggests this: train in a job, and test in one process.
        programs = self.translated("sync", "")
        saved = self.root / "job"
        with Cluster(programs, 2, 1, ("--data", self.data, "--checkpoint", saved),
                     ("--checkpoint", saved)) as cluster:
            cluster.start().finish()
        done = run(self.trainer, "evaluate", "--data", self.data, "--checkpoint", saved)
        self.assertIn("test grouped AUC", done.stdout)


if __name__ == "__main__":
    unittest.main()
