# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as threads of a device run them: each model of models/ trains to the same bits as on a
CPU, however many threads there are."""

import concurrent.futures
import os
import pathlib
import subprocess
import tempfile
import unittest

from model_data import model_data
from programs import PDL_OPT, PDL_TRANSLATE, SOURCE, model, run
from push_modes import PDL_CHECKPOINT

MODELS = sorted(path.name for path in (SOURCE / "models").iterdir() if path.is_dir())
ROWS, BATCH = 320, 32
# Fewer than there are turns, and more than most loops have.
THREADS = (7, 5000)


class DeviceKernels(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def translate(self, source, folder):
        run(PDL_TRANSLATE, source, "--numerics=strict", "-o", folder, "--object-cache",
            self.root / "cache")

    def emulated(self, name, threads):
        """A trainer in whose stages each kernel is run as so many threads."""
        text = None
        for flags in (["--pdl-pipeline=to=tasks numerics=strict", model(name)],
                      [f"--rt-distribute-loops=emulated-threads={threads}"],
                      ["--pdl-pipeline=from=tasks to=llvm numerics=strict"]):
            text = subprocess.run([PDL_OPT, *flags], input=text, capture_output=True, text=True,
                                  check=True).stdout
        lowered = self.root / f"{name}-{threads}.mlir"
        lowered.write_text(text)
        folder = self.root / f"{name}-{threads}"
        self.translate(lowered, folder)
        return folder

    def train(self, programs, data):
        """Its checkpoint and its losses."""
        saved, losses = programs / "saved", programs / "losses"
        run(programs / "trainer", "train", "--data", data, "--rows", f"0:{ROWS}",
            "--batch-size", BATCH, "--epochs", 2, "--seed", 7, "--checkpoint", saved,
            "--log-losses", losses)
        return saved, losses.read_text()

    def problem(self, name):
        """What is wrong with a model; None if nothing is."""
        data = self.root / "data" / name
        data.mkdir(parents=True)
        data = model_data(name, data, ROWS)
        plain = self.root / name
        self.translate(model(name), plain)
        saved, losses = self.train(plain, data)
        for threads in THREADS:
            other_saved, other_losses = self.train(self.emulated(name, threads), data)
            if losses != other_losses:
                return f"other losses with {threads} threads"
            run(PDL_CHECKPOINT, "diff", saved, other_saved)
        return None

    def test_each_model_has_the_bits_of_a_cpu(self):
        with concurrent.futures.ThreadPoolExecutor(max(2, os.cpu_count() or 1)) as pool:
            problems = {name: pool.submit(self.problem, name) for name in MODELS}
        for name, problem in problems.items():
            with self.subTest(name):
                self.assertIsNone(problem.result())


if __name__ == "__main__":
    unittest.main()
