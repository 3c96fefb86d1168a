# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules that reduce over rows, where rows are longer than the lanes of a sum: the
interpreter's bits, equal ones for parameters and tables, and a state that files
keep."""

import random
import unittest

import programs
import tensorfile
from exactness import ExactnessTest
from programs import run
from rules_test import ROWS, STEPS, model_text, write_data

PDL_CHECKPOINT = programs.BUILD / "bin" / "pdl-checkpoint"
# Two rounds of 16 lanes and a rest; one element, which is all of its row.
WIDTHS = (37, 1)
TWINS = {rule: f"rule(@{rule}) rate(0.05)"
         for rule in ("rowwise_adagrad", "bounded_adagrad", "rowwise_lars",
                      "rowwise_lamb", "lars", "lamb")}


class RowRules(ExactnessTest):

    def prepare(self, width):
        source = self.path / "model.mlir"
        source.write_text(model_text(TWINS, width))
        return source, self.compile_strict(source), write_data(
            self.path / "data.safetensors", random.Random(width), width)

    def test_the_interpreter_gives_the_same_bits(self):
        for width in WIDTHS:
            with self.subTest(width=width):
                source, trainer, data = self.prepare(width)
                self.check_program(source, trainer, data, ROWS, 6, predicts=False)

    def test_a_row_slot_has_one_element_a_row(self):
        _, trainer, data = self.prepare(37)
        dump = tensorfile.read(self.train(trainer, "one", data, "--batch-size", ROWS,
                                          "--steps", 1)[0])
        for name in ("p_rowwise_adagrad", "t_rowwise_adagrad"):
            slot = dump[f"{name}.slot.accumulator"]
            self.assertEqual(slot.shape, [ROWS, 1])
            # The mean of the squares of the first step, over each row.
            self.assertTrue(all(number > 0 for number in slot.data))
        self.assertEqual(dump["p_rowwise_lamb.slot.m"].shape, [ROWS, 37])

    def test_checkpoints_and_dumps_keep_row_slots(self):
        """Ten steps and ten are twenty, by a checkpoint and by a dump."""
        _, trainer, data = self.prepare(37)
        flags = ["--batch-size", ROWS]
        whole, _ = self.train(trainer, "whole", data, *flags)
        saved = self.path / "saved"
        half, _ = self.train(trainer, "half", data, *flags, "--steps", STEPS // 2,
                             "--checkpoint", saved)
        run(PDL_CHECKPOINT, "diff", saved, half)
        resumed, _ = self.train(trainer, "resumed", data, *flags, "--checkpoint", saved,
                                "--resume")
        self.assertEqual(resumed.read_bytes(), whole.read_bytes())
        copy = self.path / "copy.safetensors"
        run(PDL_CHECKPOINT, "dump", saved, "-o", copy)
        self.assertEqual(copy.read_bytes(), whole.read_bytes())
        later, _ = self.train(trainer, "later", data, *flags, "--init-from", half,
                              "--rows", f"{ROWS * STEPS // 2}:{ROWS * STEPS}")
        self.assert_equal_files(later, whole)

    def test_a_slot_of_another_shape_is_refused(self):
        _, trainer, data = self.prepare(37)
        dump, _ = self.train(trainer, "one", data, "--batch-size", ROWS, "--steps", 1)
        tensors = tensorfile.read(dump)
        name = "t_rowwise_adagrad.slot.accumulator"
        tensors[name] = tensors["t_rowwise_adagrad.values"]
        wrong = self.path / "wrong.safetensors"
        tensorfile.write(wrong, tensors)
        with self.assertRaisesRegex(AssertionError, r"the model needs F32 \[24, 1\]"):
            run(trainer, "train", "--data", data, "--init-from", wrong, "--steps", 1)


if __name__ == "__main__":
    unittest.main()
