# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluations within an epoch in jobs: all trainers evaluate the state after the same step. In
modes whose steps are rounds, they do not change what is trained."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from evaluated_model import (BATCH, EVERY, MODEL, ROWS, STEPS, TEST, evaluations, test_lines,
                             training, write_data)
from folders import SharedFolderTest
from job_modes import MODES
from programs import PDL_CHECKPOINT, PDL_TRANSLATE, compile_model, run

TRAINERS = 2


class EvaluateJobs(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.source = cls.root / "model.mlir"
        cls.source.write_text(MODEL)
        cls.local = compile_model(cls.source, cls.root / "local", "--numerics=strict")
        cls.data = cls.root / "data.safetensors"
        write_data(cls.data)

    def job(self, mode, *flags, saved, steps=STEPS, resumes=False, train=()):
        """Trains in a mode with two trainers of two workers each. Returns their outputs."""
        folder = self.root / mode
        if not folder.exists():
            run(PDL_TRANSLATE, self.source, "-o", folder, f"--mode={mode}", "--numerics=strict")
        how = MODES[mode]
        with Cluster(folder, TRAINERS, how.servers,
                     ["--data", self.data, *(train or training(steps)), "--replicas", "1x2",
                      "--checkpoint", saved, *how.trainer_flags, *flags],
                     ["--seed", 3, *how.server_flags,
                      *(("--checkpoint", saved, "--resume") if resumes else ())],
                     peers=how.peers) as cluster:
            return cluster.start().finish()

    def evaluate(self, checkpoint):
        return test_lines(run(self.local, "evaluate", "--data", self.data, "--rows", TEST[-1],
                              "--batch-size", BATCH, "--replicas", f"{TRAINERS}x2",
                              "--checkpoint", checkpoint).stdout)

    def check(self, mode):
        """Compares each evaluation with the checkpoint of its step."""
        saved = self.root / f"{mode}.saved"
        outputs = self.job(mode, *TEST, "--evaluate-every", EVERY, "--checkpoint-steps", EVERY,
                           "--checkpoint-keep", 0, saved=saved)
        all_found = [evaluations(output) for output in outputs]
        found = all_found[0]
        self.assertEqual(sorted(found), list(range(EVERY, STEPS + 1, EVERY)), outputs[0])
        for other in all_found[1:]:
            self.assertEqual(other, found)
        for steps, lines in found.items():
            self.assertEqual(lines, self.evaluate(saved / f"step-{steps:012}"), (mode, steps))
        return saved

    def check_rounds(self, mode):
        saved = self.check(mode)
        plain = self.root / f"{mode}.plain"
        self.job(mode, saved=plain)
        self.assertIn("equal", run(PDL_CHECKPOINT, "diff", saved, plain).stdout)

    def test_sync(self):
        self.check_rounds("sync")

    def test_collective(self):
        self.check_rounds("collective")

    def test_hybrid(self):
        self.check_rounds("hybrid")

    def test_async(self):
        self.check("async")

    def test_half_async(self):
        self.check("half-async")

    def test_quorum(self):
        self.check("quorum")

    def stop(self, mode):
        """Stops a job early, and interrupts and resumes another one. Both stop at the same step.
        @seen grows with the number of rows, so the first evaluation is the best."""
        flags = (*TEST, "--evaluate-every", 5, "--patience", 2, "--monitor", "seen", "--keep-best",
                 "seen", "--checkpoint-keep", 1)
        folders = []
        for name, lasts in (("once", (STEPS,)), ("twice", (7, STEPS))):
            saved = self.root / f"{mode}.{name}"
            folders.append(saved)
            for number, last in enumerate(lasts):
                outputs = self.job(mode, *flags, *(("--resume",) if number else ()), saved=saved,
                                   steps=last, resumes=number > 0)
            for output in outputs:
                self.assertIn("stopped early after 15 steps: 2 consecutive evaluations have not "
                              "improved on the best, @seen", output)
            best = saved / "best"
            self.assertEqual(best.resolve().name, "step-000000000005")
            self.assertTrue((best / "manifest.json").exists())
        return folders

    def test_sync_stops_early(self):
        once, twice = self.stop("sync")
        self.assertIn("equal", run(PDL_CHECKPOINT, "diff", once, twice).stdout)

    def test_collective_stops_early(self):
        self.stop("collective")

    def test_hybrid_stops_early(self):
        self.stop("hybrid")

    def test_async_stops_early(self):
        self.stop("async")

    def test_half_async_stops_early(self):
        self.stop("half-async")

    def test_quorum_stops_early(self):
        self.stop("quorum")

    def test_geo_stops_early(self):
        """The tests after epochs of ten steps decide. The error decreases, but by less than
        --min-delta."""
        saved = self.root / "geo.epochs"
        outputs = self.job("geo", *TEST, "--epochs", 5, "--patience", 2, "--min-delta", 100,
                           "--monitor", "error", "--keep-best", "error", "--checkpoint-keep", 1,
                           saved=saved,
                           train=("--rows", f"0:{ROWS}", "--batch-size", ROWS // 40, "--seed", 3))
        for output in outputs:
            self.assertIn("stopped early after 30 steps: 2 consecutive evaluations have not "
                          "improved on the best, @error", output)
        best = saved / "best"
        self.assertEqual(best.resolve().name, "step-000000000030")
        self.assertTrue((best / "manifest.json").exists())

    def test_jobs_that_cannot(self):
        """Trainers refuse the flag with a reason."""
        for mode, flags, reason in (
                ("geo", (), "--evaluate-every is not for mode geo, in which trainers have "
                            "different copies"),
                ("sync", ("--on-failure", "wait"),
                 "--evaluate-every is not for --on-failure=wait")):
            folder = self.root / mode
            if not folder.exists():
                run(PDL_TRANSLATE, self.source, "-o", folder, f"--mode={mode}",
                    "--numerics=strict")
            how = MODES[mode]
            with Cluster(folder, 1, 1,
                         ["--data", self.data, *training(), *TEST, "--evaluate-every", EVERY,
                          "--checkpoint", self.root / "none", *how.trainer_flags, *flags],
                         ["--seed", 3, *how.server_flags, *flags]) as cluster:
                cluster.start()
                trainer, = cluster.trainers
                self.assertEqual(trainer.wait(), 2, trainer.output)
                self.assertIn(reason, trainer.output)


if __name__ == "__main__":
    unittest.main()
