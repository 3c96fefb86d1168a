# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interpreter and compiled programs compute what PyTorch computes; see
oracles/README.md."""

import argparse
import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import programs
from model_data import model_data
from programs import ORACLES

import check_goldens

OPS = sorted((ORACLES / "goldens" / "ops").iterdir())
MODELS = sorted((ORACLES / "goldens" / "models").iterdir())


def golden_folder(name):
    """A folder of goldens that may not be shipped; skips the test without."""
    folder = os.environ.get("PDL_TEST_GOLDENS")
    if not folder:
        raise unittest.SkipTest(f"PDL_TEST_GOLDENS is not set ({name} is written "
                                "by oracles/reference.py)")
    return pathlib.Path(folder, name)


class Goldens(unittest.TestCase):

    def check(self, case, function, **options):
        problems = check_goldens.check(str(case), argparse.Namespace(
            check=function, pdl_opt=programs.PDL_OPT,
            pdl_translate=programs.PDL_TRANSLATE, **options))
        self.assertFalse(problems, f"{case}:\n" + "\n".join(problems))

    def test_there_are_cases(self):
        self.assertGreaterEqual(len(OPS), 16)

    def test_every_definition_of_the_library_has_a_case(self):
        models = "".join((case / "model.mlir").read_text() for case in OPS)
        named = set(re.findall(r"(?:rule|schedule|average)\(@(\w+)", models))
        library = programs.run(programs.PDL_OPT, "--print-std").stdout
        # In one process no gradient is late (see rules_over_pushers_test.py).
        self.assertEqual(set(library.strip().split(", ")) - named, {"delay_compensation"})

    def test_interpreter(self):
        for case in OPS:
            for element_type in ("f64", "f32"):
                for phase in ("model", "gradient", "fused"):
                    with self.subTest(case=case.name, type=element_type, phase=phase):
                        self.check(case, check_goldens.check_interpreted,
                                   element_type=element_type, phase=phase)

    def test_compiled(self):
        for case in OPS:
            for element_type in ("f64", "f32"):
                with self.subTest(case=case.name, type=element_type):
                    self.check(case, check_goldens.check_op,
                               element_type=element_type)

    def test_models(self):
        """Each model has goldens, except the one whose data cannot be shipped."""
        folders = [path for path in (programs.SOURCE / "models").iterdir()
                   if path.is_dir()]
        self.assertEqual({case.name for case in MODELS},
                         {folder.name for folder in folders} - {"ctr_dnn"})
        for case in MODELS:
            with self.subTest(model=case.name), tempfile.TemporaryDirectory() as folder:
                data = model_data(case.name, pathlib.Path(folder), 8000)
                self.check(case, check_goldens.check_model, data=str(data))

    def test_ctr_dnn(self):
        data = programs.test_data("criteo", "kaggle_head10k.tsv.gz")
        self.check(golden_folder("ctr_dnn"), check_goldens.check_model, data=str(data))

    def test_ctr_dnn_paired(self):
        data = programs.test_data("criteo", "kaggle_head10k.tsv.gz")
        self.check(golden_folder("ctr_dnn_pairs"), check_goldens.check_paired,
                   data=str(data))


if __name__ == "__main__":
    unittest.main()
