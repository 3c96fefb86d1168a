#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures trainers and servers of models/ctr_dnn as if each had its own machine: each process is
in a network namespace, joined by a bridge. Needs Linux, iproute2, root, and only the standard
library.

    python3 bench/scaling_run.py [build folder]

All processes share the cores of this machine, so a throughput in samples/s says little. The
relevant figure is the CPU time per sample of each role. Bytes on a trainer's link are compared with
those that the trainer counts: the difference is gRPC, HTTP/2, TCP and IP. Segments are joined on
such links (up to 64 KiB), so a real network adds about 4 %.
"""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from jobs import load, run_job
from whole_run import BUILD, SAMPLES, SOURCE, make_samples, write_safetensors

MODEL = SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir"
BATCH, EPOCHS, REPEATS, PORT = 512, 4, 3, 7101
CLUSTERS = ((1, 1), (2, 1), (1, 2), (2, 2))


def ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True,
                          text=True).stdout


class Network:
    """Namespaces with the addresses from 10.77.0.1 on, and a bridge between them, which has a
    namespace of its own. The network of this machine is not changed."""

    def __init__(self, count, stack):
        self.names = [f"pdl{os.getpid()}-{i}" for i in range(count)]
        bridge = f"pdl{os.getpid()}-bridge"
        for name in (*self.names, bridge):
            ip("netns", "add", name)
            stack.callback(subprocess.run, ["ip", "netns", "del", name])
        ip("-n", bridge, "link", "add", "bridge", "type", "bridge")
        ip("-n", bridge, "link", "set", "bridge", "up")
        for i, name in enumerate(self.names):
            ip("-n", bridge, "link", "add", f"port{i}", "type", "veth", "peer",
               "name", "eth0", "netns", name)
            ip("-n", bridge, "link", "set", f"port{i}", "master", "bridge", "up")
            ip("-n", name, "addr", "add", f"{self.address(i)}/24", "dev", "eth0")
            for link in ("eth0", "lo"):
                ip("-n", name, "link", "set", link, "up")

    @staticmethod
    def address(number):
        return f"10.77.0.{number + 1}"

    def bytes_of(self, number):
        """Returns the bytes that the link has sent and received."""
        link = json.loads(ip("-n", self.names[number], "-s", "-j", "link", "show",
                             "eth0"))[0]["stats64"]
        return link["tx"]["bytes"], link["rx"]["bytes"]


def measure(programs, data, trainers, servers):
    with contextlib.ExitStack() as stack:
        network = Network(trainers + servers, stack)
        listed = ",".join(f"{network.address(s)}:{PORT}" for s in range(servers))

        def inside(number, program, *words):
            return ["ip", "netns", "exec", network.names[number],
                    programs / program, *words, "--servers", listed,
                    "--trainers", trainers, "--threads", 1]

        commands = [inside(s, "pserver", "--rank", s, "--bind",
                           f"{network.address(s)}:{PORT}")
                    for s in range(servers)]
        told = run_job(commands, [
            inside(servers + t, "trainer", "train", "--rank", t, "--data", data,
                   "--epochs", EPOCHS, "--batch-size", BATCH)
            for t in range(trainers)])
        return *told, [network.bytes_of(servers + t) for t in range(trainers)]


def report(trainers, servers, runs):
    fewest = min(runs, key=lambda run: sum(
        said.parts["CPU"] for said in run[0] + run[1]))
    told, asked, links = fewest
    samples = BATCH * trainers
    rate = max(sum(said.rate for said in run[1]) / trainers for run in runs)
    trained = sum(said.parts["CPU"] for said in asked)
    served = sum(said.parts["CPU"] for said in told)
    counted = [sum(row[1] for said in asked for row in said.traffic),
               sum(row[2] for said in asked for row in said.traffic)]
    on_link = [sum(link[i] for link in links) for i in range(2)]
    print(f"{trainers} trainers x {servers} servers: {rate:.0f} samples/s; CPU "
          f"us a sample: trainers {1000 * trained / samples:.1f}, servers "
          f"{1000 * served / samples:.1f}; CPU s a 1000 steps: trainer "
          f"{trained / trainers:.1f} each, server {served / servers:.1f} each; "
          f"links of trainers: {on_link[0] / 1e6:.0f} MB sent, "
          f"{100 * (on_link[0] / counted[0] - 1):.1f} % over the messages, "
          f"{on_link[1] / 1e6:.0f} MB received, "
          f"{100 * (on_link[1] / counted[1] - 1):.1f} % over; {load()}",
          flush=True)


def main():
    try:
        with contextlib.ExitStack() as stack:
            Network(1, stack)
    except (OSError, subprocess.CalledProcessError) as error:
        print("skipped: network namespaces cannot be made here "
              f"({getattr(error, 'stderr', None) or error}); run it as root, with "
              "iproute2")
        return
    with tempfile.TemporaryDirectory(prefix="pdl") as name:
        folder = pathlib.Path(name)
        data = folder / "samples.safetensors"
        write_safetensors(data, *make_samples())
        subprocess.run([BUILD / "bin" / "pdl-translate", MODEL, "--numerics=fast",
                        "--mode=sync", "-o", folder / "sync"], check=True)
        print(f"sync, batch {BATCH}, {EPOCHS} passes over {SAMPLES} samples")
        for trainers, servers in CLUSTERS:
            report(trainers, servers, [
                measure(folder / "sync", data, trainers, servers)
                for _ in range(REPEATS)])


if __name__ == "__main__":
    sys.exit(main())
