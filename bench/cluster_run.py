#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the cost of moving the state of models/ctr_dnn to a server. Compares one process with
trainers and a server on the same cores, over a unix socket and over TCP on the loopback, and
divides the time into the parts of a step. Needs only the standard library; Linux.

    python3 bench/cluster_run.py [build folder]

One process, sync and async run alternately. The throughput is that of the best run of each, and the
CPU time is the least of all runs. All processes of a job are bound to the same cores. "of local"
compares throughput with that of one process on these cores. It also compares the CPU time of one
process with that of all processes of the job, which depends less on other load.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from jobs import load, run_job
from whole_run import (BUILD, SLOTS, SOURCE, make_samples, write_safetensors)

MODEL = SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir"
REPEATS, EPOCHS = 3, 2
PORT = 7191
# Cores, workers (and threads) of the trainer.
PLACES = (("one core", "0", 1), ("two cores", "0,1", 2))
TRAINER_PARTS = ("read", "prepare", "compute", "apply", "serialize", "wait")
SERVER_PARTS = ("check", "sum", "apply", "respond", "idle")


def unique_share(ids, size):
    """Returns the mean share of distinct keys among `size` ids in a row."""
    starts = range(0, len(ids) - size + 1, size)
    return sum(len(set(ids[s:s + size])) for s in starts) / (len(starts) * size)


def bytes_of_step(mode, batch, workers, share):
    """Returns the line of the report that says what the trainer sends and receives."""
    placed = subprocess.run([BUILD / "bin" / "pdl-opt", MODEL,
                             f"--pdl-pipeline=to=placed mode={mode}"],
                            check=True, capture_output=True).stdout
    report = subprocess.run(
        [BUILD / "bin" / "pdl-opt", f"--ps-report=servers=1 trainers=1 "
         f"workers={workers} batch-size={batch} unique-share={share:.4f}", "-o",
         "/dev/null"],
        input=placed, check=True, capture_output=True).stdout.decode()
    return re.search(r"sends .* messages?", report)[0]


def run_mode(programs, data, mode, batch, cores, workers, address, socket):
    """Runs a job. Returns the report of the server (None for one process) and of the trainer."""
    bound = ["taskset", "-c", cores]
    trainer = [*bound, programs / mode.split()[0] / "trainer", "train", "--data",
               data, "--epochs", EPOCHS, "--threads", workers, "--replicas",
               f"1x{workers}", "--batch-size", batch]
    if mode == "local":
        return None, run_job([], [trainer])[1][0]
    server = [*bound, programs / mode / "pserver", "--rank", 0, "--servers",
              address, "--threads", 1]
    servers, trainers = run_job(
        [server], [trainer + ["--servers", address]],
        [socket] if address.startswith("unix") else [])
    return servers[0], trainers[0]


def describe(said, names):
    return ", ".join(f"{name} {said.parts[name]:.2f}" for name in names
                     if name in said.parts)


def compare(programs, data, batch, place, cores, workers, folder):
    socket = folder / "socket"
    kinds = [("local", None), ("sync", f"unix:{socket}"),
             ("sync", f"127.0.0.1:{PORT}"), ("async", f"unix:{socket}")]
    runs = {kind: [] for kind in kinds}
    for _ in range(REPEATS):
        for mode, address in kinds:
            runs[mode, address].append(run_mode(
                programs, data, mode, batch, cores, workers, address, socket))

    def cpu(run):
        """Returns the CPU time of a step of the trainer. Servers of mode async count each push as a
        step."""
        return sum(said.parts["CPU"] * said.steps / run[1].steps
                   for said in run if said)

    base_rate = max(run[1].rate for run in runs[kinds[0]])
    base_cpu = min(cpu(run) for run in runs[kinds[0]])
    print(f"\n{place}, {workers} workers of batch {batch}; {load()}")
    for (mode, address), each in runs.items():
        best = max(each, key=lambda run: run[1].rate)
        name = mode + ("" if not address else
                       " unix" if address.startswith("unix") else " TCP")
        least = min(cpu(run) for run in each)
        print(f"{name:10} {best[1].rate:7.0f} samples/s, of local "
              f"{best[1].rate / base_rate:.2f} by rate, {base_cpu / least:.2f} "
              f"by CPU time ({least:.2f} ms a step)")
        print("    trainer, ms a step: " + describe(best[1], TRAINER_PARTS))
        if best[0]:
            print(f"    server,  ms a {'push' if mode == 'async' else 'step'}: " + describe(best[0], SERVER_PARTS) +
                  f"; CPU {best[0].parts['CPU']:.2f}", flush=True)


def main():
    with tempfile.TemporaryDirectory(prefix="pdl") as name:
        folder = pathlib.Path(name)
        data = folder / "samples.safetensors"
        samples = make_samples()
        write_safetensors(data, *samples)
        for mode in ("local", "sync", "async"):
            subprocess.run([BUILD / "bin" / "pdl-translate", MODEL,
                            "--numerics=fast", f"--mode={mode}", "-o",
                            folder / mode], check=True)
        for place, cores, workers in PLACES:
            for batch in (512, 2048):
                compare(folder, data, batch, place, cores, workers, folder)
                for mode in ("sync", "async"):
                    size = batch * SLOTS * (workers if mode == "sync" else 1)
                    share = unique_share(samples[2], size)
                    print(f"    {mode} by the report: " + bytes_of_step(
                        mode, batch, workers, share), flush=True)


if __name__ == "__main__":
    sys.exit(main())
