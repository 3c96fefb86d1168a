# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training on a stream while the model is served: docs/Online.md unchanged, with brokers of its own,
and the part with pipes also with kill -9 of each process in turn. The served values equal the
trained ones, bit for bit. No row of the stream is lost, and no row counts twice."""

import array
import contextlib
import fcntl
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import docs_commands
import kafka_brokers
import made_up_clicks
from model_server import Server, UnixConnection, inputs_of, single
from programs import (BUILD, PDL_CHECKPOINT, PDL_SERVE, PDL_TRANSLATE, SOURCE, checkpoints_in,
                      model, run)
from waiting import LONG, wait_until

KEEP_TRAINING = SOURCE / "examples" / "online" / "keep_training.py"
PAGE = SOURCE / "docs" / "Online.md"
# Starts brokers with the topic of the page, which run until their input ends.
START_BROKERS = f"""
mkfifo commands
{kafka_brokers.PROGRAM} 1 20 <commands >brokers.txt &
brokers=$!
exec 9>commands
until test -s brokers.txt; do sleep 0.05; done
export BROKERS=$(head -n 1 brokers.txt)
echo 'topic clicks 4' >&9
"""
END_BROKERS = "exec 9>&-; wait $brokers"
PIPES = ("left.tsv", "right.tsv")
BATCH = 16
ROWS_OF_STEP = BATCH * len(PIPES)


def is_delta(checkpoint):
    return '"after"' in (checkpoint / "manifest.json").read_text()


def words_of(pid):
    """Returns the words of the command line of a process; an empty list if it has ended."""
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
    except OSError:
        return []


def children_of(pid):
    try:
        return [int(child) for child in
                pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def descendants_of(pid):
    found = []
    for child in children_of(pid):
        found += [child, *descendants_of(child)]
    return found


class Traffic(threading.Thread):
    """Appends `lines` and many more to a log, each of them by two writes, until `ends` is set.
    `steps`: returns the number of trained steps. The traffic is a bounded number of steps ahead of
    them, so that a slow machine does not have to train much at the end."""

    AHEAD, LAST_LINES = 20, 300

    def __init__(self, path, draw, lines, steps):
        super().__init__(daemon=True)
        self.path, self.draw, self.lines, self.steps = path, draw, lines, steps
        self.ends = threading.Event()
        path.touch()

    def run(self):
        draw, last = random.Random(1), self.LAST_LINES
        with open(self.path, "a") as log:
            for number in itertools.count():
                if number == len(self.lines):
                    self.lines.append(made_up_clicks.click_line(self.draw))
                line = self.lines[number]
                cut = draw.randrange(len(line))
                for part in line[:cut], line[cut:]:
                    log.write(part)
                    log.flush()
                if not self.ends.wait(0.004):
                    last = number + self.LAST_LINES
                elif number == last:
                    return
                while (number % ROWS_OF_STEP == 0 and not self.ends.is_set() and
                       number > (self.steps() + self.AHEAD) * ROWS_OF_STEP):
                    self.ends.wait(0.02)


class Client(threading.Thread):
    """Requests predictions of some lines continuously. Each response is a prediction, an error of
    its protocol, or a failure: a connection that is refused or broken, or a server that is still
    loading the model. Failures have the time at which the request began."""

    def __init__(self, path, lines):
        super().__init__(daemon=True)
        self.path, self.body = path, json.dumps({"inputs": inputs_of(lines)})
        self.seen, self.failures, self.wrong = {}, [], []
        self.ends = threading.Event()

    def run(self):
        connection = UnixConnection(self.path)
        while not self.ends.wait(0.01):
            begin = time.monotonic()
            try:
                connection.request("POST", "/v2/models/clicks/infer", self.body)
                answer = connection.getresponse()
                content = json.loads(answer.read())
                if answer.status == 200:
                    [output] = content["outputs"]
                    scores = tuple(single(number) for number in output["data"])
                    self.seen.setdefault(scores, time.monotonic())
                elif answer.status == 503 and "is being loaded" in content["error"]:
                    self.failures.append((begin, content["error"]))
                elif answer.status != 404:
                    self.wrong.append((answer.status, content))
            except (OSError, http.client.HTTPException) as error:
                self.failures.append((begin, repr(error)))
                connection.close()
            except Exception as error:  # pylint: disable=broad-except
                self.wrong.append(repr(error))
        connection.close()

    def failures_since(self, moment):
        return [failure for failure in self.failures if failure[0] >= moment]

    def finish(self):
        self.ends.set()
        self.join()


@unittest.skipUnless(PDL_SERVE.exists(), "pdl-serve was not built: its packages are missing")
class Online(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="pdlonline")
        cls.addClassCleanup(folder.cleanup)
        cls.programs = pathlib.Path(folder.name)
        for flags, name in ((["--mode=sync"], "sync"), ([], "local"),
                            (["--emit=library"], "library")):
            run(PDL_TRANSLATE, model("ctr_dnn"), "--numerics=strict", *flags, "-o",
                cls.programs / name)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="pdlonline")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.saved = self.root / "saved"

    def wait_until(self, holds, what):
        return wait_until(holds, LONG, lambda: f"no {what}:\n{self.said()[-6000:]}")

    #===------------------------------------------------------------------===#
    # The page
    #===------------------------------------------------------------------===#

    @unittest.skipUnless(kafka_brokers.PROGRAM.exists() and shutil.which("kcat"),
                         "kafka_broker was not built, or kcat is missing: install librdkafka-dev "
                         "and kafkacat")
    def test_the_page(self):
        """Runs the commands of the page in one shell, so that background processes continue from
        block to block. A command fails if a step fails, and the page compares served with
        predicted values."""
        environment = docs_commands.prepare(self.root)
        script = ["set -euo pipefail", docs_commands.NETWORK, START_BROKERS]
        for info, text in docs_commands.blocks(PAGE):
            if info == "sh":
                script.append(text)
            else:
                self.assertTrue(info == "text" or info.startswith("sh not run: "), info)
        script.append(END_BROKERS)
        # If a process still runs at the end, the page has a mistake.
        script.append('test -z "$(jobs -p)"')
        (self.root / "page.sh").write_text("\n".join(script))
        unshare = ["unshare", "--net"] + (["--map-root-user"] if os.geteuid() != 0 else [])
        with (open(self.root / "page.log", "w") as log, subprocess.Popen(
                [*unshare, "bash", "-x", "page.sh"], cwd=self.root, env=environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True) as page):
            try:
                status = page.wait(3 * LONG)
            except subprocess.TimeoutExpired:
                status = f"none within {3 * LONG} s"
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(page.pid, signal.SIGKILL)
        self.assertEqual(status, 0, "\n".join(
            (self.root / name).read_text()[-6000:]
            for name in ("page.log", "training.log", "serving.log", "pipes.log")
            if (self.root / name).exists()))
        saved = self.root / "saved"
        self.assertTrue(any(map(is_delta, checkpoints_in(saved))))
        # The server loaded checkpoint after checkpoint while it responded, and had no warnings
        # after the first one.
        before, loaded, served = (self.root / "serving.log").read_text().partition(": loaded ")
        self.assertTrue(loaded, before)
        self.assertGreater(len(re.findall(r"took the values of \S*/step-\d+", served)), 1)
        # The first checkpoint has few steps and knows few ids, so there may be one warning about
        # this.
        others, count = re.subn(r" warning: model clicks, version 1: \d+ of \d+ looked-up ids "
                                r"\(\d+ %\) are unknown to the model; .*\n", "", served)
        self.assertLessEqual(count, 1, served)
        self.assertNotIn("warning", others)

    #===------------------------------------------------------------------===#
    # Kills
    #===------------------------------------------------------------------===#

    def deploy(self):
        """Creates a version whose checkpoints are those of the training."""
        version = self.root / "served" / "clicks" / "1"
        version.mkdir(parents=True)
        shutil.copy(self.programs / "library" / "libctr_dnn.so", version)
        self.saved.mkdir()
        (version / "checkpoints").symlink_to(self.saved)

    def start_training(self, *flags):
        """Starts keep_training.py as on the page, with checkpoints after every two steps."""
        saves = ["--resume", "--checkpoint", str(self.saved)]
        said = open(self.root / "training.log", "a")
        training = subprocess.Popen(
            [sys.executable, str(KEEP_TRAINING), *flags, str(self.root / "clicks.tsv"),
             *(str(self.root / pipe) for pipe in PIPES), "--",
             str(BUILD / "bin" / "pdl-launch"), "--unix", "--trainers", "2",
             "--servers", "2", str(self.programs / "sync"), "--",
             "--data", *(str(self.root / pipe) for pipe in PIPES), "--batch-size", str(BATCH),
             "--checkpoint-steps", "2", "--checkpoint-deltas", "4", "--checkpoint-keep", "0",
             *saves, "--", *saves],
            stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        said.close()
        self.addCleanup(training.wait)
        self.addCleanup(training.kill)
        return training

    def said(self):
        log = self.root / "training.log"
        return log.read_text() if log.exists() else ""

    def process(self, training, name, rank=None):
        """Waits until a program of the training runs. Returns its process id."""
        def find():
            for pid in descendants_of(training.pid):
                words = words_of(pid)
                if (any(pathlib.Path(word).name == name for word in words[:2]) and
                        (rank is None or words[words.index("--rank") + 1] == str(rank))):
                    return pid
            return None
        return self.wait_until(find, f"{name} that runs")

    def steps(self):
        """Returns the number of steps of the newest checkpoint; -1 if there is none."""
        found = checkpoints_in(self.saved)
        return int(found[-1].name[len("step-"):]) if found else -1

    def predictions(self, checkpoint, data):
        path = self.root / "predicted.tsv"
        run(self.programs / "sync" / "trainer", "predict", "--data", data, "--checkpoint", checkpoint,
            "--output", path)
        return tuple(single(line) for line in path.read_text().splitlines()[1:])

    def test_kills(self):
        self.deploy()
        draw = random.Random(3)
        lines = [made_up_clicks.click_line(draw) for _ in range(4)]
        probe = self.root / "probe.tsv"
        probe.write_text("".join(lines))
        asked = [line.rstrip("\n").split("\t") for line in lines]
        traffic = Traffic(self.root / "clicks.tsv", draw, lines, self.steps)
        self.addCleanup(traffic.ends.set)
        socket = self.root / "socket"
        training = self.start_training()
        server = Server(self.root / "served", unix=socket)
        self.addCleanup(lambda: server.kill())
        client = Client(socket, asked)
        self.addCleanup(client.finish)
        client.start()
        traffic.start()
        self.wait_until(lambda: len(client.seen) > 2, "predictions that move")
        loaded = min(client.seen.values())
        # Requests failed only while the first checkpoint was being loaded.
        for _, failure in client.failures:
            self.assertIn("is being loaded", failure)

        for victim in (("trainer", 0), ("feed.py", None), ("pserver", 1), ("trainer", 1),
                       ("pserver", 0), ("pdl-launch", None)):
            with self.subTest(victim):
                begin = self.steps()
                self.wait_until(lambda: self.steps() > begin, "steps")
                before, starts = self.steps(), self.said().count("starts again")
                os.kill(self.process(training, *victim), signal.SIGKILL)
                self.wait_until(lambda: self.said().count("starts again") > starts, "another start")
                self.wait_until(lambda: self.steps() > before + 2, "steps behind it")
                # The server has responded all the time.
                self.assertEqual(client.failures_since(loaded), [])
        # Kill keep_training.py, which restarts the training: the training stops normally, and the
        # test restarts the script.
        launcher = self.process(training, "pdl-launch")
        before = self.steps()
        training.kill()
        self.wait_until(lambda: not words_of(launcher), "end of the job")
        self.assertIn("stopped by a signal after the current step", self.said())
        self.assertGreaterEqual(self.steps(), before)
        training = self.start_training()
        self.wait_until(lambda: self.steps() > before + 2, "steps behind it")
        # Kill pdl-serve: requests fail until the next server has loaded the model, and then
        # succeed.
        for _ in range(2):
            seen, killed = len(client.seen), time.monotonic()
            server.kill()
            self.wait_until(lambda: client.failures_since(killed), "a request that fails")
            server = Server(self.root / "served", unix=socket)
            loaded = time.monotonic()
            self.wait_until(lambda: len(client.seen) > seen + 1, "answers of the next server")
            self.assertEqual(client.failures_since(loaded), [])

        traffic.ends.set()
        traffic.join()
        training.send_signal(signal.SIGTERM)
        self.assertEqual(training.wait(LONG), 128 + signal.SIGTERM, self.said())
        training = self.start_training("--to-end")
        self.assertEqual(training.wait(LONG), 0, self.said())
        newest = checkpoints_in(self.saved)[-1]
        # No row is lost, and no row counts twice: the state has the bits of one process that reads
        # all rows from files without interruption.
        for own, pipe in enumerate(PIPES):
            (self.root / f"whole-{pipe}").write_text("".join(lines[own::len(PIPES)]))
        run(self.programs / "local" / "trainer", "train", "--replicas", "2x1", "--batch-size", BATCH,
            "--data", *(self.root / f"whole-{pipe}" for pipe in PIPES), "--checkpoint",
            self.root / "alone")
        run(PDL_CHECKPOINT, "diff", newest, self.root / "alone")
        # The served predictions are those of the trained model.
        last = self.predictions(newest, probe)
        self.wait_until(lambda: last in client.seen, "the last predictions")
        client.finish()
        self.assertEqual(client.wrong, [])
        self.assertEqual(client.failures_since(loaded), [])
        whole = {self.predictions(checkpoint, probe) for checkpoint in checkpoints_in(self.saved)}
        self.assertEqual(set(client.seen) - whole, set())
        server.end()

    #===------------------------------------------------------------------===#
    # Pipes
    #===------------------------------------------------------------------===#

    def start_trainer(self, *flags):
        """Starts a trainer of mode local that reads a pipe. Returns the trainer and the pipe,
        which the test holds open."""
        pipe = self.root / "pipe.tsv"
        pipe.unlink(missing_ok=True)
        os.mkfifo(pipe)
        held = open(os.open(pipe, os.O_RDWR), "w")
        self.addCleanup(held.close)
        trainer = subprocess.Popen(
            [str(word) for word in (
                self.programs / "local" / "trainer", "train", "--data", pipe, "--batch-size", BATCH,
                "--checkpoint", self.saved, "--resume", *flags)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (trainer.kill(), trainer.communicate()))
        return trainer, held

    def send(self, held, text):
        """Writes the text and waits until all of it has been read: a pipe may have less capacity
        than the text, and unread data are lost when the last process closes the pipe."""
        writer = threading.Thread(target=lambda: (held.write(text), held.flush()), daemon=True)
        writer.start()
        count = array.array("i", [1])

        def is_read():
            fcntl.ioctl(held, termios.FIONREAD, count)
            return not writer.is_alive() and count[0] == 0
        self.wait_until(is_read, "reader of the pipe")

    def test_a_feeder_dies_within_a_line(self):
        """After the feeder has died in the middle of a line, the training stops without using the
        partial line. The next start gets the whole line."""
        lines = [made_up_clicks.click_line(draw) for draw in [random.Random(4)]
                 for _ in range(600)]
        data = self.root / "whole.tsv"
        data.write_text("".join(lines))
        for name, flags in ("plain", ()), ("shuffled", ("--shuffle-window", "100")):
            with self.subTest(name):
                self.saved = self.root / name
                run(self.programs / "local" / "trainer", "train", "--data", data, "--batch-size", BATCH,
                    "--checkpoint", self.root / f"{name}-alone", *flags)
                # Without the last characters of its last cell, the line would be a row with
                # another value.
                for count in 130, 331, 470:
                    trainer, held = self.start_trainer("--checkpoint-steps", 1, *flags)
                    self.send(held, "".join(lines[:count]) + lines[count][:-3])
                    # A window of a shuffle waits until it is full, and the last batch waits for
                    # the next one.
                    due = (count // 100 * 100 if flags else count) // BATCH - 1
                    self.wait_until(lambda: self.steps() >= due, f"{due} steps")
                    trainer.send_signal(signal.SIGTERM)
                    errors = trainer.communicate(timeout=LONG)[1]
                    self.assertEqual(trainer.returncode, 128 + signal.SIGTERM, errors)
                    self.assertNotIn("error", errors)
                trainer, held = self.start_trainer(*flags)
                self.send(held, "".join(lines))
                held.close()
                errors = trainer.communicate(timeout=LONG)[1]
                self.assertEqual(trainer.returncode, 0, errors)
                self.assertIn("resumed after", errors)
                run(PDL_CHECKPOINT, "diff", self.saved, self.root / f"{name}-alone")

    def test_another_stream_is_refused(self):
        lines = [made_up_clicks.click_line(draw) for draw in [random.Random(5)]
                 for _ in range(200)]
        trainer, held = self.start_trainer("--checkpoint-steps", 1)
        self.send(held, "".join(lines[:100]))
        self.wait_until(lambda: self.steps() >= 5, "5 steps")
        trainer.send_signal(signal.SIGTERM)
        trainer.communicate(timeout=LONG)
        before = checkpoints_in(self.saved)
        for other in lines[3:], [*lines[:94], *lines[90:]], lines[:20]:
            trainer, held = self.start_trainer("--checkpoint-steps", 1)
            self.send(held, "".join(other))
            held.close()
            errors = trainer.communicate(timeout=LONG)[1]
            self.assertEqual(trainer.returncode, 1, errors)
            self.assertRegex(errors, "error: the data .*are not those that were read before")
            self.assertEqual(checkpoints_in(self.saved), before)

    def test_a_pipe_is_one_epoch(self):
        """If several epochs are left, the training is rejected before the first one, so that all
        rows are still available."""
        def refused(epochs, left, remedy):
            trainer, held = self.start_trainer("--epochs", epochs)
            errors = trainer.communicate(timeout=LONG)[1]
            held.close()
            self.assertEqual(trainer.returncode, 1, errors)
            self.assertIn(f"can be read but once, but --epochs {epochs} leaves {left} epochs to "
                          f"train; give --epochs {remedy}, or write it to a file", errors)
        refused(3, 3, 1)
        trainer, held = self.start_trainer("--epochs", 1)
        self.send(held, "".join(made_up_clicks.click_line(random.Random(7)) for _ in range(40)))
        held.close()
        errors = trainer.communicate(timeout=LONG)[1]
        self.assertEqual(trainer.returncode, 0, errors)
        said = run(PDL_CHECKPOINT, "inspect", self.saved).stdout
        self.assertRegex(said, r"epochs ended +1\n")
        self.assertRegex(said, r"samples +40\n")
        refused(3, 2, 2)

    def test_a_bad_line_is_named(self):
        trainer, held = self.start_trainer()
        lines = [made_up_clicks.click_line(draw) for draw in [random.Random(6)] for _ in range(40)]
        self.send(held, "".join(lines[:35]) + "1\twhat" + lines[35][1:])
        errors = trainer.communicate(timeout=LONG)[1]
        self.assertEqual(trainer.returncode, 1, errors)
        self.assertIn("pipe.tsv:36:", errors)
        self.assertEqual(self.steps(), 2)


if __name__ == "__main__":
    unittest.main()
