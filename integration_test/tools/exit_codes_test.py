# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each program ends with the status that docs/Reference/ExitCodes.md lists for each class of
failure: permanent, wrong flags, retryable, and stopped by a signal."""

import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import made_up_clicks
from cluster import Cluster
from programs import (BUILD, PDL_CHECKPOINT, PDL_OPT, PDL_TRANSLATE, SOURCE, compile_model, model,
                      run)
from waiting import LONG

FAILURE, USAGE, RETRY = 1, 2, 3
LAUNCH, SERVE = BUILD / "bin/pdl-launch", BUILD / "bin/pdl-serve"
PDL_DATA = BUILD / "bin/pdl-data"
CHECK_SERVING = SOURCE / "tools/pdl-check-serving/pdl-check-serving"
SMITH = SOURCE / "tools/pdl-smith/pdl-smith"


def fill_disk(size):
    """Limits the size of the files of this process, which has the effect of a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


class ExitCodes(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.trainer = compile_model(model("ctr_dnn"), cls.root / "local", "--numerics=strict")
        cls.out = compile_model(model("ctr_dnn"), cls.root / "sync", "--mode=sync",
                                "--emit=trainer,pserver").parent
        cls.clicks = cls.root / "clicks.tsv"
        made_up_clicks.write_clicks(cls.clicks, 400)
        cls.wrong = cls.root / "wrong.tsv"
        cls.wrong.write_text("no\tclick\n")
        cls.saved = cls.root / "saved"
        run(cls.trainer, "train", "--data", cls.clicks, "--checkpoint", cls.saved)
        cls.damaged = cls.root / "damaged"
        run("cp", "-r", cls.saved, cls.damaged)
        part = max(cls.damaged.glob("step-*/*"), key=lambda path: path.stat().st_size)
        content = bytearray(part.read_bytes())
        content[len(content) // 2] ^= 1
        part.write_bytes(content)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def expect(self, status, *command, text="", limit=None):
        done = subprocess.run([str(word) for word in command], text=True, capture_output=True,
                              timeout=300, restore_signals=False,
                              preexec_fn=limit and (lambda: fill_disk(limit)))
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, status, f"{command}\n{said}")
        self.assertIn(text, said)

    def expect_stopped(self, status, text, *command):
        """Sends SIGTERM after the program has printed `text`, and checks its status."""
        with open(self.root / "log", "w+") as log:
            process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log)
            end = time.monotonic() + LONG
            said = ""
            while text not in said and time.monotonic() < end and process.poll() is None:
                time.sleep(0.01)
                said = (self.root / "log").read_text()
            process.send_signal(signal.SIGTERM)
            code = process.wait(LONG)
            said = (self.root / "log").read_text()
            self.assertEqual(code, status, said)
            self.assertIn(text, said)

    def start_job(self, data, trainers):
        """Starts one server, and `trainers` trainers that train for a very long time."""
        cluster = Cluster(self.out, trainers, 1, ["--data", data, "--epochs", 10**8])
        cluster.start_server(0)
        for rank in range(trainers):
            cluster.start_trainer(rank)
        return cluster

    def test_trainer(self):
        train = (self.trainer, "train")
        self.expect(USAGE, *train, "--no-such")
        self.expect(USAGE, *train, "--data", self.clicks, "--rows", "a:b")
        self.expect(FAILURE, *train, "--data", self.wrong, text="wrong.tsv:1")
        self.expect(FAILURE, *train, "--data", self.clicks, "--checkpoint", self.damaged,
                    "--resume", text="damaged")
        self.expect(RETRY, *train, "--data", self.clicks, "--checkpoint", self.root / "full",
                    "--max-failed-saves", 0, text="cannot be written", limit=30_000)
        self.expect(RETRY, self.out / "trainer", "train", "--data", self.clicks, "--servers",
                    f"unix:{self.root}/nobody", "--wait", 1, text="did not respond for")
        self.expect_stopped(128 + signal.SIGTERM, "epoch 1", *train, "--data", self.clicks,
                            "--epochs", 10**8)

    def test_flags_and_the_files_that_they_name(self):
        """A wrong flag ends with 2, whenever it is found. A missing or unsuitable file ends with
        1."""
        nothing = self.root / "nothing"
        data = ("--data", self.clicks)
        train, predict = ((self.trainer, command, *data) for command in ("train", "predict"))
        job = (self.out / "trainer", "train", *data, "--servers", f"unix:{self.root}/nobody")
        server = (self.out / "pserver", "--rank", 0, "--servers", f"unix:{self.root}/nobody")
        for command in (
                (*train, "--table-spill", self.root),
                (*server, "--table-spill", self.root),
                (*train, "--max-table-memory", "1GiB", "--hogwild"),
                (*train, "--hogwild", "--replicas", "2x1"),
                (*train, "--files-in-turn"),
                (*train, "--init-values-only"),
                (*job, "--max-table-memory", "1GiB"),
                (*job, "--init-from", self.clicks),
                (self.trainer, "evaluate", *data, "--checkpoint", self.saved, "--output", "-"),
                (*predict, "--checkpoint", self.saved, "--id", "no_such_field"),
                (*predict,), (*predict, "--checkpoint", "")):
            self.expect(USAGE, *command)
        for command in (
                (*train, "--init-from", nothing), (*job, "--token-file", nothing),
                (*train, "--dump", nothing / "dump"), (*train, "--dump", self.root),
                (self.trainer, "train", "--data", nothing),
                (*predict, "--init-from", nothing), (*predict, "--checkpoint", nothing),
                (*predict, "--init-from", self.clicks),
                (*server, "--init-from", nothing), (*server, "--token-file", nothing),
                (self.out / "pserver", "replay", "--checkpoint", nothing, nothing),
                (LAUNCH, nothing), (SERVE, nothing),
                (PDL_CHECKPOINT, "inspect", nothing), (PDL_CHECKPOINT, "prune", nothing),
                (PDL_CHECKPOINT, "prune", max(self.saved.glob("step-*"))),
                (PDL_CHECKPOINT, "dump", nothing, "-o", self.root / "new"),
                (PDL_CHECKPOINT, "dump", self.saved, "-o", nothing / "new"),
                (PDL_CHECKPOINT, "merge", self.saved, self.root),
                (PDL_CHECKPOINT, "export", nothing, "-o", self.root / "new"),
                (PDL_CHECKPOINT, "shrink", self.saved, "-o", self.root, "--unseen", 7)):
            self.expect(FAILURE, *command)

    def test_addresses_of_no_store(self):
        """An address with a scheme that no store has is a wrong flag, and no path of this host."""
        work = self.root / "addresses"
        work.mkdir()
        far, data = "gs://bucket/a", ("--data", self.clicks)
        commands = [(self.trainer, "train", *data, flag, far)
                    for flag in ("--checkpoint", "--init-from", "--evaluate-data")]
        commands += [(*command, "-o", far) for command in (
            (self.out / "pserver", "replay", self.clicks), (PDL_DATA, "convert", self.clicks),
            (PDL_CHECKPOINT, "dump", self.saved))]
        commands += [
            (self.trainer, "train", "--data", far),
            (self.trainer, "evaluate", *data, "--checkpoint", far),
            (self.trainer, "predict", *data, "--init-from", far),
            (self.out / "pserver", "--rank", 0, "--servers", f"unix:{self.root}/nobody",
             "--checkpoint", far),
            (PDL_CHECKPOINT, "merge", self.saved, far), (PDL_DATA, "count", far), (PDL_DATA, "convert", far, "-o", work / "new.csv"),
            (PDL_CHECKPOINT, "inspect", far), (PDL_CHECKPOINT, "prune", far)]
        for command in commands:
            done = subprocess.run([str(word) for word in command], text=True, cwd=work,
                                  capture_output=True, timeout=LONG)
            self.assertEqual(done.returncode, USAGE, f"{command}\n{done.stderr}")
            self.assertIn(f"{far}: no store has addresses of the scheme gs; name a path, or an "
                          "address of s3://", done.stderr)
            flag = command[command.index(far) - 1]
            if str(flag).startswith("--"):
                self.assertIn(flag, done.stderr)
        self.assertEqual(list(work.iterdir()), [])
        # A command that reads the data may know the address.
        self.expect(0, self.trainer, "train", "--data", far + ".tsv", "--data-pipe",
                    f"cat {self.clicks}")

    def test_server(self):
        address = f"unix:{self.root}/server"
        server = (self.out / "pserver", "--rank", 0, "--servers", address, "--trainers", 1)
        self.expect(USAGE, *server, "--no-such")
        self.expect(USAGE, *server[:-1], 1, "--rank", 1)
        self.expect(FAILURE, *server, "--init-from", self.wrong, text="wrong.tsv")
        self.expect(RETRY, *server, "--wait", 1, text="did not join")
        self.expect_stopped(128 + signal.SIGTERM, "listening", *server)
        first = subprocess.Popen([str(word) for word in server], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, text=True)
        try:
            while "listening" not in first.stderr.readline():
                self.assertIsNone(first.poll())
            self.expect(RETRY, *server, text="another process listens there")
        finally:
            first.kill()
            first.communicate()

    def wait_for_an_epoch(self, trainer):
        while "epoch 1" not in trainer.output:
            self.assertIsNone(trainer.popen.poll(), trainer.output)
            time.sleep(0.01)

    def expect_ends(self, cluster, codes):
        processes = (*cluster.trainers, *cluster.servers)
        self.assertEqual([process.wait(LONG) for process in processes], codes,
                         "\n".join(process.output for process in processes))

    def test_one_status_for_a_job(self):
        """The exit code of a failure reaches the other processes."""
        with self.subTest("a trainer is killed"), self.start_job(self.clicks, 2) as cluster:
            self.wait_for_an_epoch(cluster.trainers[0])
            cluster.trainers[1].popen.kill()
            self.expect_ends(cluster, [RETRY, -signal.SIGKILL, RETRY])
        with self.subTest("a server is killed"), self.start_job(self.clicks, 1) as cluster:
            self.wait_for_an_epoch(cluster.trainers[0])
            cluster.servers[0].popen.kill()
            self.expect_ends(cluster, [RETRY, -signal.SIGKILL])
        with self.subTest("wrong data"), self.start_job(self.wrong, 2) as cluster:
            self.expect_ends(cluster, [FAILURE] * 3)

    def test_launch(self):
        launch = (LAUNCH, "--unix")
        self.expect(USAGE, *launch, "--no-such", self.out)
        self.expect(FAILURE, *launch, self.root / "nothing", text="found no program")
        self.expect(USAGE, *launch, self.out, "--", "--no-such")
        self.expect(FAILURE, *launch, self.out, "--", "--data", self.wrong)
        self.expect(RETRY, *launch, self.out, "--", "--data", self.clicks, "--checkpoint",
                    self.root / "full-job", "--max-failed-saves", 0, limit=30_000)
        self.expect_stopped(128 + signal.SIGTERM, "epoch 1", *launch, self.out, "--", "--data",
                            self.clicks, "--epochs", 10**8)

    def test_serve(self):
        models = self.root / "models"
        models.mkdir()
        address = f"unix:{self.root}/http"
        serve = (SERVE, models, "--http", address)
        self.expect(USAGE, *serve, "--no-such")
        self.expect(FAILURE, SERVE, self.root / "nothing")
        self.expect(USAGE, SERVE, models, "--http", "nowhere")
        # A server runs until it is stopped, so the stop is not a failure.
        self.expect_stopped(0, "answers HTTP", *serve)
        first = subprocess.Popen([str(word) for word in serve], stderr=subprocess.PIPE, text=True)
        try:
            while "answers HTTP" not in first.stderr.readline():
                self.assertIsNone(first.poll())
            self.expect(RETRY, *serve, text="another process listens there")
        finally:
            first.kill()
            first.communicate()

    def test_checkpoint(self):
        self.expect(USAGE, PDL_CHECKPOINT, "inspect")
        self.expect(USAGE, PDL_CHECKPOINT, "dumb", self.saved)
        self.expect(FAILURE, PDL_CHECKPOINT, "inspect", self.damaged, text="damaged")
        self.expect(FAILURE, PDL_CHECKPOINT, "inspect", self.root / "nothing")
        self.expect(RETRY, PDL_CHECKPOINT, "dump", self.saved, "-o",
                    self.root / "dump.safetensors", limit=1000)
        self.expect(0, PDL_CHECKPOINT, "diff", self.saved, self.saved)
        # `diff` uses 1 for differences, so errors have another code.
        self.expect(USAGE, PDL_CHECKPOINT, "diff", self.saved, self.damaged)

    def test_translate(self):
        output = self.root / "translated"
        self.expect(USAGE, PDL_TRANSLATE, model("ctr_dnn"), "--no-such", "-o", output)
        self.expect(USAGE, PDL_TRANSLATE, model("ctr_dnn"), "--mode=none", "-o", output)
        self.expect(FAILURE, PDL_TRANSLATE, self.wrong, "-o", output)
        self.expect(FAILURE, PDL_TRANSLATE, self.root / "nothing.mlir", "-o", output)
        self.expect(RETRY, PDL_TRANSLATE, model("ctr_dnn"), "--emit=llvm", "-o", output,
                    limit=1000)
        self.expect(FAILURE, PDL_OPT, self.wrong)
        self.expect(USAGE, PDL_OPT, "--print-std=nothing")

    def test_scripts(self):
        self.expect(USAGE, sys.executable, SMITH, "--no-such")
        self.expect(USAGE, sys.executable, CHECK_SERVING, "--no-such")
        check = (sys.executable, CHECK_SERVING, "--trainer", self.trainer, "--checkpoint",
                 self.saved, "--tools", BUILD / "bin")
        server = ("--server", f"unix:{self.root}/nobody")
        self.expect(FAILURE, *check, *server, "--data", self.wrong)
        self.expect(RETRY, *check, *server, "--data", self.clicks, text="does not respond")


if __name__ == "__main__":
    unittest.main()
