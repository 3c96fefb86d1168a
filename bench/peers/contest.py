# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code that all rows of the comparison share: contenders that run alternately, and lines of
figures."""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

PEERS = pathlib.Path(__file__).resolve().parent
SOURCE = PEERS.parent.parent


class Failed(Exception):
    """A contender has not run."""


class Context:
    """Folders of programs, and the extent of the measurement."""

    def __init__(self, build, python, folder, quick):
        self.build, self.python, self.folder, self.quick = build, python, folder, quick
        self.rounds = 2 if quick else 3
        self.has_tensorflow = subprocess.run(
            [python, "-c", "import importlib.util, sys; "
             "sys.exit(importlib.util.find_spec('tensorflow') is None)"]).returncode == 0

    def translate(self, source, name, *flags):
        """Compiles a model's text. Returns the trainer."""
        path = self.folder / f"{name}.mlir"
        path.write_text(source)
        run([self.build / "bin" / "pdl-translate", path, "-o", self.folder / name, *flags])
        return self.folder / name / "trainer"

    def peak(self, bf16=False):
        """Returns the FMA operations per second of one core, in Gflop/s. With `bf16`, those of bf16
        pairs or of tiles, whichever is faster."""
        out = run([self.build / "bin" / "pdl-bench-handwritten", "--peak"]).stdout
        found = re.findall(r"bf16 (?:pairs|tiles): ([0-9.]+) Gflop/s" if bf16 else
                           r"FMA loop: ([0-9.]+) Gflop/s", out)
        if not found:
            raise Failed("this CPU has no products of bf16 pairs (AVX512_BF16): leave out "
                         "the row bf16")
        return max(map(float, found))


def run(command, threads=1, **options):
    """Runs a command on the first cores, one for each thread."""
    cores = ",".join(str(core) for core in sorted(os.sched_getaffinity(0))[:threads])
    done = subprocess.run(["taskset", "-c", cores, *map(str, command)],
                          capture_output=True, text=True, **options)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}: {done.stderr[-2000:]}")
    return done


def seconds(command, threads, by_clock):
    """Returns the CPU time of a command and its children, or wall-clock time."""
    before, start = os.times(), time.monotonic()
    run(command, threads)
    after = os.times()
    if by_clock:
        return time.monotonic() - start
    return (after.children_user + after.children_system - before.children_user -
            before.children_system)


# Linux counts the memory of a process that starts another one in the peak of the new process. So a
# small process starts the command.
STARTER = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, done.stdout + done.stderr, used.ru_utime + used.ru_stime,
                  used.ru_maxrss * 1024]))
"""


def measured(command):
    """Returns the output of a command with one thread, its CPU time, and its peak memory in
    bytes."""
    code, said, cpu, peak = json.loads(
        run([sys.executable, "-c", STARTER, *command]).stdout)
    if code:
        raise Failed(f"{' '.join(map(str, command))}: {said[-2000:]}")
    return said, cpu, peak


def trainer_rate(trainer, data, rows, threads=1, passes=5, by_clock=False, flags=()):
    """Returns the throughput of our trainer without its start: the time of additional passes."""
    def one(epochs):
        return seconds([trainer, "train", "--data", data, "--epochs", epochs,
                        "--threads", threads, *flags], threads, by_clock)
    return rows * (passes - 1) / (one(passes) - one(1))


def peer_rate(context, script, *arguments, threads=1, forced=False, **variables):
    """Returns the figures that the script of a peer prints. Further arguments are environment
    variables."""
    # Compiled code is kept during the measurement of the rows, so later rounds use it.
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads),
                       TORCHINDUCTOR_CACHE_DIR=str(context.folder / "inductor"),
                       **{name: str(value) for name, value in variables.items()})
    if forced:
        environment["LD_PRELOAD"] = str(intel_path(context))
    out = run([context.python, PEERS / script, "--threads", threads, *arguments],
              threads, env=environment).stdout
    return json.loads(out.splitlines()[-1])


def intel_path(context):
    """On CPUs that are not by Intel, MKL, which is part of PyTorch's wheel, uses its AVX-512
    kernels only if it is told that this is an Intel CPU."""
    library = context.folder / "intel.so"
    if not library.exists():
        source = context.folder / "intel.c"
        source.write_text("int mkl_serv_intel_cpu_true(void) { return 1; }\n")
        run(["cc", "-shared", "-fPIC", "-o", library, source])
    return library


class Line:
    """Figures of one setting: ours, and the best peer's in each round. The goal is a minimum ratio
    or, if `least` is false, a maximum of our figure or of its ratio."""

    def __init__(self, what, unit, goal=None, least=True, of_ratio=False):
        self.what, self.unit, self.goal = what, unit, goal
        self.least, self.of_ratio = least, of_ratio or least
        self.ours, self.peers, self.limit = [], {}, None

    def add(self, ours, **peers):
        self.ours.append(ours)
        for name, rate in peers.items():
            self.peers.setdefault(name, []).append(rate)

    def still_in(self, names):
        """Returns the two peers that were best in the first round. The others do not take part in
        later rounds."""
        if not self.peers:
            return list(names)
        return sorted(names, key=lambda name: -self.peers[name][0])[:2]

    def best(self):
        return max(self.peers, key=lambda name: statistics.median(self.peers[name]))

    def ratios(self):
        return [own / other for own, other in zip(self.ours, self.peers[self.best()])]

    def cells(self):
        own = statistics.median(self.ours)
        ours = f"{own:,.{0 if own >= 100 else 1}f} {self.unit}"
        if self.limit:
            ours += f", {100 * own / self.limit:.0f} % of the limit"
        best = self.best()
        ratios = self.ratios()
        middle = statistics.median(ratios)
        peer = f"{statistics.median(self.peers[best]):,.0f} ({best.replace('_', ' ')})"
        ratio = f"{middle:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        goal = ""
        if self.goal:
            judged = middle if self.of_ratio else own
            met = judged >= self.goal if self.least else judged <= self.goal
            goal = f"{'' if self.least else '<= '}{self.goal}: {'met' if met else 'missed'}"
        return [self.what, ours, peer, ratio, goal]

    def markdown(self):
        return "| " + " | ".join(self.cells()) + " |"

    def text(self):
        return "; ".join(cell for cell in self.cells() if cell)
