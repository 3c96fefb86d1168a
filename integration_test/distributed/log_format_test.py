# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formats of log lines (--log-format): text, JSON and quiet, of every program with a log."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import SharedFolderTest
from programs import ADULT, BUILD, PDL_SERVE, PDL_TRANSLATE, run
from small_model import LOSS, METRICS, OBSERVATIONS, small_model

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
LEVELS = {"info", "warning", "error", "progress"}


class LogFormat(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = cls.root / "small.mlir"
        text = small_model("@adam", clip=False, decay=False, warm_up=False)
        cls.model.write_text(text.replace("  nn.program @train", METRICS + "  nn.program @train")
                             .replace(LOSS, LOSS + OBSERVATIONS))
        cls.sync, cls.local = cls.root / "sync", cls.root / "local"
        run(PDL_TRANSLATE, cls.model, "--mode=sync", "-o", cls.sync)
        run(PDL_TRANSLATE, cls.model, "-o", cls.local)

    def objects(self, text):
        """Returns the objects of all lines. Each line must be one, with the common members."""
        found = [json.loads(line) for line in text.splitlines()]
        for each in found:
            self.assertRegex(each["time"], TIME)
            self.assertIn(each["level"], LEVELS)
            self.assertTrue(each["message"], each)
            self.assertTrue(each["program"], each)
        return found

    def launch(self, *flags, trainer=()):
        return subprocess.run(
            [BUILD / "bin/pdl-launch", "--unix", "--trainers", "2", "--servers", "1", *flags,
             self.sync, "--", "--data", ADULT, "--batch-size", "64", *trainer],
            capture_output=True, text=True)

    def test_json_of_a_job(self):
        done = self.launch("--log-format", "json", trainer=["--checkpoint", self.root / "saved"])
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = self.objects(done.stderr)
        # If the programs end slowly, pdl-launch has lines too. They have no rank.
        self.assertEqual({(each["program"], each["rank"]) for each in lines
                          if each["program"] != "pdl-launch"},
                         {("pserver", 0), ("trainer", 0), ("trainer", 1)})
        self.assertTrue(any("epoch 1" in each["message"] for each in lines))
        # Results stay text on the standard output.
        self.assertRegex(done.stdout, r"trainer 0 \| trained \d+ steps")

    def test_json_of_a_failing_job(self):
        done = self.launch("--log-format=json", "--grace", "5",
                           trainer=["--checkpoint", self.root / "failing", "--none-such", "1"])
        self.assertEqual(done.returncode, 2, done.stderr)
        lines = self.objects(done.stderr)
        self.assertTrue(any(each["level"] == "error" and each["program"] == "trainer" and
                            "--none-such" in each["message"] for each in lines), lines)
        self.assertTrue(any(each["level"] == "warning" and each["program"] == "pdl-launch" and
                            "ended with status 2" in each["message"] for each in lines), lines)

    def test_quiet_job(self):
        done = self.launch("--log-format", "quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.splitlines()
        # The job has no --checkpoint, of which the first trainer warns.
        self.assertTrue(lines)
        for line in lines:
            self.assertIn("warning: ", line)

    def test_progress(self):
        """Lines of progress have the numbers as members."""
        # An epoch must be longer than the interval of the lines.
        data = [ADULT] * 500
        with subprocess.Popen([self.local / "trainer", "train", "--data", *data, "--batch-size",
                               "16", "--log-format", "json"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as process:
            try:
                for line in process.stderr:
                    each, = self.objects(line)
                    # With few samples, loss and AUC are far from their later values.
                    if each["level"] == "progress" and each["step"] * 16 >= 10_000:
                        break
                else:
                    self.fail("there is no line of progress")
            finally:
                process.send_signal(signal.SIGTERM)
                process.stderr.read()
        self.assertEqual((each["program"], each["rank"]), ("trainer", 0))
        self.assertGreater(each["step"], 0)
        self.assertGreater(each["samples_per_second"], 0)
        self.assertTrue(0 < each["loss"] < 1, each)
        self.assertTrue(0.5 < each["auc"] <= 1, each)
        self.assertGreater(each["keys"], 0)
        self.assertGreater(each["resident_memory_bytes"], 1 << 20)

    def test_errors(self):
        """Errors about flags have the format too, wherever the flag is."""
        for command in ([self.local / "trainer", "train", "--log-format", "json", "--data",
                         "/none/such"],
                        [self.local / "trainer", "train", "--epoch", "1", "--log-format=json"],
                        [self.local / "trainer", "evaluate", "--data", ADULT, "--log-format=json"],
                        [self.sync / "pserver", "--rank", "x", "--log-format", "json"],
                        [PDL_SERVE, "/none/such", "--log-format", "json"],
                        [BUILD / "bin/pdl-launch", "--log-format", "json", "/none/such"]):
            with self.subTest(command=command):
                done = subprocess.run(command, capture_output=True, text=True)
                self.assertNotEqual(done.returncode, 0)
                last = self.objects(done.stderr)[-1]
                self.assertEqual(last["level"], "error")
                self.assertIn(last["program"], str(command[0]))

    def test_refused(self):
        done = subprocess.run([self.local / "trainer", "train", "--data", ADULT, "--log-format",
                               "xml"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"error: .*--log-format.*xml.*json")
        done = self.launch("--log-format", "json", trainer=["--log-format", "text"])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--log-format before FOLDER is for all programs", done.stderr)


if __name__ == "__main__":
    unittest.main()
