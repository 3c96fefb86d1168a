# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Behavior of a job if a process dies or hangs, if another process than expected arrives, or if
processes of other programs connect to its port. Real processes; every wait has a time limit."""

import contextlib
import json
import pathlib
import random
import signal
import socket
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from cutting_proxy import CuttingProxy
from folders import SharedFolderTest
from programs import ADULT, PDL_CHECKPOINT, PDL_TRANSLATE, is_nightly, model, run
from small_model import small_model
from waiting import wait_until

# Seconds after which a peer counts as dead. A process of a busy machine may be silent for some
# seconds.
SILENCE = 10
LONG = 10**9  # steps that no test sees the end of


def data_flags(steps, seed):
    return ["--data", ADULT, "--batch-size", 64, "--seed", seed, "--steps",
            steps, "--replicas", "1x1"]


def group_steps(saved):
    """Returns the number of applied updates of each group in the newest checkpoint."""
    newest = max(path for path in saved.iterdir() if path.is_dir())
    manifest = json.loads((newest / "manifest.json").read_text())["checkpoint"]
    return {group["name"]: group["steps"] for group in manifest["groups"]}


class Faults(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.programs = cls.root / "sync"
        run(PDL_TRANSLATE, model("logistic_regression"), "-o", cls.programs,
            "--numerics=strict", "--mode=sync")

    def job(self, steps, *trainer_flags, trainers=2, servers=2,
            policy="abort", seed=7):
        return Cluster(
            self.programs, trainers, servers,
            [*data_flags(steps, seed), "--silence-limit", SILENCE,
             "--on-failure", policy, *trainer_flags],
            ["--seed", 7, "--silence-limit", SILENCE, "--on-failure", policy])

    def wait_for_steps(self, cluster):
        """Waits until each trainer has trained for an epoch."""
        wait_until(lambda: all("epoch" in trainer.output for trainer in cluster.trainers),
                   said=cluster.said)

    def check_abort(self, victim, signal_number, named):
        with self.job(LONG) as cluster:
            cluster.start()
            self.wait_for_steps(cluster)
            time.sleep(random.Random(victim).random())
            processes = {p.name: p for p in cluster.processes()}
            processes[victim].popen.send_signal(signal_number)
            for name, process in processes.items():
                if name == victim:
                    continue
                status = process.wait()
                self.assertNotEqual(status, 0, name)
                self.assertGreater(status, 0, f"{name} died of a signal")
                self.assertIn("error", process.output, name)
            # The process that notices the loss must name the lost process.
            said = "\n".join(p.output for n, p in processes.items()
                             if n != victim)
            self.assertIn(named, said)

    def test_killed_trainer(self):
        self.check_abort("trainer1", signal.SIGKILL, "trainer 1")

    def test_killed_server(self):
        self.check_abort("server1", signal.SIGKILL, "/s1")

    def test_stopped_trainer(self):
        self.check_abort("trainer0", signal.SIGSTOP, "trainer 0")

    def test_stopped_server(self):
        self.check_abort("server0", signal.SIGSTOP, "/s0")

    def test_interrupted_trainer_ends_all_well(self):
        with self.job(LONG) as cluster:
            cluster.start()
            self.wait_for_steps(cluster)
            cluster.trainers[1].popen.send_signal(signal.SIGINT)
            # For the other trainer this is a request to end, like SIGTERM.
            self.assertEqual(cluster.trainers[1].wait(),
                             128 + signal.SIGINT)
            self.assertEqual(cluster.trainers[0].wait(),
                             128 + signal.SIGTERM)
            said = [trainer.output.split("trained ")[-1].split(",")[0]
                    for trainer in cluster.trainers]
            self.assertEqual(said[0], said[1])
            for server in cluster.servers:
                self.assertEqual(server.wait(), 0, server.output)

    def test_wait_goes_on_after_a_pause(self):
        """A suspended process of a job that waits continues, and the bits are the same."""
        saved = []
        for paused in (None, "trainer1", "server0"):
            path = self.root / f"paused_{paused}"
            saved.append(path)
            with self.job(6000, "--checkpoint", path,
                          policy="wait") as cluster:
                cluster.start()
                if paused:
                    self.wait_for_steps(cluster)
                    victim = next(p for p in cluster.processes()
                                  if p.name == paused)
                    if victim.popen.poll() is None:
                        victim.popen.send_signal(signal.SIGSTOP)
                        # Wait until the process counts as lost, and longer.
                        time.sleep(1.5 * SILENCE)
                        victim.popen.send_signal(signal.SIGCONT)
                # A trainer may be about to leave when the server is suspended.
                cluster.finish(leave_may_be_lost=paused == "server0")
        for other in saved[1:]:
            run(PDL_CHECKPOINT, "diff", saved[0], other)

    def check_parts(self, flags, outputs):
        """If gradients are sent early, checks that each trainer has sent some parts early."""
        for output in outputs if "--overlap" in flags else []:
            self.assertRegex(output, r"(?m)^[1-9]\d* parts with \d+ bytes left "
                             r"before \d+ steps were computed")

    def run_through_proxies(self, programs, name, seed, cuts, policy="wait",
                            flags=()):
        """Runs a job whose connections are broken at random times. Returns the number of broken
        connections."""
        with contextlib.ExitStack() as stack:
            cluster = stack.enter_context(Cluster(
                programs, 2, 2,
                ["--data", ADULT, "--rows", "0:8000", "--batch-size", 32,
                 "--seed", 7, "--epochs", 2, "--replicas", "1x2",
                 "--on-failure", policy, "--checkpoint", self.root / name,
                 *flags],
                ["--seed", 7, "--on-failure", policy]))
            folder = cluster.folder.name
            # Connections break after a few bytes to some steps.
            proxies = [stack.enter_context(CuttingProxy(
                f"{folder}/p{rank}", f"{folder}/s{rank}", seed * 2 + rank,
                cuts, 1 << 20)) for rank in range(2)]
            cluster.trainer_addresses = f"unix:{folder}/p0,unix:{folder}/p1"
            outputs = cluster.start().finish(leave_may_be_lost=cuts > 0)
            self.check_parts(flags, outputs)
            return [[line for line in output.splitlines()
                     if line.startswith("train")] for output in outputs], sum(
                         proxy.done for proxy in proxies)

    def test_closed_connections_sync(self):
        """Broken connections change no bit, even if they break in the middle of a message."""
        for clip in (False, True):
            source = self.root / f"cut_{clip}.mlir"
            source.write_text(small_model("@adam", clip, decay=False,
                                          warm_up=True))
            programs = self.root / f"cut_{clip}"
            run(PDL_TRANSLATE, source, "-o", programs, "--numerics=strict",
                "--mode=sync", "--min-block-elements=1024",
                "--target-block-bytes=16384")
            for seed, cuts in ((0, 0), (1, 20)):
                name = f"cut_{clip}_{seed}.saved"
                with self.subTest(clip=clip, seed=seed):
                    _, done = self.run_through_proxies(programs, name, seed,
                                                       cuts)
                    if cuts:
                        self.assertGreater(done, cuts)
                        run(PDL_CHECKPOINT, "diff",
                            self.root / f"cut_{clip}_0.saved",
                            self.root / name)

    def test_closed_connections_async(self):
        """Each push counts once: the number of steps is that of an undisturbed run."""
        programs = self.root / "cut_async"
        source = self.root / "cut_async.mlir"
        source.write_text(small_model("@adam", clip=True, decay=False,
                                      warm_up=True))
        run(PDL_TRANSLATE, source, "-o", programs, "--mode=async")
        applied = []
        for seed, cuts in ((0, 0), (1, 20)):
            name = f"cut_async_{seed}.saved"
            _, done = self.run_through_proxies(programs, name, seed, cuts)
            if cuts:
                self.assertGreater(done, cuts)
            applied.append(group_steps(self.root / name))
        # Pushes during steps use senders of their own.
        self.run_through_proxies(programs, "cut_async_beside.saved", 2, 20,
                                 "abort", ["--push-queue", 3])
        applied.append(group_steps(self.root / "cut_async_beside.saved"))
        self.assertTrue(applied[0])
        self.assertEqual(applied[1:], 2 * applied[:1])

    def check_rejoin(self, programs, data, seeds):
        """Kills trainers at random times and restarts them."""
        flags = [*data, "--batch-size", 32, "--seed", 7, "--epochs", 3,
                 "--replicas", "1x2", "--checkpoint-steps", 40,
                 "--silence-limit", SILENCE, "--on-failure", "wait"]

        def losses_of(name):
            return self.root / f"{name}.losses"

        def job(name):
            return Cluster(programs, 2, 2,
                           [*flags, "--checkpoint", self.root / name, "--log-losses",
                            losses_of(name)],
                           ["--seed", 7, "--silence-limit", SILENCE,
                            "--on-failure", "wait"])

        def figures(output):
            return [line for line in output.splitlines()
                    if line.startswith(("train ", "test "))]

        name = programs.name
        with job(f"{name}_whole") as cluster:
            outputs = cluster.start().finish()
        steps = losses_of(f"{name}_whole").read_text().count("\n")
        self.check_parts(flags, outputs)
        expected = [figures(o) for o in outputs]
        self.assertTrue(expected[0])
        comebacks = 0
        for seed in seeds if is_nightly() else seeds[:2]:
            choice = random.Random(seed)
            with self.subTest(model=name, seed=seed):
                with job(f"{name}_{seed}") as cluster:
                    cluster.start()
                    for part in range(2):
                        # The first kill is before or after a trainer has joined, and the second
                        # one is at most in the middle.
                        step = int((part + choice.random()) * steps / 4)
                        wait_until(lambda at=step, losses=losses_of(f"{name}_{seed}"): at == 0 or (
                            losses.exists() and losses.read_text().count("\n") >= at),
                            said=cluster.said, pause=0.005)
                        time.sleep(choice.random() / 10)
                        cluster.kill_and_restart_trainer(
                            choice.randrange(2), too_late="epoch 2")
                    outputs = cluster.finish()
                    self.check_parts(flags, outputs)
                    self.assertEqual([figures(o) for o in outputs], expected)
                    comebacks += sum("came back" in o for o in outputs)
                run(PDL_CHECKPOINT, "diff", self.root / f"{name}_whole",
                    self.root / f"{name}_{seed}")
        self.assertGreater(comebacks, 0)

    def test_parts_of_requests(self):
        """The same with gradients that are sent early, each as a part. Connections break between
        parts and within them, and trainers are killed."""
        source = self.root / "parts.mlir"
        source.write_text(small_model("@adam", True, decay=True, warm_up=True))
        programs = self.root / "parts"
        run(PDL_TRANSLATE, source, "-o", programs, "--numerics=strict",
            "--mode=sync", "--min-block-elements=1024",
            "--target-block-bytes=16384")
        early = ["--overlap", "on", "--part-bytes", 1]
        self.run_through_proxies(programs, "parts_0.saved", 0, 0)
        _, done = self.run_through_proxies(programs, "parts_1.saved", 1, 20,
                                           flags=early)
        self.assertGreater(done, 20)
        run(PDL_CHECKPOINT, "diff", self.root / "parts_0.saved",
            self.root / "parts_1.saved")
        self.check_rejoin(programs, ["--data", ADULT, "--rows", "0:20000",
                                       *early], range(300, 305))

    def test_killed_trainer_rejoins(self):
        self.check_rejoin(self.programs,
                            ["--data", ADULT, "--rows", "0:20000",
                             "--evaluate-data", ADULT, "--evaluate-rows",
                             "20000:22000"],
                            range(100, 105))

    def test_killed_trainer_rejoins_with_a_clip(self):
        for clip in (False, True):
            programs = self.root / f"small_{clip}"
            source = self.root / f"small_{clip}.mlir"
            source.write_text(small_model("@adam", clip, decay=True,
                                          warm_up=True))
            run(PDL_TRANSLATE, source, "-o", programs, "--numerics=strict",
                "--mode=sync", "--min-block-elements=1024",
                "--target-block-bytes=16384")
            self.check_rejoin(programs,
                                ["--data", ADULT, "--rows", "0:8000"],
                                range(200, 203))

    def refused(self, cluster, expected, process):
        self.assertEqual(process.wait(), 1, process.output)
        for part in expected:
            self.assertIn(part, process.output)

    def test_wrong_model(self):
        other = self.root / "other"
        text = model("logistic_regression").read_text()
        source = self.root / "other.mlir"
        source.write_text(text.replace("rate(1.0e-1)", "rate(2.0e-1)"))
        self.assertNotEqual(source.read_text(), text)
        run(PDL_TRANSLATE, source, "-o", other, "--numerics=strict",
            "--mode=sync")
        with self.job(10, trainers=1, servers=1) as cluster:
            cluster.start_server(0)
            cluster.programs = other
            self.refused(cluster, ["fingerprint"], cluster.start_trainer(0))

    def test_wrong_seed_and_world(self):
        for flags, seed, expected in (([], 8, ["seed", "7", "8"]),
                                      (["--job", "other"], 7,
                                       ["job", "other"])):
            with self.subTest(flags=flags):
                with self.job(10, *flags, trainers=1, servers=1,
                              seed=seed) as cluster:
                    cluster.start_server(0)
                    self.refused(cluster, expected, cluster.start_trainer(0))
        with self.job(10, trainers=2, servers=1) as cluster:
            cluster.start_server(0)
            cluster.counts = 1, 1
            self.refused(cluster, ["trainers", "1", "2"],
                         cluster.start_trainer(0))

    def test_strangers_change_nothing(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        saved = []
        for disturbed in (False, True):
            path = self.root / f"disturbed_{disturbed}"
            saved.append(path)
            with self.job(300, "--checkpoint", path, trainers=1,
                          servers=1) as cluster:
                cluster.addresses = f"127.0.0.1:{port}"
                cluster.start()
                stop = threading.Event()

                def disturb():
                    noise = random.Random(5)
                    while not stop.is_set():
                        try:
                            with socket.create_connection(
                                    ("127.0.0.1", port), timeout=1) as peer:
                                peer.sendall(noise.randbytes(
                                    noise.choice((1, 40, 5000, 200000))))
                        except OSError:
                            pass

                thread = threading.Thread(target=disturb)
                if disturbed:
                    thread.start()
                try:
                    cluster.finish()
                finally:
                    stop.set()
                    if disturbed:
                        thread.join()
        run(PDL_CHECKPOINT, "diff", *saved)


if __name__ == "__main__":
    unittest.main()
