# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Common parts of the tests of checkpoints that servers write without trainers."""

import json
import signal
import socket
import struct

from folders import SharedFolderTest
from programs import PDL_TRANSLATE, checkpoints_in, run
from proxy import Proxy
from small_model import METRICS, OBSERVATIONS, small_model
from waiting import wait_until

SILENCE = 2  # seconds after which a peer counts as dead
SPLIT = ("--min-block-elements=1024", "--target-block-bytes=16384")


def with_test(text):
    """Returns the model with a test program for the trained values."""
    at = text.index("  nn.program @train")
    body = text[at:text.index("    nn.minimize")]
    loss = body.index("    %l = ")
    tests = body[:loss].replace("@train", "@evaluate frozen")
    observed = "    %p = nn.sigmoid %z : tensor<?x1xf32>\n" \
               "    nn.observe @auc(%p, %label) : tensor<?x1xf32>\n  }\n"
    return text[:at] + tests + observed + text[at:]


def group_steps(saved):
    """Returns the number of applied updates of each group of parameters in the newest
    checkpoint."""
    manifest = json.loads((checkpoints_in(saved)[-1] / "manifest.json").read_text())["checkpoint"]
    return {group["name"]: group["steps"] for group in manifest["groups"]}


class Relay(Proxy):
    """Forwards bytes from a unix socket to a server, except for those of the processes in `held`.
    These are lost, as in a network. Calls `seen` with all bytes before it forwards them to the
    server, and with the number of their process."""

    def __init__(self, path, server, seen=lambda data, number: None):
        self.seen = seen
        self.held = set()  # numbers of processes
        super().__init__(f"unix:{path}", f"unix:{server}")

    def change(self, data, client):
        if client is None:
            return data
        credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED,
                                        struct.calcsize("3i"))
        number = struct.unpack("3i", credentials)[0]
        if number not in self.held:
            self.seen(data, number)
        # `seen` may have added the process.
        return b"" if number in self.held else data


class ServerSavesTest(SharedFolderTest):
    """Test with a folder of programs. `modes`: the modes of the small model without a clip, and
    those with one. Folders have the name of the mode, and True if there is a clip, else False."""

    modes = (), ()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for clip in (False, True):
            source = cls.root / f"small{clip}.mlir"
            text = small_model("@adam", clip=clip, decay=True, warm_up=True)
            text = text.replace("  nn.program", METRICS + "  nn.program", 1).replace(
                "    nn.minimize", OBSERVATIONS + "    nn.minimize", 1)
            source.write_text(with_test(text))
            for mode in cls.modes[clip]:
                run(PDL_TRANSLATE, source, "-o", cls.root / f"{mode}{clip}", "--numerics=strict",
                    f"--mode={mode}", *(SPLIT if mode != "local" else ()))

    def kill_trainer(self, cluster, rank):
        cluster.trainers[rank].popen.send_signal(signal.SIGKILL)
        cluster.trainers[rank].popen.wait()

    def ends(self, cluster, but=()):
        """Waits until all processes have ended, except for killed trainers. Returns their
        output."""
        for process in cluster.processes():
            if process.name not in but:
                self.assertNotEqual(process.wait(), 0, process.output)
        return "".join(server.output for server in cluster.servers)

    def wait_until(self, cluster, ready):
        wait_until(ready, said=cluster.said)

    def rejoin(self, cluster, rank):
        """Restarts the lost trainer."""
        cluster.start_trainer(rank)
        cluster.trainers[rank] = cluster.trainers.pop()

    def count_of_server_saves(self, cluster):
        """Returns the number of checkpoints that servers have saved while a job stood still."""
        return cluster.servers[0].output.count("without trainers, because the job stands still")

    def request_until(self, cluster, process, holds):
        """Requests a checkpoint, and waits until `holds()` is true. On a busy machine, trainers may
        stand still, and the servers save instead. Then requests another one. Returns the number of
        saves of servers."""
        saves = -1

        def is_over():
            nonlocal saves
            if holds():
                return True
            if (done := self.count_of_server_saves(cluster)) > saves:
                saves = done
                process.popen.send_signal(signal.SIGUSR2)
            return False

        self.wait_until(cluster, is_over)
        return saves
