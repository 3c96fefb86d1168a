# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random models (tools/pdl-smith): the same few seeds on each machine, about 30 seconds
of a processor; `ctest -L nightly` runs more."""

import importlib.machinery
import importlib.util
import subprocess
import sys
import tempfile
import unittest

from programs import SOURCE

TOOL = SOURCE / "tools" / "pdl-smith" / "pdl-smith"
# Seeds that fail by a known defect, each with the reason. They have to fail.
EXPECTED_FAILURES = {}


def load():
    loader = importlib.machinery.SourceFileLoader("pdl_smith", str(TOOL))
    module = importlib.util.module_from_spec(
        importlib.util.spec_from_loader("pdl_smith", loader))
    loader.exec_module(module)
    return module


class Smith(unittest.TestCase):

    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, TOOL, *map(str, arguments)],
                              capture_output=True, text=True)

    def test_programs_agree(self):
        done = self.run_tool("--seeds", "0:11", "--whole",
                             *(f"--except={seed}" for seed in EXPECTED_FAILURES))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"\b12 exact")
        self.assertRegex(done.stdout, r"\b12 gradients")

    def test_known_defects_are_still_there(self):
        for seed, (check, reason) in EXPECTED_FAILURES.items():
            with self.subTest(seed=seed, reason=reason):
                done = self.run_tool("--seeds", seed, "--checks", check, "--whole")
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)

    def test_a_seed_is_the_same_model(self):
        texts = {self.run_tool("--seeds", "0:3", "--print").stdout for _ in range(2)}
        self.assertEqual(len(texts), 1)
        self.assertGreater(len(texts.pop()), 1000)

    def test_a_failing_model_is_made_smaller(self):
        """A check that fails wherever something is reduced leaves little more."""
        smith = load()

        class Checker(smith.Checker):

            def check(self, recipe, checks):
                if any(step.op == "reduce" for step in recipe.steps.values()):
                    raise smith.Failure("exact", "a reduction")

        _, recipe = next(
            made for made in map(smith.text_of, range(99))
            if any(s.op == "reduce" for s in made[1].live().steps.values())
            and len(made[1].steps) > 20)
        with tempfile.TemporaryDirectory() as folder:
            smaller, _ = smith.reduce(Checker(folder, 0), recipe,
                                      smith.Failure("exact", "a reduction"))
        self.assertLess(len(smaller.steps), len(recipe.steps) / 2)
        self.assertEqual(len(smaller.outputs), 1)
        self.assertIn("reduce", {s.op for s in smaller.steps.values()})

    def test_bad_flags(self):
        for flag, value in (("--seeds", "a"), ("--checks", "all")):
            done = self.run_tool(flag, value)
            self.assertEqual(done.returncode, 2)
            self.assertIn(value, done.stderr)


if __name__ == "__main__":
    unittest.main()
