# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each model of models/ trains in modes local and sync from one file to the same bits, and
models/README.md lists it. goldens_test.py tests that the bits are correct."""

import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from model_data import model_data
from programs import ADULT, SOURCE, model
from sync_comparison import SyncComparison

FOLDER = SOURCE / "models"
MODELS = sorted(path.name for path in FOLDER.iterdir() if path.is_dir())


class Models(SyncComparison):

    def test_the_table_lists_all(self):
        page = (FOLDER / "README.md").read_text()
        self.assertEqual(sorted(re.findall(r"^\| \[.*?\]\((\w+)\) \|", page,
                                           re.MULTILINE)), MODELS)
        for name in MODELS:
            with self.subTest(model=name):
                self.assertTrue(model(name).exists())
                self.assertIn("pdl-translate", (FOLDER / name / "README.md").read_text())

    def check_sync(self, name):
        """Compares 2 trainers and 2 servers with one process that has as many replicas."""
        file = model_data(name, self.root, 4000)
        data = ["--data", file, *(["--rows", "0:12000"] if file == ADULT else [])]
        # Blocks are so small that each server owns some of the parameters.
        self.translate(model(name), blocks=("--min-block-elements=16",
                                            "--target-block-bytes=1024"))
        self.check([*data, "--batch-size", 8], [(2, 2)])


def add_test(name):
    setattr(Models, f"test_{name}_in_sync", lambda self: self.check_sync(name))


for one in MODELS:
    add_test(one)

if __name__ == "__main__":
    unittest.main()
