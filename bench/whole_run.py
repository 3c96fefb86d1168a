#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what a user of models/ctr_dnn sees: the time to compile it, and the trainer on one
thread with reading and parsing. Needs only the standard library.

    python3 bench/whole_run.py [build folder]

Throughput is by CPU time of the whole process: the difference of a run with five passes over the
data and one with one pass. So the start, the creation of keys, and other load of the machine are
not part of it.
"""

import array
import json
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else SOURCE / "build")
SAMPLES = 16000
SLOTS = 26
NUMBERS = 13


def make_samples(samples=SAMPLES):
    """Returns labels, numbers and ids. The ids are as skewed as in bench/handwritten."""
    rng = random.Random(7)
    labels, numbers, ids = array.array("f"), array.array("f"), array.array("q")
    for _ in range(samples):
        labels.append(float(rng.random() < 0.25))
        numbers.extend(float(rng.randrange(100)) for _ in range(NUMBERS))
        ids.extend((slot << 40) | int(10 ** (1 + slot / 5) * rng.random() ** 4)
                   for slot in range(SLOTS))
    return labels, numbers, ids


def write_safetensors(path, labels, numbers, ids):
    samples = len(labels)
    splits = array.array("i", range(samples * SLOTS + 1))
    header, end, data = {}, 0, b""
    for name, kind, shape, values in (
            ("label", "F32", [samples, 1], labels),
            ("numbers", "F32", [samples, NUMBERS], numbers),
            ("categories.values", "I64", [len(ids)], ids),
            ("categories.splits", "I32", [len(splits)], splits)):
        payload = values.tobytes()
        header[name] = {"dtype": kind, "shape": shape,
                        "data_offsets": [end, end + len(payload)]}
        end += len(payload)
        data += payload
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_tsv(path, labels, numbers, ids):
    with open(path, "w") as file:
        for i in range(SAMPLES):
            cells = [f"{labels[i]:.0f}"]
            cells += [f"{x:.0f}" for x in numbers[i * NUMBERS:(i + 1) * NUMBERS]]
            cells += [f"{x:08x}" for x in ids[i * SLOTS:(i + 1) * SLOTS]]
            file.write("\t".join(cells) + "\n")


def cpu_seconds(command):
    """Returns the CPU time, user and system, of a command that must succeed."""
    process = subprocess.Popen([str(c) for c in command],
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command[0]} failed:\n{errors}")
    return usage.ru_utime + usage.ru_stime


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = [folder / "samples.safetensors", folder / "samples.tsv"]
        samples = make_samples()
        write_safetensors(files[0], *samples)
        write_tsv(files[1], *samples)
        trainers = {}
        for numerics in ("strict", "fast"):
            command = [BUILD / "bin" / "pdl-translate",
                       SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir",
                       f"--numerics={numerics}", "-o", folder / numerics]
            passed, used = [], []
            for _ in range(3):
                start = time.monotonic()
                used.append(cpu_seconds(command))
                passed.append(time.monotonic() - start)
            print(f"{numerics}: .mlir to executable in {min(passed):.2f} s "
                  f"({min(used):.2f} s of CPU time)")
            trainers[numerics] = folder / numerics / "trainer"
        print("\nTrainer, --threads 1, reading included, by CPU time")
        for batch in (512, 1000):
            for numerics, trainer in trainers.items():
                for file in files:
                    def seconds(epochs):
                        return min(cpu_seconds(
                            [trainer, "train", "--data", file, "--epochs", epochs,
                             "--threads", 1, "--batch-size", batch])
                            for _ in range(2))
                    rate = 4 * SAMPLES / (seconds(5) - seconds(1))
                    print(f"{numerics:6} batch {batch:4}  {file.suffix[1:]:11} "
                          f"{rate:7.0f} samples/s", flush=True)


if __name__ == "__main__":
    main()
