# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rules that reduce over rows, if rows are longer than the lanes of a sum. The bits equal those of
the interpreter and are the same for parameters and tables, and files keep the state. Also tests
rules that use the counts of each row."""

import array
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from counted_model import COUNTED
from exactness import ExactnessTest
from programs import PDL_CHECKPOINT, run
from twins import ROWS, STEPS, model_text, write_data

import tensorfile

# Widths of two rounds of 16 lanes and a remainder, and of one element, which is the whole row.
WIDTHS = (37, 1)
TWINS = {rule: f"rule(@{rule}) rate(0.05)"
         for rule in ("rowwise_adagrad", "bounded_adagrad", "rowwise_lars",
                      "rowwise_lamb", "lars", "lamb")}

CYCLE = """
module @turns {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @d : tensor<?x2xi64>
  }
  nn.group @g rule(@click_adagrad) rate(0.1) untouched(lazy)
  nn.group @h rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<3xf32> in @g init(#nn.zeros)
  nn.param @w : tensor<1xf32> in @h init(#nn.zeros)
  nn.program @train_rows reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %d: tensor<?x2xi64>):
    %e = nn.lookup @t[%d] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x3xf32>
    %f = nn.flatten %e from 1 : tensor<?x2x3xf32>
    %z = nn.reduce sum %f axes [1] keep : tensor<?x6xf32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %ones = nn.broadcast %one like %y : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.count @t[%d] show(%ones) click(%y) : tensor<?x2xi64>, tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  nn.program @train_number reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %d: tensor<?x2xi64>):
    %w = nn.read @w : tensor<1xf32>
    %z = nn.mul %y, %w : tensor<?x1xf32>, tensor<1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@h] : tensor<?x1xf32>
  }
  nn.cycle @train [@train_rows * 2, @train_number]
}
"""


class RowRules(ExactnessTest):

    def prepare(self, width):
        source = self.root / "model.mlir"
        source.write_text(model_text(TWINS, width))
        return source, self.compile_strict(source), write_data(
            self.root / "data.safetensors", random.Random(width), width)

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
            # The slot has the mean of the squares of the first step, over each row.
            self.assertTrue(all(number > 0 for number in slot.data))
        self.assertEqual(dump["p_rowwise_lamb.slot.m"].shape, [ROWS, 37])

    def test_checkpoints_and_dumps_keep_row_slots(self):
        """Twice ten steps equal twenty steps, with a checkpoint and with a dump between them."""
        _, trainer, data = self.prepare(37)
        flags = ["--batch-size", ROWS]
        whole, _ = self.train(trainer, "whole", data, *flags)
        saved = self.root / "saved"
        half, _ = self.train(trainer, "half", data, *flags, "--steps", STEPS // 2,
                             "--checkpoint", saved)
        run(PDL_CHECKPOINT, "diff", saved, half)
        resumed, _ = self.train(trainer, "resumed", data, *flags, "--checkpoint", saved,
                                "--resume")
        self.assertEqual(resumed.read_bytes(), whole.read_bytes())
        copy = self.root / "copy.safetensors"
        run(PDL_CHECKPOINT, "dump", saved, "-o", copy)
        self.assertEqual(copy.read_bytes(), whole.read_bytes())
        later, _ = self.train(trainer, "later", data, *flags, "--init-from", half,
                              "--rows", f"{ROWS * STEPS // 2}:{ROWS * STEPS}")
        self.assert_equal_files(later, whole)

    def test_counts(self):
        """Counts of ids with and without lookups, with one replica and with two."""
        chance, count = random.Random(5), 60
        bags = [[chance.randrange(40) for _ in range(chance.choice([0, 1, 2, 5]))]
                for _ in range(2 * count)]
        splits = [0]
        for bag in bags:
            splits.append(splits[-1] + len(bag))
        clicks = [float(chance.randrange(2)) for _ in range(count)]
        weights = [chance.choice([0.0, 0.5, 2.0]) for _ in range(count)]
        other = [chance.randrange(30, 60) for _ in range(count)]

        def tensor(kind, shape, code, data):
            return tensorfile.Tensor(kind, shape, array.array(code, data))

        data = self.root / "data.safetensors"
        tensorfile.write(data, {
            "y": tensor("F32", [count, 1], "f", clicks),
            "weight": tensor("F32", [count, 1], "f", weights),
            "bags.values": tensor("I64", [splits[-1]], "q", sum(bags, [])),
            "bags.splits": tensor("I32", [len(splits)], "i", splits),
            "other": tensor("I64", [count, 1], "q", other),
            "plain": tensor("I64", [count, 1], "q",
                            [chance.randrange(100, 104) for _ in range(count)])})
        source = self.root / "model.mlir"
        source.write_text(COUNTED)
        trainer = self.compile_strict(source)
        self.check_program(source, trainer, data, 12, 5)
        shows, clicked = {}, {}
        for sample in range(count):
            ids = bags[2 * sample] + bags[2 * sample + 1]
            for key, show in [*((key, 1.0) for key in ids), (other[sample], weights[sample])]:
                shows[key] = shows.get(key, 0.0) + show
                clicked[key] = clicked.get(key, 0.0) + clicks[sample]
        for flags in (["--batch-size", 12], ["--batch-size", 6, "--replicas", "2x1"],
                      ["--batch-size", 6, "--replicas", "1x2"]):
            dump = tensorfile.read(self.train(trainer, "counts", data, *flags)[0])
            keys = list(dump["t.keys"].data)
            for slot, expected in (("show", shows), ("click", clicked)):
                found = dict(zip(keys, dump[f"t.slot.{slot}"].data))
                self.assertEqual(found, {key: expected.get(key, 0.0) for key in keys})
            self.assertEqual(sorted(keys), sorted({*shows, 100, 101, 102, 103}))

    def test_counts_in_a_cycle(self):
        """A program counts only in its own turns, also for ids with several slots."""
        chance, count = random.Random(6), 90
        data = self.root / "data.safetensors"
        tensorfile.write(data, {
            "y": tensorfile.Tensor("F32", [count, 1], array.array(
                "f", [chance.randrange(2) for _ in range(count)])),
            "d": tensorfile.Tensor("I64", [count, 2], array.array(
                "q", [chance.randrange(9) for _ in range(2 * count)]))})
        source = self.root / "model.mlir"
        source.write_text(CYCLE)
        trainer = self.compile_strict(source)
        self.check_program(source, trainer, data, 10, 9, predicts=False)
        dump = tensorfile.read(self.train(trainer, "cycle", data, "--batch-size", 10)[0])
        # Two of three batches with ten samples each; each sample has two ids.
        self.assertEqual(sum(dump["t.slot.show"].data), 2 * 60)

    def test_a_slot_of_another_shape_is_refused(self):
        _, trainer, data = self.prepare(37)
        dump, _ = self.train(trainer, "one", data, "--batch-size", ROWS, "--steps", 1)
        tensors = tensorfile.read(dump)
        name = "t_rowwise_adagrad.slot.accumulator"
        tensors[name] = tensors["t_rowwise_adagrad.values"]
        wrong = self.root / "wrong.safetensors"
        tensorfile.write(wrong, tensors)
        with self.assertRaisesRegex(AssertionError, r"the model needs F32 \[24, 1\]"):
            run(trainer, "train", "--data", data, "--init-from", wrong, "--steps", 1)


if __name__ == "__main__":
    unittest.main()
