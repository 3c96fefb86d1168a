# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints that servers of modes without rounds write without trainers. A trainer is lost, and
the others continue. Real processes; every wait is bounded."""

import itertools
import json
import pathlib
import re
import signal
import struct
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from programs import ADULT, PDL_CHECKPOINT, PDL_TRANSLATE, checkpoints_in, nightly, run
from row_model import ROW_MODEL
from server_saves import SILENCE, Relay, ServerSavesTest, group_steps
from waiting import LONG, suspend, wait_until


class ServerSavesOfModes(ServerSavesTest):

    modes = ("async", "half-async", "quorum"), ()

    def start_and_kill(self, cluster, losses):
        """Starts the processes, and kills trainer 1 after its first steps. `losses`: logs of the
        trainers."""
        folder, shared = cluster.folder.name, cluster.trainer_flags

        def seen(_, number):
            # The trainer must not end before it is killed. Before its first step, servers know
            # nothing about a trainer that they could save.
            if not relay.held and losses[1].exists() and losses[1].read_text().count("\n") >= 2:
                relay.held.add(number)

        relay = Relay(f"{folder}/p0", f"{folder}/s0", seen)
        self.addCleanup(relay.close)
        for rank in range(2):
            cluster.start_server(rank)
        for rank in range(2):
            cluster.trainer_flags = [*shared, "--log-losses", losses[rank]]
            cluster.start_trainer(rank)
            cluster.trainer_addresses = f"unix:{folder}/p0,unix:{folder}/s1"
        cluster.wait_for_steps(losses[0], 10)
        self.wait_until(cluster, lambda: relay.held)
        self.kill_trainer(cluster, 1)

    def check_without_rounds(self, mode, workers, server_flags=()):
        """Trainer 1 is lost, and the other one continues. The checkpoint contains the progress of
        each. No batch is skipped. With one worker per trainer, no batch is trained twice, except
        for the last push of the lost trainer, if it has reached only the second server."""
        name = f"{mode}{workers}"
        flags = ["--data", ADULT, "--rows", "0:11776", "--batch-size", 64, "--seed", 7,
                 "--replicas", f"1x{workers}", "--checkpoint", self.root / f"{name}.saved"]
        waits = ["--silence-limit", SILENCE, "--on-failure", "wait"]
        losses = [self.root / f"{name}.losses{rank}" for rank in range(2)]
        with Cluster(self.root / f"{mode}False", 2, 2, [*flags, *waits],
                     ["--seed", 7, *waits, *server_flags]) as cluster:
            self.start_and_kill(cluster, losses)
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, ("trainer1",))
        saved = checkpoints_in(self.root / f"{name}.saved")
        self.assertTrue(saved, said)
        self.assertIn(f"have saved {saved[-1]}", said)
        with Cluster(self.root / f"{mode}False", 2, 2, [*flags, *waits, "--resume"],
                     ["--seed", 7, *waits, *server_flags, "--resume", "--checkpoint",
                      self.root / f"{name}.saved"]) as cluster:
            output = cluster.start().finish()[0]
        before = int(re.search(r"resumed after \d+ steps, (\d+) samples", output)[1])
        after = int(re.search(r"trained \d+ steps, (\d+) samples", output)[1])
        self.assertEqual(before + after, 11776, output)
        return group_steps(self.root / f"{name}.saved")

    def test_async(self):
        # Each of the 184 batches is a push.
        for steps in self.check_without_rounds("async", 1).values():
            self.assertIn(steps, (184, 185))

    @nightly
    def test_async_with_workers(self):
        # The workers of a trainer may differ by some steps.
        for steps in self.check_without_rounds("async", 2).values():
            self.assertIn(steps, range(184, 184 + 12))

    @nightly
    def test_async_by_the_clock(self):
        """The other trainer ends its epoch and waits. Then servers save without both."""
        name = "clock.async"
        saved = self.root / f"{name}.saved"
        waits = ["--silence-limit", SILENCE, "--on-failure", "wait"]
        with Cluster(self.root / "asyncFalse", 2, 2, [
                "--data", ADULT, "--rows", "0:11776", "--batch-size", 64, "--seed", 7,
                "--replicas", "1x1", "--checkpoint", saved, *waits],
                     ["--seed", 7, *waits, "--checkpoint-minutes", 0.05]) as cluster:
            self.start_and_kill(cluster, [self.root / f"{name}.losses{rank}" for rank in range(2)])
            self.wait_until(cluster, lambda: "without trainers" in cluster.servers[0].output)
            # The servers may save again after this report.
            self.assertTrue(any(f"have saved {each}" in cluster.servers[0].output
                                for each in checkpoints_in(saved)), cluster.said())
            # The trainer is restarted, and the job ends as if it had not been lost.
            self.rejoin(cluster, 1)
            cluster.finish()
        self.assertEqual(set(group_steps(saved).values()), {184})

    def test_trainer_that_goes_on_while_servers_save(self):
        """A trainer in a long step looks as if it had stopped. It continues before server 1 writes
        its part, so the servers save again."""
        name = "goes_on"
        saved, losses = self.root / f"{name}.saved", self.root / f"{name}.losses"
        flags = ["--data", ADULT, "--rows", "0:11776", "--batch-size", 64, "--seed", 7,
                 "--replicas", "1x1", "--checkpoint", saved]
        waits = ["--silence-limit", 30, "--on-failure", "wait"]
        with Cluster(self.root / "asyncFalse", 2, 2,
                     [*flags, *waits, "--log-losses", losses, "--epochs", 10**6],
                     ["--seed", 7, *waits]) as cluster:
            folder = cluster.folder.name
            relayed = threading.Event()

            def seen(data, _):
                if b'"do":"save"' in data and not relayed.is_set():
                    relayed.set()
                    before = len(losses.read_text())
                    cluster.trainers[0].popen.send_signal(signal.SIGCONT)
                    wait_until(lambda: len(losses.read_text()) > before, said=cluster.said)

            relay = Relay(f"{folder}/p1", f"{folder}/s1", seen)
            addresses = cluster.addresses
            cluster.addresses = f"unix:{folder}/s0,unix:{folder}/p1"
            cluster.start_server(0)
            cluster.addresses = addresses
            cluster.start_server(1)
            for rank in range(2):
                cluster.start_trainer(rank)
            cluster.wait_for_steps(losses, 10)
            suspend(cluster.trainers[0].popen.pid)
            self.kill_trainer(cluster, 1)
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, ("trainer1",))
            relay.close()
        self.assertTrue(relayed.is_set(), said)
        self.assertIn("because trainers go on", said)
        self.assertIn(f"have saved {checkpoints_in(saved)[-1]}", said)
        with Cluster(self.root / "asyncFalse", 2, 2, [*flags, *waits, "--resume"],
                     ["--seed", 7, *waits, "--resume", "--checkpoint", saved]) as cluster:
            cluster.start().finish()

    @nightly
    def test_request_that_comes_to_nothing(self):
        """Servers of mode async cannot request a checkpoint from trainers that make progress."""
        waits = ["--silence-limit", SILENCE, "--on-failure", "wait"]
        name = "dropped"
        with Cluster(self.root / "asyncFalse", 2, 1, [
                "--data", ADULT, "--rows", "0:11776", "--batch-size", 64, "--seed", 7,
                "--epochs", 10**6, "--log-losses", self.root / f"{name}.losses", *waits],
                     ["--seed", 7, *waits]) as cluster:
            cluster.start()
            cluster.wait_for_steps(self.root / f"{name}.losses", 10)
            self.request_until(cluster, cluster.servers[0], lambda: (
                "a request for a checkpoint is dropped" in cluster.servers[0].output))

    def test_half_async(self):
        for steps in self.check_without_rounds("half-async", 1).values():
            self.assertIn(steps, (184, 185))

    def test_quorum(self):
        self.check_without_rounds("quorum", 1, ("--quorum", 1))

    def rows_of(self, saved):
        """Returns the first slot of each row of @t in the newest checkpoint, by key."""
        dump = saved.with_suffix(".dump")
        run(PDL_CHECKPOINT, "dump", saved, "-o", dump)
        content = dump.read_bytes()
        begin = 8 + struct.unpack_from("<Q", content)[0]
        tensors = json.loads(content[8:begin])

        def values(name, kind):
            first, last = tensors[name]["data_offsets"]
            return struct.unpack(f"<{(last - first) // struct.calcsize(kind)}{kind}",
                                 content[begin + first:begin + last])

        slot, = (name for name in tensors if name.startswith("t.slot"))
        width = tensors[slot]["shape"][1]
        return dict(zip(values("t.keys", "q"), values(slot, "f")[::width]))

    @nightly
    def test_quorum_applies_requests_with_responses(self):
        """A trainer that catches up with the others fills rounds alone. The server responds to all
        its gradients, and applies as many at a time as there are trainers. Gradients that are
        collected when the trainer is lost are part of the records, so they must be in the table
        too."""
        name, trainers, rows = "gathered", 3, 8000
        source = self.root / f"{name}.mlir"
        source.write_text(ROW_MODEL)
        run(PDL_TRANSLATE, source, "-o", self.root / name, "--mode=quorum")
        files = []
        for rank in range(trainers):
            files.append(self.root / f"{name}{rank}.csv")
            files[-1].write_text("".join(f"{rank * 100000 + i},{i % 2}\n" for i in range(rows)))
        saved = self.root / f"{name}.saved"
        waits = ["--silence-limit", 60, "--on-failure", "wait"]
        flags = ["--data", *files, "--batch-size", 1, "--seed", 7, "--checkpoint", saved, *waits]
        server = ["--seed", 7, "--quorum", 1, *waits]
        with Cluster(self.root / name, trainers, 1,
                     [*flags, "--log-losses", self.root / f"{name}.losses"], server) as cluster:
            folder, messages = cluster.folder.name, itertools.count()
            catches_up, is_late, is_killed = (threading.Event() for _ in range(3))

            def seen(_, __):
                """Holds the last trainer after its first steps until the others are at their end,
                and before its own end until it is killed."""
                number = next(messages)
                if number >= 100:
                    catches_up.wait(LONG)
                if number >= 600:
                    is_late.set()
                    is_killed.wait(LONG)

            relay = Relay(f"{folder}/p0", f"{folder}/s0", seen)
            cluster.start_server(0)
            for rank in range(trainers):
                if rank == trainers - 1:
                    cluster.trainer_addresses = f"unix:{folder}/p0"
                cluster.start_trainer(rank)
            self.wait_until(cluster, lambda: f"waiting for the reduce of trainer {trainers - 1}"
                            in cluster.servers[0].output)
            catches_up.set()
            self.assertTrue(is_late.wait(LONG), cluster.said())
            self.kill_trainer(cluster, trainers - 1)
            is_killed.set()
            relay.close()
            cluster.servers[0].popen.send_signal(signal.SIGINT)
            said = self.ends(cluster, (f"trainer{trainers - 1}",))
        self.assertIn(f"have saved {checkpoints_in(saved)[-1]}", said)
        with Cluster(self.root / name, trainers, 1, [*flags, "--resume"],
                     [*server, "--resume", "--checkpoint", saved]) as cluster:
            cluster.start().finish()
        sums_of_squares = self.rows_of(saved)
        self.assertEqual(len(sums_of_squares), trainers * rows)
        self.assertEqual([key for key, squares in sums_of_squares.items() if squares == 0], [])


if __name__ == "__main__":
    unittest.main()
