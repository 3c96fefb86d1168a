# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Early stopping, and the checkpoint of the best evaluation. An interrupted training that is resumed
stops at the same step as one that is not."""

import json
import os
import pathlib
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from evaluated_model import (BATCH, ROWS, TEST, EvaluatedModelTest, evaluations, test_lines,
                             training)
from programs import PDL_CHECKPOINT, checkpoints_in, fails, run
from waiting import LONG

# @seen grows with the number of rows, and less is better. So the first evaluation is the best.
WORSE = ("--patience", 2, "--monitor", "seen")
EVERY, STOP = 5, 15
REASON = (f"stopped early after {STOP} steps: 2 consecutive evaluations have not improved on the "
          "best, @seen ")


class EarlyStopping(EvaluatedModelTest):

    def train(self, *flags, train=training()):
        return run(self.trainer, "train", "--data", self.data, *train, *TEST, *flags)

    def evaluate(self, checkpoint):
        return test_lines(run(self.trainer, "evaluate", "--data", self.data, "--rows", TEST[-1],
                              "--batch-size", BATCH, "--checkpoint", checkpoint).stdout)

    def dump(self, name, *flags, **more):
        """Trains, and returns the report and the bytes of the dump."""
        dump = self.root / f"{name}.dump"
        done = self.train(*flags, "--dump", dump, "--dump-slots", **more)
        return done.stdout, dump.read_bytes()

    def test_stops_when_a_metric_gets_worse(self):
        report, stopped = self.dump("stopped", "--evaluate-every", EVERY, *WORSE)
        self.assertIn(f"{REASON}", report)
        self.assertIn(f"trained {STOP} steps", report)
        self.assertEqual(stopped, self.dump("shorter", train=training(STOP))[1])

    def test_goes_on_while_a_metric_improves(self):
        report, _ = self.dump("whole", "--evaluate-every", EVERY, "--patience", 2)
        self.assertNotIn("stopped early", report)
        self.assertIn("trained 30 steps", report)
        # An improvement of the error is never as large as this.
        report, _ = self.dump("delta", "--evaluate-every", EVERY, "--patience", 2, "--min-delta",
                              100, "--monitor", "@error")
        self.assertRegex(report, rf"stopped early after {STOP} steps: .* @error \d")

    def test_a_resumed_training_stops_at_the_same_step(self):
        flags = ("--evaluate-every", EVERY, *WORSE)
        _, expected = self.dump("uninterrupted", *flags)
        for steps in (3, EVERY, 7, 2 * EVERY, 13):
            with self.subTest(steps=steps):
                saved = self.root / f"resumed{steps}"
                self.train(*flags, "--checkpoint", saved, train=training(steps))
                report, dump = self.dump(f"resumed{steps}", *flags, "--checkpoint", saved,
                                         "--resume")
                self.assertIn(REASON, report)
                self.assertIn(f"trained {STOP - steps} steps", report)
                self.assertEqual(dump, expected)

    def test_a_training_that_has_stopped_does_not_go_on(self):
        saved = self.root / "ended"
        flags = ("--evaluate-every", EVERY, *WORSE, "--checkpoint", saved)
        self.train(*flags)
        report = self.train(*flags, "--resume").stdout
        self.assertIn(f"nothing left to train: the training {REASON}", report)
        self.assertIn("give a larger --patience to continue", report)
        self.assertIn("trained 0 steps", report)
        more = ("--evaluate-every", EVERY, "--patience", 3, "--monitor", "seen")
        report = self.train(*more, "--checkpoint", saved, "--resume").stdout
        self.assertIn(f"stopped early after {STOP + EVERY} steps: 3 consecutive", report)

    def test_evaluations_after_epochs_count(self):
        """Without --evaluate-every, each test after an epoch counts. If the training is interrupted
        between an epoch and its test, the resumed training tests first."""
        train = ("--rows", f"0:{ROWS}", "--batch-size", 96, "--seed", 3, "--epochs", 9)
        flags = ("--patience", 2, "--min-delta", 100)
        saved = self.root / "epochs"
        report, expected = self.dump("epochs", *flags, "--checkpoint", saved, "--checkpoint-keep",
                                     0, train=train)
        self.assertIn("stopped early after 30 steps", report)
        # Checkpoints after epochs contain their evaluation; this one is from before it.
        first = checkpoints_in(saved)[0]
        for later in checkpoints_in(saved)[1:]:
            for file in later.iterdir():
                file.unlink()
            later.rmdir()
        self.assertEqual(first.name, "step-000000000010")
        self.assertEqual(self.progress(first)["evaluations"]["steps"], 10)
        report, dump = self.dump("epochs", *flags, "--checkpoint", saved, "--resume", train=train)
        self.assertIn("stopped early after 30 steps", report)
        self.assertEqual(dump, expected)

    def progress(self, checkpoint):
        return json.loads((checkpoint / "manifest.json").read_text())["checkpoint"]["progress"]

    def test_the_best_checkpoint_is_kept(self):
        for name, flags in (("plain", ()), ("deltas", ("--checkpoint-deltas", 2))):
            with self.subTest(name):
                saved = self.root / f"best-{name}"
                done = self.train("--evaluate-every", EVERY, "--keep-best", "seen",
                                  "--checkpoint", saved, "--checkpoint-keep", 1,
                                  "--checkpoint-steps", 4, *flags)
                self.assertEqual(os.readlink(saved / "best"), f"step-{EVERY:012}")
                self.assertIn(saved / f"step-{EVERY:012}", checkpoints_in(saved))
                # The folder itself still stands for the newest checkpoint.
                found = evaluations(done.stderr)
                self.assertEqual(self.evaluate(saved / "best"), found[EVERY])
                self.assertEqual(self.evaluate(saved), found[30])
                run(PDL_CHECKPOINT, "prune", saved, "--keep", 1)
                self.assertEqual(self.evaluate(saved / "best"), found[EVERY])
                dump = self.root / "best.dump"
                run(PDL_CHECKPOINT, "dump", saved / "best", "-o", dump)
                run(PDL_CHECKPOINT, "diff", dump, saved / f"step-{EVERY:012}")

    def test_the_best_checkpoint_changes(self):
        """The error decreases, so each evaluation is the best one so far. Without
        --checkpoint-steps, checkpoints are saved for them alone."""
        saved = self.root / "improves"
        for resume in ((), ("--resume",)):
            steps = 30 if resume else 12
            self.train("--evaluate-every", EVERY, "--keep-best", "@error", "--checkpoint", saved,
                       "--checkpoint-keep", 2, *resume, train=training(steps))
            self.assertEqual(os.readlink(saved / "best"),
                             f"step-{steps // EVERY * EVERY:012}")
        self.assertEqual([path.name for path in checkpoints_in(saved)],
                         ["step-000000000025", "step-000000000030"])

    # An epoch has ten steps, and the error decreases.
    EPOCHS = ("--rows", f"0:{ROWS}", "--batch-size", 96, "--seed", 3)

    def start_on_a_full_disk(self, *flags):
        """Starts a training in which no checkpoint can be saved."""
        command = (self.trainer, "train", "--data", self.data, *self.EPOCHS, *TEST, "--keep-best",
                   "error", "--resume", *flags)
        return subprocess.Popen(
            [str(part) for part in command], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, restore_signals=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                  (2000, resource.RLIM_INFINITY)))

    def test_a_checkpoint_that_was_not_saved_is_not_marked(self):
        """The second epoch is better, but the saves after its last step fail."""
        saved = self.root / "unsaved"
        flags = ("--keep-best", "error", "--checkpoint", saved, "--checkpoint-keep", 1)
        self.train(*flags, train=(*self.EPOCHS, "--epochs", 1))
        self.assertEqual(os.readlink(saved / "best"), "step-000000000010")
        with self.start_on_a_full_disk("--checkpoint", saved, "--checkpoint-steps", 10, "--steps",
                                       25, "--max-failed-saves", 1) as process:
            errors = process.communicate()[1]
        self.assertEqual(process.returncode, 3, errors)
        self.assertIn("was not saved", errors)
        self.assertEqual(os.readlink(saved / "best"), "step-000000000010")
        self.evaluate(saved / "best")

    def test_a_repeated_save_is_marked(self):
        """The last epoch is the best, and its save fails at first."""
        saved = self.root / "repeated"
        self.train("--keep-best", "error", "--checkpoint", saved,
                   train=(*self.EPOCHS, "--epochs", 1))
        with self.start_on_a_full_disk("--checkpoint", saved, "--epochs", 2,
                                       "--max-failed-saves", 9) as process:
            errors = ""
            while "was not saved" not in errors:
                line = process.stderr.readline()
                self.assertTrue(line, errors)
                errors += line
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE,
                             (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            errors += process.communicate()[1]
        self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(checkpoints_in(saved)[-1].name, "step-000000000020")
        self.assertEqual(os.readlink(saved / "best"), "step-000000000020")

    def test_a_resumed_training_repairs_the_link(self):
        """A training may have been killed after a save, but before it marked the checkpoint."""
        saved = self.root / "repaired"
        flags = ("--evaluate-every", EVERY, "--keep-best", "seen", "--checkpoint", saved)
        self.train(*flags, train=training(2 * EVERY))
        (saved / "best").unlink()
        (saved / "best").symlink_to(f"step-{2 * EVERY:012}")
        self.train(*flags, "--resume", "--checkpoint-keep", 1)
        self.assertEqual(os.readlink(saved / "best"), f"step-{EVERY:012}")
        self.evaluate(saved / "best")

    def test_warns_if_no_evaluation_has_counted(self):
        saved = self.root / "uncounted"
        warning = "--keep-best has marked no checkpoint, because the test after an incomplete epoch"
        flags = ("--keep-best", "seen", "--checkpoint", saved)
        self.assertIn(warning, self.train(*flags, train=training(3)).stderr)
        self.assertFalse((saved / "best").exists())
        more = self.train(*flags, "--resume", "--evaluate-every", EVERY, train=training(EVERY))
        self.assertNotIn(warning, more.stderr)

    def test_a_pipe_is_not_tested_twice(self):
        """The checkpoint has no evaluation of its state, so a resumed training tests it, and again
        after the next epoch."""
        saved, pipe, rows = self.root / "piped", self.root / "pipe.csv", self.root / "rows.csv"
        rows.write_text("".join(f"{i % 3},{i % 5},1,{i % 7},{i % 11},{i % 2}\n" for i in range(40)))
        flags = ("--data", rows, "--batch-size", 4, "--checkpoint", saved)
        run(self.trainer, "train", *flags)
        os.mkfifo(pipe)
        with subprocess.Popen(["cp", rows, pipe]) as writer:
            said = fails(self.trainer, "train", *flags, "--epochs", 2, "--evaluate-data", pipe,
                         "--patience", 2, "--resume", status=None, timeout=LONG)
            writer.kill()
        self.assertIn("the tests after epochs and of the checkpoint", said)

    def test_an_object_store_has_no_links(self):
        self.assertIn("with --keep-best, --checkpoint s3://bucket/saved: must be a path",
                      fails(self.trainer, "train", "--data", self.data, *training(), *TEST,
                            "--keep-best", "error", "--checkpoint", "s3://bucket/saved",
                            status=2))


if __name__ == "__main__":
    unittest.main()
