# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A program for another CPU than that of this machine ends with an error message, not with an
illegal instruction. A program for any CPU chooses its code when it starts."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import programs
from folders import FolderTest
from model_data import model_data

# CPUs by their names in LLVM, each with features that code for it may use. Features have the names
# of LLVM and of /proc/cpuinfo. No machine has all of them.
CPUS = {
    "bdver4": {"fma4": "fma4", "xop": "xop", "tbm": "tbm"},
    "x86-64-v4": {"avx512f": "avx512f", "avx512vl": "avx512vl"},
    "sapphirerapids": {"avx512fp16": "avx512_fp16"},
    "sierraforest": {"avxifma": "avx_ifma"},
}
SERVER_AND_TRAINER = ("trainer", "pserver")
# Prints the CPU that a serving library chose, or "refused".
CPU_OF_LIBRARY = """
import ctypes, sys
from pdl import serving
query = ctypes.CDLL(sys.argv[1]).pdl_serving_query
query.restype = ctypes.POINTER(serving._Functions)
functions = query(ctypes.c_uint32(1))
print(functions.contents.describe().contents.target_cpu.decode() if functions else "refused")
"""


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

    def train(self, *command, limit=None):
        """Trains for some steps. Returns the bytes of all values, and the report."""
        environment = {name: value for name, value in os.environ.items()
                       if name != "PDL_CPU_LIMIT"}
        if limit:
            environment["PDL_CPU_LIMIT"] = limit
        dump = self.root / "dump.safetensors"
        report = programs.run(*command, "train", "--data", model_data("logistic_regression", self.root, 1000),
                              "--seed", 7, "--steps", 30, "--batch-size", 64, "--dump", dump,
                              "--dump-slots", env=environment).stdout
        return dump.read_bytes(), report

    def test_program_for_any_cpu(self):
        trainer = programs.compile_model(programs.model("logistic_regression"), self.root / "any",
                                         "--numerics=strict")
        best = "x86-64-v4" if programs.has_avx512() else "x86-64-v3"
        for limit, cpu in ((None, best), ("x86-64-v4", best), ("x86-64-v3", "x86-64-v3")):
            with self.subTest(limit=limit):
                environment = {**os.environ, **({"PDL_CPU_LIMIT": limit} if limit else {})}
                version = programs.run(trainer, "--version", env=environment).stdout
                self.assertRegex(version, rf"target CPU +{cpu}\n")
        values, _ = self.train(trainer)
        self.assertEqual(values, self.train(trainer, limit="x86-64-v3")[0])
        # QEMU's CPU has no AVX-512: an instruction of it would end the program.
        if qemu := shutil.which("qemu-x86_64"):
            with self.subTest(emulator=qemu):
                version = programs.run(qemu, "-cpu", "max", trainer, "--version").stdout
                self.assertIn("x86-64-v3", version)
                self.assertEqual(values, self.train(qemu, "-cpu", "max", trainer)[0])

    def test_library_for_any_cpu(self):
        programs.run(programs.PDL_TRANSLATE, programs.model("logistic_regression"), "-o",
                     self.root / "library", "--emit=library", "--numerics=strict")
        best = "x86-64-v4" if programs.has_avx512() else "x86-64-v3"
        for limit, cpu in (("x86-64-v4", best), ("x86-64-v3", "x86-64-v3"),
                           ("pentium9", "refused")):
            with self.subTest(limit=limit):
                chosen = programs.run(
                    sys.executable, "-c", CPU_OF_LIBRARY,
                    self.root / "library" / "liblogistic_regression.so",
                    env={**os.environ, "PDL_CPU_LIMIT": limit,
                         "PYTHONPATH": str(programs.SOURCE / "python")}).stdout
                self.assertEqual(chosen.strip(), cpu)

    def test_limits(self):
        for program in self.translate("x86-64-v4"):
            for limit, words in (("x86-64-v3", "lacks avx512f, "),
                                 ("pentium9", "PDL_CPU_LIMIT names no CPU level; use x86-64-v3 "
                                              "or x86-64-v4, or unset it\n")):
                with self.subTest(program=program, limit=limit):
                    message = programs.fails(program, "--version",
                                             env={**os.environ, "PDL_CPU_LIMIT": limit})
                    self.assertIn(words, message)

    def test_program_for_this_cpu(self):
        for cpu in ("x86-64-v3", "native"):
            for program in self.translate(cpu):
                self.assertIn("target CPU", programs.run(program, "--version").stdout)


if __name__ == "__main__":
    unittest.main()
