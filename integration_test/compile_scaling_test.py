# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Passes take time about in proportion to the model: CPU time of a model of 250 slots and
50 layers beside one four times as large, up to phase buffers. A pass that compares each
slot with each other one once made it twelve times as long."""

import resource
import tempfile
import unittest
from pathlib import Path

from programs import PDL_OPT, SOURCE, run

MOST = 9.0


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


class Scaling(unittest.TestCase):

    def test_four_times_the_model(self):
        with tempfile.TemporaryDirectory() as folder:
            seconds = []
            for slots, layers in ((250, 50), (1000, 200)):
                text = run(SOURCE / "bench" / "large_model.py", "--slots", slots,
                           "--layers", layers, "--form", "fields").stdout
                model = Path(folder) / f"{slots}.mlir"
                model.write_text(text)
                command = (PDL_OPT, model, "--pdl-pipeline=to=buffers",
                           "--mlir-disable-threading", "-o", "/dev/null")
                seconds.append(min(cpu_seconds(command) for _ in range(2)))
        small, large = seconds
        print(f"\n{small:.2f} s, {large:.2f} s: {large / small:.1f} times")
        self.assertLess(large, MOST * small)


if __name__ == "__main__":
    unittest.main()
