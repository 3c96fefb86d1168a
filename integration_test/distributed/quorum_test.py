# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mode quorum. With a quorum of all trainers it gives the bits of mode local. With a smaller
quorum, a slow trainer delays no other trainer, its gradients count in the next round or are
dropped, and the servers' logs give their state."""

import pathlib
import re
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from applied_log import (ANSWERED, CLOSED, CONTRIBUTES, HAS_NEXT_BATCH, LATE, REQUESTS, flags_of,
                         records, sender_of)
from cluster import Cluster, Slowed
from line_model import line_model
from programs import PDL_CHECKPOINT, PDL_TRANSLATE, run
from push_modes import PushModes

import tensorfile

# All samples are 1, so a gradient shows the value from which it was computed.
LINE = line_model(0.01, 0.0)


def line_push_of(body):
    """Returns the gradient of a request of LINE, and its number of samples."""
    channels, = struct.unpack_from("<I", body, 52)
    begin, found = 56 + 8 * channels, {}
    for size in struct.unpack_from(f"<{channels}Q", body, 56):
        found[size] = body[begin:begin + size]
        begin += (size + 7) // 8 * 8
    return struct.unpack("<d", found[8])[0], struct.unpack("<dd", found[16])[1]


class Quorum(PushModes):

    MODE = "quorum"

    def test_a_quorum_of_all_is_local(self):
        self.translate(clip=False)
        for trainers, servers in ((1, 1), (2, 2), (3, 1)):
            with self.subTest(trainers=trainers):
                self.same_as_local(f"{trainers}", trainers, servers, 60,
                                   server_flags=["--quorum", trainers])
                self.tearDown()
                self.setUp()
                self.translate(clip=False)

    def test_one_trainer_that_clips_is_near_local(self):
        """A trainer clips the gradients that it sends. This rounds differently from a clip of the
        applied sum."""
        self.translate(clip=True)
        with self.cluster("clipped", 1, 1, 60,
                          server_flags=["--quorum", 1]) as job:
            job.start().finish()
        run(self.root / "local" / "trainer", "train",
            *self.flags("local", 60))
        ours, local = ([float(line) for line in
                        (self.root / f"{name}.losses").read_text().split()]
                       for name in ("clipped", "local"))
        self.assertEqual(len(ours), 60)
        for a, b in zip(ours, local):
            self.assertAlmostEqual(a, b, delta=2e-4)

    def slowed(self, name, *server_flags, quorum=2, steps=300):
        """Runs a job of three trainers, one of which is slow. Returns, for each server, how many
        gradients arrived late, and how many of these were dropped."""
        job, logs = self.logged(name, 3, 2, steps,
                                server_flags=["--quorum", quorum,
                                              *server_flags])
        with job:
            job.start()
            Slowed(job.trainers[2], stopped=0.06)
            job.finish()
            counts = [[int(number) for number in re.search(
                r"gradients came late: (\d+) counted in the next round, (\d+) "
                r"were dropped", server.output).groups()]
                for server in job.servers]
        self.check_replay(name, logs)
        return counts

    def test_late_gradients_count(self):
        self.translate()
        for counted, dropped in self.slowed("count"):
            self.assertGreater(counted, 2)
            self.assertEqual(dropped, 0)

    def test_late_gradients_are_dropped(self):
        self.translate()
        for counted, dropped in self.slowed("drop", "--late-gradients", "drop"):
            self.assertEqual(counted, 0)
            self.assertGreater(dropped, 2)

    def test_rows_without_gradient_change_too(self):
        """If a late trainer creates rows between two rounds, the next round updates them."""
        self.translate(untouched="dense")
        for counted, _ in self.slowed("dense"):
            self.assertGreater(counted, 2)

    def test_a_killed_trainer_delays_none(self):
        """The killed trainer also rejoins."""
        self.translate()
        job, logs = self.logged("killed", 3, 2, 80, "--on-failure", "wait",
                                "--checkpoint-steps", 30,
                                server_flags=["--quorum", 2, "--on-failure",
                                              "wait"])
        with job:
            job.start()
            for rank in (2, 0, 1):
                job.kill_and_restart_trainer(rank, "train ")
            job.finish(leave_may_be_lost=True)
        self.check_replay("killed", logs)

    def test_rounds_by_hand(self):
        """Each gradient was computed from the value in the trainer's last response. The sum of a
        round, including late gradients, divided by its weight, gives the saved value. The last
        steps of a slow trainer do not each form a round."""
        source, data = self.root / "line.mlir", self.root / "line.csv"
        source.write_text(LINE)
        data.write_text("1.0\n" * 32 * 4 * 160)
        run(PDL_TRANSLATE, source, "-o", self.root / "line", "--numerics=strict",
            "--mode=quorum", "--element-type=f64")
        logs, saved = self.root / "line.logs", self.root / "line.saved"
        logs.mkdir()
        with Cluster(self.root / "line", 4, 1,
                     ["--data", data, "--batch-size", 32, "--epochs", 1, "--seed", 7,
                      "--checkpoint", saved],
                     ["--seed", 7, "--quorum", 2, "--log-applied", logs]) as cluster:
            cluster.start()
            Slowed(cluster.trainers[3], stopped=0.03)
            cluster.finish()
        value, total, weight, late, seen, gradients = 0.0, 0.0, 0.0, 0, {}, 0
        # Number of gradients in each round after the end of some trainer.
        sizes, ended = [], False
        for kind, body in records(logs / "applied-0.log"):
            if kind in REQUESTS and flags_of(body) & CONTRIBUTES:
                gradient, samples = line_push_of(body)
                self.assertAlmostEqual(gradient / samples + 1.0, seen[sender_of(body)],
                                       delta=1e-12)
                total, weight, late = total + gradient, weight + samples, late + (kind == LATE)
                gradients += 1
                ended |= not flags_of(body) & HAS_NEXT_BATCH
            elif kind == CLOSED:
                value, total, weight = value - 0.01 * total / weight, 0.0, 0.0
                if ended:
                    sizes.append(gradients)
                gradients = 0
            elif kind == ANSWERED:
                for at in range(0, len(body), 40):
                    seen[sender_of(body[at:at + 40])] = value
        self.assertGreater(late, 0)
        # The first round contains the last request of some trainer. The last round may be smaller.
        self.assertGreater(len(sizes), 3)
        self.assertGreaterEqual(min(sizes[1:-1]), 4, sizes)
        dump = self.root / "line.safetensors"
        run(PDL_CHECKPOINT, "dump", saved, "-o", dump)
        self.assertAlmostEqual(tensorfile.read(dump)["w"].data[0], value, delta=1e-12)

    def test_flags(self):
        self.translate(modes=("quorum",))
        for flags, message in (
                ((), "--quorum is required in mode quorum"),
                (("--quorum", 3), "--quorum 3 is more than the 2 trainers")):
            with self.cluster("refused", 2, 1, 2, server_flags=flags) as job:
                server = job.start_server(0)
                self.assertEqual(server.wait(), 2)
                self.assertIn(message, server.output)


if __name__ == "__main__":
    unittest.main()
