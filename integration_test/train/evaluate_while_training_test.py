# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Evaluations within an epoch have the results of `evaluate` with the checkpoint of the same step,
and never change what is trained."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from evaluated_model import (BATCH, EVERY, STEPS, TEST, EvaluatedModelTest, evaluations, test_lines,
                             training)
from programs import fails, run


class EvaluateWhileTraining(EvaluatedModelTest):

    def command(self, *flags):
        return [self.trainer, "train", "--data", self.data, *training(), *flags]

    def check_replicas(self, *replicas):
        """Compares each evaluation with the checkpoint of its step, and the result with that of a
        training without evaluations."""
        name = "-".join(map(str, replicas))
        saved = self.root / f"saved{name}"
        results = []
        for number, flags in enumerate((
                (), (*TEST, "--evaluate-every", EVERY, "--checkpoint", saved, "--checkpoint-keep",
                     0, "--checkpoint-steps", EVERY))):
            dump, losses = self.root / f"{name}{number}", self.root / f"{name}{number}.losses"
            done = run(*self.command(*replicas, *flags, "--dump", dump, "--dump-slots",
                                     "--log-losses", losses))
            results.append((dump.read_bytes(), losses.read_text()))
        self.assertEqual(*results)
        found = evaluations(done.stderr)
        self.assertEqual(sorted(found), list(range(EVERY, STEPS + 1, EVERY)))
        # Later states have other results, so the comparison is meaningful.
        self.assertEqual(len(set(found.values())), len(found))
        for steps, lines in found.items():
            again = run(self.trainer, "evaluate", "--data", self.data, "--checkpoint",
                        saved / f"step-{steps:012}", "--rows", TEST[-1], *replicas,
                        "--batch-size", BATCH)
            self.assertEqual(lines, test_lines(again.stdout), steps)

    def test_one_replica(self):
        self.check_replicas()

    def test_four_replicas(self):
        self.check_replicas("--replicas", "2x2", "--threads", 2)

    def test_workers_without_locks(self):
        """With --hogwild, workers wait for the evaluation."""
        saved = self.root / "hogwild"
        done = run(*self.command(*TEST, "--hogwild", "--replicas", "1x2", "--evaluate-every",
                                 EVERY, "--checkpoint", saved, "--checkpoint-steps", EVERY,
                                 "--checkpoint-keep", 0))
        found = evaluations(done.stderr)
        self.assertEqual(sorted(found), list(range(EVERY, STEPS + 1, EVERY)))
        for steps, lines in found.items():
            again = run(self.trainer, "evaluate", "--data", self.data, "--checkpoint",
                        saved / f"step-{steps:012}", "--rows", TEST[-1], "--replicas", "1x2",
                        "--batch-size", BATCH)
            self.assertEqual(lines, test_lines(again.stdout), steps)

    def test_an_evaluation_at_the_end_of_an_epoch_is_not_repeated(self):
        """The report has the results of the last evaluation, which is of the last step."""
        done = run(*self.command(*TEST, "--evaluate-every", STEPS))
        found = evaluations(done.stderr)
        self.assertEqual(list(found), [STEPS])
        self.assertEqual(found[STEPS], test_lines(done.stdout))

    def test_flags_that_do_not_fit(self):
        for flags, message in (
                (("--evaluate-every", 5), "--evaluate-every needs data to evaluate on; give "
                                          "--evaluate-data"),
                (("--patience", 2), "--patience needs data to evaluate on"),
                ((*TEST, "--monitor", "auc"), "--monitor"),
                ((*TEST, "--patience", 2, "--monitor", "acc"),
                 "--monitor: program @evaluate has no metric 'acc', only @error, @seen")):
            self.assertIn(message, fails(*self.command(*flags), status=2))


if __name__ == "__main__":
    unittest.main()
