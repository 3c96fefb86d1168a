# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers of a sample depend on the seed, the epoch and the sample, but on no batch,
replica, process or checkpoint. Real processes."""

import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import exactness
import joined
import programs
from programs import compile_model, run
from sync_comparison import SyncComparison

import tensorfile

sys.path.insert(0, str(programs.SOURCE / "scripts"))
import made_up
import make_histories

SOURCE = programs.SOURCE / "integration_test" / "models" / "draws.mlir"


def write_histories(folder, rows, name="histories.tsv"):
    path = pathlib.Path(folder, name)
    made_up.write_lines(path, make_histories.history_line, rows)
    return path


class Draws(exactness.ExactnessTest):

    def test_other_replicas_draw_the_same(self):
        """The batches of the replicas join to those of one replica."""
        data = write_histories(self.root, 2800)
        trainer = compile_model(SOURCE, self.root / "double", "--element-type=f64")

        def result(name, replicas, size):
            return self.train(trainer, name, data, "--replicas", replicas,
                              "--batch-size", size)

        one = result("one", "1x1", 128)
        for replicas, size in (("2x1", 64), ("1x2", 64), ("2x2", 32)):
            with self.subTest(replicas=replicas):
                joined.compare(self, result(replicas, replicas, size), one)

    def test_interpreter(self):
        """Two epochs with a shuffle. Random numbers of a row depend on its number in the file."""
        data = write_histories(self.root, 500)
        trainer = self.compile_strict(SOURCE)
        batches = self.root / "batches"
        compiled, losses = self.train(
            trainer, "compiled", data, "--batch-size", 64, "--epochs", 2,
            "--shuffle-window", 200, "--dump-batches", batches)
        steps = len(losses.split())
        self.assertEqual(steps, 16)
        for phase in ("gradient", "fused"):
            dump, lines = self.root / "dump", self.root / "lines"
            self.interpret(SOURCE, phase, f"program=train data={batches} seed=7 "
                           f"steps={steps} dump={dump} dump-slots=true losses={lines}")
            self.assertEqual(losses, lines.read_text())
            self.assert_equal_files(compiled, dump)
        # In phase `model`, ops have no streams of random numbers yet, but the same ones are used.
        lines = self.root / "first"
        self.interpret(SOURCE, "model", f"program=train data={batches} seed=7 steps=1 "
                       f"losses={lines}")
        self.assertAlmostEqual(float(lines.read_text()), float(losses.split()[0]), 5)

    def test_interpreter_passes_over_a_plain_file(self):
        """Each pass of the interpreter over the file is an epoch of the trainer."""
        data = write_histories(self.root, 96)
        trainer = self.compile_strict(SOURCE)
        dumped, plain = self.root / "dumped", self.root / "plain.safetensors"
        self.train(trainer, "dumping", data, "--batch-size", 96, "--steps", 1,
                   "--dump-batches", dumped)
        batch = "batch0/"
        tensorfile.write(str(plain), {
            name[len(batch):]: tensor for name, tensor in tensorfile.read(dumped).items()
            if name.startswith(batch)})
        _, losses = self.train(trainer, "compiled", plain, "--batch-size", 32, "--epochs", 2)
        self.assertEqual(len(losses.split()), 6)
        lines = self.root / "lines"
        self.interpret(SOURCE, "gradient", f"program=train data={plain} seed=7 batch-size=32 "
                       f"steps=6 losses={lines}")
        self.assertEqual(losses, lines.read_text())

    def test_epochs_and_seeds_differ(self):
        """With rate 0, only random numbers can cause a difference."""
        text = SOURCE.read_text().replace("rate(3.0e-3)", "rate(0.0)")
        source = self.root / "still.mlir"
        source.write_text(text.replace("rule(@adagrad) rate(0.05)", "rule(@sgd) rate(0.0)"))
        trainer = self.compile_strict(source)
        data = write_histories(self.root, 256)
        _, losses = self.train(trainer, "still", data, "--batch-size", 128, "--epochs", 2)
        losses = losses.split()
        self.assertEqual(len(losses), 4)
        self.assertNotEqual(losses[:2], losses[2:])

    def test_goes_on(self):
        """Resumes from a checkpoint in the middle of the second epoch."""
        data = write_histories(self.root, 640)
        trainer = self.compile_strict(SOURCE)
        flags = ["--batch-size", 64, "--shuffle-window", 100, "--epochs", 2]
        whole, losses = self.train(trainer, "whole", data, *flags)
        saved = self.root / "saved"
        self.train(trainer, "half", data, *flags, "--steps", 13, "--checkpoint", saved)
        run(trainer, "train", "--data", data, *flags, "--seed", 7, "--resume",
            "--checkpoint", saved, "--dump", self.root / "again", "--dump-slots")
        self.assertEqual(len(losses.split()), 20)
        self.assert_equal_files(whole, self.root / "again")

    def test_predictions_do_not_depend_on_batches(self):
        data = write_histories(self.root, 300)
        trainer = self.compile_strict(SOURCE)
        compiled, _ = self.train(trainer, "compiled", data, "--batch-size", 64)
        outputs = [run(trainer, "predict", "--data", data, "--init-from", compiled,
                       "--batch-size", size).stdout for size in (1, 64)]
        self.assertGreater(outputs[0].count("\n"), 300)
        self.assertEqual(*outputs)

    def test_an_id_that_is_never_drawn(self):
        data = self.root / "histories.tsv"
        data.write_text("1\t5\t5\t1 2\t1 2\t77777\t5\t6\t6\n")
        trainer = self.compile_strict(SOURCE)
        done = subprocess.run([trainer, "train", "--data", data], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("histories.tsv:1:6: field `next` has the id 77777 in its column 0, which "
                      "nn.sample never draws: nn.log_probability takes ids from 0 below 300; "
                      "widen the range, or take the row out of the data", done.stderr)


class DrawsOnServers(SyncComparison):

    def test_sync(self):
        data = write_histories(self.root, 4000)
        self.translate(SOURCE, blocks=("--min-block-elements=16",
                                       "--target-block-bytes=1024"))
        self.check(["--data", data, "--batch-size", 8], [(2, 2)])


if __name__ == "__main__":
    unittest.main()
