#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures how long the compilation of each model of models/ takes, on one core.

  bench/compile_time.py BUILD [--runs N] [--cpu C] [MODEL ...]
  bench/compile_time.py BUILD --changed [--runs N] [--cpu C] [MODEL ...]

Prints the CPU time of `pdl-translate` for each model (all its processes; the least of N runs).
Divides it into the time before LLVM (`pdl-opt` to phase tasks), LLVM (object files, without the
former) and the link. No model should take more than 2 seconds. If one does, the status is 1.

With --changed, changes one layer of a model that was compiled with --object-cache, and measures how
long its compilation into the same folder takes. Also prints the time without a cache, and the
number of parts that were compiled. No model should take more than 0.3 seconds.
"""

import argparse
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import large_model

MODELS = pathlib.Path(__file__).resolve().parent.parent / "models"
MAX_SECONDS = 2.0
MAX_CHANGED_SECONDS = 0.3

# Changes of models: their names, and pairs of old and new texts.
CHANGES = {
    "ctr_dnn": [
        ("layer 2 narrower", [
            ("@w2 : tensor<400x400xf32>", "@w2 : tensor<400x392xf32>"),
            ("@b2 : tensor<400xf32>", "@b2 : tensor<392xf32>"),
            ("@w3 : tensor<400x400xf32>", "@w3 : tensor<392x400xf32>"),
            ("%h1, @w2, @b2 act(relu) : (tensor<?x400xf32>) -> tensor<?x400xf32>",
             "%h1, @w2, @b2 act(relu) : (tensor<?x400xf32>) -> tensor<?x392xf32>"),
            ("%h2, @w3, @b3 act(relu) : (tensor<?x400xf32>)",
             "%h2, @w3, @b3 act(relu) : (tensor<?x392xf32>)")]),
        ("layer 2 tanh", [("@w2, @b2 act(relu)", "@w2, @b2 act(tanh)")])],
    "dlrm": [
        ("layer wider", [
            ("@top_w1 : tensor<44x64xf32>", "@top_w1 : tensor<44x72xf32>"),
            ("@top_b1 : tensor<64xf32>", "@top_b1 : tensor<72xf32>"),
            ("@top_w2 : tensor<64x32xf32>", "@top_w2 : tensor<72x32xf32>"),
            ("(tensor<?x44xf32>) -> tensor<?x64xf32>", "(tensor<?x44xf32>) -> tensor<?x72xf32>"),
            ("(tensor<?x64xf32>) -> tensor<?x32xf32>", "(tensor<?x72xf32>) -> tensor<?x32xf32>")]),
        ("layer tanh", [("@top_w1, @top_b1 act(relu)", "@top_w1, @top_b1 act(tanh)")])],
    "sasrec": [
        ("layer wider", [
            ("@w1 : tensor<16x16xf32>", "@w1 : tensor<16x24xf32>"),
            ("@b1 : tensor<16xf32>", "@b1 : tensor<24xf32>"),
            ("@w2 : tensor<16x16xf32>", "@w2 : tensor<24x16xf32>"),
            ("@w1, @b1 act(relu) : (!places) -> !places",
             "@w1, @b1 act(relu) : (!places) -> tensor<?x10x24xf32>"),
            ("@w2, @b2 : (!places)", "@w2, @b2 : (tensor<?x10x24xf32>)")]),
        ("layer tanh", [("@w1, @b1 act(relu)", "@w1, @b1 act(tanh)")])],
    "xdeepfm": [
        ("layer 2 wider", [
            ("@w2 : tensor<64x32xf32>", "@w2 : tensor<64x40xf32>"),
            ("@b2 : tensor<32xf32>", "@b2 : tensor<40xf32>"),
            ("@w3 : tensor<32x1xf32>", "@w3 : tensor<40x1xf32>"),
            ("(tensor<?x64xf32>) -> tensor<?x32xf32>", "(tensor<?x64xf32>) -> tensor<?x40xf32>"),
            ("%h2, @w3 : (tensor<?x32xf32>)", "%h2, @w3 : (tensor<?x40xf32>)")]),
        ("layer 2 tanh", [("@w2, @b2 act(relu)", "@w2, @b2 act(tanh)")])],
    "multiview_simnet": [
        ("item relu", [("@item_w, @item_b act(tanh)", "@item_w, @item_b act(relu)")])],
}
# 1,000 slots and 200 layers in one chain; see large_model.py.
LARGE = "large_chain"


def cpu_of(usage):
    return usage.ru_utime + usage.ru_stime


def seconds_of(command):
    """Returns CPU seconds, wall-clock seconds, and the standard error of a command."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    clock = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return cpu_of(after) - cpu_of(before), clock, done.stderr


