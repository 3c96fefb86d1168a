#!/usr/bin/env python3
"""Compares the compiled step of two builds, such as that of main and of a change.

  bench/compare_builds.py OLD/build NEW/build [--rounds N] [--cpu C]

Starts build/bin/pdl-bench-compiled of both with --turns, on one core. In each round
each contender takes one step on one build and then on the other, which first changing
from round to round: what else the machine does, and how fast it is in that minute,
falls on both alike. Prints for each contender the median over the rounds of NEW's
speed against OLD's in the same round (above 1: NEW is faster), with its standard
error, and the best step of each. The step by hand is in both: what it shows beside 1
is what the comparison cannot see.
"""

import argparse
import statistics
import subprocess
import sys


class Build:
    """A running bench program of one build."""

    def __init__(self, folder, cpu):
        program = f"{folder}/bin/pdl-bench-compiled"
        try:
            self.process = subprocess.Popen(
                ["taskset", "-c", str(cpu), program, "--turns"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
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
    old, new = (Build(folder, arguments.cpu) for folder in (arguments.old, arguments.new))
    contenders = [name for name in old.contenders if name in new.contenders]
    ratios = {name: [] for name in contenders}
    best = {name: [float("inf")] * 2 for name in contenders}
    for number in range(arguments.rounds):
        for name in contenders:
            order = (0, 1) if number % 2 else (1, 0)
            seconds = [0.0, 0.0]
            for which in order:
                seconds[which] = (old, new)[which].step(name)
            ratios[name].append(seconds[0] / seconds[1])
            best[name] = [min(pair) for pair in zip(best[name], seconds)]
    print(f"{'':38}new/old        best step, ms")
    for name in contenders:
        # The standard error of a median is 1.25 times that of a mean (normal noise).
        error = 1.25 * statistics.stdev(ratios[name]) / len(ratios[name]) ** 0.5
        print(f"{name:38}{statistics.median(ratios[name]):.3f} +- {error:.3f}"
              f"   {1e3 * best[name][0]:.2f} and {1e3 * best[name][1]:.2f}")


if __name__ == "__main__":
    main()
