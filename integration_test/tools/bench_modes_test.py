# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""bench/modes.py: the numbers that it extracts from reports, the sections of its page that it
keeps, and a small run."""

import collections
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import BUILD, SOURCE

sys.path.insert(0, str(SOURCE / "bench"))
from jobs import Said
from modes import data, job, report, settings

BENCH = SOURCE / "bench"

TRAINER = """11:59:59 epoch 2 (3 steps, not ended): train loss 2.9
trained 8 steps, 256 samples in 0.1 s ({rate} samples/s)
a step took 2.000 ms: read 0.1 ms, wait 1.5 ms; CPU 0.500 ms
{server}: 9 messages, 1000 bytes sent, 560 bytes received
{peer}: 9 messages, 400 bytes sent, 40 bytes received
12:00:00 epoch 1: train loss 2.7, train AUC 0.6, test AUC 0.7187 (@auc), test log loss 1e-05 (@log_loss)
12:00:01 epoch 2: train loss 2.5, train AUC 0.6, test AUC 0.7200 (@auc), test log loss 0.44 (@log_loss)
"""
SERVER = """12:00:01 server 0: 16 steps; a step took 0.8 ms: check 0.1 ms, idle 0.7 ms; CPU 0.100 ms
12:00:01 server 0: 18 messages, 1400 bytes received, 600 bytes sent
12:00:01 server 0: steps ahead of the slowest, of responses: 0: 12, 1: 3, 4 or more: 1
12:00:01 server 0: 5 gradients came late: 3 counted in the next round, 2 were dropped
"""


class BenchModes(unittest.TestCase):

    def run_of(self, server="server 0", peer="server 1"):
        trainers = [Said(TRAINER.format(rate=rate, server=server, peer=peer))
                    for rate in (900, 800)]
        return job.Run([Said(SERVER)], trainers)

    def test_what_is_read(self):
        run = self.run_of()
        self.assertEqual(run.tests, [{"AUC": 0.7187, "log loss": 1e-05},
                                     {"AUC": 0.72, "log loss": 0.44}])
        self.assertEqual((run.score("AUC"), run.rate, run.samples), (0.72, 800.0, 256))
        # Each of the two trainers reports 2000 bytes.
        self.assertEqual(run.bytes, 2 * 2000 / 256)
        self.assertEqual(run.ahead, {0: 12, 1: 3, 4: 1})
        self.assertEqual(run.late, 5)
        self.assertAlmostEqual(run.trainer_cpu, 2 * 8 * 500.0 / 256)
        self.assertAlmostEqual(run.server_cpu, 16 * 100.0 / 256)

    def test_a_trainers_own_part_is_no_traffic(self):
        self.assertEqual(self.run_of("trainer 0", "trainer 1").bytes, (440 + 1560) / 256)

    def test_settings(self):
        by_name = {setting.name: setting for setting in settings.SETTINGS}
        self.assertEqual(len(by_name), len(settings.SETTINGS))
        self.assertEqual(by_name["quorum, all but one"].words(("{quorum}",), 1), ["1"])

    def test_models_say_what_settings_require(self):
        plain = settings.Setting("", "geo")
        summed = settings.Setting("", "geo", sums_tables=True)
        for kind in (data.Criteo, data.Avazu, data.Known):
            one = kind.__new__(kind)
            self.assertRegex(one.text(plain), r"nn\.group @dense .*\) rate_over\(pushers\)")
            self.assertEqual(one.text(plain).count("rate_over"), 1)
            self.assertNotIn("merge", one.text(plain))
            self.assertRegex(one.text(summed), r"nn\.group @sparse .* merge\(sum\)")
        self.assertNotIn("merge", data.Words.__new__(data.Words).text(summed))

    def test_sections(self):
        with tempfile.TemporaryDirectory() as name:
            page = pathlib.Path(name, "page.md")
            report.write(page, {"B": "second\n", "A": "first"}, ["A", "B", "C"])
            report.write(page, {"C": "third", "B": "changed"}, ["A", "B", "C"])
            found = report.sections(page.read_text())
            self.assertEqual({key: text.strip() for key, text in found.items() if key},
                             {"A": "first", "B": "changed", "C": "third"})
            self.assertEqual(list(found)[1:], ["A", "B", "C"])
            self.assertEqual(page.read_text().count("# Modes"), 1)

    def test_staleness(self):
        runs = [self.run_of(), self.run_of()]
        self.assertEqual(report.ahead_text(runs), "0.4, 4")
        runs[0].ahead = runs[1].ahead = collections.Counter()
        self.assertEqual(report.ahead_text(runs), "")

    def test_a_small_run(self):
        with tempfile.TemporaryDirectory() as name:
            page = pathlib.Path(name, "page.md")
            done = subprocess.run(
                [sys.executable, BENCH / "modes.py", "--quick", "--only", "word2vec", "--modes",
                 "sync,quorum", "--trainers", "2", "--build", BUILD, "--output", page],
                capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            text = page.read_text()
        self.assertRegex(text, r"(?m)^\| local \| 2 \| 0\.\d{4} \|  \| [\d,]+ \|")
        self.assertRegex(text, r"(?m)^\| sync \| 2 x 2 \| 0\.\d{4} \| [+-]0\.000\d \| [\d,]+ \| "
                               r"\d+\.\d\d \| [\d,]+ \|")
        self.assertRegex(text, r"(?m)^\| sync \| 0\.000\d \|$")
        self.assertNotIn("failed", text)


if __name__ == "__main__":
    unittest.main()
