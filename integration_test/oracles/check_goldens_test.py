#===- check_goldens_test.py - The comparison itself -----------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Tests that wrong numbers fail: `python3 -m unittest check_goldens_test`."""

import array
import os
import tempfile
import unittest

import check_goldens
import tensorfile


def tensor(values, shape=None):
    return tensorfile.Tensor("F64", shape or [len(values)], array.array("d", values))


class CheckGoldensTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, text):
        path = os.path.join(self.folder.name, "file")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_difference(self):
        nan, inf = float("nan"), float("inf")
        expected = [1.0, -100.0, 0.0]
        self.assertEqual(check_goldens.difference("x", expected, expected, 0.0), [])
        # The limit is relative to the largest element, 100.
        near = [1.0 + 9e-9, -100.0, 9e-9]
        self.assertEqual(check_goldens.difference("x", expected, near, 1e-10), [])
        for wrong in ([1.0 + 2e-8, -100.0, 0.0], [1.0, -100.0], [1.0, nan, 0.0],
                      [1.0, -inf, 0.0], [1.0, 100.0, 0.0]):
            self.assertTrue(check_goldens.difference("x", expected, wrong, 1e-10), wrong)
        self.assertEqual(check_goldens.difference("x", [nan, inf], [nan, inf], 0.0), [])
        self.assertTrue(check_goldens.difference("x", [0.0], [1e-300], 1e-10))

    def test_losses(self):
        self.assertEqual(
            check_goldens.compare_losses([0.5, 0.25], self.file("0.5\n0.25\n"), 0), [])
        for wrong in ("0.5\n", "0.5\n0.25000001\n", "0.5\nnan\n"):
            self.assertTrue(
                check_goldens.compare_losses([0.5, 0.25], self.file(wrong), 1e-10), wrong)

    def test_outputs(self):
        expected = {"output/a": tensor([1.0, 2.0], [2, 1]),
                    "output/b": tensor([3.0, 4.0, 5.0, 6.0], [2, 2])}
        for text, good in [("a\tb.0\tb.1\n1\t3\t4\n2\t5\t6\n", True),
                           ("a\tb.0\tb.1\n1\t3\t4\n2\t5\t7\n", False),
                           ("a\tb.0\tb.1\n1\t3\t4\n", False),
                           ("a\tb.0\tb.1\tc\n1\t3\t4\t0\n2\t5\t6\t0\n", False)]:
            problems = check_goldens.compare_outputs(expected, ["a", "b"],
                                                     self.file(text), 1e-10)
            self.assertEqual(problems == [], good, text)

    def test_state(self):
        expected = {"after/w": tensor([1.0]), "after/t.keys": tensor([1.0, 2.0]),
                    "loss": tensor([0.0])}
        good = {"w": tensor([1.0]), "t.keys": tensor([1.0, 2.0])}
        self.assertEqual(check_goldens.compare_state(expected, good, 1e-10), [])
        for name, values in (("w", [1.1]), ("t.keys", [1.0, 3.0])):
            self.assertTrue(check_goldens.compare_state(
                expected, {**good, name: tensor(values)}, 1e-10))
        self.assertTrue(check_goldens.compare_state(expected, {}, 1e-10))

    def test_gradients(self):
        keys = tensorfile.Tensor("I64", [2], array.array("q", [-3, 8]))
        before = {"t.keys": keys, "t.values": tensor([1.0, 2.0], [2, 1])}
        expected = {"gradient/t.keys": tensorfile.Tensor("I64", [1],
                                                         array.array("q", [8])),
                    "gradient/t.values": tensor([0.5], [1, 1])}
        for moved, good in [([1.0, 2.0 - 512.0], True), ([1.0, 2.0], False),
                            ([1.5, 2.0 - 512.0], False)]:
            after = {"t.keys": keys, "t.values": tensor(moved, [2, 1])}
            problems = check_goldens.compare_gradients(expected, before, after)
            self.assertEqual(problems == [], good, moved)

    def test_metrics(self):
        expected = {f"metric/{name}": tensor([0.75])
                    for name in ("auc", "coarse_auc", "log_loss", "copc")}
        good = ("test AUC 0.7500 (@auc)\ntest AUC 0.7500 (@coarse_auc)\n"
                "test log loss 0.7500 (@log_loss)\ntest COPC 0.7500 (@copc)\n")
        self.assertEqual(check_goldens.compare_metrics(expected, good), [])
        self.assertEqual(len(check_goldens.compare_metrics(
            expected, good.replace("loss 0.7500", "loss 0.7502"))), 1)
        self.assertEqual(len(check_goldens.compare_metrics(expected, "")), 4)

    def test_file(self):
        path = os.path.join(self.folder.name, "tensors")
        tensors = {"b": tensor([1.5, -2.0], [1, 2]),
                   "a": tensorfile.Tensor("I64", [1], array.array("q", [-2**63])),
                   "scalar": tensor([7.0], [])}
        tensorfile.write(path, tensors)
        self.assertEqual(tensorfile.read(path), tensors)


if __name__ == "__main__":
    unittest.main()
