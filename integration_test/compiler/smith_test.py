# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What random models are made of, and how failing ones are made smaller (tools/pdl-smith). That
the programs of many agree: integration.smith_seeds, and `ctest -L nightly` for more of them."""

import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import SOURCE

sys.path.insert(0, str(SOURCE / "tools" / "pdl-smith"))

from smith.checks import Checker, Failure
from smith.model import Written, model_of
from smith.reducer import reduce
from smith.table import GENERATORS

TOOL = SOURCE / "tools" / "pdl-smith" / "pdl-smith"

# The seeds of integration.smith_seeds in integration_test/CMakeLists.txt.
SEEDS = range(200)
# Seeds that fail by a known defect, each with the check and the reason. They have to fail.
EXPECTED_FAILURES = {}
# Ops that models may have and random ones never do, each with the reason.
NEVER = {
    "fingerprint": "made of a model by the compiler; no model writes one",
}


def ops_of_models():
    """The ops of phase `model`: what docs/Obligations.md says of those of programs, and all
    others of the dialect, which are symbols and ends of regions."""
    listed = dict(re.findall(r"^\| `nn\.(\w+)` \| ([^|]+) \|",
                             (SOURCE / "docs" / "Obligations.md").read_text(), flags=re.M))
    every = re.findall(r"^### `nn\.(\w+)`", (SOURCE / "docs" / "Reference" / "NN.md").read_text(),
                       flags=re.M)
    return {op for op in every if listed.get(op, "all").split()[0] in ("all", "model")}


class Smith(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.models = {seed: model_of(seed) for seed in SEEDS}

    def run_tool(self, *arguments):
        return subprocess.run([sys.executable, TOOL, *map(str, arguments)],
                              capture_output=True, text=True)

    def test_every_op_is_generated(self):
        """By several seeds, or it says why not: a new op is one more entry of the generators."""
        found = collections.Counter()
        for model in self.models.values():
            found.update(set(re.findall(r"\bnn\.([a-z]\w*)", model.text)))
        known = ops_of_models()
        self.assertIn("segment_window", known)
        self.assertNotIn("gemm", known)
        self.assertEqual(sorted(op for op in known if found[op] < 2 and op not in NEVER), [],
                         "give these a generator in tools/pdl-smith/smith/generators, or a "
                         "reason in NEVER")
        self.assertEqual(sorted(op for op in NEVER if found[op] or op not in known), [],
                         "these need no reason")

    def test_every_generator_reaches_outputs(self):
        """What no output needs is not computed, and so is not tested."""
        live = collections.Counter(
            op for model in self.models.values() for op in model.recipe.live().ops())
        self.assertEqual([name for name in GENERATORS if live[name] < 2], [])

    def test_every_rule_and_schedule_is_used(self):
        text = "\n".join(model.text for model in self.models.values())
        names = {path.stem for path in (SOURCE / "lib" / "Std").glob("*.mlir")}
        self.assertIn("adam", names)
        # nn-join-cycle adds the counter of turns itself (nn.cycle, C5).
        used = set(re.findall(r"(?:rule|schedule|average|compensate)\(@(\w+)", text))
        self.assertEqual(sorted(names - used), ["cyclic_counter"])

    def test_every_clause_of_tables_is_used(self):
        """A new one is owed to smith/lives.py, or to the tables of smith/model.py."""
        text = "\n".join(model.text for model in self.models.values())
        reference = (SOURCE / "docs" / "Reference" / "NN.md").read_text()
        [table] = re.findall(r"^### `nn\.table`.*?(?=^### )", reference, flags=re.M | re.S)
        attributes = re.findall(r"^<tr><td><code>(\w+)</code>", table, flags=re.M)
        self.assertIn("widen_score", attributes)
        for attribute in attributes:
            if attribute in ("sym_name", "key", "row"):
                continue
            clause, _, part = attribute.partition("_")
            written = rf"nn\.table .* {'in @' if clause == 'group' else clause + '[(]'}"
            with self.subTest(attribute):
                self.assertRegex(text, written + (f".*{part} = " if part else ""))

    def test_known_defects_are_still_there(self):
        for seed, (check, reason) in EXPECTED_FAILURES.items():
            with self.subTest(seed=seed, reason=reason):
                done = self.run_tool("--seeds", seed, "--checks", check, "--whole")
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)

    def test_a_seed_is_the_same_model(self):
        texts = {self.run_tool("--seeds", "0:3", "--print").stdout for _ in range(2)}
        self.assertEqual(len(texts), 1)
        text = texts.pop()
        self.assertEqual(text, "".join(self.models[seed].text + "\n" for seed in range(4)))

    def test_a_recipe_is_the_same_model(self):
        for seed in range(0, 200, 20):
            first = self.models[seed]
            again = model_of(seed, first.recipe)
            # Steps that were too large leave their text in the first.
            self.assertEqual(again.text, model_of(seed, again.recipe).text)
            self.assertEqual(again.mixing, first.mixing)

    def test_a_failing_model_is_made_smaller(self):
        """A check that fails wherever something is reduced leaves little more."""

        class Reduces(Checker):

            def check(self, recipe, checks):
                if "reduce" in recipe.ops():
                    raise Failure("exact", "a reduction")

        recipe = next(model.recipe for model in self.models.values()
                      if "reduce" in model.recipe.live().ops() and len(model.recipe.steps) > 20
                      and model.recipe.training.form != "one")
        with tempfile.TemporaryDirectory() as folder:
            smaller, _ = reduce(Reduces(folder, 0), recipe, Failure("exact", "a reduction"))
        self.assertLess(len(smaller.steps), len(recipe.steps) / 2)
        self.assertEqual(len(smaller.outputs), 1)
        self.assertIn("reduce", smaller.ops())
        self.assertEqual((smaller.training.form, len(smaller.training.groups)), ("one", 1))

    def test_a_wrong_program_fails(self):
        """A check sees a single bit: the compiled program of another model than the one that is
        interpreted."""
        model = self.models[0]
        with tempfile.TemporaryDirectory() as folder:
            checker = Checker(folder, 0)
            compiled = checker.local

            def other():
                right = checker.source.read_text()
                wrong = right.replace("#nn.constant<0.25>", "#nn.constant<0.2500001>", 1)
                self.assertNotEqual(right, wrong)
                checker.source.write_text(wrong)
                trainer = compiled()
                checker.source.write_text(right)
                return trainer
            checker.local = other
            with self.assertRaisesRegex(Failure, "batch 5, phase gradient"):
                checker.check(model.recipe, {"exact"})

    def test_models_that_failed_once(self):
        """What pdl-smith found, made smaller, and what has been mended since."""
        found = sorted((SOURCE / "integration_test" / "models" / "found").glob("*.mlir"))
        self.assertTrue(found)
        for path in found:
            with self.subTest(path.stem), tempfile.TemporaryDirectory() as folder:
                model = Written(path.read_text(), None, set(), [])
                Checker(folder, 0).check_model(model, {"exact", "batch"})

    def test_bad_flags(self):
        for flag, value in (("--seeds", "a"), ("--checks", "all")):
            done = self.run_tool(flag, value)
            self.assertEqual(done.returncode, 2)
            self.assertIn(value, done.stderr)


if __name__ == "__main__":
    unittest.main()
