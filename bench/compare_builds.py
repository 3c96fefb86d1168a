#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the speed of two builds, such as that of main and of a change.

  bench/compare_builds.py OLD/build NEW/build [--starts N] [--rounds N] [--cpu C]

On machines whose speed changes by half from minute to minute, two runs one after the other say
little. Here both builds always run at the same time or alternate on one core:

- Steps: runs build/bin/pdl-bench-compiled of both builds with --turns. In a round each contender
  does a step on OLD, on NEW, on NEW and on OLD. The result of a round is OLD's time divided by
  NEW's: above 1, NEW is faster. Each start of the programs gives the median of its rounds, because
  the layout of memory is constant within a start. Prints the mean of the starts with its standard
  error, and the best step of each build. The step that is written by hand is the same in both
  builds: its difference from 1 is the error of the comparison.
- Whole runs: both builds compile models/ctr_dnn and train it at the same time on the same core.
  Compares the CPU time of their processes, with start and reading. Prints the median, the smallest
  and the largest of the repetitions.

To find the resolution on a machine, compare two equal builds.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import whole_run

REPETITIONS = 6


class Build:
    """A running benchmark program of one build."""

    def __init__(self, folder):
        program = f"{folder}/bin/pdl-bench-compiled"
        self.process = subprocess.Popen([program, "--turns"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "contenders\n":
            self.process.kill()
            sys.exit(f"compare_builds.py: {program} knows no --turns; build a version "
                     "that does, or its bench/compiled of today")
        self.contenders = []
        for line in self.process.stdout:
            if line == "\n":
                break
            self.contenders.append(line.strip())

    def step(self, contender):
        """Returns the seconds of CPU time of one step."""
        self.process.stdin.write(f"{self.contenders.index(contender)}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("compare_builds.py: a bench program has ended")
        return float(line)

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def compare_steps(folders, starts, rounds):
    medians, best = {}, {}
    for _ in range(starts):
        old, new = (Build(folder) for folder in folders)
        contenders = [name for name in old.contenders if name in new.contenders]
        if not contenders:
            sys.exit("compare_builds.py: the builds have no contender in common")
        ratios = {name: [] for name in contenders}
        for _ in range(rounds):
            for name in contenders:
                taken = [(build, build.step(name)) for build in (old, new, new, old)]
                seconds = [[s for build, s in taken if build is which]
                           for which in (old, new)]
                ratios[name].append(sum(seconds[0]) / sum(seconds[1]))
                best[name] = [min(pair) for pair in zip(
                    best.get(name, [float("inf")] * 2), map(min, seconds))]
        for name in contenders:
            medians.setdefault(name, []).append(statistics.median(ratios[name]))
        old.end()
        new.end()
    print(f"{'steps':38}new/old          best, ms")
    for name, values in medians.items():
        error = statistics.stdev(values) / len(values) ** 0.5
        print(f"{name:38}{statistics.mean(values):.3f} +- {error:.3f}"
              f"   {1e3 * best[name][0]:.2f} and {1e3 * best[name][1]:.2f}")


def run_together(commands_of_builds):
    """Returns the CPU seconds of each build. All processes run at once. If one fails, ends the
    others and prints its output."""
    running, seconds = {}, [0.0] * len(commands_of_builds)
    for which, commands in enumerate(commands_of_builds):
        for command in commands:
            errors = tempfile.TemporaryFile("w+")
            process = subprocess.Popen([str(word) for word in command],
                                       stdout=subprocess.DEVNULL, stderr=errors)
            running[process.pid] = (which, process, errors)
    while running:
        identity, status, usage = os.wait3(0)
        which, process, errors = running.pop(identity)
        process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            for _, other, _ in running.values():
                other.kill()
            errors.seek(0)
            sys.exit(f"compare_builds.py: {process.args[0]} failed:\n{errors.read()}")
        seconds[which] += usage.ru_utime + usage.ru_stime
    return seconds


def report(name, commands_of_builds):
    """Prints the comparison of two commands. The build that starts first changes from repetition to
    repetition."""
    sockets = [pathlib.Path(str(word)[5:]) for commands in commands_of_builds
               for command in commands for word in command
               if str(word).startswith("unix:")]
    ratios = []
    for number in range(REPETITIONS):
        for socket in sockets:
            socket.unlink(missing_ok=True)
        if number % 2:
            new, old = run_together(commands_of_builds[::-1])
        else:
            old, new = run_together(commands_of_builds)
        ratios.append(old / new)
    print(f"{name:38}{statistics.median(ratios):.3f} ({min(ratios):.3f} to "
          f"{max(ratios):.3f})", flush=True)


def translate(folders, out, name, flags):
    """Compiles models/ctr_dnn with both builds. Returns the folders of the programs."""
    model = whole_run.SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir"
    programs = [out / f"{name}{number}" for number in range(len(folders))]
    for folder, program in zip(folders, programs):
        command = [f"{folder}/bin/pdl-translate", model, *flags, "-o", program]
        if subprocess.run(command).returncode:
            sys.exit(f"compare_builds.py: {command[0]} failed")
    return programs


def compare_whole_runs(folders, out):
    files = [out / "samples.safetensors", out / "samples.tsv"]
    samples = whole_run.make_samples()
    whole_run.write_safetensors(files[0], *samples)
    whole_run.write_tsv(files[1], *samples)
    print(f"\n{'whole runs':38}new/old", flush=True)
    train = ["train", "--epochs", 3, "--threads", 1, "--data"]
    for numerics in ("strict", "fast"):
        programs = translate(folders, out, numerics, [f"--numerics={numerics}"])
        for file in files:
            for batch in (512, 1000):
                report(f"{numerics}, {file.suffix[1:]}, batch {batch}",
                       [[[own / "trainer", *train, file, "--batch-size", batch]]
                        for own in programs])
    for mode in ("sync", "async"):
        programs = translate(folders, out, mode, ["--numerics=fast", f"--mode={mode}"])
        for batch in (512, 2048):
            report(f"{mode}, one server, batch {batch}", [
                [[own / "pserver", "--rank", 0, *servers, "--threads", 1],
                 [own / "trainer", *train, files[0], "--batch-size", batch, *servers]]
                for own in programs
                for servers in [["--servers", f"unix:{own}/socket"]]])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="the build folder that is compared with")
    parser.add_argument("new", help="the build folder that is judged")
    parser.add_argument("--starts", type=int, default=5,
                        help="starts of the programs that take steps (default 5)")
    parser.add_argument("--rounds", type=int, default=25,
                        help="rounds of a start (default 25)")
    parser.add_argument("--cpu", type=int, help="the core to run on (default: the first)")
    arguments = parser.parse_args()
    if arguments.starts < 2 or arguments.rounds < 1:
        parser.error("--starts needs at least 2, --rounds at least 1")
    cores = sorted(os.sched_getaffinity(0))
    core = cores[0] if arguments.cpu is None else arguments.cpu
    if core not in cores:
        parser.error(f"--cpu {core} is none of the cores {cores}")
    folders = (arguments.old, arguments.new)
    for folder in folders:
        for program in ("pdl-bench-compiled", "pdl-translate"):
            if not os.access(f"{folder}/bin/{program}", os.X_OK):
                parser.error(f"{folder}/bin/{program} is missing; build it")
    os.sched_setaffinity(0, {core})
    compare_steps(folders, arguments.starts, arguments.rounds)
    with tempfile.TemporaryDirectory() as name:
        compare_whole_runs(folders, pathlib.Path(name))


if __name__ == "__main__":
    main()
