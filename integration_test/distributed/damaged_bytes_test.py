# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bytes that are changed, lost or repeated within open connections. A job continues, or all of its
processes end with an error message. No process waits forever. Real processes; every wait has a
time limit."""

import contextlib
import pathlib
import random
import socket
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from cluster import Cluster
from corrupting_proxy import CorruptingProxy
from folders import SharedFolderTest
from job_modes import MODES
from programs import ADULT, PDL_TRANSLATE, is_nightly, run
from small_model import small_model

# An attempt takes 20 s, later ones take longer, and several faults may affect one request.
PATIENCE = 240


def free_ports(count):
    """Returns ports of this host that no process uses at present."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


class DamagedBytes(SharedFolderTest):

    def programs(self, mode):
        folder = self.root / mode
        if not folder.exists():
            source = self.root / "small.mlir"
            source.write_text(small_model("@adam", clip=True, decay=True, warm_up=True))
            run(PDL_TRANSLATE, source, "-o", folder, "--numerics=strict", f"--mode={mode}",
                "--min-block-elements=1024", "--target-block-bytes=16384")
        return folder

    def check(self, mode, over_tcp, seed):
        settings = MODES[mode]
        choice = random.Random(seed)
        with contextlib.ExitStack() as stack:
            cluster = stack.enter_context(Cluster(
                self.programs(mode), 2, settings.servers,
                ["--data", ADULT, "--rows", "0:6000", "--batch-size", 64, "--seed", 7, "--epochs",
                 2, "--checkpoint", self.root / f"{mode}.{over_tcp}.{seed}",
                 "--checkpoint-steps", 15, "--replicas", "1x2", *settings.trainer_flags],
                ["--seed", 7, *settings.server_flags], peers=settings.peers))
            if over_tcp:
                own = [f"127.0.0.1:{port}" for port in free_ports(settings.servers + 2)]
                cluster.addresses = ",".join(own[:settings.servers])
                cluster.peers = ",".join(own[settings.servers:]) if settings.peers else ""
            faults = choice.choice((1, 2, 4))
            proxies = []

            def before(addresses):
                for address in addresses.split(","):
                    entry = (f"127.0.0.1:{free_ports(1)[0]}" if over_tcp else address + "p")
                    proxies.append(stack.enter_context(CorruptingProxy(
                        entry, address, 8 * seed + len(proxies), faults, 1,
                        choice.choice((20_000, 300_000, 2_000_000)))))
                    yield entry

            if settings.servers:
                cluster.trainer_addresses = ",".join(before(cluster.addresses))
            if settings.peers:
                cluster.binds = cluster.peers.split(",")
                cluster.peers = ",".join(before(cluster.peers))
            cluster.start()
            end = time.monotonic() + PATIENCE
            for process in cluster.processes():
                status = process.wait(max(1, end - time.monotonic()))
                self.assertGreaterEqual(status, 0, process.output)
                if 0 < status < 128:
                    self.assertIn("error", process.output)

    def test_jobs_end(self):
        jobs = ([(mode, over_tcp, seed) for mode in MODES for over_tcp in (False, True)
                 for seed in range(3)] if is_nightly() else
                [("sync", False, 0), ("hybrid", True, 0)])
        for mode, over_tcp, seed in jobs:
            with self.subTest(mode, over_tcp=over_tcp, seed=seed):
                self.check(mode, over_tcp, seed)


if __name__ == "__main__":
    unittest.main()
