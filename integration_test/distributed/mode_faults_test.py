# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Faults in each mode: processes that are suspended (longer than the silence limit if the mode can
wait), connections that break in the middle of messages, and processes that are killed. The result
is what the mode promises, or all processes end with an error message that names the dead process.
Real processes; every wait has a time limit."""

import collections
import contextlib
import pathlib
import re
import signal
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from applied_log import CONTRIBUTES, REQUESTS, flags_of, records, sender_of
from cluster import Cluster
from cutting_proxy import CuttingProxy
from folders import SharedFolderTest
from programs import ADULT, PDL_CHECKPOINT, PDL_TRANSLATE, checkpoints_in, run
from small_model import small_model

import tensorfile

SILENCE = 2  # seconds after which a suspended peer counts as dead
# The death of a process is noticed at once. A process of a busy machine may be silent for a while.
SILENCE_OF_LIVING = 30
PAUSE = 2 * SILENCE + 1
LONG = 10**9  # steps that no test sees the end of
CUTS = 10  # of each proxy

# Modes by name: the mode, flags of servers, number of servers, and the promised result.
BITS, REPLAY, COPIES = "the bits of one process", "those of a replay", "equal copies"
MODES = {
    "sync": ("sync", (), 2, BITS),
    "collective": ("collective", (), 0, BITS),
    "hybrid": ("hybrid", (), 2, BITS),
    "async": ("async", (), 2, REPLAY),
    "half-async": ("half-async", (), 2, REPLAY),
    "staleness": ("async", ("--max-staleness", 2), 2, REPLAY),
    "quorum": ("quorum", ("--quorum", 1), 2, REPLAY),
    "geo": ("geo", (), 2, COPIES),
}
# Modes whose trainers own state. In these, no process waits for a lost trainer, so pauses are
# shorter than the limit.
WITH_PEERS = "collective", "hybrid"


class ModeFaults(SharedFolderTest):

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        source = cls.root / "small.mlir"
        source.write_text(small_model("@adam", clip=True, decay=True, warm_up=True))
        for mode in {"local", *(mode for mode, *_ in MODES.values())}:
            blocks = () if mode == "local" else ("--min-block-elements=1024",
                                                 "--target-block-bytes=16384")
            run(PDL_TRANSLATE, source, "-o", cls.root / mode, "--numerics=strict",
                f"--mode={mode}", *blocks)

    def flags(self, name, steps):
        return ["--data", ADULT, "--rows", "0:5888", "--batch-size", 64, "--seed", 7,
                "--shuffle-window", 1000, "--steps", steps, "--checkpoint",
                self.root / f"{name}.saved"]

    def job(self, name, label, *waits):
        """Creates a job of two trainers with two workers each."""
        mode, server_flags, servers, promised = MODES[name]
        label = f"{name}.{label}"
        trainer_flags = [*self.flags(label, LONG), "--replicas", "1x2", "--log-losses",
                         self.root / f"{label}.losses", *waits]
        if mode == "geo":
            trainer_flags += ["--geo-steps", 5]
        logged = []
        if promised is REPLAY:
            logs = self.root / f"{label}.logs"
            logs.mkdir()
            logged = ["--log-applied", logs]
        return Cluster(self.root / mode, 2, servers, trainer_flags,
                       ["--seed", 7, *waits, *server_flags, *logged],
                       peers=mode in WITH_PEERS)

    def through_proxies(self, cluster, stack):
        """Puts a proxy that breaks connections in front of each server and each owner."""
        folder = cluster.folder.name
        proxies = []

        def before(kind, count):
            for rank in range(count):
                proxies.append(stack.enter_context(CuttingProxy(
                    f"{folder}/p{kind}{rank}", f"{folder}/{kind}{rank}", len(proxies), CUTS,
                    1 << 20)))
            return ",".join(f"unix:{folder}/p{kind}{rank}" for rank in range(count))

        if cluster.counts[1]:
            cluster.trainer_addresses = before("s", cluster.counts[1])
        if cluster.peers:
            cluster.binds = cluster.peers.split(",")
            cluster.peers = before("t", cluster.counts[0])
        return proxies

    def check_promise(self, name, cluster):
        mode, _, servers, promised = MODES[name]
        saved = self.root / f"{name}.paused.saved"
        if promised is BITS:
            steps = int(checkpoints_in(saved)[-1].name.removeprefix("step-"))
            run(self.root / "local" / "trainer", "train", *self.flags(f"{name}.local", steps),
                "--replicas", "2x2")
            run(PDL_CHECKPOINT, "diff", self.root / f"{name}.local.saved", saved)
        elif promised is REPLAY:
            again = self.root / f"{name}.again"
            logs = self.root / f"{name}.paused.logs"
            run(self.root / mode / "pserver", "replay",
                *(logs / f"applied-{rank}.log" for rank in range(servers)), "-o", again)
            run(PDL_CHECKPOINT, "diff", saved, again)
            self.check_pushes(name, cluster)
        else:
            dumps = [self.root / f"{name}.dump{rank}" for rank in range(2)]
            self.assertEqual(dumps[0].read_bytes(), dumps[1].read_bytes())
            values = self.root / f"{name}.values"
            run(PDL_CHECKPOINT, "dump", saved, "-o", values)
            held, served = tensorfile.read(dumps[0]), tensorfile.read(values)
            for symbol in ("w1", "emb.values"):
                self.assertEqual(held[symbol].data, served[symbol].data)

    def check_pushes(self, name, cluster):
        """Checks that each step counts once. A server must have one request with gradients for
        each step of a worker in mode async, and for each step of a trainer in other modes."""
        mode, _, servers, _ = MODES[name]
        steps = [int(re.search(r"trained (\d+) steps", trainer.output)[1])
                 for trainer in cluster.trainers]
        due = {(rank, worker): count for rank, count in enumerate(steps)
               for worker in ((1, 2) if mode == "async" else (0,))}
        for rank in range(servers):
            pushed = collections.Counter(
                sender_of(body)
                for kind, body in records(self.root / f"{name}.paused.logs/applied-{rank}.log")
                if kind in REQUESTS and flags_of(body) & CONTRIBUTES)
            self.assertEqual(pushed, due)

    def test_pauses_and_cut_connections(self):
        for name in MODES:
            with self.subTest(name), contextlib.ExitStack() as stack:
                waits = (("--silence-limit", 4 * PAUSE) if name in WITH_PEERS else
                         ("--silence-limit", SILENCE, "--on-failure", "wait"))
                cluster = stack.enter_context(self.job(name, "paused", *waits))
                proxies = self.through_proxies(cluster, stack)
                for rank in range(cluster.counts[1]):
                    cluster.start_server(rank)
                for rank in range(2):
                    own = (["--dump", self.root / f"{name}.dump{rank}"]
                           if MODES[name][3] is COPIES else [])
                    cluster.trainer_flags[1:1] = own
                    cluster.start_trainer(rank)
                    del cluster.trainer_flags[1:1 + len(own)]
                # Let connections break first, and then suspend processes.
                cluster.wait_for_steps(self.root / f"{name}.paused.losses", 100)
                for victim in (cluster.trainers[1], *cluster.servers[:1]):
                    self.assertIsNone(victim.popen.poll(), victim.output)
                    victim.popen.send_signal(signal.SIGSTOP)
                    time.sleep(PAUSE)
                    victim.popen.send_signal(signal.SIGCONT)
                steps = (self.root / f"{name}.paused.losses").read_text().count("\n")
                cluster.wait_for_steps(self.root / f"{name}.paused.losses", steps + 20)
                cluster.interrupt_when(lambda: True)
                self.assertGreater(sum(proxy.done for proxy in proxies), CUTS)
                self.check_promise(name, cluster)

    def check_abort(self, name, victims, named):
        """Kills a process. All others must name it and end."""
        with self.job(name, victims, "--silence-limit", SILENCE_OF_LIVING) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.{victims}.losses", 20)
            victim = getattr(cluster, victims)[1]
            victim.popen.kill()
            victim.popen.wait()
            for process in cluster.processes():
                if process is not victim:
                    self.assertEqual(process.wait(), 3, process.output)
                    self.assertRegex("\n".join(
                        line for line in process.output.splitlines() if "error: " in line), named)

    def test_a_killed_trainer_ends_all(self):
        for name in MODES:
            with self.subTest(name):
                self.check_abort(name, "trainers", r"trainer 1\b")

    def test_a_killed_server_ends_all(self):
        for name, (_, _, servers, _) in MODES.items():
            if servers:
                with self.subTest(name):
                    self.check_abort(name, "servers", "/s1")

    def test_who_waits_ends_where_a_server_is_lost_too(self):
        """No process waits for a trainer that cannot continue."""
        for name in ("sync", "half-async", "async"):
            with self.subTest(name):
                with self.job(name, "lost", "--silence-limit", SILENCE_OF_LIVING, "--on-failure",
                              "wait") as cluster:
                    cluster.start()
                    cluster.wait_for_steps(self.root / f"{name}.lost.losses", 20)
                    for victim in (cluster.trainers[0], cluster.servers[1]):
                        victim.popen.kill()
                        victim.popen.wait()
                    for process in (cluster.trainers[1], cluster.servers[0]):
                        self.assertEqual(process.wait(), 3, process.output)
                        self.assertRegex(process.output, r"/s1 has (died|ended)")


if __name__ == "__main__":
    unittest.main()
