#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What it costs to move the state of models/ctr_dnn to a server: one process
with one thread, against one trainer and one server of one thread each, over a
unix socket. Standard library only.

    python3 bench/cluster_run.py [build folder]

Rates are the trainer's own, by wall clock, over five passes: starting and
leaving do not count. CPU times are the difference of five passes and one, so
that start-up, the first sight of each key and the end fall out; they depend less
on what else the machine does. The bytes are those that `pdl-opt --ps-report`
predicts for the distinct keys that the batches hold.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from whole_run import (BUILD, SAMPLES, SLOTS, SOURCE, make_samples,
                       write_safetensors)

MODEL = SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir"
REPEATS = 3


def run_job(commands, socket):
    """The samples/s that the trainer says, and the CPU seconds of each. The
    trainer is last, and starts when the server is there."""
    start = time.monotonic()
    processes, logs, used = {}, {}, {}
    socket.unlink(missing_ok=True)
    for command in commands:
        while processes and not socket.exists():
            if time.monotonic() > start + 10:
                sys.exit("the server does not start")
            time.sleep(0.001)
        log = tempfile.TemporaryFile("w+")
        process = subprocess.Popen([str(c) for c in command], stdout=log,
                                   stderr=log)
        processes[process.pid], logs[process.pid] = process, log
    while len(used) < len(processes):
        pid, status, usage = os.wait3(0)
        used[pid] = usage.ru_utime + usage.ru_stime
        processes[pid].returncode = os.waitstatus_to_exitcode(status)
        if status:
            for process in processes.values():
                if process.returncode is None:
                    process.kill()
            logs[pid].seek(0)
            sys.exit(f"{processes[pid].args[0]} failed:\n{logs[pid].read()}")
    logs[list(processes)[-1]].seek(0)
    said = re.search(r"\((\d+) samples/s\)", logs[list(processes)[-1]].read())
    return [float(said[1]), *(used[pid] for pid in processes)]


def measure(commands_of, socket):
    """The best rate, and CPU seconds of four passes, the least of some runs."""
    one, five = ([run_job(commands_of(epochs), socket)
                  for _ in range(REPEATS)] for epochs in (1, 5))
    used = [min(more) - min(fewer)
            for more, fewer in list(zip(zip(*five), zip(*one)))[1:]]
    return [max(run[0] for run in five), *used]


def unique_share(ids, batch):
    """Distinct keys of a batch over its ids, on average."""
    size = batch * SLOTS
    starts = range(0, len(ids) - size + 1, size)
    return sum(len(set(ids[s:s + size])) for s in starts) / (len(starts) * size)


def bytes_of_step(mode, batch, share):
    """The line of the report that says what the trainer sends and receives."""
    placed = subprocess.run([BUILD / "bin" / "pdl-opt", MODEL,
                             f"--pdl-pipeline=to=placed mode={mode}"],
                            check=True, capture_output=True).stdout
    report = subprocess.run(
        [BUILD / "bin" / "pdl-opt", f"--ps-report=servers=1 trainers=1 "
         f"batch-size={batch} unique-share={share:.4f}", "-o", os.devnull],
        input=placed, check=True, capture_output=True).stdout.decode()
    return re.search(r"sends .* messages?", report)[0]


def main():
    with tempfile.TemporaryDirectory(prefix="pdl") as name:
        folder = pathlib.Path(name)
        socket = folder / "socket"
        data = folder / "samples.safetensors"
        samples = make_samples()
        write_safetensors(data, *samples)
        for mode in ("local", "sync", "async"):
            subprocess.run([BUILD / "bin" / "pdl-translate", MODEL,
                            "--numerics=fast", f"--mode={mode}", "-o",
                            folder / mode], check=True)
        print(f"load of the machine at the start: {os.getloadavg()[0]:.1f}, "
              f"{os.cpu_count()} cores")
        for batch in (512, 4096):
            share = unique_share(samples[2], batch)
            steps = 4 * -(-SAMPLES // batch)
            for mode in ("local", "sync", "async"):
                def commands_of(epochs):
                    trainer = [folder / mode / "trainer", "train", "--data",
                               data, "--epochs", epochs, "--threads", 1,
                               "--batch-size", batch]
                    if mode == "local":
                        return [trainer]
                    address = f"unix:{socket}"
                    return [[folder / mode / "pserver", "--rank", 0,
                             "--servers", address, "--threads", 1],
                            trainer + ["--servers", address]]
                rate, *used = measure(commands_of, socket)
                print(f"{mode:5} batch {batch:4}  {rate:7.0f} "
                      f"samples/s  CPU ms a step: " + ", ".join(
                          f"{role} {1000 * seconds / steps:.2f}"
                          for role, seconds in zip(("trainer", "server"),
                                                   reversed(used))),
                      flush=True)
                if mode != "local":
                    print(f"      {share * SLOTS * batch:.0f} distinct keys: "
                          f"{bytes_of_step(mode, batch, share)}", flush=True)


if __name__ == "__main__":
    main()
