#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures memory and time of a table whose values are stored in f32, bf16 and f16. Uses one
thread, and a model that does almost nothing except look up and update rows. Needs only the standard
library.

    python3 bench/stored_rows.py [--build FOLDER] [--rounds N]

Each sample has 26 random ids of a million, so that most rows come from memory. The three programs
run alternately. Time is the CPU time of the whole process per row (an id of a sample). It is the
difference of a run with three passes over the data and one with one pass. So the start and the
creation of keys are not part of it. Memory is the peak of the process with one pass. Prints medians
of the rounds.
"""

import argparse
import array
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
SAMPLES, IDS, KEYS, BATCH = 65536, 26, 1_000_000, 512
STORED = ("f32", "bf16", "f16")
CASES = ((16, "@rowwise_adagrad"), (16, "@adam"), (64, "@rowwise_adagrad"))


def model(width, rule, stored):
    clause = "" if stored == "f32" else f" stored({stored})"
    columns = IDS * width
    return f"""module @rows {{
  nn.record @r {{
    nn.field @label : tensor<?x1xf32>
    nn.field @ids : tensor<?x{IDS}xi64>
  }}
  nn.group @sparse rule({rule}) rate(0.01) untouched(lazy)
  nn.table @t : i64 -> tensor<{width}xf32> in @sparse init(#nn.uniform<-0.01, 0.01>){clause}
  nn.program @train reads(@r) {{
  ^bb0(%y: tensor<?x1xf32>, %ids: tensor<?x{IDS}xi64>):
    %e = nn.lookup @t[%ids] pool(sum) : (tensor<?x{IDS}xi64>) -> tensor<?x{IDS}x{width}xf32>
    %f = nn.flatten %e from 1 : tensor<?x{IDS}x{width}xf32>
    %s = nn.reduce sum %f axes [1] : tensor<?x{columns}xf32>
    %z = nn.reshape %s : (tensor<?xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@sparse] : tensor<?x1xf32>
  }}
}}
"""


def write_tensors(path, ids, labels, **more):
    """Writes safetensors with `IDS` ids for each label. `more`: further numbers per label, by
    name."""
    header, content = {}, b""
    for name, values in {"ids": ids, "label": labels, **more}.items():
        begin, content = len(content), content + values.tobytes()
        header[name] = {"dtype": "I64" if values.typecode == "q" else "F32",
                        "shape": [len(labels), len(values) // len(labels)],
                        "data_offsets": [begin, len(content)]}
    header = json.dumps(header).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(struct.pack("<Q", len(header)) + header + content)


def write_data(path):
    draw = random.Random(7)
    labels = array.array("f", (float(draw.random() < 0.25) for _ in range(SAMPLES)))
    write_tensors(path, array.array("q", (draw.randrange(KEYS) for _ in range(SAMPLES * IDS))),
                  labels)


def run(program, data, epochs, *flags):
    """Returns CPU seconds, peak memory in bytes, and the report."""
    with tempfile.TemporaryFile("w+") as log, tempfile.TemporaryFile("w+") as report:
        process = subprocess.Popen(
            [program / "trainer", "train", "--data", data, "--batch-size", str(BATCH),
             "--epochs", str(epochs), "--threads", "1", "--seed", "1", *flags],
            stdout=report, stderr=log)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            log.seek(0)
            raise SystemExit(log.read())
        report.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, report.read()


def arguments(description, rounds):
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCE / "build")
    parser.add_argument("--rounds", type=int, default=rounds)
    return parser.parse_args()


def main():
    given = arguments(__doc__, rounds=5)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = folder / "data.safetensors"
        write_data(data)
        for width, rule in CASES:
            programs = {}
            for stored in STORED:
                source = folder / "model.mlir"
                source.write_text(model(width, rule, stored))
                programs[stored] = folder / f"{rule[1:]}{width}{stored}"
                subprocess.run([given.build / "bin" / "pdl-translate", source, "-o",
                                programs[stored]], check=True)
            seconds, peaks = {s: [] for s in STORED}, {s: [] for s in STORED}
            for _ in range(given.rounds):
                for stored, program in programs.items():
                    once, peak, _ = run(program, data, 1)
                    thrice, _, _ = run(program, data, 3)
                    seconds[stored].append((thrice - once) / (2 * SAMPLES * IDS))
                    peaks[stored].append(peak)
            for stored in STORED:
                ratios = [a / b for a, b in zip(seconds[stored], seconds["f32"])]
                print(f"{rule} width {width}, {stored:4}: "
                      f"{statistics.median(seconds[stored]) * 1e9:.1f} ns a row, "
                      f"{statistics.median(ratios):.3f} of f32, peak "
                      f"{statistics.median(peaks[stored]) / 2 ** 20:.1f} MiB", flush=True)


if __name__ == "__main__":
    main()
