# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""trainer train --shuffle-files: the order of files changes the training, a resume continues in the
same order, and other orders are refused."""

import gzip
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import ADULT, compile_model, fails, model, run


class ShuffleFiles(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.trainer = compile_model(model("logistic_regression"), cls.root / "out",
                                    "--numerics=strict")
        lines = gzip.decompress(ADULT.read_bytes()).decode().splitlines(keepends=True)
        cls.files = []
        for part in range(6):
            cls.files.append(cls.root / f"part-{part}.csv")
            cls.files[-1].write_text("".join(lines[200 * part:200 * part + 150 + 10 * part]))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def train(self, *flags):
        """Returns the bytes of the values after two epochs."""
        dump = self.root / "values.safetensors"
        run(self.trainer, "train", "--data", *self.files, "--batch-size", 50, "--epochs", 2,
            "--seed", 4, "--shuffle-window", 120, "--dump", dump, *flags)
        return dump.read_bytes()

    def test_a_resume_continues_in_the_same_order(self):
        whole = self.train("--shuffle-files")
        self.assertNotEqual(self.train(), whole)
        saved = self.root / "saved"
        flags = ["--shuffle-files", "--checkpoint", saved, "--resume"]
        for steps in (7, 13, 30):
            self.train(*flags, "--steps", steps)
        said = fails(self.trainer, "train", "--data", *self.files, "--batch-size", 50,
                     "--epochs", 2, "--shuffle-window", 120, "--checkpoint", saved, "--resume")
        self.assertIn("--shuffle-window", said)
        self.assertIn("--shuffle-files", said)
        self.assertEqual(self.train(*flags), whole)

    def test_replicas_and_pipes(self):
        self.assertEqual(self.train("--shuffle-files", "--replicas", "2x1", "--threads", 1),
                         self.train("--shuffle-files", "--replicas", "2x1", "--threads", 2))
        said = fails(self.trainer, "train", "--data", self.files[0], "-", "--delimiter", "comma",
                     "--shuffle-files", status=None, stdin=subprocess.DEVNULL)
        self.assertIn("--shuffle-files reads files in another order", said)


if __name__ == "__main__":
    unittest.main()
