# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mode async with --on-failure=wait. Trainers that are killed at random times and restarted push
each batch once. Real processes."""

import pathlib
import random
import re
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from folders import SharedFolderTest
from programs import ADULT, PDL_CHECKPOINT, PDL_TRANSLATE, is_nightly, run
from small_model import METRICS, OBSERVATIONS, small_model

WAIT = ["--on-failure", "wait"]
KILLS = 25
SEEDS = range(8 if is_nightly() else 2)


def figures(output):
    return [line for line in output.splitlines()
            if line.startswith(("train ", "test "))]


def await_rejoin(process):
    """Waits until the process has rejoined the job once more than before, or has ended."""
    before = process.output.count("came back")
    end = time.monotonic() + 20
    while (process.popen.poll() is None and time.monotonic() < end and
           process.output.count("came back") == before):
        time.sleep(0.02)


class AsyncRecovery(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        text = small_model("@adam", clip=True, decay=True, warm_up=True)
        before, after = "  nn.program @train", "    nn.minimize"
        text = text.replace(before, METRICS + before)
        text = text.replace(after, OBSERVATIONS + after)
        source = cls.root / "small.mlir"
        source.write_text(text)
        for mode in ("local", "async"):
            run(PDL_TRANSLATE, source, "-o", cls.root / mode,
                "--numerics=strict", f"--mode={mode}")

    def killed(self, name, trainers, workers, servers, flags, seed, epochs,
               at_once=False):
        """Runs a job whose trainers are killed. Returns logs and outputs."""
        choice = random.Random(seed)
        logs = self.root / f"{name}.logs"
        logs.mkdir()
        with Cluster(self.root / "async", trainers, servers,
                     ["--data", ADULT, "--batch-size", 32, "--seed", 7,
                      "--shuffle-window", 1000, "--replicas", f"1x{workers}",
                      "--checkpoint", self.root / name, "--epochs", epochs,
                      *flags, *WAIT],
                     ["--seed", 7, "--log-applied", logs, *WAIT]) as cluster:
            cluster.start()
            for kill in range(KILLS):
                time.sleep(choice.uniform(0.02, 0.3))
                ranks = (range(trainers) if at_once
                         else [choice.randrange(trainers)])
                for rank in ranks:
                    cluster.kill_and_restart_trainer(rank, f"epoch {epochs}")
                # Some trainers are killed again while they start.
                if kill % 3 != 0:
                    await_rejoin(cluster.trainers[ranks[0]])
            outputs = cluster.finish()
        return [logs / f"applied-{rank}.log" for rank in range(servers)], outputs

    def test_one_worker_has_the_bits_of_local(self):
        """Compares values, slots, losses of all steps, and metrics."""
        epochs = 40
        flags = ["--rows", "0:6000", "--checkpoint-steps", 200, "--log-losses"]
        whole = run(self.root / "local" / "trainer", "train", "--data", ADULT,
                    "--batch-size", 32, "--seed", 7, "--shuffle-window", 1000,
                    "--checkpoint", self.root / "whole", "--epochs", epochs, *flags,
                    self.root / "whole.losses")
        expected = figures(whole.stdout)
        self.assertTrue(expected)
        comebacks = 0
        for seed in SEEDS:
            with self.subTest(seed=seed):
                name = f"one{seed}"
                losses = self.root / f"{name}.losses"
                _, outputs = self.killed(name, 1, 1, 2, [*flags, losses], seed,
                                         epochs)
                comebacks += outputs[0].count("came back to the job")
                self.assertEqual(figures(outputs[0]), expected)
                self.assertEqual(losses.read_text(),
                                 (self.root / "whole.losses").read_text())
                run(PDL_CHECKPOINT, "diff", self.root / "whole",
                    self.root / name)
        self.assertGreater(comebacks, len(SEEDS))

    def check_counts(self, name, trainers, workers, servers, seed, **options):
        # In the last round, only some workers have a batch.
        rows, epochs = 6016, 40
        logs, outputs = self.killed(
            name, trainers, workers, servers,
            ["--rows", f"0:{rows}", "--checkpoint-steps", 250], seed, epochs,
            **options)
        for output in outputs:
            self.assertIn(f", {epochs * rows} samples", output)
        # An interrupted save leaves a folder with another name.
        newest = max(path for path in (self.root / name).glob("step-*")
                     if path.name.removeprefix("step-").isdigit())
        text = run(PDL_CHECKPOINT, "inspect", newest).stdout
        counts = re.findall(r"^group @\S+: (\d+) updates$", text, re.M)
        self.assertEqual(set(counts), {str(epochs * rows // 32)})
        again = self.root / f"{name}.again"
        run(self.root / "async" / "pserver", "replay", *logs, "-o", again)
        run(PDL_CHECKPOINT, "diff", self.root / name, again)
        return sum(o.count("came back to the job") for o in outputs)

    def test_each_push_counts_once(self):
        comebacks = 0
        for seed in SEEDS:
            for shape in ((2, 2, 2), (3, 3, 1)):
                with self.subTest(seed=seed, shape=shape):
                    comebacks += self.check_counts(
                        f"some{seed}_{shape[0]}", *shape, seed)
        self.assertGreater(comebacks, len(SEEDS))

    def test_all_trainers_at_once(self):
        self.assertGreater(self.check_counts("all", 2, 2, 2, 5, at_once=True),
                           4)


if __name__ == "__main__":
    unittest.main()
