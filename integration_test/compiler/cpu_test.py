# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program for another CPU than that of this machine ends with an error message, not with an
illegal instruction."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import programs
from folders import FolderTest

# CPUs by their names in LLVM, each with features that code for it may use. Features have the names
# of LLVM and of /proc/cpuinfo. No machine has all of them.
CPUS = {
    "bdver4": {"fma4": "fma4", "xop": "xop", "tbm": "tbm"},
    "x86-64-v4": {"avx512f": "avx512f", "avx512vl": "avx512vl"},
    "sapphirerapids": {"avx512fp16": "avx512_fp16"},
    "sierraforest": {"avxifma": "avx_ifma"},
}
SERVER_AND_TRAINER = ("trainer", "pserver")


def flags_of_this_cpu():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(":")[1].split())
    raise AssertionError("/proc/cpuinfo says nothing of this CPU")


class Cpu(FolderTest):

    def translate(self, cpu):
        out = self.root / cpu
        programs.run(programs.PDL_TRANSLATE, programs.model("logistic_regression"),
                     "-o", out, "--mode=sync", "--numerics=strict",
                     f"--target-cpu={cpu}")
        return [out / name for name in SERVER_AND_TRAINER]

    def test_program_for_another_cpu(self):
        own = flags_of_this_cpu()
        foreign = {cpu: [name for name, flag in features.items() if flag not in own]
                   for cpu, features in CPUS.items()}
        foreign = {cpu: names for cpu, names in foreign.items() if names}
        self.assertTrue(foreign, "this CPU has all of them")
        for cpu, missing in foreign.items():
            for program in self.translate(cpu):
                with self.subTest(program=program):
                    done = subprocess.run([program, "--version"], text=True,
                                          capture_output=True)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertEqual(done.stdout, "")
                    self.assertIn(f"error: this program was compiled for {cpu}, but "
                                  "this CPU lacks ", done.stderr)
                    self.assertIn("--target-cpu=x86-64-v3", done.stderr)
                    lacks = done.stderr.split("lacks ")[1].split(";")[0].split(", ")
                    for name in missing:
                        self.assertIn(name, lacks)

    def test_program_for_this_cpu(self):
        for cpu in ("x86-64-v3", "native"):
            for program in self.translate(cpu):
                self.assertIn("target CPU", programs.run(program, "--version").stdout)


if __name__ == "__main__":
    unittest.main()
