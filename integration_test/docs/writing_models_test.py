# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/WritingModels.md: its models compile, its examples of ops compute the stated values, and
each op of the language has an example."""

import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import op_examples
from folders import FolderTest
from programs import PDL_TRANSLATE, SOURCE

PAGE = SOURCE / "docs" / "WritingModels.md"
PDL_OPT = PDL_TRANSLATE.resolve().with_name("pdl-opt")


def ops_of_models():
    """Returns the ops that users may write, according to the generated table of ops."""
    table = (SOURCE / "docs" / "Obligations.md").read_text()
    rows = re.findall(r"^\| `(nn\.\w+)` \| (all|model to \w+) \|", table, flags=re.M)
    return {name for name, _ in rows}


class WritingModels(FolderTest):

    def setUp(self):
        super().setUp()
        self.text = PAGE.read_text()

    def test_examples(self):
        found = op_examples.examples(self.text)
        self.assertGreater(len(found), 20)
        for number, lines in found:
            with self.subTest(line=number):
                example = op_examples.Example(lines)
                self.assertTrue(example.expected, "the example says no value that it computes")
                for name, computed in example.run(PDL_OPT, self.root).items():
                    written = dict(example.expected)[name]
                    digits = re.findall(r"-?[\d.]+", written)
                    numbers = op_examples.flat(computed)
                    self.assertEqual(len(digits), len(numbers), f"%{name} is {computed}")
                    self.assertTrue(all(map(op_examples.agrees, digits, numbers)),
                                    f"%{name} is {computed}, and the page says {written}")
                example.lower(PDL_OPT, self.root)

    def test_models(self):
        """Compiles complete modules to the LLVM dialect."""
        models = re.findall(r"^```mlir\n(module.*?)^```$", self.text, flags=re.M | re.S)
        self.assertGreaterEqual(len(models), 3)
        for model in models:
            (self.root / "model.mlir").write_text(model)
            run = subprocess.run([PDL_OPT, self.root / "model.mlir", "--pdl-pipeline=to=llvm",
                                  "-o", "/dev/null"], capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, 0, run.stderr)

    def test_no_other_blocks_of_mlir(self):
        kinds = re.findall(r"^```(mlir[^\n]*)\n(\w*)", self.text, flags=re.M)
        for kind, word in kinds:
            self.assertTrue(kind == "mlir example" or word == "module", (kind, word))

    def test_every_op_has_an_example(self):
        shown = set(re.findall(r"\bnn\.\w+", "\n".join(re.findall(
            r"^```mlir.*?^```$", self.text, flags=re.M | re.S))))
        left = ops_of_models() - shown
        self.assertEqual(left, set(), "write an example for each of these into "
                         "docs/WritingModels.md; what it computes can be read in the message of "
                         "a test that says // %y = [[0]]")


if __name__ == "__main__":
    unittest.main()
