# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compile time is roughly proportional to the size of the model, in every mode. The CPU time for a
model is compared with that for a model that is four times as large. A pass that compares each
symbol with all others, or prints the whole module for each symbol, would take sixteen times as
long."""

import itertools
import math
import pathlib
import re
import resource
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import FolderTest
from programs import PDL_OPT, PDL_TRANSLATE, SOURCE, run

# Size of the larger model divided by that of the smaller one. A disturbance of 15 % changes the
# slope between two models by 0.1; with a factor of two it would change it by 0.2.
FACTOR = 4
# Maximum slope of log(time) over log(size). 1 means proportional, 2 means quadratic.
MAX_SLOPE = 1.2
MODES = re.findall(r'\.name = "([a-z-]+)"',
                   (SOURCE / "include" / "pdlabi" / "modes.h").read_text())


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


class Scaling(FolderTest):

    def model(self, form, slots, *flags):
        path = self.root / f"{'-'.join((form, str(slots), *flags))}.mlir"
        if not path.exists():
            path.write_text(run(SOURCE / "bench" / "large_model.py", "--slots", slots, "--layers",
                                slots // 5, "--form", form, *flags).stdout)
        return path

    def compare(self, what, small, large):
        """Compares the CPU times of two commands. `small`: command for a model. `large`: command
        for a model that is `FACTOR` times as large."""
        # Use the minimum of several runs, because other processes may disturb a run. They disturb
        # longer runs more often.
        seconds = [math.inf, math.inf]
        for _ in range(20):
            for i, command in enumerate((small, large)):
                seconds[i] = min(seconds[i], cpu_seconds(command))
            slope = math.log(seconds[1] / seconds[0], FACTOR)
            if slope <= MAX_SLOPE:
                break
        print(f"{what}: {seconds[0]:.2f} s, {seconds[1]:.2f} s: slope {slope:.2f}")
        self.assertLessEqual(slope, MAX_SLOPE, what)

    def objects(self, form):
        return [(PDL_TRANSLATE, self.model(form, slots), "--emit=obj", "--jobs=1",
                 "-o", self.root / "out") for slots in (500 // FACTOR, 500)]

    def test_objects(self):
        for form in ("fields", "tables"):
            with self.subTest(form=form):
                self.compare(form, *self.objects(form))

    def test_modes(self):
        self.assertGreaterEqual(len(MODES), 8)
        # Models have one norm for all symbols, or one for each symbol.
        for mode, clip in zip(MODES, itertools.cycle(("global_norm", "norm"))):
            with self.subTest(mode=mode, clip=clip):
                # Without MLIR's checks between passes, which take half of the time and would hide
                # a slow pass: they walk over all ops, and miss the caches in larger models.
                self.compare(f"{mode}, {clip}", *[
                    (PDL_OPT, self.model("tables", slots, "--clip", clip), "--verify-each=false",
                     f"--pdl-pipeline=to=tasks mode={mode}", "-o", self.root / "out")
                    for slots in (300 // FACTOR, 300)])


if __name__ == "__main__":
    unittest.main()
