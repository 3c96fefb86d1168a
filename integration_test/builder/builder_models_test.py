# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that are also written in Python are equal to their MLIR text after compilation."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import PDL_OPT, SOURCE, model, run

MODELS = sorted(path.stem for path in SOURCE.glob("models/*/*.py"))


def python_text(name, package=SOURCE / "python"):
    """Returns the output of models/NAME/NAME.py."""
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    return run(sys.executable, SOURCE / "models" / name / f"{name}.py", env=environment).stdout


def merged(text):
    done = subprocess.run([PDL_OPT, "-", "--pdl-pipeline=to=merged"], input=text,
                          capture_output=True, text=True, check=True)
    return done.stdout


def fingerprint(text):
    """Returns the text of the fingerprint. `--version` of a program prints digests of its parts.
    """
    lines = merged(text).splitlines()
    begin = next(index for index, line in enumerate(lines) if "nn.fingerprint" in line)
    end = lines.index("  }", begin)
    return lines[begin:end]


def metrics(text):
    """Returns the lines about metrics and programs, which are not part of the fingerprint."""
    return [line.strip() for line in merged(text).splitlines()
            if line.strip().startswith(("nn.metric", "nn.program"))]


class Models(unittest.TestCase):

    def test_there_are_some(self):
        self.assertLessEqual({"ctr_dnn", "logistic_regression", "wide_deep"}, set(MODELS))

    def test_fingerprints(self):
        for name in MODELS:
            with self.subTest(name):
                python, text = python_text(name), model(name).read_text()
                self.assertEqual(fingerprint(python), fingerprint(text))
                self.assertEqual(metrics(python), metrics(text))

    def test_package_through_a_link(self):
        """Names are those of the user's variables, wherever the package is stored."""
        with tempfile.TemporaryDirectory() as folder:
            link = pathlib.Path(folder, "link")
            link.symlink_to(SOURCE / "python")
            text = python_text("wide_deep", link)
        self.assertIn("%wide_ids = nn.concat", text)
        self.assertEqual(text, python_text("wide_deep"))

    def test_fingerprint_sees_a_change(self):
        text = python_text("ctr_dnn")
        self.assertNotEqual(fingerprint(text), fingerprint(text.replace("act(relu)", "act(tanh)")))


if __name__ == "__main__":
    unittest.main()
