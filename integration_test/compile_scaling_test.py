# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling takes time about in proportion to the model: CPU time of a model of 250 slots
and 50 layers beside one four times as large, to its object file. A pass that compares each
slot with each other one takes sixteen times as long, and once made all twelve times as
long."""

import resource
import tempfile
import unittest
from pathlib import Path

from programs import PDL_TRANSLATE, SOURCE, run

MOST = 8.0


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


class Scaling(unittest.TestCase):

    def test_four_times_the_model(self):
        for form in ("fields", "tables"):
            with self.subTest(form=form), tempfile.TemporaryDirectory() as folder:
                seconds = []
                for slots, layers in ((250, 50), (1000, 200)):
                    text = run(SOURCE / "bench" / "large_model.py", "--slots", slots,
                               "--layers", layers, "--form", form).stdout
                    model = Path(folder) / f"{slots}.mlir"
                    model.write_text(text)
                    command = (PDL_TRANSLATE, model, "--emit=obj", "--jobs=1",
                               "-o", f"{folder}/out")
                    seconds.append(min(cpu_seconds(command) for _ in range(2)))
                small, large = seconds
                print(f"\n{form}: {small:.2f} s, {large:.2f} s: {large / small:.1f} times")
                self.assertLess(large, MOST * small)


if __name__ == "__main__":
    unittest.main()
