#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the predictions of `pdl-opt --ps-report` for jobs with measurements on this host.

    python3 bench/predictions.py [--build FOLDER] [--model FILE] [--modes MODE[,MODE]]
                                 [--clusters TxS[,TxS]] [--batch-size N] [--steps N]

The constants come from pdl-measure and from one process of mode local, before any job runs. Then
each job trains on generated samples over unix sockets, with trainers of one worker and one thread,
and servers of one thread. The time of a step is the mean of all trainers and includes the start of
the run. Bytes are those of the first trainer. Memory is the peak of a process. Modes without
servers have as many trainers as the cluster has. Needs only the standard library; Linux.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile

from jobs import load, run_job
from whole_run import SLOTS, SOURCE, make_samples, write_safetensors

CTR_DNN = SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir"
MODES = "sync,half-async,async,quorum,collective,hybrid,geo"
CLUSTERS = ",".join(f"{t}x{s}" for t in (1, 2, 4) for s in (1, 2, 4))
WITH_OWNERS = "collective", "hybrid"
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build", metavar="FOLDER")
    parser.add_argument("--model", type=pathlib.Path, default=CTR_DNN, metavar="FILE",
                        help="one that reads the samples of ctr_dnn (default: that)")
    parser.add_argument("--modes", default=MODES, metavar="MODE[,MODE]")
    parser.add_argument("--clusters", default=CLUSTERS, metavar="TxS[,TxS]")
    parser.add_argument("--batch-size", type=int, default=256, metavar="N")
    parser.add_argument("--steps", type=int, default=800, metavar="N")
    return parser.parse_args()


class Predictions:

    def __init__(self, given, folder):
        self.given, self.folder = given, folder
        self.data = folder / "samples.safetensors"
        # One epoch, so that trainers meet only once.
        write_safetensors(self.data, *make_samples(given.steps * given.batch_size))
        self.machine, self.costs = folder / "machine.json", folder / "costs.json"
        self.run(given.build / "bin" / "pdl-measure", "-o", self.machine)
        self.run(self.programs("local") / "trainer", "train", *self.flags(1), "--costs",
                 self.costs)

    def run(self, *command):
        return subprocess.run([str(word) for word in command], check=True, capture_output=True,
                              text=True).stdout

    def steps(self, trainers):
        """Returns the number of steps of all samples, so that the tables of all jobs have the same
        size."""
        return self.given.steps // trainers

    def flags(self, trainers):
        return ["--data", self.data, "--batch-size", self.given.batch_size, "--steps",
                self.steps(trainers), "--threads", 1, "--seed", 1]

    def programs(self, mode):
        folder = self.folder / mode
        if not folder.exists():
            self.run(self.given.build / "bin" / "pdl-translate", self.given.model,
                     f"--mode={mode}", "-o", folder)
        return folder

    def predict(self, mode, trainers, servers):
        """Returns milliseconds of a step, bytes of a trainer's step, and bytes of memory of a
        server and of a trainer."""
        placed = subprocess.run(
            [self.given.build / "bin" / "pdl-opt", self.given.model,
             f"--pdl-pipeline=to=placed mode={mode}"], check=True, capture_output=True).stdout
        text = subprocess.run(
            [self.given.build / "bin" / "pdl-opt",
             f"--ps-report=servers={servers} trainers={trainers} "
             f"batch-size={self.given.batch_size} hosts=shared machine={self.machine} "
             f"costs={self.costs}", "-o", "/dev/null"],
            input=placed, check=True, capture_output=True).stdout.decode()
        sent, received = re.search(r"\((\d+) and (\d+) bytes\)", text).groups()
        step = re.search(r"from a step to the next\s+([\d.]+) us", text)[1]

        def memory(of):
            found = re.search(rf"{of}\s+([\d.]+) (\w+)", text)
            return float(found[1]) * UNITS[found[2]] if found else None
        return (float(step) / 1000, int(sent) + int(received), memory("the largest server"),
                memory("    a trainer"))

    def measure(self, mode, trainers, servers):
        programs = self.programs(mode)
        sockets = [self.folder / f"server{rank}" for rank in range(servers)]
        own = [self.folder / f"trainer{rank}" for rank in range(trainers)]
        for socket in own:
            socket.unlink(missing_ok=True)
        listed = ",".join(f"unix:{socket}" for socket in sockets)
        peers = ",".join(f"unix:{socket}" for socket in own)
        where = [*(["--servers", listed] if servers else []),
                 *(["--peers", peers] if mode in WITH_OWNERS and trainers > 1 else [])]
        said = run_job(
            [[programs / "pserver", "--rank", rank, "--servers", listed, "--trainers", trainers,
              "--threads", 1, "--seed", 1,
              *(["--quorum", max(1, trainers - 1)] if mode == "quorum" else [])]
             for rank in range(servers)],
            [[programs / "trainer", "train", "--rank", rank, "--trainers", trainers, *where,
              *self.flags(trainers)] for rank in range(trainers)], sockets)
        # The owner in a trainer reports the traffic of all trainers.
        traffic = sum(int(sent) + int(received) for sent, received in re.findall(
            r"^(?:server|owner in trainer) \d+: \d+ messages, (\d+) bytes sent, (\d+) bytes "
            r"received$", said[1][0].text, re.M)) / self.steps(trainers)
        return (sum(t.parts["took"] for t in said[1]) / trainers, traffic,
                max((s.peak for s in said[0]), default=None), max(t.peak for t in said[1]))


def cells(predicted, measured, form):
    if predicted is None or measured is None:
        return "", "", ""
    return form(predicted), form(measured), f"{100 * (predicted / measured - 1):+.0f} %"


def main():
    given = parse()
    with tempfile.TemporaryDirectory() as folder:
        predictions = Predictions(given, pathlib.Path(folder))
        print(f"{given.model.stem}, batches of {given.batch_size}, {SLOTS} ids a sample, "
              f"{given.steps} steps of all trainers; {load()}\n")
        print("| mode | trainers x servers | ms a step: predicted | measured | | KB of a trainer's "
              "step: predicted | measured | | MB of a server: predicted | measured | | "
              "MB of a trainer: predicted | measured | |")
        print("|" + "---|" * 14)
        errors = []
        for mode in given.modes.split(","):
            done = set()
            for cluster in given.clusters.split(","):
                trainers, servers = map(int, cluster.split("x"))
                servers = 0 if mode == "collective" else servers
                if (trainers, servers) in done:
                    continue
                done.add((trainers, servers))
                predicted = predictions.predict(mode, trainers, servers)
                measured = predictions.measure(mode, trainers, servers)
                errors.append(abs(predicted[0] / measured[0] - 1))
                forms = (lambda x: f"{x:.2f}", lambda x: f"{x / 1e3:.0f}",
                         lambda x: f"{x / 1e6:.0f}", lambda x: f"{x / 1e6:.0f}")
                row = [cell for p, m, form in zip(predicted, measured, forms)
                       for cell in cells(p, m, form)]
                print(f"| {mode} | {trainers} x {servers} | " + " | ".join(row) + " |", flush=True)
        print(f"\nTime of a step: {sum(error <= 0.2 for error in errors)} of {len(errors)} within "
              f"20 %; the largest error {100 * max(errors):.0f} %. {load()}")


if __name__ == "__main__":
    main()
