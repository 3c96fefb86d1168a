# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python code of docs/Python.md runs unchanged, and the package can be installed."""

import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import PDL_OPT, PDL_TRANSLATE, SOURCE, run

GUIDE = SOURCE / "docs" / "Python.md"


def blocks(text):
    """Returns the language and the text of each fenced block."""
    return re.findall(r"^```(\w+)[^\n]*\n(.*?)^```$", text, flags=re.M | re.S)


class Guide(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        translate, self.pdl_opt = PDL_TRANSLATE.resolve(), PDL_OPT.resolve()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        saved = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(saved)))
        os.environ["PDL_TRANSLATE"] = str(translate)
        sys.path.insert(0, str(SOURCE / "python"))
        self.addCleanup(sys.path.remove, str(SOURCE / "python"))

    def test_blocks(self):
        """Runs all blocks in order. The output of a block must equal the block after it. The
        compiler must accept the models."""
        found = blocks(GUIDE.read_text())
        shown = 0
        namespace = {"__name__": "guide"}
        for index, (language, text) in enumerate(found):
            if language != "python":
                continue
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, "model.py", "exec"), namespace)
            self.assertIn(found[index + 1][0], ("mlir", "text"))
            self.assertEqual(printed.getvalue().rstrip("\n"), found[index + 1][1].rstrip("\n"))
            shown += 1
        self.assertEqual(shown, sum(language == "python" for language, _ in found))
        self.assertGreater(shown, 4)
        whole = {one.name: str(one) for one in namespace.values()
                 if isinstance(one, namespace["pdl"].Model) and one.name != "wrong"}
        for name, text in whole.items():
            with self.subTest(model=name):
                # A model without a program ends after the first phase.
                phase = ["--pdl-pipeline=to=gradient"] if "nn.program" in text else []
                run(self.pdl_opt, "-", *phase, input=text)


class Package(unittest.TestCase):

    def setUp(self):
        # Debian's Python has wheel together with pip, which an installation without a network
        # requires.
        modules = "import setuptools, pip, wheel"
        self.python = next((python for python in (sys.executable, "/usr/bin/python3")
                            if subprocess.run([python, "-W", "ignore", "-c", modules],
                                              capture_output=True, check=False).returncode == 0),
                           None)
        if self.python is None:
            self.skipTest("no Python has pip, setuptools and wheel; Debian's python3-pip has")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)

    def test_install(self):
        """Installs the package without a network, and uses it without the files from which it was
        installed."""
        source = self.path / "python"
        shutil.copytree(SOURCE / "python", source,
                        ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        target = self.path / "target"
        run(self.python, "-m", "pip", "install", "--no-build-isolation", "--no-deps",
            "--no-index", "--disable-pip-version-check", "--target", target, source)
        shutil.rmtree(source)
        installed = sorted(path.name for path in (target / "pdl").glob("*.py*") if path.is_file())
        self.assertEqual(installed, sorted(
            path.name for path in (SOURCE / "python" / "pdl").glob("*.py*") if path.is_file()))
        script = ("import pdl; model = pdl.Model('m'); model.record('r').floats('x', 1);"
                  "model.program(lambda x: -x); print(pdl.__file__); print(model)")
        printed = run(self.python, "-c", script, cwd=self.path,
                      env={**os.environ, "PYTHONPATH": str(target)}).stdout
        self.assertTrue(printed.startswith(str(target)), printed)
        self.assertIn("%0 = nn.neg %x : tensor<?x1xf32>", printed)


if __name__ == "__main__":
    unittest.main()
