# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mode async with pushes during steps (--push-queue) and merged steps (--max-merge). A replay of
the servers' logs gives their state, each step counts once, and merged steps are applied as the
model declares: by their mean or by their sum. Real processes."""

import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from applied_log import CONTRIBUTES, OWN_KEYS, REQUEST, flags_of, push_of, records
from by_hand import by_hand
from cluster import Cluster
from folders import FolderTest
from programs import ADULT, PDL_CHECKPOINT, PDL_TRANSLATE, run
from small_model import small_model
from waiting import cpu_ticks, suspend, wait_until_idle

import tensorfile

RATE = 0.05


def pushes(log):
    """Returns the number of steps, the weight and the gradient of each push in a log."""
    found = []
    for kind, body in records(log):
        if kind != REQUEST or not flags_of(body) & CONTRIBUTES:
            continue
        assert flags_of(body) & OWN_KEYS
        found.append(push_of(body))
    return found


class AsyncPush(FolderTest):

    def translate(self, text, mode="async"):
        source = self.root / "model.mlir"
        source.write_text(text)
        run(PDL_TRANSLATE, source, "-o", self.root / mode, "--numerics=strict",
            f"--mode={mode}", *(["--min-block-elements=1024",
                                 "--target-block-bytes=16384"]
                                if mode != "local" else []))

    def job(self, name, workers, servers, *flags, trainers=2, rows="0:6400", slows_servers=False):
        """Runs a job. Returns its logs, the outputs of its trainers and those of its servers."""
        logs = self.root / f"{name}.logs"
        logs.mkdir()
        with Cluster(self.root / "async", trainers, servers,
                     ["--data", ADULT, "--rows", rows, "--batch-size", 64,
                      "--seed", 7, "--shuffle-window", 1000, "--replicas",
                      f"1x{workers}", "--checkpoint", self.root / name,
                      *flags],
                     ["--log-applied", logs, "--seed", 7]) as cluster:
            cluster.start()
            if slows_servers:
                self.hold_back(cluster, logs / "applied-0.log")
            outputs = cluster.finish()
            served = [server.output for server in cluster.servers]
        return ([logs / f"applied-{rank}.log" for rank in range(servers)],
                outputs, served)

    def hold_back(self, cluster, log):
        """Suspends the server until both trainers wait for it, so that they merge pushes. Does so
        until it has happened three times while pushes are applied."""
        server = cluster.servers[0].popen
        trainers = [trainer.popen for trainer in cluster.trainers]
        numbers = [trainer.pid for trainer in trainers]
        count = 0
        while count < 3 and all(trainer.poll() is None for trainer in trainers):
            suspend(server.pid)
            # Some ten pushes.
            count += log.exists() and log.stat().st_size > 2000
            wait_until_idle(numbers, lambda: [cpu_ticks(number) for number in numbers], looks=5)
            server.send_signal(signal.SIGCONT)
            time.sleep(0.005)

    def applied(self, served):
        """Returns the number of steps that a server has applied, and the number of workers' steps
        in them."""
        found = re.search(r": (\d+) steps(?: \(merged of (\d+)\))?;", served)
        return int(found[1]), int(found[2] or found[1])

    def test_replay(self):
        """Each step counts once, alone or merged. The logs contain the order."""
        self.translate(small_model("@adam", clip=True, decay=True,
                                   warm_up=True))
        for index, flags in enumerate((
                ("--push-queue", 1), ("--push-queue", 3),
                ("--push-queue", 2, "--max-merge", 4),
                ("--push-queue", 1, "--max-merge", 8, "--pack-keys", "delta"))):
            with self.subTest(flags=flags):
                name = f"run{index}"
                logs, outputs, served = self.job(
                    name, 3, 2, "--epochs", 2, "--checkpoint-steps", 7, *flags)
                for output in outputs:
                    self.assertIn(" 12800 samples", output)
                    self.assertRegex(output, r"\d+ pushes of \d+ steps")
                counts = {self.applied(each) for each in served}
                self.assertEqual(len(counts), 1, served)
                applied, steps = counts.pop()
                self.assertEqual(steps, 200)
                self.assertLessEqual(applied, steps)
                if "--max-merge" not in flags:
                    self.assertEqual(applied, steps)
                again = self.root / f"{name}.again"
                run(self.root / "async" / "pserver", "replay", *logs, "-o",
                    again)
                run(PDL_CHECKPOINT, "diff", self.root / name, again)

    def check_by_hand(self, merge):
        self.translate(by_hand(RATE, f"merge({merge})"))
        name = f"by_hand_{merge}"
        # Pushes are only merged while the server is busy.
        logs, _, _ = self.job(name, 4, 1, "--epochs", 1, "--push-queue", 1,
                              "--max-merge", 4, rows="0:25600", slows_servers=True)
        found = pushes(logs[0])
        self.assertEqual(sum(steps for steps, _, _ in found), 400)
        self.assertGreater(max(steps for steps, _, _ in found), 1)
        self.assertTrue(all(weight == 64 * steps for steps, weight, _ in found))
        w = [0.0] * 5
        other = [0.0] * 5
        for steps, weight, gradient in found:
            for i, each in enumerate(gradient):
                mean = RATE * each / weight
                w[i] -= mean * (steps if merge == "sum" else 1)
                other[i] -= mean * (1 if merge == "sum" else steps)
        dump = self.root / f"{name}.safetensors"
        run(PDL_CHECKPOINT, "dump", self.root / name, "-o", dump)
        trained = tuple(tensorfile.read(dump)["w"].data)
        for own, expected in zip(trained, w):
            self.assertAlmostEqual(own, expected, delta=1e-4)
        # The result with the other declaration would be noticeably different.
        self.assertGreater(max(abs(a - b) for a, b in zip(trained, other)),
                           1e-3)

    def test_mean_by_hand(self):
        self.check_by_hand("mean")

    def test_sum_by_hand(self):
        self.check_by_hand("sum")

    def test_without_a_queue_nothing_changes(self):
        """One trainer with one worker gives the bits of mode local."""
        text = small_model("@adam", clip=True, decay=True, warm_up=True)
        self.translate(text, "local")
        self.translate(text)
        run(self.root / "local" / "trainer", "train", "--data", ADULT,
            "--rows", "0:6400", "--batch-size", 64, "--seed", 7,
            "--shuffle-window", 1000, "--checkpoint", self.root / "whole")
        self.job("off", 1, 2, "--push-queue", 0, "--max-merge", 1, trainers=1)
        run(PDL_CHECKPOINT, "diff", self.root / "whole", self.root / "off")

    def test_a_stop_is_in_order(self):
        """Started steps are applied and saved."""
        self.translate(small_model("@sgd", clip=False, decay=False,
                                   warm_up=False))
        saved = self.root / "stopped"
        with Cluster(self.root / "async", 2, 2,
                     ["--data", ADULT, "--rows", "0:25600", "--batch-size", 1,
                      "--epochs", 1000, "--replicas", "1x2", "--checkpoint",
                      saved, "--checkpoint-steps", 300, "--push-queue",
                      2]) as cluster:
            cluster.start().interrupt_when(lambda: list(saved.glob("step-*")))
            steps = [int(re.search(r"trained (\d+) steps", trainer.output)[1])
                     for trainer in cluster.trainers]
        text = run(PDL_CHECKPOINT, "inspect", max(saved.glob("step-*"))).stdout
        counts = re.findall(r"^group @\S+: (\d+) updates$", text, re.M)
        self.assertEqual(set(counts), {str(2 * sum(steps))})

    def test_trainers_that_queue_differently_are_refused(self):
        self.translate(small_model("@sgd", clip=False, decay=False,
                                   warm_up=False))
        with Cluster(self.root / "async", 2, 1,
                     ["--data", ADULT, "--rows", "0:640", "--epochs", 1]) as cluster:
            self.assertIn("not all started with the same --push-queue",
                          cluster.refuse_another(["--push-queue", 1]))

    def test_refusals(self):
        self.translate(small_model("@sgd", clip=False, decay=False,
                                   warm_up=False))
        run(PDL_TRANSLATE, self.root / "model.mlir", "-o", self.root / "sync",
            "--mode=sync")
        for mode, flags, message in (
                ("async", ["--max-merge", "3"], "give --push-queue 1 too"),
                ("async", ["--push-queue", "1", "--on-failure", "wait"],
                 "--push-queue is not for --on-failure=wait"),
                ("sync", ["--push-queue", "1"],
                 "this program is of mode sync")):
            done = subprocess.run(
                [self.root / mode / "trainer", "train", "--data", ADULT,
                 "--servers", "unix:@nobody", *flags], capture_output=True,
                text=True)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    unittest.main()
