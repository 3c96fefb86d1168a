# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every program prints one version, which CMakeLists.txt defines, and a help text that explains
it."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from builder import pdl
from programs import BUILD, SOURCE, compile_model, model, run

VERSION = re.search(r"project\(PDL VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]
ABI = re.search(r"#define PDL_ABI_VERSION (\d+)",
                (SOURCE / "include/pdlabi/abi.h").read_text())[1]
PROGRAMS = [*sorted(path for path in (BUILD / "bin").glob("pdl-*")
                    if path.is_file() and not path.name.startswith("pdl-bench-")),
            SOURCE / "tools/pdl-smith/pdl-smith"]


class Versions(unittest.TestCase):

    def output(self, *command):
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              check=False, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout

    def test_each_program_prints_one_line(self):
        names = {path.name for path in PROGRAMS}
        self.assertLessEqual({"pdl-check-serving", "pdl-checkpoint", "pdl-launch", "pdl-measure",
                              "pdl-opt", "pdl-serve", "pdl-simulate", "pdl-smith", "pdl-top",
                              "pdl-translate"}, names)
        for path in PROGRAMS:
            with self.subTest(path.name):
                llvm = r", LLVM \d+\.\d+\.\d+" if path.name in ("pdl-opt", "pdl-translate") else ""
                self.assertRegex(
                    self.output(path, "--version"),
                    rf"^{path.name} {re.escape(VERSION)} \((commit [0-9a-f]{{12}}, )?"
                    rf"ABI {ABI}{llvm}\)\n$")

    def test_compiled_programs_and_the_package_have_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            trainer = compile_model(model("logistic_regression"), pathlib.Path(folder, "out"))
            said = run(trainer, "--version").stdout
        self.assertRegex(said, rf"(?m)^compiler +{re.escape(VERSION)}$")
        self.assertRegex(said, rf"(?m)^ABI +{ABI}$")
        self.assertEqual(pdl.__version__, VERSION)

    def test_each_help_explains_the_program(self):
        for path in PROGRAMS:
            with self.subTest(path.name):
                said = self.output(path, "--help")
                self.assertIn("--version", said)
                self.assertGreater(len(said.split()), 60)
                if path.name != "pdl-opt":
                    self.assertRegex(said, r"(?i)exit(s| status)")


if __name__ == "__main__":
    unittest.main()
