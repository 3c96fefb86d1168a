# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""16 trainers and 8 servers in mode sync give the bits of one process with 16 replicas. They run
over unix sockets, and with each process in its own network namespace at the end of a link of 1
Gbit/s and 0.5 ms.
"""

import contextlib
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import network
from cluster import Cluster, Process
from programs import ADULT, PDL_CHECKPOINT, nightly, run
from small_model import small_model
from sync_comparison import SyncComparison

TRAINERS, SERVERS, STEPS = 16, 8, 40


class ManyProcesses(SyncComparison):
    """Without --nightly, tests use half as many processes, and only unix sockets."""

    def one_process(self, trainers, steps):
        source = self.root / "small.mlir"
        source.write_text(small_model("@adam", True, True, True))
        # Blocks are so small that each server owns some.
        self.translate(source, blocks=("--min-block-elements=64", "--target-block-bytes=256"))
        run(self.root / "local" / "trainer", "train", *self.job_flags("one", steps),
            "--replicas", f"{trainers}x1")

    def job_flags(self, name, steps):
        data = ["--data", ADULT, "--rows", "0:6000", "--batch-size", 8, "--threads", 1]
        return self.flags(data, name, steps)

    def compare(self, name, steps):
        losses = (self.root / f"{name}.losses").read_text()
        self.assertEqual(len(losses.split()), steps)
        self.assertEqual(losses, (self.root / "one.losses").read_text())
        run(PDL_CHECKPOINT, "diff", self.root / "one.saved", self.root / f"{name}.saved")

    def over_unix_sockets(self, trainers, servers, steps):
        with Cluster(self.root / "sync", trainers, servers, self.job_flags("unix", steps),
                     ["--seed", 7, "--threads", 1]) as cluster:
            cluster.start().finish(600)
        self.compare("unix", steps)

    def over_links(self, trainers, servers, steps):
        with contextlib.ExitStack() as stack:
            made = stack.enter_context(network.Network(servers + trainers, 1e9, 0.0005))
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pdl"))
            said = ["--servers", ",".join(made.address_of(place) for place in range(servers)),
                    "--trainers", trainers]
            processes = []

            def start(name, place, *words):
                processes.append(Process(name, made.inside(place, words), folder))
                stack.callback(stop, processes[-1])

            for rank in range(servers):
                start(f"server{rank}", rank, self.root / "sync" / "pserver", "--rank", rank,
                      *said, "--bind", made.address_of(rank), "--seed", 7, "--threads", 1,
                      "--checkpoint", self.root / "links.saved")
            for rank in range(trainers):
                start(f"trainer{rank}", servers + rank, self.root / "sync" / "trainer", "train",
                      "--rank", rank, *said, *self.job_flags("links", steps))
            for process in processes:
                self.assertEqual(process.wait(600), 0, process.output)
        # All messages were sent over the links.
        for up, down, _ in made.carried:
            self.assertGreater(min(up, down), steps * 100)
        self.compare("links", steps)

    def test_half_as_many(self):
        trainers, servers, steps = TRAINERS // 2, SERVERS // 2, STEPS // 4
        self.one_process(trainers, steps)
        self.over_unix_sockets(trainers, servers, steps)

    @nightly
    def test_unix_sockets(self):
        self.one_process(TRAINERS, STEPS)
        self.over_unix_sockets(TRAINERS, SERVERS, STEPS)

    @nightly
    def test_links(self):
        reason = network.unavailable()
        if reason:
            self.skipTest(reason)
        self.one_process(TRAINERS, STEPS)
        self.over_links(TRAINERS, SERVERS, STEPS)


def stop(process):
    if process.popen.poll() is None:
        process.popen.kill()
        process.popen.wait()


if __name__ == "__main__":
    unittest.main()
