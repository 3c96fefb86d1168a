# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory that a stage plans for a sample, for each model of models/. It must be at most a
tenth more than the values that are live at the same time, which is a lower bound for each plan.
Prints a table of these numbers."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import PDL_OPT, SOURCE, run

MOST = 1.10


class Arenas(unittest.TestCase):

    def test_every_model_is_near_its_bound(self):
        names = sorted(p.name for p in (SOURCE / "models").iterdir()
                       if (p / f"{p.name}.mlir").exists())
        self.assertGreater(len(names), 20)
        print()
        for name in names:
            with self.subTest(name):
                said = run(PDL_OPT, SOURCE / "models" / name / f"{name}.mlir",
                           "--pdl-pipeline=to=buffers",
                           "--remarks-filter=statistics", "-o", "/dev/null").stderr
                planned, bound = (int(re.search(rf"{what}=(\d+)", said).group(1))
                                  for what in ("arena-bytes", "arena-bound"))
                print(f"{name}: {planned} bytes a sample, {bound} alive at once, "
                      f"{planned / bound:.3f}")
                self.assertGreater(bound, 0)
                self.assertLessEqual(planned, MOST * bound)


if __name__ == "__main__":
    unittest.main()
