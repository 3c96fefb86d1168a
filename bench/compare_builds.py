#!/usr/bin/env python3
"""Compares the speed of two builds, such as that of main and of a change.

  bench/compare_builds.py OLD/build NEW/build [--rounds N] [--cpu C]

On machines whose speed changes by half from minute to minute, two runs one after the
other tell little. Here both builds always meet the same moment of one core:

- Steps: build/bin/pdl-bench-compiled of both with --turns. In each round each contender
  takes one step on one build and then on the other, which first changing from round to
  round. Printed are the median over the rounds of NEW's speed against OLD's in the same
  round (above 1: NEW is faster), its standard error, and the best step of each. The step
  by hand is in both: what it shows beside 1 is what the comparison cannot see.
- Whole runs: models/ctr_dnn, compiled by both, trained by both at the same time on the
  same core; what is compared is the CPU time of their processes, start-up and reading
  included. Printed are the median, the least and the largest of the repetitions.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import whole_run

REPETITIONS = 5


class Build:
    """A running bench program of one build."""

    def __init__(self, folder):
        program = f"{folder}/bin/pdl-bench-compiled"
        try:
            self.process = subprocess.Popen(
                [program, "--turns"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, text=True)
        except OSError as error:
            sys.exit(f"compare_builds.py: cannot start {program}: {error}")
        self.contenders = []
        for line in self.process.stdout:
            if line == "\n":
                break
            self.contenders.append(line.strip())
        if not self.contenders:
            sys.exit(f"compare_builds.py: {program} names no contender; is it older "
                     "than its option --turns?")

    def step(self, contender):
        """Returns the seconds of CPU time of one step."""
        self.process.stdin.write(f"{self.contenders.index(contender)}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("compare_builds.py: a bench program has ended")
        return float(line)


def compare_steps(old, new, rounds):
    contenders = [name for name in old.contenders if name in new.contenders]
    ratios = {name: [] for name in contenders}
    best = {name: [float("inf")] * 2 for name in contenders}
    for number in range(rounds):
        for name in contenders:
            order = (0, 1) if number % 2 else (1, 0)
            seconds = [0.0, 0.0]
            for which in order:
                seconds[which] = (old, new)[which].step(name)
            ratios[name].append(seconds[0] / seconds[1])
            best[name] = [min(pair) for pair in zip(best[name], seconds)]
    print(f"{'steps':38}new/old          best, ms")
    for name in contenders:
        # The standard error of a median is 1.25 times that of a mean (normal noise).
        error = 1.25 * statistics.stdev(ratios[name]) / len(ratios[name]) ** 0.5
        print(f"{name:38}{statistics.median(ratios[name]):.3f} +- {error:.3f}"
              f"   {1e3 * best[name][0]:.2f} and {1e3 * best[name][1]:.2f}")


def run_together(commands_of_builds):
    """Returns the CPU seconds of each build, all processes running at once."""
    processes = [[subprocess.Popen([str(word) for word in command],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   text=True) for command in commands]
                 for commands in commands_of_builds]
    seconds = []
    for group in processes:
        used = 0.0
        for process in group:
            errors = process.stderr.read()
            _, status, usage = os.wait4(process.pid, 0)
            if status:
                sys.exit(f"{process.args[0]} failed:\n{errors}")
            used += usage.ru_utime + usage.ru_stime
        seconds.append(used)
    return seconds


def compare_whole_runs(builds, folder):
    files = [folder / "samples.safetensors", folder / "samples.tsv"]
    samples = whole_run.make_samples()
    whole_run.write_safetensors(files[0], *samples)
    whole_run.write_tsv(files[1], *samples)
    model = whole_run.SOURCE / "models" / "ctr_dnn" / "ctr_dnn.mlir"

    def programs(name, flags):
        for number, build in enumerate(builds):
            subprocess.run([f"{build}/bin/pdl-translate", model, *flags, "-o",
                            folder / f"{name}{number}"], check=True)
        return [folder / f"{name}{number}" for number in range(len(builds))]

    def report(name, commands_of_builds):
        ratios = []
        for _ in range(REPETITIONS):
            for commands in commands_of_builds:
                for command in commands:
                    for word in command:
                        if str(word).startswith("unix:"):
                            pathlib.Path(word[5:]).unlink(missing_ok=True)
            old, new = run_together(commands_of_builds)
            ratios.append(old / new)
        print(f"{name:38}{statistics.median(ratios):.3f} ({min(ratios):.3f} to "
              f"{max(ratios):.3f})", flush=True)

    print(f"\n{'whole runs':38}new/old")
    train = ["train", "--epochs", 3, "--threads", 1, "--data"]
    for numerics in ("strict", "fast"):
        folders = programs(numerics, [f"--numerics={numerics}"])
        for file in files:
            for batch in (512, 1000):
                report(f"{numerics}, {file.suffix[1:]}, batch {batch}",
                       [[[own / "trainer", *train, file, "--batch-size", batch]]
                        for own in folders])
    for mode in ("sync", "async"):
        folders = programs(mode, ["--numerics=fast", f"--mode={mode}"])
        for batch in (512, 2048):
            report(f"{mode}, one server, batch {batch}", [
                [[own / "pserver", "--rank", 0, *servers, "--threads", 1],
                 [own / "trainer", *train, files[0], "--batch-size", batch, *servers]]
                for own in folders
                for servers in [["--servers", f"unix:{own}/socket"]]])


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", help="the build folder that is compared with")
    parser.add_argument("new", help="the build folder that is judged")
    parser.add_argument("--rounds", type=int, default=200,
                        help="steps of each contender on each build (default 200)")
    parser.add_argument("--cpu", type=int, default=0, help="the core to run on (default 0)")
    arguments = parser.parse_args()
    if arguments.rounds < 2:
        parser.error("--rounds needs at least 2")
    os.sched_setaffinity(0, {arguments.cpu})
    folders = (arguments.old, arguments.new)
    compare_steps(*(Build(folder) for folder in folders), arguments.rounds)
    with tempfile.TemporaryDirectory() as name:
        compare_whole_runs(folders, pathlib.Path(name))


if __name__ == "__main__":
    main()
