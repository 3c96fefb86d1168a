# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results depend on the number of replicas, but not on the number of threads. The tests run
compiled trainers as processes and compare their dumps."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import joined
from model_data import model_data
from programs import ADULT, compile_model, metric, model, run


class Replicas(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = Path(cls.folder.name)
        source = model("wide_deep")
        cls.strict = compile_model(source, root / "strict",
                                   "--numerics=strict")
        cls.double = compile_model(source, root / "double",
                                   "--element-type=f64")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def train(self, trainer, name, *flags):
        """Trains. Returns the dump of values and slots, the losses and the report."""
        dump = Path(self.folder.name, name + ".safetensors")
        losses = Path(self.folder.name, name + ".losses")
        report = run(trainer, "train", "--data", ADULT, "--rows", "0:6000",
                     "--seed", 3, "--dump", dump, "--dump-slots",
                     "--log-losses", losses, *flags)
        return dump, losses.read_text(), report.stdout

    def test_threads_change_no_bit(self):
        first = None
        for threads in (1, 2, 4):
            dump, losses, report = self.train(
                self.strict, f"threads{threads}", "--replicas", "2x2",
                "--batch-size", 100, "--shuffle-window", 1000, "--epochs", 2,
                "--evaluate-rows", "6000:9000", "--threads", threads)
            figures = [metric(report, name) for name in
                       ("train loss", "train AUC", "test log loss", "test AUC")]
            result = (dump.read_bytes(), losses, figures)
            first = first or result
            self.assertTrue(result[0] == first[0],
                            f"the dump of {threads} threads differs")
            self.assertEqual(result[1:], first[1:])
        # Another number of replicas gives another result, so the comparison is meaningful.
        dump, _, _ = self.train(
            self.strict, "other", "--replicas", "4x1", "--batch-size", 100,
            "--shuffle-window", 1000, "--epochs", 2)
        self.assertFalse(dump.read_bytes() == first[0])

    def test_threads_within_a_replica_change_no_bit(self):
        """Threads compute parts of products, ranges of loops, rows and keys, and prepare batches
        during a step."""
        root = Path(self.folder.name)
        for name, numerics in (("ctr_dnn", "fast"), ("ctr_dnn", "strict"),
                               ("sasrec", "strict"), ("dlrm", "fast")):
            trainer = compile_model(model(name), root / f"{name}.{numerics}",
                                    f"--numerics={numerics}")
            first = None
            for threads in (1, 2, 3):
                dump = root / f"{name}.{numerics}.{threads}.safetensors"
                run(trainer, "train", "--data", model_data(name, root, 3000),
                    "--batch-size", 1000, "--epochs", 2, "--threads", threads,
                    "--dump", dump, "--dump-slots")
                first = first or dump.read_bytes()
                self.assertTrue(dump.read_bytes() == first,
                                f"{name}, {numerics}, {threads} threads")

    def test_traces_show_what_threads_did(self):
        root = Path(self.folder.name)
        trace = root / "trace.json"
        run(self.strict, "train", "--data", ADULT, "--rows", "0:1000",
            "--batch-size", 100, "--threads", 2, "--trace", trace)
        written = json.loads(trace.read_text())
        events = written["traceEvents"]
        # The final values of the metrics.
        values = written["otherData"]
        self.assertEqual(values['pdl_trainer_steps_total{program="train"}'], "10")
        self.assertEqual(values['pdl_trainer_samples_total{program="train"}'], "1000")
        self.assertGreater(float(values[
            'pdl_trainer_phase_seconds_total{phase="forward/backward",program="train"}']), 0)
        page = Path(__file__).resolve().parents[2].joinpath("docs/Reference/Metrics.md").read_text()
        for name in values:
            family = re.sub(r"(_bucket|_sum|_count)?($|{.*)", "", name)
            self.assertIn(f"| `{family}` |", page)
        named = {event["args"]["name"]: event["tid"] for event in events
                 if event["name"] == "thread_name"}
        self.assertLessEqual({"main", "reader"}, set(named))
        spans = [event for event in events if event["ph"] == "X"]
        count = lambda name: sum(span["name"] == name for span in spans)
        for stage in ("forward/backward", "prepare", "apply"):
            self.assertEqual(count(stage), 10)
        self.assertEqual({span["tid"] for span in spans
                          if span["name"] in ("read", "parse")}, {named["reader"]})
        self.assertGreaterEqual(count("parse"), 10)
        self.assertGreater(count("product"), 10)
        self.assertTrue(any(span["name"].startswith("kernel.")
                            for span in spans))
        for span in spans:
            self.assertGreaterEqual(span["dur"], 0)
            self.assertGreaterEqual(span["ts"], 0)
        refused = subprocess.run(
            [self.strict, "train", "--data", ADULT, "--trace", root],
            capture_output=True, text=True)
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.stderr, "is there and is no regular file")

    def compare(self, name, replicas, batch_size, whole_batch):
        """Compares replicas whose batches join to the batch of one replica with that replica."""
        one_dump, one_losses, _ = self.train(
            self.double, name + "_one", "--batch-size", whole_batch)
        dump, losses, _ = self.train(
            self.double, name, "--replicas", replicas, "--batch-size",
            batch_size)
        self.assertGreater(len(losses.split()), 20)
        joined.compare(self, (dump, losses), (one_dump, one_losses))

    def test_two_groups_are_one_batch(self):
        # 6000 rows: 23 rounds of 2 x 128 records, and 112 in a last round that
        # leaves the second group without a batch.
        self.compare("groups", "2x1", 128, 256)

    def test_two_workers_are_one_batch(self):
        self.compare("workers", "1x2", 128, 256)

    def test_two_by_two_is_one_batch(self):
        # The last round has two batches, of 64 and of 48 records.
        self.compare("both", "2x2", 64, 256)


if __name__ == "__main__":
    unittest.main()
