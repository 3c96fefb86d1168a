#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long each model of models/ takes from its text to its program, on one core.

  bench/compile_time.py BUILD [--runs N] [--cpu C] [MODEL ...]

Printed for each model: the CPU time of `pdl-translate` (all its processes; the least of
N runs), split into what comes before LLVM (`pdl-opt` to phase tasks), LLVM (object files,
less that), and the link. No model should take more than 2 seconds; the status is 1 if one
does.
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
MOST_SECONDS = 2.0


def cpu_seconds(command, runs):
    times = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cpu", type=int, default=0, help="the core (default 0)")
    options = parser.parse_intermixed_args()
    os.sched_setaffinity(0, {options.cpu})
    binaries = options.build / "bin"
    names = options.models or sorted(p.name for p in MODELS.iterdir() if p.is_dir())
    print("| model | seconds | before LLVM | LLVM | link |\n| --- | ---: | ---: | ---: | ---: |")
    slow = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            model = MODELS / name / f"{name}.mlir"
            before = cpu_seconds([binaries / "pdl-opt", model, "--pdl-pipeline=to=tasks",
                                  "-o", f"{folder}/tasks.mlir"], options.runs)
            objects = cpu_seconds([binaries / "pdl-translate", model, "--emit=obj", "-o",
                                   f"{folder}/objects"], options.runs)
            whole = cpu_seconds([binaries / "pdl-translate", model, "-o",
                                 f"{folder}/program"], options.runs)
            print(f"| {name} | {whole:.2f} | {before:.2f} | {max(0, objects - before):.2f} | "
                  f"{max(0, whole - objects):.2f} |", flush=True)
            if whole > MOST_SECONDS:
                slow.append(name)
    if slow:
        print(f"above {MOST_SECONDS} s: {', '.join(slow)}", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
