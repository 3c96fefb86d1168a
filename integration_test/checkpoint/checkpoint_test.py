# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A training that is interrupted in any way and then resumed computes the same bits as one that is
not: values, slots, losses and metrics."""

import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from programs import ADULT, PDL_CHECKPOINT, compile_model, model, run

STEPS = 100

# With 4,000 rows, 100 steps of 128 samples are more than three epochs.
DATA = ["--data", ADULT, "--rows", "0:4000", "--batch-size", 32, "--epochs", 9]
VARIANTS = {
    "plain": ["--replicas", "1x4"],
    "shuffled": ["--replicas", "1x4", "--shuffle-window", 700],
    "replicas": ["--replicas", "2x2", "--shuffle-window", 700,
                 "--threads", 2],
}


def checkpoints(folder):
    """Returns the steps of the checkpoints in a folder, in ascending order."""
    if not folder.exists():
        return []
    return sorted(int(found.group(1)) for found in
                  (re.fullmatch(r"step-(\d+)", name)
                   for name in os.listdir(folder)) if found)


def last_report(text):
    """Returns the printed lines with the loss and metrics of the last epoch."""
    return re.findall(r"^(?:train|test) .*$", text, re.MULTILINE)


class Checkpoints(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.trainers = {
            name: compile_model(model(name), cls.root / name,
                                "--numerics=strict")
            for name in ("wide_deep", "logistic_regression")}
        cls.trainer = cls.trainers["wide_deep"]
        cls.whole = {}

    def command(self, *flags, trainer=None):
        return [str(part) for part in
                (trainer or self.trainer, "train", *DATA, "--seed", 5, *flags)]

    def long(self, *flags, epochs=9000):
        """Returns a command with more epochs than other tests use."""
        command = self.command(*flags)
        command[command.index("--epochs") + 1] = str(epochs)
        return command

    def uninterrupted(self, variant, trainer=None):
        """Returns the dump, losses and report of 100 steps in one run."""
        key = variant, trainer
        if key not in self.whole:
            dump = self.root / f"whole-{len(self.whole)}"
            losses = self.root / f"whole-{len(self.whole)}.losses"
            done = run(*self.command("--steps", STEPS, *VARIANTS[variant],
                                     "--dump", dump, "--dump-slots",
                                     "--log-losses", losses, trainer=trainer))
            self.whole[key] = dump, losses.read_text(), last_report(done.stdout)
        return self.whole[key]

    def finish(self, variant, saved, trainer=None):
        """Resumes a training until its end, and compares it with the uninterrupted run."""
        dump, _, report = self.uninterrupted(variant, trainer)
        resumed = saved.with_suffix(".dump")
        losses = saved.with_suffix(".losses")
        before = checkpoints(saved)[-1]
        done = run(*self.command("--steps", STEPS, *VARIANTS[variant],
                                 "--checkpoint", saved, "--resume", "--dump",
                                 resumed, "--dump-slots", "--log-losses",
                                 losses, trainer=trainer))
        self.assertIn(f"resumed after {before} steps", done.stdout)
        self.assertIn(f"trained {STEPS - before} steps", done.stdout)
        self.assertEqual(resumed.read_bytes(), dump.read_bytes())
        self.assertEqual(last_report(done.stdout), report)
        self.assertEqual(checkpoints(saved)[-1], STEPS)
        self.assertIn("equal", run(PDL_CHECKPOINT, "diff", saved, dump).stdout)
        again = saved.with_suffix(".again")
        run(PDL_CHECKPOINT, "dump", saved, "-o", again)
        self.assertEqual(again.read_bytes(), dump.read_bytes())
        return losses.read_text()

    def check_fifty_and_fifty(self, variant, name):
        trainer = self.trainers[name]
        saved = self.root / f"fifty-{variant}-{name}"
        losses = self.root / "first.losses"
        run(*self.command("--steps", 50, *VARIANTS[variant], "--checkpoint",
                          saved, "--log-losses", losses, trainer=trainer))
        self.assertEqual(checkpoints(saved)[-1], 50)
        later = self.finish(variant, saved, trainer)
        self.assertEqual(losses.read_text() + later,
                         self.uninterrupted(variant, trainer)[1])

    def test_fifty_and_fifty_steps_are_a_hundred(self):
        for name in self.trainers:
            for variant in VARIANTS:
                with self.subTest(model=name, variant=variant):
                    self.check_fifty_and_fifty(variant, name)

    def test_a_log_of_losses_goes_on(self):
        saved, losses = self.root / "logged", self.root / "logged.txt"
        flags = [*VARIANTS["plain"], "--log-losses", losses, "--checkpoint",
                 saved]
        run(*self.command("--steps", 50, *flags))
        # Append steps after the checkpoint. The last line is incomplete, as after a crash.
        losses.write_text(losses.read_text() + "0.25\n0.5\n0.12")
        for last in (70, STEPS):
            run(*self.command("--steps", last, *flags, "--resume"))
        self.assertEqual(losses.read_text(), self.uninterrupted("plain")[1])
        # If a log starts with the steps of a later run, it has each of them once.
        saved = self.root / "later"
        flags = [*VARIANTS["plain"], "--checkpoint", saved, "--checkpoint-steps",
                 10]
        run(*self.command("--steps", 30, *flags))
        late = self.root / "late.txt"
        flags += ["--log-losses", late, "--resume"]
        run(*self.command("--steps", 50, *flags))
        late.write_text(late.read_text() + "0.25\n0.5\n")
        run(*self.command("--steps", STEPS, *flags))
        self.assertEqual(late.read_text().splitlines(),
                         losses.read_text().splitlines()[30:])
        # A log of other steps must not be changed without a message.
        saved = self.root / "logged"
        flags = [*VARIANTS["plain"], "--log-losses", losses, "--checkpoint",
                 saved]
        losses.write_text("0.25\n")
        done = run(*self.command("--steps", STEPS + 1, *flags, "--resume"))
        self.assertEqual(losses.read_text().count("\n"), 2)
        self.assertIn("has 1 lines, but training goes on after 100 steps",
                      done.stderr)

    def test_at_the_end_of_an_epoch(self):
        # An epoch has 4,000 rows in steps of 128, so the 32nd step is smaller. Stop one step
        # before it, at it, after it, and by --epochs.
        for limit in (["--steps", 31], ["--steps", 32], ["--steps", 33],
                      ["--epochs", 1]):
            for variant in VARIANTS:
                with self.subTest(limit=limit, variant=variant):
                    saved = self.root / ("end-" + "".join(map(str, limit)) +
                                         variant)
                    command = self.command(*VARIANTS[variant], "--checkpoint",
                                           saved, "--checkpoint-steps", 16,
                                           *limit)
                    if limit[0] == "--epochs":
                        at = command.index("--epochs")
                        del command[at:at + 2]
                    run(*command)
                    self.finish(variant, saved)

    def start(self, variant, saved, every, *flags):
        return subprocess.Popen(
            self.command("--steps", STEPS, *VARIANTS[variant], "--checkpoint",
                         saved, "--checkpoint-steps", every, *flags),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_for_checkpoint(self, process, saved):
        while process.poll() is None and not checkpoints(saved):
            time.sleep(0.001)

    def test_after_an_interrupt(self):
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                for attempt in range(10):
                    saved = self.root / f"interrupt-{variant}-{attempt}"
                    process = self.start(variant, saved, 10)
                    self.wait_for_checkpoint(process, saved)
                    process.send_signal(signal.SIGINT)
                    output, errors = process.communicate()
                    if process.returncode == 0:
                        continue  # It was at its end already.
                    self.assertEqual(process.returncode, 130, errors)
                    self.assertIn("stopped by a signal", output)
                    steps = int(re.search(r"trained (\d+) steps",
                                          output).group(1))
                    self.assertEqual(checkpoints(saved)[-1], steps)
                    self.assertLess(steps, STEPS)
                    self.finish(variant, saved)
                    break
                else:
                    self.fail("no run was interrupted in time")

    def await_delivery(self, process):
        """Waits until no signal is pending. Among several pending signals, the one with the lowest
        number would be delivered first."""
        status = pathlib.Path(f"/proc/{process.pid}/status")
        while process.poll() is None and int(
                re.search(r"^ShdPnd:\s*(\w+)", status.read_text(), re.MULTILINE)[1], 16):
            time.sleep(0.001)

    def test_signals_that_announce_an_end(self):
        """The end of a terminal, and limits of batch systems, which repeat their signals and send
        SIGTERM later."""
        for number in (signal.SIGHUP, signal.SIGXCPU, signal.SIGUSR1):
            with self.subTest(signal=number.name):
                saved = self.root / f"announced-{number.name}"
                process = subprocess.Popen(
                    self.long("--steps", 100_000, "--checkpoint", saved),
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                    # The test may run under nohup, which would make the trainer ignore SIGHUP.
                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
                self.wait_for_checkpoint(process, saved)
                for each in (number, number, signal.SIGTERM):
                    process.send_signal(each)
                    self.await_delivery(process)
                output, errors = process.communicate()
                self.assertEqual(process.returncode, 128 + number, errors)
                self.assertIn("stopped by a signal", output)
                steps = int(re.search(r"trained (\d+) steps", output)[1])
                self.assertEqual(checkpoints(saved)[-1], steps)

    def start_long(self, saved, *flags):
        """Starts a training that saves only at its end. Returns when the training has begun."""
        process = subprocess.Popen(
            self.long("--steps", 100_000, "--checkpoint", saved, "--checkpoint-at-end",
                      "--checkpoint-keep", 0, *flags),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while process.poll() is None and not (saved / ".pdl-writer").exists():
            time.sleep(0.001)
        return process

    def test_saves_on_request(self):
        saved = self.root / "request"
        process = self.start_long(saved)
        while process.poll() is None and len(checkpoints(saved)) < 2:
            process.send_signal(signal.SIGUSR2)
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 143, errors)
        first = checkpoints(saved)[0]
        dump = self.root / "request.dump"
        run(*self.long("--steps", first, "--dump", dump, "--dump-slots"))
        run(PDL_CHECKPOINT, "diff", saved / f"step-{first:012}", dump)

    def test_saves_by_the_clock(self):
        saved = self.root / "clock"
        process = self.start_long(saved, "--checkpoint-minutes", 0.002)
        while process.poll() is None and len(checkpoints(saved)) < 3:
            time.sleep(0.001)
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate()
        self.assertEqual(process.returncode, 143, errors)
        self.assertGreaterEqual(len(checkpoints(saved)), 3)
        # Without other saves, there is only the checkpoint at the end.
        saved = self.root / "at-end"
        run(*self.long("--checkpoint", saved, "--checkpoint-at-end", "--checkpoint-keep", 0,
                       epochs=3))
        self.assertEqual(checkpoints(saved), [375])

    def test_saves_without_a_test(self):
        """If a test fails, no trained step is lost."""
        for name, steps, ends in (("epoch", [], 125), ("middle", ["--steps", 40], 40)):
            with self.subTest(name):
                saved = self.root / f"without-{name}"
                done = subprocess.run(
                    self.long("--checkpoint", saved, "--checkpoint-at-end", *steps,
                              "--evaluate-rows", "900000:900001", epochs=3),
                    capture_output=True, text=True)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("no samples", done.stderr)
                self.assertEqual(checkpoints(saved), [ends])
        dumps = []
        for flags in (["--checkpoint", self.root / "without-middle", "--resume"], []):
            dumps.append(self.root / f"without-{len(dumps)}.dump")
            run(*self.long("--steps", 200, *flags, "--dump", dumps[-1], "--dump-slots",
                           epochs=3))
        run(PDL_CHECKPOINT, "diff", *dumps)

    def test_no_reader(self):
        """If no process reads the output or the log of losses, training continues."""
        saved = self.root / "unread"
        process = subprocess.Popen(
            self.command("--steps", 40, "--checkpoint", saved, "--log-losses", "-"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stdout.close()
        with process.stderr:
            errors = process.stderr.read()
        self.assertEqual(process.wait(), 0, errors)
        self.assertIn("no process reads the standard output any more", errors)
        self.assertEqual(checkpoints(saved), [40])
        saved = self.root / "full-log"
        done = subprocess.run(
            self.command("--steps", 40, "--checkpoint", saved, "--checkpoint-steps", 10,
                         "--log-losses", "/dev/full"), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("goes on without --log-losses"), 1)
        self.assertEqual(checkpoints(saved)[-1], 40)

    def test_after_kills(self):
        draw = random.Random(time.time_ns())
        for variant in VARIANTS:
            with self.subTest(variant=variant):
                saved = self.root / f"kill-{variant}"
                kills = 0
                for attempt in range(30):
                    # The time of the kill differs between runs: while the trainer reads, steps,
                    # writes a part, renames, or removes.
                    process = self.start(variant, saved, 1, "--resume",
                                         "--checkpoint-keep", 2)
                    self.wait_for_checkpoint(process, saved)
                    time.sleep(draw.uniform(0, 0.12))
                    process.kill()
                    _, errors = process.communicate()
                    self.assertIn(process.returncode,
                                  (0, -signal.SIGKILL), errors)
                    kills += process.returncode != 0
                    found = checkpoints(saved)
                    self.assertTrue(found)
                    if process.returncode == 0 and kills == 0:
                        # The training has ended before the kill, so it has to begin anew.
                        shutil.rmtree(saved)
                        continue
                    if found[-1] > STEPS * 3 // 4 or kills == 6:
                        break
                self.assertGreater(kills, 0)
                # Only one process uses the folder, so it removes all incomplete files.
                self.finish(variant, saved)
                self.assertEqual([], [name for name in os.listdir(saved)
                                      if not re.fullmatch(r"step-\d{12}",
                                                          name)])

    def test_evaluates_and_predicts_from_a_checkpoint(self):
        saved = self.root / "trained"
        dump = self.root / "trained.dump"
        run(*self.command("--steps", 40, "--checkpoint", saved, "--dump", dump,
                          "--dump-slots"))
        for command in ("evaluate", "predict"):
            flags = [self.trainer, command, "--data", ADULT, "--rows",
                     "4000:5000"]
            texts = [run(*flags, "--init-from", dump).stdout,
                     run(*flags, "--checkpoint", saved).stdout]
            if command == "evaluate":
                texts = [last_report(text) for text in texts]
                self.assertTrue(texts[0])
            self.assertEqual(*texts)

    def test_diff_names_what_is_not_there(self):
        absent = self.root / "absent.safetensors"
        done = subprocess.run(
            [PDL_CHECKPOINT, "diff", self.uninterrupted("plain")[0], absent],
            capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{absent}: there is no such file or folder", done.stderr)

    def test_what_is_refused(self):
        saved = self.root / "refused"
        run(*self.command("--steps", 40, "--checkpoint", saved))
        other = self.root / "other.csv.gz"
        other.write_bytes(ADULT.read_bytes()[:-1])

        def refuse(flags, *parts, status=1, trainer=None):
            done = subprocess.run(
                self.command("--steps", 50, "--checkpoint", saved, *flags,
                             trainer=trainer), capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            error = [line for line in done.stderr.splitlines()
                     if line.startswith("error: ")]
            self.assertEqual(len(error), 1, done.stderr)
            for part in parts:
                self.assertIn(part, error[0])

        refuse([], "40 steps", "--resume")
        refuse(["--resume"], "wide_deep", "logistic_regression", "has no",
               trainer=self.trainers["logistic_regression"])
        for flag, before, now in (("--batch-size", "32", "16"),
                                  ("--shuffle-window", "0", "500"),
                                  ("--rows", "0:4000", "0:4001"),
                                  ("--seed", "5", "6")):
            command = self.command("--steps", 50, "--checkpoint", saved,
                                   "--resume")
            if flag in command:
                command[command.index(flag) + 1] = now
            else:
                command += [flag, now]
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, flag)
            for part in (flag, before, now):
                self.assertIn(part, done.stderr)
        command = self.command("--steps", 50, "--checkpoint", saved, "--resume")
        command[command.index("--data") + 1] = str(other)
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        for path in (ADULT, other):
            self.assertIn(f"{path.name} ({path.stat().st_size} bytes)",
                          done.stderr)
        # All of these flags may change at the start of an epoch.
        whole = self.root / "whole-epoch"
        flags = ["--data", ADULT, "--rows", "0:2000"]
        run(self.trainer, "train", *flags, "--checkpoint", whole)
        done = run(self.trainer, "train", *flags, "--checkpoint", whole,
                   "--resume", "--epochs", 2, "--replicas", "2x2",
                   "--batch-size", 64)
        self.assertIn("trained 8 steps", done.stdout)
        # A second trainer must not write to the same folder.
        process = self.start("plain", self.root / "busy", 1)
        self.wait_for_checkpoint(process, self.root / "busy")
        second = subprocess.run(
            self.command("--checkpoint", self.root / "busy", "--resume"),
            capture_output=True, text=True)
        if process.poll() is None:
            self.assertEqual(second.returncode, 3)
            self.assertIn("another process", second.stderr)
        process.kill()
        process.communicate()

    def edited(self, name, *edits):
        """Returns the trainer of logistic_regression with some words replaced."""
        text = model("logistic_regression").read_text()
        for old, new in edits:
            self.assertIn(old, text)
            text = text.replace(old, new)
        source = self.root / f"{name}.mlir"
        source.write_text(text)
        return compile_model(source, self.root / name, "--numerics=strict")

    def test_resumes_and_evaluates_with_an_edited_model(self):
        original = self.trainers["logistic_regression"]
        saved = self.root / "edited"
        run(*self.command("--steps", 40, "--checkpoint", saved,
                          *VARIANTS["plain"], trainer=original))

        def evaluate(trainer):
            return run(trainer, "evaluate", "--data", ADULT, "--rows",
                       "4000:5000", "--checkpoint", saved).stdout

        def resume(trainer, *flags):
            return subprocess.run(
                self.command("--steps", STEPS, *VARIANTS["plain"],
                             "--checkpoint", saved, "--resume", *flags,
                             trainer=trainer), capture_output=True, text=True)

        def fingerprints(trainer):
            text = run(trainer, "--version").stdout
            return dict(re.findall(r"^(\w+) fingerprint +(\S+)", text,
                                   re.MULTILINE))

        before = fingerprints(original)
        self.assertEqual(sorted(before), ["layout", "training", "wire"])
        log_loss = re.compile(r"log loss [0-9.]+ \(@log_loss\)")
        loss = log_loss.search(evaluate(original)).group()
        # With another rate it is another training, but the same model for evaluation.
        rate = self.edited("rate", ("rate(1.0e-1)", "rate(2.0e-1)"))
        self.assertEqual(fingerprints(rate)["layout"], before["layout"])
        self.assertNotEqual(fingerprints(rate)["training"], before["training"])
        self.assertEqual(log_loss.search(evaluate(rate)).group(), loss)
        done = resume(rate)
        self.assertEqual(done.returncode, 1)
        self.assertIn("for the rate of group @linear the checkpoint has 0.1, "
                      "this program 0.2; use", done.stderr)
        # The message suggests these commands.
        self.assertIn("pdl-checkpoint dump", done.stderr)
        self.assertIn("--init-from", done.stderr)
        values = self.root / "edited.values"
        run(PDL_CHECKPOINT, "dump", saved, "-o", values)
        run(*self.command("--steps", 5, "--init-from", values, trainer=rate))
        # With another rule it is another training too, and its slots have other names.
        done = resume(self.edited("rule", ("rule(@adagrad)", "rule(@sgd)")))
        self.assertEqual(done.returncode, 1)
        for part in ("no slots of @weights, the checkpoint accumulator",
                     "no slots of @bias", "for the rule of group @linear the "):
            self.assertIn(part, done.stderr)
        # With another hash, the keys in the checkpoint have another meaning.
        keys = self.edited("keys", ("salt(115)", "salt(116)"))
        done = subprocess.run(
            [keys, "evaluate", "--data", ADULT, "--rows", "4000:5000",
             "--checkpoint", saved], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("the keys of @weights come from fields in another way: "
                      "the checkpoint makes some of `cross(slice(text by xxh64 "
                      "salt slot", done.stderr)
        for salt in 115, 116:
            self.assertIn(f", salt = {salt})`", done.stderr)
        # Metrics and predictions are not part of the state. So 60 further steps give the bits of
        # 100 steps, within an epoch.
        metrics = self.edited(
            "metrics", ("buckets = 16384", "buckets = 512"),
            ("nn.metric @copc : #nn.copc", "nn.metric @again : #nn.log_loss"),
            ("nn.observe @copc", "nn.observe @again"),
            ("nn.return %p", "%two = nn.add %p, %p : tensor<?x1xf32>, "
             "tensor<?x1xf32>\n nn.return %two"))
        self.assertEqual(fingerprints(metrics), before)
        self.assertEqual(log_loss.search(evaluate(metrics)).group(), loss)
        resumed = self.root / "edited.dump"
        done = resume(metrics, "--dump", resumed, "--dump-slots")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("auc", "again"):
            self.assertIn(f"metric @{name} counts from here on only",
                          done.stderr)
        self.assertNotIn("metric @log_loss counts", done.stderr)
        dump, _, _ = self.uninterrupted("plain", original)
        self.assertEqual(resumed.read_bytes(), dump.read_bytes())

    def test_passes_over_damage(self):
        saved = self.root / "damage"
        run(*self.command("--steps", 60, "--checkpoint", saved,
                          "--checkpoint-steps", 20, *VARIANTS["plain"]))
        newest = saved / f"step-{60:012}"
        part = newest / "dense.safetensors"
        content = bytearray(part.read_bytes())
        content[len(content) // 2] ^= 1
        part.write_bytes(content)
        done = subprocess.run([PDL_CHECKPOINT, "inspect", newest],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("checksum", done.stderr)
        # For the folder, the previous checkpoint is shown, and the status reports the damage.
        done = subprocess.run([PDL_CHECKPOINT, "inspect", saved],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("passed over", done.stderr)
        self.assertIn("steps                40", done.stdout)
        done = run(*self.command("--steps", STEPS, "--checkpoint", saved,
                                 "--resume", *VARIANTS["plain"]))
        self.assertIn("passed over", done.stderr)
        self.assertIn("dense.safetensors", done.stderr)
        self.assertIn("resumed after 40 steps", done.stdout)
        self.assertIn("equal", run(PDL_CHECKPOINT, "diff", saved,
                                   self.uninterrupted("plain")[0]).stdout)


if __name__ == "__main__":
    unittest.main()
