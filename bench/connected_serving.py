#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the throughput of a library that requests rows from servers with that of the same
library with the tables in memory.

    python3 bench/connected_serving.py [--build FOLDER] [--keys N] [--batch N] [--seconds N]

A job of one trainer and two servers on this host (unix sockets) trains models/ctr_dnn on generated
clicks and then waits. Ids follow Zipf's law (rank k has the weight 1 / k) and are drawn from --keys
keys per column. One thread scores batches of other such clicks for --seconds: with the checkpoint
in memory, and connected, with caches of several sizes. Each cache is filled by one pass before.
Inputs are prepared before the measurement. The scores must be bit-identical.
"""

import argparse
import array
import bisect
import ctypes
import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE / "python"))
from pdl import serving  # noqa: E402

SLOTS, STEP = 26, 512


class Clicks:
    def __init__(self, keys, seed):
        self.sums = list(itertools.accumulate(1 / rank for rank in range(1, keys + 1)))
        self.draw = random.Random(seed)

    def line(self):
        draw = self.draw
        ranks = (bisect.bisect(self.sums, draw.random() * self.sums[-1]) for _ in range(SLOTS))
        return [str(draw.randrange(2)), *(str(draw.randrange(400)) for _ in range(13)),
                *(f"{rank:08x}" for rank in ranks)]


class Calls:
    """Batches in the form that a library expects."""

    def __init__(self, program, lines, batch):
        self.program, self.batch, self.all, self.kept = program, batch, [], []
        for begin in range(0, len(lines), batch):
            part = lines[begin:begin + batch]
            given = {"numbers": array.array("f", [float(c) for line in part for c in line[1:14]]),
                     "categories": [[c] for line in part for c in line[14:40]]}
            raw = (serving._Input * len(program.inputs))()
            for place, tensor in enumerate(program.inputs):
                serving.Model._take(raw[place], tensor, given[tensor.name], self.kept)
            self.all.append(raw)
        self.scores = array.array("f", bytes(4 * batch))
        self.outputs = (ctypes.c_void_p * 1)(self.scores.buffer_info()[0])

    def run(self, loaded, raw):
        loaded._check(loaded.library.functions.run(loaded._pointer, self.program.index, self.batch,
                                                   raw, self.outputs))

    def pass_over(self, loaded):
        found = []
        for raw in self.all:
            self.run(loaded, raw)
            found += self.scores
        return found

    def rate(self, loaded, seconds):
        done, begin = 0, time.perf_counter()
        while (spent := time.perf_counter() - begin) < seconds:
            self.run(loaded, self.all[done % len(self.all)])
            done += 1
        return done * self.batch / spent


def wait_for(found, processes):
    end = time.monotonic() + 600
    while not found():
        if time.monotonic() > end or any(p.poll() is not None for p in processes):
            sys.exit("the job has ended, or takes too long")
        time.sleep(0.05)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--keys", type=int, default=20000)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pdlbench") as name:
        folder = pathlib.Path(name)
        translate = options.build / "bin" / "pdl-translate"
        for flags, out in ((["--mode=sync"], "job"), (["--emit=library", "--servers"], "library")):
            subprocess.run([translate, SOURCE / "models/ctr_dnn/ctr_dnn.mlir", "--numerics=strict",
                            *flags, "-o", folder / out], check=True)
        feed = folder / "feed.tsv"
        os.mkfifo(feed)
        addresses = f"unix:{folder}/s0,unix:{folder}/s1"
        processes = []
        with open(os.open(feed, os.O_RDWR), "w") as pipe, open(folder / "log", "w") as log:
            def start(program, *flags):
                processes.append(subprocess.Popen([folder / "job" / program, *map(str, flags)],
                                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log))
            try:
                for rank in range(2):
                    start("pserver", "--rank", rank, "--servers", addresses, "--trainers", 1)
                saved = folder / "saved"
                steps = 60
                start("trainer", "train", "--servers", addresses, "--trainers", 1, "--rank", 0,
                      "--data", feed, "--batch-size", STEP, "--checkpoint", saved,
                      "--checkpoint-steps", 1)
                clicks = Clicks(options.keys, 1)
                for _ in range(steps * STEP):
                    pipe.write("\t".join(clicks.line()) + "\n")
                pipe.flush()
                wait_for(lambda: any(saved.glob(f"step-{steps - 1:012d}*/manifest.json")) or any(
                    saved.glob(f"step-{steps:012d}/manifest.json")), processes)
                time.sleep(1.5)
                measure(options, folder, addresses, saved)
            finally:
                for process in processes:
                    process.kill()
                    process.wait()


def measure(options, folder, addresses, saved):
    library = serving.Library(folder / "library" / "libctr_dnn.so")
    clicks = Clicks(options.keys, 2)
    calls = Calls(library.programs["predict"],
                  [clicks.line() for _ in range(200 * options.batch)], options.batch)
    with library.open(saved) as whole:
        expected = calls.pass_over(whole)
        rows, tables = whole.state()["rows"], whole.state()["bytes"]
        print(f"{rows} rows, {tables / 2**20:.0f} MiB; batches of {options.batch}")
        print(f"{'in memory':24} {calls.rate(whole, options.seconds):10.0f} samples/s")
        for part in (1, 0.25, 0.05, 0):
            with library.connect(addresses, row_age_ms=3600000,
                                 cache_bytes=int(2 * part * tables)) as loaded:
                if calls.pass_over(loaded) != expected:
                    sys.exit("the scores of the connected library are others")
                before = loaded.row_counts()
                rate = calls.rate(loaded, options.seconds)
                after = loaded.row_counts()
                hits, misses = (after[n] - before[n] for n in ("hits", "misses"))
                what = f"cache {2 * part * tables / 2**20:.1f} MiB" if part else "no cache"
                print(f"{what:24} {rate:10.0f} samples/s, {100 * hits / (hits + misses):.1f} % of "
                      "rows in the cache")
        print(f"{'in memory, again':24} {calls.rate(whole, options.seconds):10.0f} samples/s")


if __name__ == "__main__":
    main()