def cpu_seconds(command, runs):
    return min(seconds_of(command)[0] for _ in range(runs))


def print_whole(options, binaries, folder):
    print("| model | seconds | before LLVM | LLVM | link |\n| --- | ---: | ---: | ---: | ---: |")
    slow = []
    for name in options.models or sorted(p.name for p in MODELS.iterdir() if p.is_dir()):
        model = MODELS / name / f"{name}.mlir"
        before = cpu_seconds([binaries / "pdl-opt", model, "--pdl-pipeline=to=tasks",
                              "-o", f"{folder}/tasks.mlir"], options.runs)
        objects = cpu_seconds([binaries / "pdl-translate", model, "--emit=obj", "-o",
                               f"{folder}/objects"], options.runs)
        whole = cpu_seconds([binaries / "pdl-translate", model, "-o",
                             f"{folder}/program"], options.runs)
        print(f"| {name} | {whole:.2f} | {before:.2f} | {max(0, objects - before):.2f} | "
              f"{max(0, whole - objects):.2f} |", flush=True)
        if whole > MAX_SECONDS:
            slow.append(name)
    return slow


def changed_models(names):
    """Yields (name, change, text before, text after)."""
    for name in names or [*CHANGES, LARGE]:
        if name == LARGE:
            text = large_model.text(form="chain")
            yield name, "layer 100 wider", text, large_model.text(form="chain", wider=100)
            yield name, "layer 100 tanh", text, large_model.text(form="chain", tanh=100)
            continue
        text = (MODELS / name / f"{name}.mlir").read_text()
        for change, replacements in CHANGES[name]:
            changed = text
            for old, new in replacements:
                if old not in changed:
                    raise SystemExit(f"{name}: the model has no '{old}' any more; mend CHANGES")
                changed = changed.replace(old, new)
            yield name, change, text, changed


def print_changed(options, binaries, folder):
    print("| model | what changed | seconds | by the clock | without cache | parts compiled |\n"
          "| --- | --- | ---: | ---: | ---: | ---: |")
    slow = []
    for name, change, text, changed in changed_models(options.models):
        paths = [folder / "before.mlir", folder / "changed.mlir"]
        for path, content in zip(paths, (text, changed)):
            path.write_text(content)
        program, cache, copy = folder / "program", folder / "cache", folder / "copy"
        shutil.rmtree(cache, ignore_errors=True)

        def command(path, *more):
            return [binaries / "pdl-translate", path, "-o", program, *more]

        seconds_of(command(paths[0], "--object-cache", cache))
        best, clocks = [], []
        for _ in range(options.runs):
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(cache, copy)
            cpu, clock, report = seconds_of(
                command(paths[1], "--object-cache", copy, "--object-cache-report"))
            best.append(cpu)
            clocks.append(clock)
        found, made = map(int, re.search(r"(\d+) parts found, (\d+) compiled", report).groups())
        without = cpu_seconds(command(paths[1]), options.runs)
        print(f"| {name} | {change} | {min(best):.2f} | {min(clocks):.2f} | {without:.2f} | "
              f"{made} of {found + made} |", flush=True)
        if min(best) > MAX_CHANGED_SECONDS:
            slow.append(f"{name}, {change}")
    return slow


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", nargs="*", metavar="MODEL")
    parser.add_argument("--changed", action="store_true", help="one layer changed, with a cache")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--cpu", type=int, default=0, help="the core (default 0)")
    options = parser.parse_intermixed_args()
    os.sched_setaffinity(0, {options.cpu})
    with tempfile.TemporaryDirectory() as folder:
        measure, most = ((print_changed, MAX_CHANGED_SECONDS) if options.changed else
                         (print_whole, MAX_SECONDS))
        slow = measure(options, options.build / "bin", pathlib.Path(folder))
    if slow:
        print(f"above {most} s: {'; '.join(slow)}", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
