# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures modes with growing numbers of trainers, with each process at the end of a link of its
own."""

import os
import pathlib
import subprocess
import sys

from . import job

SOURCE = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(SOURCE / "bench"), str(SOURCE / "integration_test" / "support")]
import network  # noqa: E402
from whole_run import make_samples, write_safetensors  # noqa: E402

MODEL = SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir"
BATCH = 512


class Links:
    """The requested properties of the network, and the measured ones."""

    def __init__(self, rate, delay, router):
        self.rate, self.delay, self.router = rate, delay, router

    def make(self, places):
        return network.Network(places, self.rate, self.delay, router=self.router)

    def measured(self):
        """Returns the measurements of a plain program, as text."""
        try:
            with self.make(2) as made:
                trip, width = made.round_trip(), made.bandwidth()
        except subprocess.TimeoutExpired:
            return "a round trip and a plain TCP stream took too long to be measured"
        return (f"a round trip of one byte over TCP took {1e3 * trip:.2f} ms (median), and a plain "
                f"TCP stream had {width / 1e6:.0f} Mbit/s")


class Row:
    """The figures of a job with T trainers and S servers, and its bottleneck."""

    def __init__(self, run, made, trainers, servers):
        self.rate = run.rate
        samples = run.samples
        seconds = samples / run.rate
        # The direction with the largest load of all links.
        busiest = max(max(up, down) for up, down, _ in made.carried)
        self.link_rate = busiest / seconds
        served = made.carried[:servers]
        trained = made.carried[servers:]
        self.server_links = max((max(row[:2]) for row in served), default=0) / seconds
        self.trainer_links = max(max(row[:2]) for row in trained) / seconds
        self.dropped = sum(row[2] for row in made.carried)
        self.link_share = 8.0 * self.link_rate / made.rate if made.rate else 0.0
        self.trainer_cpu, self.server_cpu = run.trainer_cpu, run.server_cpu
        cpu = 1e-6 * samples * (run.trainer_cpu + run.server_cpu) + made.router_seconds
        self.machine = cpu / seconds / len(os.sched_getaffinity(0))
        self.router = made.router_seconds / seconds
        # Samples per second if each process had a core of its own.
        bounds = {"trainers' cores": 1e6 * trainers / run.trainer_cpu if run.trainer_cpu else 0,
                  "servers' cores": 1e6 * servers / run.server_cpu if run.server_cpu else 0,
                  "a server's link" if self.server_links >= self.trainer_links else
                  "a trainer's link": (made.rate / 8.0 * samples / busiest if made.rate else 0)}
        self.bound, self.bound_rate = min(
            ((name, rate) for name, rate in bounds.items() if rate), key=lambda pair: pair[1],
            default=("unknown", 0.0))

    def limit(self):
        """Returns the resource that was fully used during the run."""
        if self.link_share >= 0.8:
            return "a link"
        if self.machine >= 0.85:
            return "this machine's cores"
        return "waiting for messages"


def write_data(folder, settings, trainers, steps):
    """Writes so many rows that the steps of each setting are in one epoch. At the end of an epoch
    trainers meet, which costs modes such as geo extra time."""
    rows = max(trainers) * BATCH * max([steps, *(setting.min_steps for setting in settings)])
    path = folder / f"samples-{rows}.safetensors"
    if not path.exists():
        write_safetensors(path, *make_samples(rows))
    return path


def text(setting):
    """Returns the model. No setting changes its speed."""
    del setting
    return MODEL.read_text()


def flags(data, steps):
    return ["--data", data, "--batch-size", BATCH, "--steps", steps]


def measure_local(programs, data, replicas, steps):
    """Runs one process with a thread for each replica."""
    return job.local_run(programs, flags(data, steps), 1, replicas, replicas, 600)


def measure_on_host(programs, setting, data, trainers, servers, steps):
    """Runs the processes on this host, without links."""
    steps = max(steps, setting.min_steps)
    return job.cluster_run(programs, setting, flags(data, steps), 1, trainers, servers, 600)


def measure(programs, setting, data, trainers, servers, steps, links):
    servers = servers if setting.servers else 0
    steps = max(steps, setting.min_steps)
    with links.make(servers + trainers) as made:
        run = job.cluster_run(programs, setting, flags(data, steps), 1, trainers, servers, 300,
                              made)
    return Row(run, made, trainers, servers)
