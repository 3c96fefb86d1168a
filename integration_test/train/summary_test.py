# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files about a run: the summary (--summary) and metrics over time (--log-metrics)."""

import contextlib
import importlib.util
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import test_packages
from folders import SharedFolderTest
from programs import ADULT, BUILD, PDL_TRANSLATE, SOURCE, checkpoints_in, fails, metric, run
from small_model import observed_model
from waiting import LONG, wait_until

SCHEMA = SOURCE / "docs/Reference/summary-1.schema.json"
ENDLESS = ["--epochs", 100_000]


class Files(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.validator = None
        try:
            if importlib.util.find_spec("jsonschema") is None:
                test_packages.require("jsonschema")
        except unittest.SkipTest as error:
            # Only `test_schema` is skipped.
            cls.no_validator = str(error)
        else:
            import jsonschema
            cls.validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
        model = cls.root / "small.mlir"
        model.write_text(observed_model())
        cls.local, cls.sync = cls.root / "local", cls.root / "sync"
        run(PDL_TRANSLATE, model, "-o", cls.local)
        run(PDL_TRANSLATE, model, "--mode=sync", "-o", cls.sync)
        cls.trainer = cls.local / "trainer"

    def setUp(self):
        super().setUp()
        self.folder = self.root / self.id().rpartition(".")[2]
        self.folder.mkdir()
        self.path = self.folder / "run.json"

    def summary(self, path=None):
        """Returns a summary after checking it with the schema, if its package is there."""
        found = json.loads((path or self.path).read_text())
        if self.validator is None:
            return found
        errors = [f"{error.json_path}: {error.message}"
                  for error in self.validator.iter_errors(found)]
        self.assertEqual(errors, [])
        return found

    def train(self, *flags, **options):
        return run(self.trainer, "train", "--data", ADULT, "--batch-size", 512, "--summary",
                   self.path, *flags, **options)

    def test_schema(self):
        """The schema is valid. Skipped, like the checks of all summaries, without its package."""
        if self.validator is None:
            self.skipTest(f"summaries are not checked with the schema: {self.no_validator}")
        self.validator.check_schema(self.validator.schema)
        self.assertFalse(self.validator.is_valid({"schema_version": 1}))

    def test_training(self):
        saved, dump = self.folder / "saved", self.folder / "model.safetensors"
        done = self.train("--epochs", 2, "--rows", "0%:80%", "--evaluate-rows", "80%:",
                          "--checkpoint", saved, "--dump", dump)
        found = self.summary()
        self.assertEqual((found["program"], found["state"], found["exit_status"],
                          found["reason"]), ("trainer train", "done", 0, "done"))
        self.assertEqual(found["flags"]["--epochs"], ["2"])
        self.assertEqual((found["model"], found["mode"], found["rank"]), ("small", "local", 0))
        steps, samples = re.search(r"trained (\d+) steps, (\d+) samples", done.stdout).groups()
        self.assertEqual((found["training"]["steps"], found["training"]["samples"]),
                         (int(steps), int(samples)))
        self.assertGreater(found["training"]["samples_per_second"], 0)
        self.assertEqual([each["epoch"] for each in found["epochs"]], [1, 2])
        last = found["epochs"][-1]
        self.assertTrue(last["has_ended"])
        for kind in ("train", "test"):
            self.assertAlmostEqual(last[kind]["metrics"]["auc"], metric(done.stdout, f"{kind} AUC"),
                                   delta=1e-4)
        self.assertAlmostEqual(last["train"]["loss"], metric(done.stdout, "train loss"), delta=1e-6)
        self.assertEqual([pathlib.Path(each["path"]) for each in found["checkpoints"]],
                         checkpoints_in(saved))
        self.assertEqual(found["tables"][0]["name"], "emb")
        self.check_evaluation(dump)
        self.check_prediction(dump)

    def check_evaluation(self, dump):
        path = self.folder / "evaluation.json"
        done = run(self.trainer, "evaluate", "--data", ADULT, "--init-from", dump, "--summary", path)
        found = self.summary(path)
        self.assertEqual(found["state"], "done")
        self.assertAlmostEqual(found["evaluation"]["metrics"]["auc"],
                               metric(done.stdout, "test AUC"), delta=1e-4)
        self.assertEqual(found["evaluation"]["samples"], 32561)

    def check_prediction(self, dump):
        path = self.folder / "prediction.json"
        run(self.trainer, "predict", "--data", ADULT, "--init-from", dump, "--output",
            self.folder / "predictions.tsv", "--summary", path)
        found = self.summary(path)
        self.assertEqual((found["state"], found["prediction"]["samples"]), ("done", 32561))

    def test_running_and_stopped(self):
        """The summary of a running training is a whole object. A signal ends it as stopped."""
        process = subprocess.Popen([str(word) for word in (
            self.trainer, "train", "--data", ADULT, "--batch-size", 512, "--summary", self.path,
            *ENDLESS)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: self.path.exists() and
                       len(self.summary().get("epochs", [])) >= 2)
            running = self.summary()
            self.assertEqual((running["state"], running["exit_status"]), ("running", None))
        finally:
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=LONG)
        self.assertEqual(process.returncode, 143, said)
        found = self.summary()
        self.assertEqual((found["state"], found["exit_status"]), ("stopped", 143))
        self.assertIn("Terminated", found["reason"])
        self.assertGreater(found["training"]["steps"], 0)

    def test_failures(self):
        """A failing run writes the message, and replaces the summary of an earlier run."""
        self.train("--steps", 1)
        self.assertEqual(self.summary()["state"], "done")
        bad = self.folder / "bad.csv"
        bad.write_text("no,row\n")
        for status, flags in ((1, ["--data", bad]), (1, ["--data", "/none/such"]),
                              (1, ["--data", ADULT, "--init-from", "/none/such"]),
                              (2, ["--data", ADULT, "--emulate-bf16"])):
            with self.subTest(flags=flags):
                said = fails(self.trainer, "train", "--summary", self.path, *flags, status=status)
                found = self.summary()
                self.assertEqual((found["state"], found["exit_status"]), ("failed", status))
                self.assertIn("error: " + found["reason"], said)

    def test_refused_paths(self):
        """No other file is replaced."""
        data = self.folder / "clicks.csv"
        data.write_text("no,row\n")
        said = fails(self.trainer, "train", "--data", data, "--summary", data, status=None)
        self.assertIn("--summary: cannot write", said)
        self.assertIn("is no summary", said)
        self.assertEqual(data.read_text(), "no,row\n")
        said = fails(self.trainer, "train", "--data", ADULT, "--summary", "/none/such/run.json",
                     status=None)
        self.assertIn("--summary: cannot write /none/such/run.json", said)
        # Opening a FIFO without a writer would block.
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        said = fails(self.trainer, "train", "--data", ADULT, "--summary", fifo, status=None,
                     timeout=LONG)
        self.assertIn("is no regular file", said)

    def test_long_lists(self):
        """Lists keep the newest elements, so that the file has a bounded size."""
        self.train("--epochs", 1003, "--rows", "0:64")
        found = self.summary()
        self.assertEqual([each["epoch"] for each in found["epochs"]], list(range(4, 1004)))
        self.assertEqual(found["counts"], {"epochs": 1003})

    def launch(self, *flags, trainer=()):
        return subprocess.run([str(word) for word in (
            BUILD / "bin/pdl-launch", "--unix", "--trainers", 2, "--servers", 2, "--summary",
            self.path, *flags, self.sync, "--", "--data", ADULT, "--batch-size", 512, *trainer)],
            capture_output=True, text=True)

    def test_job(self):
        done = self.launch(trainer=["--epochs", 2, "--checkpoint", self.folder / "saved"])
        self.assertEqual(done.returncode, 0, done.stderr)
        found = self.summary()
        self.assertEqual((found["program"], found["state"], found["mode"]),
                         ("pdl-launch", "done", "sync"))
        self.assertEqual([each["process"] for each in found["processes"]],
                         ["pserver 0", "pserver 1", "trainer 0", "trainer 1"])
        parts = {each["process"]: each["summary"] for each in found["processes"]}
        for each in parts.values():
            self.assertEqual(each["state"], "done")
        # Figures are those of the whole job.
        self.assertEqual(found["epochs"][-1]["train"]["samples"], 32561)
        self.assertEqual(found["epochs"][-1]["train"], parts["trainer 1"]["epochs"][-1]["train"])
        self.assertTrue(found["checkpoints"])
        self.assertEqual(parts["pserver 0"]["server"]["steps"], parts["trainer 0"]["training"]["steps"])
        self.assertGreater(sum(parts[f"pserver {rank}"]["tables"][0]["rows"] for rank in (0, 1)), 0)

    def test_failing_job(self):
        done = self.launch("--grace", 5, trainer=["--data", "/none/such"])
        self.assertNotEqual(done.returncode, 0)
        found = self.summary()
        self.assertEqual((found["state"], found["exit_status"]), ("failed", done.returncode))
        self.assertRegex(found["reason"], r"(trainer|pserver) \d ended with status \d: .*/none/such")
        done = self.launch(trainer=["--summary", "x.json"])
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--summary before FOLDER has the summaries of all programs", done.stderr)

    def test_unstarted_programs(self):
        """A program that was not started has no exit status."""
        limit = 24
        done = subprocess.run([str(word) for word in (
            BUILD / "bin/pdl-launch", "--unix", "--trainers", 30, "--servers", 1, "--summary",
            self.path, self.sync, "--", "--data", ADULT)], capture_output=True, text=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
        self.assertNotEqual(done.returncode, 0)
        found = self.summary()
        self.assertEqual((found["state"], found["exit_status"]), ("failed", done.returncode))
        self.assertRegex(found["reason"], r"cannot create a pipe for trainer \d+: ")
        self.assertEqual(found["processes"][-1],
                         {"process": "trainer 29", "exit_status": None, "summary": None})

    def test_lost_results(self):
        """A job whose results no process reads has failed. The summary has the reason."""
        reads, writes = os.pipe()
        # Fills the pipe.
        os.set_blocking(writes, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writes, b"." * 4096)
        os.set_blocking(writes, True)
        losses = self.root / "losses"
        process = subprocess.Popen([str(word) for word in (
            BUILD / "bin/pdl-launch", "--unix", "--trainers", 1, "--servers", 1, "--summary",
            self.path, self.sync, "--", "--data", ADULT, "--steps", 5, "--log-losses", losses)],
            stdout=writes, stderr=subprocess.PIPE, text=True)
        os.close(writes)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        try:
            # The programs have started if the trainer writes losses.
            wait_until(losses.exists)
            wait_until(lambda: not children.read_text())
        finally:
            process.send_signal(signal.SIGTERM)
            _, said = process.communicate(timeout=LONG)
            os.close(reads)
        found = self.summary()
        self.assertEqual((found["state"], found["exit_status"]), ("failed", process.returncode),
                         said)
        self.assertIn("the last results are lost", found["reason"])

    def lines(self, path):
        return [json.loads(line) for line in path.read_text().splitlines()]

    def test_metrics_over_time(self):
        log = self.folder / "metrics.jsonl"
        done = self.train("--epochs", 2, "--rows", "0:20480", "--evaluate-rows", "20480:",
                          "--log-metrics", log, "--log-metrics-steps", 15)
        found = self.lines(log)
        # An epoch has 40 steps.
        self.assertEqual([(each["kind"], each["step"], each["epoch"]) for each in found],
                         [("steps", 15, 1), ("steps", 30, 1), ("epoch", 40, 1), ("test", 40, 1),
                          ("steps", 45, 2), ("steps", 60, 2), ("steps", 75, 2), ("epoch", 80, 2),
                          ("test", 80, 2)])
        for each in found:
            self.assertTrue(0 < each["loss"] < 1 if "loss" in each else each["kind"] == "test")
            self.assertTrue(0.5 < each["metrics"]["auc"] <= 1, each)
        self.assertEqual([each["samples"] for each in found if each["kind"] == "steps"],
                         [15 * 512, 30 * 512, 5 * 512, 20 * 512, 35 * 512])
        self.assertTrue(all(each["samples_per_second"] > 0 for each in found
                            if each["kind"] == "steps"))
        self.assertAlmostEqual(found[-2]["loss"], metric(done.stdout, "train loss"), delta=1e-6)
        self.assertAlmostEqual(found[-1]["metrics"]["auc"], metric(done.stdout, "test AUC"),
                               delta=1e-4)

    def test_tests_within_epochs(self):
        """Each test has one line, and the summary has those within epochs."""
        # An epoch has 40 steps. A test after its last step is also that of the epoch.
        for every, expected in (
                (25, [("test", 25, 1), ("steps", 40, 1), ("epoch", 40, 1), ("test", 40, 1),
                      ("test", 50, 2), ("test", 75, 2), ("steps", 80, 2), ("epoch", 80, 2),
                      ("test", 80, 2)]),
                (40, [("test", 40, 1), ("steps", 40, 1), ("epoch", 40, 1), ("test", 80, 2),
                      ("steps", 80, 2), ("epoch", 80, 2)])):
            with self.subTest(every=every):
                log = self.folder / f"metrics-{every}.jsonl"
                self.train("--epochs", 2, "--rows", "0:20480", "--evaluate-rows", "20480:",
                           "--evaluate-every", every, "--log-metrics", log,
                           "--log-metrics-steps", 40)
                lines = self.lines(log)
                self.assertEqual([(each["kind"], each["step"], each["epoch"]) for each in lines],
                                 expected)
                found = self.summary()["tests"]
                self.assertEqual([each["steps"] for each in found],
                                 list(range(every, 81, every)))
                values = {each["step"]: each["metrics"] for each in lines if each["kind"] == "test"}
                for each in found:
                    self.assertEqual(each["test"]["metrics"], values[each["steps"]])

    def test_throughput_without_tests(self):
        """The throughput of steps excludes the time of tests."""
        log = self.folder / "metrics.jsonl"
        self.train("--steps", 20, "--evaluate-data", *[ADULT] * 10, "--evaluate-every", 5,
                   "--log-metrics", log, "--log-metrics-steps", 5)
        lines = [each for each in self.lines(log) if each["kind"] == "steps"]
        self.assertEqual(len(lines), 4)
        seconds = sum(5 * 512 / each["samples_per_second"] for each in lines)
        # Both times begin together, and the second one ends later.
        self.assertLessEqual(seconds, self.summary()["training"]["seconds"] + 1e-6)

    def test_metrics_of_a_partial_epoch(self):
        log = self.folder / "metrics.jsonl"
        self.train("--epochs", 2, "--steps", 50, "--rows", "0:20480", "--log-metrics", log)
        self.assertEqual([(each["step"], each["has_ended"]) for each in self.lines(log)
                          if each["kind"] == "epoch"], [(40, True), (50, False)])

    def test_metrics_after_a_resume(self):
        log, saved = self.folder / "metrics.jsonl", self.folder / "saved"
        flags = ["--rows", "0:20480", "--checkpoint", saved, "--checkpoint-steps", 20,
                 "--log-metrics", log, "--log-metrics-steps", 10]
        self.train("--steps", 40, *flags)
        # Lines of steps that the checkpoint does not have, as a killed process leaves them.
        with open(log, "a") as file:
            file.write('{"kind": "steps", "step": 50}\n{"kind": "st')
        self.train("--steps", 60, "--epochs", 2, "--resume", *flags)
        self.assertEqual([each["step"] for each in self.lines(log) if each["kind"] == "steps"],
                         [10, 20, 30, 40, 50, 60])
        self.assertTrue(all("loss" in each for each in self.lines(log)))
        # A new training does not append.
        self.train("--steps", 10, "--log-metrics", log, "--log-metrics-steps", 10)
        self.assertEqual([each["step"] for each in self.lines(log) if each["kind"] == "steps"], [10])

    def test_metrics_by_time(self):
        """Short epochs do not delay lines."""
        log = self.folder / "metrics.jsonl"
        process = subprocess.Popen([str(word) for word in (
            self.trainer, "train", "--data", ADULT, "--batch-size", 512, "--log-metrics", log,
            "--log-metrics-seconds", 0.2, *ENDLESS)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: log.exists() and log.read_text().count('"kind":"steps"') >= 4)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(LONG)

    def test_metrics_of_servers(self):
        """A restarted server appends to its file."""
        log, saved = self.folder / "server-0.jsonl", self.folder / "saved"

        def launch(steps):
            run(BUILD / "bin/pdl-launch", "--unix", "--trainers", 2, "--servers", 1, self.sync,
                "--", "--data", ADULT, "--batch-size", 512, "--steps", steps, "--checkpoint",
                saved, "--resume", "--", "--log-metrics", self.folder / "server-{rank}.jsonl",
                "--log-metrics-seconds", 0.1)
            return self.lines(log)

        first = launch(10)
        last = first[-1]
        self.assertEqual((last["kind"], last["rank"], last["steps"], last["late_pushes"]),
                         ("server", 0, 10, 0))
        for name in ("requests", "received_bytes", "sent_bytes", "keys", "table_bytes",
                     "resident_memory_bytes"):
            self.assertGreater(last[name], 0, name)
        self.assertGreaterEqual(last["checkpoint_age_seconds"], 0)
        self.assertIsNone(last["mean_staleness_steps"])
        # A killed server may leave a part of a line.
        with open(log, "a") as file:
            file.write('{"kind": "ser')
        second = launch(15)
        self.assertEqual(second[:len(first)], first)
        self.assertEqual(second[-1]["steps"], 5)

    def test_a_full_disk(self):
        """The training continues without the file."""
        if not os.path.exists("/dev/full"):
            self.skipTest("there is no /dev/full")
        done = self.train("--steps", 20, "--log-metrics", "/dev/full", "--log-metrics-steps", 1)
        self.assertIn("the training continues without --log-metrics", done.stderr)
        self.assertEqual(self.summary()["training"]["steps"], 20)


if __name__ == "__main__":
    unittest.main()
