# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/FromPyTorch.md: each pair of models predicts the same from the same weights. Without
PyTorch, the test only compiles the models for PDL."""

import contextlib
import os
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from folders import FolderTest
from programs import PDL_TRANSLATE, SOURCE, run

sys.path.insert(0, str(SOURCE / "python"))

import pdl

try:
    import safetensors  # noqa: F401
    import torch
except ImportError:
    torch = None

PAGE = SOURCE / "docs" / "FromPyTorch.md"
ROWS = 40


class FromPyTorch(FolderTest):

    def setUp(self):
        super().setUp()
        os.environ["PDL_TRANSLATE"] = str(PDL_TRANSLATE.resolve())
        blocks = re.findall(r"^```python (PDL|PyTorch)\n(.*?)^```$", PAGE.read_text(),
                            flags=re.M | re.S)
        pdl_blocks = [text for kind, text in blocks if kind == "PDL"]
        self.compiled = []
        for text in pdl_blocks[1:]:
            namespace = {"__name__": "page"}
            exec(compile(pdl_blocks[0] + text, "page.py", "exec"), namespace)
            model = namespace["model"]
            self.compiled.append(pdl.compile(model, self.root / model.name,
                                             numerics="strict"))
        self.torch_blocks = [text for kind, text in blocks if kind == "PyTorch"]
        self.assertEqual(len(self.torch_blocks), len(pdl_blocks))
        self.assertEqual(len(self.compiled), 7)
        [self.weights_block] = re.findall(r"^```python weights\n(.*?)^```$", PAGE.read_text(),
                                          flags=re.M | re.S)

    def test_pairs(self):
        if torch is None:
            self.skipTest("PyTorch and safetensors are not installed")
        draw = random.Random(3)
        samples = [([draw.uniform(-1, 1) for _ in range(4)],
                    [draw.randrange(1, 50) for _ in range(3)], draw.randrange(1, 50),
                    [draw.randrange(1, 50) for _ in range(draw.randrange(6))])
                   for _ in range(ROWS)]
        data = self.root / "data.csv"
        data.write_text("".join(
            ",".join(map(str, [*numbers, *categories, item, " ".join(map(str, history))])) + "\n"
            for numbers, categories, item, history in samples))
        longest = max(len(history) for *_, history in samples)
        inputs = (torch.tensor([numbers for numbers, *_ in samples]),
                  torch.tensor([categories for _, categories, *_ in samples]),
                  torch.tensor([[item] for _, _, item, _ in samples]),
                  torch.tensor([history + [0] * (longest - len(history))
                                for *_, history in samples]))
        torch.manual_seed(1)
        for program, text in zip(self.compiled, self.torch_blocks[1:]):
            with self.subTest(model=program.name):
                namespace = {"__name__": "page"}
                exec(compile(self.torch_blocks[0] + text, "page.py", "exec"), namespace)
                name = re.findall(r"class (\w+)", text)[-1]
                # Run the lines of the page, with the name of this model.
                with contextlib.chdir(self.root):
                    exec(compile(self.weights_block.replace("LogisticRegression", name),
                                 "page.py", "exec"), namespace)
                module = namespace["module"]
                output = run(program / "trainer", "predict", "--data", data, "--columns",
                             "numbers,categories,item,history", "--init-from",
                             self.root / "weights.safetensors").stdout
                found = [float(line) for line in output.splitlines()[1:]]
                right = module(*inputs).flatten().tolist()
                self.assertEqual(len(found), ROWS)
                self.assertGreater(max(right) - min(right), 0.01)
                for one, other in zip(found, right):
                    # Both are f32. At most a hundred terms near 1 are summed in other orders.
                    self.assertAlmostEqual(one, other, delta=100 * 2**-24)


if __name__ == "__main__":
    unittest.main()
