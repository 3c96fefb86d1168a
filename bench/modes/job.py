# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one training of a job of several processes, and reads its reports."""

import collections
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from jobs import run_job  # noqa: E402


class Run:
    """The figures of one training. `tests`: metrics by name, for each epoch. Also: samples/s; bytes
    that trainers send and receive per sample; number of responses by the steps that their trainer
    was ahead of the slowest one; late gradients; CPU microseconds per sample of both roles."""

    def __init__(self, servers, trainers):
        first = trainers[0].text
        # Each trainer reports the samples of all trainers.
        samples = int(re.search(r"trained \d+ steps, (\d+) samples", first)[1])
        self.samples = samples
        self.tests = [dict((name, float(value)) for name, value in
                           re.findall(r"test ([a-zA-Z][\w @-]*?) (-?[\d.]+(?:e[-+]\d+)?)", line))
                      for line in first.splitlines() if re.search(r"epoch \d+: ", line)]
        self.rate = min(said.rate for said in trainers)
        self.bytes = sum(traffic(said.text, rank)
                         for rank, said in enumerate(trainers)) / samples
        self.ahead = collections.Counter()
        self.late = 0
        for said in servers + trainers:
            for line in re.findall(r"steps ahead of the slowest, of responses: (.*)", said.text):
                for ahead, count in re.findall(r"(\d+)(?: or more)?: (\d+)", line):
                    self.ahead[int(ahead)] += int(count)
            self.late += sum(map(int, re.findall(r"(\d+) gradients came late", said.text)))
        self.trainer_cpu = cpu_of(trainers) / samples
        self.server_cpu = cpu_of(servers) / samples

    def score(self, name):
        return self.tests[-1][name]


def traffic(text, rank):
    """Returns the bytes that a trainer has sent and received. Traffic with its own part of the
    state uses no socket and does not count."""
    return sum(int(sent) + int(received) for name, sent, received in re.findall(
        r"^(.*): \d+ messages, (\d+) bytes sent, (\d+) bytes received", text, re.M)
        if not name.endswith(f"trainer {rank}"))


def cpu_of(processes):
    """Returns the CPU microseconds of all steps."""
    return 1000.0 * sum(said.parts.get("CPU", 0.0) * said.steps for said in processes)


def local_run(programs, flags, seed, replicas, threads, limit):
    """Runs one process with `replicas` groups."""
    _, trainers = run_job([], [[programs / "trainer", "train", *flags, "--seed", seed,
                                "--replicas", f"{replicas}x1", "--threads", threads]],
                          limit=limit)
    return Run([], trainers)


def cluster_run(programs, setting, flags, seed, trainers, servers, limit, network=None):
    """Runs processes on this machine over unix sockets, or each in a place of `network` over TCP.
    Servers are first, then trainers."""
    servers = servers if setting.servers else 0
    with tempfile.TemporaryDirectory(prefix="pdl") as folder:
        if network:
            places = [network.address_of(place) for place in range(servers + trainers)]
        else:
            places = [f"unix:{folder}/s{place}" for place in range(servers + trainers)]
        said = ["--trainers", trainers]
        if servers:
            said += ["--servers", ",".join(places[:servers])]

        def inside(place, *words):
            words = [str(word) for word in words]
            return network.inside(place, words) if network else words

        def bind(place):
            return ["--bind", places[place]] if network else []

        serve = [inside(rank, programs / "pserver", "--rank", rank, *said, "--seed", seed,
                        "--threads", 1, *bind(rank),
                        *setting.words(setting.server_flags, trainers))
                 for rank in range(servers)]
        peers = ["--peers", ",".join(places[servers:])] if setting.peers else []
        train = [inside(servers + rank, programs / "trainer", "train", "--rank", rank, *said,
                        *peers, *(bind(servers + rank) if setting.peers else []), *flags,
                        "--seed", seed, "--threads", 1,
                        *setting.words(setting.trainer_flags, trainers))
                 for rank in range(trainers)]
        sockets = [] if network else [pathlib.Path(place[len("unix:"):])
                                      for place in places[:servers]]
        return Run(*run_job(serve, train, sockets, limit=limit))
