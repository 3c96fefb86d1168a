# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Warnings about labels outside [0, 1], for all losses whose labels are from 0 to 1, and about
predictions outside [0, 1], for all metrics that expect probabilities. There is one warning, with
the count."""

import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from builder import pdl
from programs import compile_model, run

# Labels outside [0, 1]: in the first column of one sample, in the second column of another, and in
# the bag of a third.
ROWS = """1,0,0.5,3 5,1 0
-1,1,0.25,4,0
0.5,2,0.5,,
1,0.5,-0.75,3 4,0 -1
"""


def model_of(loss, *, metric=None):
    """Returns a model that minimizes the result of `loss`, which is called with the values of a
    row and a group."""
    model = pdl.Model("labels")
    record = model.record("r")
    record.floats("y", 2)
    record.floats("x", 1)
    record.bags("items", 1, separator=" ")
    record.float_bags("clicked", 1, separator=" ")
    group = model.group("g", rule="sgd", rate=0.1)
    counted = model.metric("counted", metric) if metric else None

    @model.program
    def train(y, x, items, clicked):
        z = pdl.layers.dense(x, 2, "z", group=group)
        pdl.minimize(loss(model, group, y, z, items, clicked), [group])
        if counted:
            pdl.observe(counted, x, y[:, :1])
    return model


def first(model, group, y, z, items, clicked):
    return pdl.sigmoid_cross_entropy(z[:, :1], y[:, :1])


def mean_of(losses):
    return pdl.reduce("mean", losses, axes=[1], keep=True)


def of_rows(model, group, y, z, items, clicked):
    """Returns the loss of a sample: the sum of the losses of the rows in its bag."""
    table = model.table("t", 1, init=pdl.init.zeros(), group=group)
    rows = pdl.lookup(table, items, "none")
    labels = pdl.cast(pdl.same_bags(clicked, items))
    losses = pdl.segment_sum(pdl.sigmoid_cross_entropy(rows, labels), items)
    return pdl.reshape(losses, (None, 1)) + 0.0 * z[:, :1]


# For each name: the loss, and the number of samples with a label outside [0, 1].
LOSSES = {
    "sigmoid_cross_entropy": (first, 1),
    "of both columns": (lambda m, g, y, z, i, c: mean_of(pdl.sigmoid_cross_entropy(z, y)), 2),
    "of rank 3": (lambda m, g, y, z, i, c: mean_of(pdl.reshape(pdl.sigmoid_cross_entropy(
        pdl.reshape(z, (None, 2, 1)), pdl.reshape(y, (None, 2, 1))), (None, 2))), 2),
    "log_loss": (lambda m, g, y, z, i, c: pdl.log_loss(pdl.sigmoid(z[:, :1]), y[:, :1]), 1),
    "softmax_cross_entropy": (lambda m, g, y, z, i, c: pdl.softmax_cross_entropy(z, y), 2),
    "classes": (lambda m, g, y, z, i, c: pdl.softmax_cross_entropy(
        z, pdl.one_hot(y[:, 1:], 2)), 0),
    "rank_loss": (lambda m, g, y, z, i, c: pdl.rank_loss(z[:, :1], z[:, 1:], y[:, :1]), 1),
    "hinge_loss": (lambda m, g, y, z, i, c: pdl.hinge_loss(z[:, :1], y[:, :1]), 1),
    "squared_error": (lambda m, g, y, z, i, c: pdl.squared_error(z[:, :1], y[:, :1]), 0),
    "of rows of bags": (of_rows, 1),
}
# Number of values outside [0, 1] among the predictions 0.5, 0.25, 0.5 and -0.75 of each metric.
METRICS = {"auc": 1, "log_loss": 1, "bucket_error": 1, "copc": 1, "mae": 0, "rmse": 0,
           "accuracy": 0}


class LabelRange(unittest.TestCase):

    def trained(self, model):
        """Returns the error output of a training of two epochs."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "model.mlir").write_text(str(model))
            (folder / "data.csv").write_text(ROWS)
            trainer = compile_model(folder / "model.mlir", folder / "out", "--numerics=strict")
            return run(trainer, "train", "--data", folder / "data.csv", "--epochs", 2,
                       "--replicas", "1x1").stderr

    def test_labels(self):
        for name, (loss, count) in LOSSES.items():
            with self.subTest(name):
                found = re.findall(r"(\d+) samples so far have a label outside of \[0, 1\]",
                                   self.trained(model_of(loss)))
                self.assertEqual(found, [str(count)] if count else [])

    def test_predictions(self):
        for name, count in METRICS.items():
            with self.subTest(name):
                model = model_of(lambda m, g, y, z, i, c: pdl.squared_error(z[:, :1], y[:, :1]),
                                 metric=getattr(pdl.metrics, name)())
                found = re.findall(r"metric @counted expects probabilities, and (\d+) predictions "
                                   r"so far lie outside of \[0, 1\]: (.*?);", self.trained(model))
                self.assertEqual([one for one, _ in found], [str(count)] if count else [])
                for _, meaning in found:
                    self.assertEqual("added as the numbers" in meaning, name == "copc")


if __name__ == "__main__":
    unittest.main()
