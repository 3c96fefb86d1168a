# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A checkpoint is written during the training, and has exactly the state of its step. The tests
run processes with tables that take some time to write."""

import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import PDL_CHECKPOINT, StrictCtrDnn, run
from waiting import LONG, suspend, wait_until

LINES, BATCH = 6000, 100
EPOCH = LINES // BATCH


def write_lines(path):
    """Writes data in Criteo's layout. Almost every category has a new key."""
    draw = random.Random(1)
    with open(path, "w") as file:
        for _ in range(LINES):
            file.write("\t".join([str(draw.randrange(2)),
                                  *(str(draw.randrange(400)) for _ in range(13)),
                                  *(f"{draw.randrange(1 << 32):08x}" for _ in range(26))])
                       + "\n")


def checkpoints(folder):
    return sorted(int(name[5:]) for name in os.listdir(folder)
                  if re.fullmatch(r"step-\d{12}", name))


def fail_at_size(size):
    """Makes writes beyond `size` bytes of a file fail, like a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


class BackgroundSave(StrictCtrDnn):

    write_data = staticmethod(write_lines)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.dumps = {}

    def command(self, *flags):
        size = () if "--batch-size" in flags else ("--batch-size", BATCH)
        return [str(part) for part in
                (self.trainer, "train", "--data", self.clicks, "--seed", 4, *size, *flags)]

    def dump_after(self, steps, *flags):
        """Returns a dump of the state after `steps` steps of a training that saves no checkpoints.
        """
        key = steps, flags
        if key not in self.dumps:
            dump = self.root / f"dump-{len(self.dumps)}"
            run(*self.command("--steps", steps, "--dump", dump, "--dump-slots", *flags))
            self.dumps[key] = dump
        return self.dumps[key]

    def check_each(self, saved, steps, *flags):
        for step in steps:
            with self.subTest(step=step):
                said = run(PDL_CHECKPOINT, "diff", saved / f"step-{step:012}",
                           self.dump_after(step, *flags))
                self.assertIn("equal", said.stdout)

    # In the first epoch, the next batch has been prepared when a step is saved, and its keys are
    # new.
    def test_holds_the_state_of_its_step(self):
        last = 2 * EPOCH
        for name, flags in (("one", ()),
                            ("threads", ("--threads", 3)),
                            ("replicas", ("--replicas", "1x2", "--threads", 2,
                                          "--batch-size", BATCH // 2))):
            with self.subTest(name):
                saved, trace = self.root / name, self.root / f"{name}.trace"
                run(*self.command("--steps", last, "--checkpoint", saved, "--checkpoint-steps", 12,
                                  "--checkpoint-keep", 0, "--trace", trace, *flags))
                self.assertEqual(checkpoints(saved), list(range(12, last + 1, 12)))
                self.check_each(saved, (12, 36, EPOCH, EPOCH + 12, last), *flags)
                self.check_overlap(trace)

    def check_overlap(self, trace):
        """Checks that steps were computed while parts were written."""
        events = json.loads(trace.read_text())["traceEvents"]
        names = {event["tid"]: event["args"]["name"] for event in events
                 if event["ph"] == "M" and event["name"] == "thread_name"}
        self.assertIn("save", names.values())
        parts = [event for event in events if event["name"] == "save part"]
        steps = [event for event in events if event["name"] == "forward/backward"]
        self.assertTrue(any(part["ts"] < step["ts"] < part["ts"] + part["dur"]
                            for part in parts for step in steps))

    def test_hogwild_saves_in_background_too(self):
        saved = self.root / "hogwild"
        flags = ("--hogwild", "--replicas", "1x2", "--threads", 2, "--checkpoint", saved)
        run(*self.command("--steps", EPOCH, "--checkpoint-steps", 5, *flags))
        run(PDL_CHECKPOINT, "inspect", saved)
        run(*self.command("--steps", EPOCH + 10, "--resume", *flags))
        self.assertEqual(checkpoints(saved)[-1], EPOCH + 10)

    def test_killed_while_it_writes(self):
        last = 2 * EPOCH
        saved = self.root / "killed"
        draw = random.Random(time.time_ns())
        halves = 0
        for _ in range(60):
            process = subprocess.Popen(
                self.command("--steps", last, "--checkpoint", saved, "--checkpoint-steps", 7,
                             "--resume"),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Wait until the process writes a checkpoint of its own.
            before = set(os.listdir(saved)) if saved.exists() else set()
            while process.poll() is None and not (
                    saved.exists() and any(".tmp." in name
                                           for name in set(os.listdir(saved)) - before)):
                time.sleep(0.0005)
            time.sleep(draw.uniform(0, 0.03))
            process.kill()
            if process.wait() == 0 and halves == 0:
                # The training has ended before the kill, so it has to begin anew.
                shutil.rmtree(saved)
                continue
            halves += any(".tmp." in name for name in os.listdir(saved))
            if checkpoints(saved):
                run(PDL_CHECKPOINT, "inspect", saved)
            if halves >= 5 and checkpoints(saved):
                break
        self.assertGreater(halves, 0)
        dump = self.root / "killed.dump"
        run(*self.command("--steps", last, "--checkpoint", saved, "--resume", "--dump", dump,
                          "--dump-slots"))
        self.assertTrue(dump.read_bytes() == self.dump_after(last).read_bytes())
        self.assertFalse([name for name in os.listdir(saved) if ".tmp." in name])

    def test_a_disk_that_is_full_for_a_while(self):
        """The training continues and the next checkpoint is complete, even if it is the last one.
        """
        last = 2 * EPOCH
        for name, every in (("between", 10), ("last", last)):
            with self.subTest(name):
                saved = self.root / f"full-{name}"
                process = subprocess.Popen(
                    self.command("--checkpoint", saved, "--checkpoint-steps", every,
                                 "--steps", last, "--checkpoint-at-end", "--max-failed-saves", 9),
                    text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    restore_signals=False, preexec_fn=lambda: resource.setrlimit(
                        resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY)))
                errors = ""
                while "was not saved" not in errors:
                    line = process.stderr.readline()
                    self.assertTrue(line, errors)
                    errors += line
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE,
                                 (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
                more = process.communicate()[1]
                self.assertEqual(process.returncode, 0, errors + more)
                self.assertEqual(checkpoints(saved)[-1], last)
                self.check_each(saved, (last,))

    def test_another_place(self):
        """If no checkpoint can be saved any more, the state is written to another folder."""
        saved, other = self.root / "lost", self.root / "emergency"
        process = subprocess.Popen(
            self.command("--checkpoint", saved, "--checkpoint-steps", 5, "--epochs", 100_000,
                         "--max-failed-saves", 0, "--emergency-checkpoint", other),
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until(lambda: saved.exists() and checkpoints(saved))
        os.rename(saved, self.root / "lost.moved")
        saved.write_text("no folder")
        output, errors = process.communicate()
        self.assertEqual(process.returncode, 1, errors)
        self.assertIn(f"and is in {other}; go on from there", errors)
        self.assertIn("stopped because checkpoints cannot be saved", output)
        last = checkpoints(other)[-1] + EPOCH
        dump = self.root / "emergency.dump"
        run(*self.command("--steps", last, "--checkpoint", other, "--resume", "--dump", dump,
                          "--dump-slots"))
        self.assertTrue(dump.read_bytes() == self.dump_after(last).read_bytes())

    def start_on_a_full_disk(self, *flags):
        return subprocess.Popen(
            self.command(*flags), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            restore_signals=False, preexec_fn=lambda: fail_at_size(300_000))

    def start_and_move_checkpoints(self, name, last, *flags):
        """Starts a training of `last` steps, and replaces its folder of checkpoints by a file
        before it saves the last one. Returns the process and the path of the file."""
        gone = self.root / name
        while True:
            process = subprocess.Popen(
                self.command("--checkpoint", gone, "--steps", last, "--max-failed-saves", 1000,
                             "--checkpoint-steps", 5, *flags),
                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            wait_until(lambda: gone.exists() and checkpoints(gone), pause=0.001)
            suspend(process.pid)
            if checkpoints(gone)[-1] < last - 10:
                break
            # On a busy machine, the training may be at its end before it is suspended.
            process.kill()
            process.communicate()
            shutil.rmtree(gone)
        os.rename(gone, self.root / f"{name}.moved")
        gone.write_text("no folder")
        process.send_signal(signal.SIGCONT)
        return process, gone

    def read_until(self, process, text):
        said = ""
        while text not in said:
            line = process.stderr.readline()
            self.assertTrue(line, said)
            said += line
        return said

    def test_a_stop_signal_ends_the_tries_of_the_last_save(self):
        saved, other = self.root / "tries", self.root / "tries-elsewhere"
        last = EPOCH
        run(*self.command("--steps", 10, "--checkpoint", saved))
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                process = self.start_on_a_full_disk(
                    "--checkpoint", saved, "--resume", "--steps", last, "--max-failed-saves", 1000)
                said = self.read_until(process, "again in 4.0 s")
                process.send_signal(number)
                # Without the signal, there would be 1000 tries.
                output, rest = process.communicate(timeout=LONG)
                said += rest
                self.assertEqual(process.returncode, 3, said)
                self.assertIn("a stop signal ends the tries to save the last checkpoint", said)
                self.assertRegex(said, "error: the last checkpoint was not saved: .*"
                                       "; lost: the steps after step 10\n")
                # The training has reached its end.
                self.assertNotIn("the training", said)
                self.assertNotIn("stopped", output)
        # The other requested outputs are written, and writing to the other folder is still tried.
        dump = self.root / "gone.dump"
        for name, more, kept in (
                ("dump", ("--dump", dump), f" are only in {dump}"),
                ("elsewhere", ("--emergency-checkpoint", other),
                 f"and is in {other}; go on from there")):
            with self.subTest(name):
                process, gone = self.start_and_move_checkpoints(f"gone-{name}", last, *more)
                said = self.read_until(process, "again in 2.0 s")
                process.send_signal(signal.SIGTERM)
                said += process.communicate()[1]
                self.assertEqual(process.returncode, 1, said)
                self.assertIn(kept, said)
        self.assertEqual(checkpoints(other), [last])
        self.assertTrue(dump.exists())

    def test_the_tries_after_a_stop_signal_take_seconds(self):
        saved = self.root / "stopped"
        process = self.start_on_a_full_disk(
            "--checkpoint", saved, "--epochs", 100_000, "--checkpoint-at-end",
            "--max-failed-saves", 1000)
        self.read_until(process, "epoch 2")
        process.send_signal(signal.SIGTERM)
        # Without the signal, there would be 1000 tries.
        said = process.communicate(timeout=LONG)[1]
        self.assertEqual(process.returncode, 3, said)
        self.assertRegex(said, r"error: the last checkpoint was not saved: .*; lost: all \d+ steps")

    def test_fast_steps_do_not_use_up_the_failures(self):
        """If a disk is full for some seconds, a training that saves after each step does not end.
        """
        saved = self.root / "often"
        # A failure more than 10 s after the first one counts, so there are few steps.
        steps = 6
        process = self.start_on_a_full_disk("--checkpoint", saved, "--checkpoint-steps", 1,
                                            "--steps", steps, "--max-failed-saves", 1)
        output, said = process.communicate()
        self.assertEqual(process.returncode, 3, said)
        self.assertIn("consecutive failures: 1 ", said)
        self.assertNotIn("consecutive failures: 2 ", said)
        self.assertIn("does not count for --max-failed-saves", said)
        self.assertIn(f"trained {steps} steps", output)
        self.assertNotIn("stopped", output)

    def test_a_full_disk_ends_the_training_with_a_message(self):
        saved = self.root / "full"
        run(*self.command("--steps", 10, "--checkpoint", saved))
        self.assertEqual(checkpoints(saved), [10])
        for more in (("--checkpoint-steps", 10, "--steps", 2 * EPOCH), ("--steps", 20)):
            done = subprocess.run(
                self.command("--checkpoint", saved, "--resume", *more), text=True,
                capture_output=True, restore_signals=False,
                preexec_fn=lambda: fail_at_size(300_000))
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stderr, r"step-\d+\.tmp\..*: cannot be written: .*; check that "
                                          r"the folder exists, may be written, and has room")
            # No file of the failed save is left, and the existing checkpoint is complete.
            self.assertEqual([name for name in os.listdir(saved) if name != ".pdl-writer"],
                             ["step-000000000010"])
            run(PDL_CHECKPOINT, "inspect", saved)


if __name__ == "__main__":
    unittest.main()
