# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipes that no process reads. They stop no training, and every process can still end normally."""

import fcntl
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import ADULT, BUILD, checkpoints_in, compile_model, model, run
from waiting import LONG, cpu_ticks, wait_until, wait_until_idle

PDL_LAUNCH = BUILD / "bin" / "pdl-launch"
DATA = ["--data", ADULT, "--rows", "0:2000", "--batch-size", 20]


def full_pipe():
    """Returns both ends of a pipe that is full."""
    reads, writes = os.pipe()
    flags = fcntl.fcntl(writes, fcntl.F_GETFL)
    fcntl.fcntl(writes, fcntl.F_SETFL, flags | os.O_NONBLOCK)
    for size in (4096, 1):
        try:
            while True:
                os.write(writes, b"." * size)
        except BlockingIOError:
            pass
    fcntl.fcntl(writes, fcntl.F_SETFL, flags)
    return reads, writes


def new_socket():
    reads, writes = socket.socketpair()
    return reads.detach(), writes.detach()


def full_socket():
    reads, writes = socket.socketpair()
    writes.setblocking(False)
    try:
        while True:
            writes.send(b"." * 1024)
    except BlockingIOError:
        pass
    writes.setblocking(True)
    return reads.detach(), writes.detach()


class UnreadOutput(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.scratch.name)
        cls.trainer = compile_model(model("logistic_regression"), cls.root / "local")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def start(self, *words, **streams):
        process = subprocess.Popen([str(word) for word in words], **streams)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def await_steps(self, saved, steps):
        wait_until(lambda: saved.exists() and any(
            int(path.name[5:]) >= steps for path in checkpoints_in(saved)))

    def stop(self, process):
        process.send_signal(signal.SIGTERM)
        return process.wait(timeout=LONG)

    def await_writer(self, process):
        """Waits until a process does nothing but wait for a reader of its output."""
        wait_until_idle([process.pid], lambda: cpu_ticks(process.pid))
        self.assertIsNone(process.poll())

    def test_unread_messages(self):
        for make in (full_pipe, full_socket):
            with self.subTest(make.__name__):
                reads, writes = make()
                saved = self.root / make.__name__
                results = self.root / "results.txt"
                with open(results, "wb") as output:
                    process = self.start(
                        self.trainer, "train", *DATA, "--epochs", 1_000_000, "--checkpoint", saved,
                        stdout=output, stderr=writes)
                os.close(writes)
                # An epoch prints a line and is saved.
                self.await_steps(saved, 500)
                self.assertEqual(self.stop(process), 128 + signal.SIGTERM)
                last = int(checkpoints_in(saved)[-1].name[5:])
                self.assertIn(f"trained {last} steps", results.read_text())
                os.close(reads)

    def test_a_reader_that_returns_is_reported(self):
        text = "lines were dropped here, because the standard error was not read"
        for name, pattern in (("text", rf"warning: [1-9]\d* {text}\n"),
                              ("json", rf'\{{"time":[^\n]*"level":"warning",[^\n]*'
                                       rf'"message":"[1-9]\d* {text}"\}}\n')):
            with self.subTest(format=name):
                self.check_report(name, pattern)

    def check_report(self, log_format, pattern):
        reads, writes = full_pipe()
        saved = self.root / f"back-{log_format}"
        process = self.start(self.trainer, "train", *DATA, "--epochs", 1_000_000, "--checkpoint",
                             saved, "--log-format", log_format, stdout=subprocess.DEVNULL,
                             stderr=writes)
        os.close(writes)
        self.await_steps(saved, 500)
        said = b""
        while not re.search(rb"lines were dropped here[^\n]*\n", said):
            part = os.read(reads, 1 << 16)
            self.assertTrue(part, said[-1000:])
            said += part
        self.assertRegex(said.decode().lstrip("."), pattern)
        process.terminate()
        while os.read(reads, 1 << 16):
            pass
        self.assertEqual(process.wait(), 128 + signal.SIGTERM)
        os.close(reads)

    def test_unread_results(self):
        """The process waits for readers of its results until it is told to stop. Nothing else is
        lost."""
        for make in (os.pipe, new_socket):
            with self.subTest(make.__name__):
                reads, writes = make()
                saved, errors = self.root / f"results-{make.__name__}", self.root / "errors.txt"
                with open(errors, "wb") as messages:
                    process = self.start(
                        self.trainer, "train", *DATA, "--epochs", 1_000_000, "--log-losses", "-",
                        "--checkpoint", saved, stdout=writes, stderr=messages)
                os.close(writes)
                self.await_steps(saved, 1)
                # The pipe has no capacity for lines any more.
                self.await_writer(process)
                self.assertEqual(self.stop(process), 128 + signal.SIGTERM)
                said = errors.read_text()
                self.assertIn("no process reads the standard output any more", said)
                self.assertTrue(checkpoints_in(saved))
                os.close(reads)

    def test_results_of_an_evaluation(self):
        values = self.root / "values"
        run(self.trainer, "train", *DATA, "--dump", values)
        reads, writes = full_pipe()
        process = self.start(self.trainer, "evaluate", *DATA, "--init-from", values, stdout=writes,
                             stderr=subprocess.PIPE)
        os.close(writes)
        self.await_writer(process)
        self.assertEqual(self.stop(process), 128 + signal.SIGTERM)
        self.assertIn(b"no process reads the standard output any more", process.stderr.read())
        process.stderr.close()
        os.close(reads)

    def test_a_whole_job(self):
        folder = self.root / "sync"
        compile_model(model("logistic_regression"), folder, "--mode=sync",
                      "--emit=trainer,pserver")
        for name, flags in (("errors", ()), ("results", ("--log-losses", "-"))):
            with self.subTest(name):
                reads, writes = full_pipe()
                saved = self.root / f"job-{name}"
                process = self.start(
                    PDL_LAUNCH, "--trainers", 2, folder, "--", *DATA, "--epochs", 1_000_000,
                    "--checkpoint", saved, "--checkpoint-steps", 10, *flags,
                    stdout=writes, stderr=writes)
                os.close(writes)
                self.await_steps(saved, 10)
                self.assertEqual(self.stop(process), 128 + signal.SIGTERM)
                self.assertTrue(checkpoints_in(saved))
                os.close(reads)


if __name__ == "__main__":
    unittest.main()
