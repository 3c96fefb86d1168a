# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The optimum that scripts/make_known_clicks.py states is correct for its rows. The true
probabilities follow from the columns, and labels are drawn with them. AUC and log loss equal those
of other formulas."""

import gzip
import json
import math
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import SOURCE

sys.path.insert(0, str(SOURCE / "scripts"))
import make_known_clicks as maker

ROWS, TEST, SEED, BITS = 60000, 0.5, 3, 12


def auc_by_ranks(scores, labels):
    """Computes the Mann-Whitney statistic by sorting."""
    order = sorted(range(len(scores)), key=scores.__getitem__)
    ranks, begin = 0.0, 0
    while begin < len(order):
        end = begin
        while end < len(order) and scores[order[end]] == scores[order[begin]]:
            end += 1
        ranks += sum(labels[place] for place in order[begin:end]) * (begin + 1 + end) / 2
        begin = end
    positive = sum(labels)
    return (ranks - positive * (positive + 1) / 2) / (positive * (len(labels) - positive))


class KnownClicks(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name) / "clicks.tsv"
        cls.said = maker.write(cls.path, ROWS, TEST, SEED, BITS)
        cls.truth = maker.Truth(SEED, BITS)
        cls.true = []
        for _, true, _ in maker.rows(cls.truth, SEED, ROWS):
            cls.true += true
        cls.lines = cls.path.read_text().splitlines()
        cls.labels = [int(line.split("\t")[0]) for line in cls.lines]
        cls.begin = cls.said["test_begins"]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_probabilities_belong_to_the_columns(self):
        """Computes the probabilities from the text of a line and the tables of the seed."""
        worth = [dict(zip(slot.ids, zip(slot.weights, slot.classes)))
                 for slot in self.truth.slots]
        for slot, by_id in zip(self.truth.slots, worth):
            self.assertEqual(len(by_id), len(slot.ids), "two ids have the same text")
        weights = [weights for *_, weights in self.truth.pairs]
        for line, p in list(zip(self.lines, self.true))[::97]:
            cells = line.split("\t")
            numbers = [float(cell) for cell in cells[1:4]]
            ids = [by_id[cell] for by_id, cell in zip(worth, cells[4:])]
            logit = maker.BIAS + sum(weight for weight, _ in ids)
            logit += (0.2 * numbers[0] + 0.4 * math.tanh(numbers[1]) +
                      0.3 * math.cos(numbers[2]))
            for (first, second), table in zip(maker.PAIRS, weights):
                logit += table[maker.CLASSES * ids[first][1] + ids[second][1]]
            self.assertAlmostEqual(1.0 / (1.0 + math.exp(-logit)), p, places=12)

    def test_the_optimum(self):
        true, labels = self.true[self.begin:], self.labels[self.begin:]
        self.assertEqual(len(true), self.said["rows"])
        self.assertEqual(len(true), ROWS // 2)
        self.assertAlmostEqual(self.said["auc"], auc_by_ranks(true, labels), places=5)
        loss = -sum(math.log(p if label else 1.0 - p)
                    for p, label in zip(true, labels)) / len(true)
        self.assertAlmostEqual(self.said["log_loss"], loss, places=9)
        # Training can improve the model, but cannot predict everything.
        self.assertGreater(self.said["auc"], 0.75)
        self.assertLess(self.said["auc"], 0.9)

    def test_labels_are_drawn_with_the_probabilities(self):
        """The drawn values are within four standard deviations of the expected values."""
        true, labels = self.true[self.begin:], self.labels[self.begin:]
        spread = math.sqrt(sum(p * (1.0 - p) for p in true))
        self.assertLess(abs(sum(labels) - sum(true)), 4.0 * spread)
        of_loss = math.sqrt(sum(p * (1.0 - p) * math.log(p / (1.0 - p)) ** 2
                                for p in true)) / len(true)
        self.assertLess(abs(self.said["log_loss"] - self.said["expected_log_loss"]),
                        4.0 * of_loss)
        positive = sum(labels)
        area = self.said["expected_auc"]
        # Upper bound of the standard deviation of an AUC: Hanley and McNeil's formula for the
        # smaller class alone.
        of_area = math.sqrt(area * (1.0 - area) / min(positive, len(labels) - positive))
        self.assertLess(abs(self.said["auc"] - area), 4.0 * of_area)

    def test_other_predictions_are_worse(self):
        true, labels = self.true[self.begin:], self.labels[self.begin:]
        loss = self.said["log_loss"]
        for change in (lambda z: 0.8 * z, lambda z: 1.25 * z, lambda z: z + 0.2,
                       lambda z: z - 0.2, lambda z: math.log(sum(true) / len(true))):
            changed = [1.0 / (1.0 + math.exp(-change(math.log(p / (1.0 - p)))))
                       for p in true]
            other = -sum(math.log(p if label else 1.0 - p)
                         for p, label in zip(changed, labels)) / len(true)
            self.assertGreater(other, loss)

    def test_files(self):
        self.assertEqual(json.loads(self.path.with_name("clicks.tsv.json").read_text()),
                         self.said)
        fewer = self.path.with_name("fewer.tsv.gz")
        maker.write(fewer, 1000, TEST, SEED, BITS)
        with gzip.open(fewer, "rt") as file:
            self.assertEqual(file.read().splitlines(), self.lines[:1000])
        other = self.path.with_name("other.tsv")
        maker.write(other, 1000, TEST, SEED + 1, BITS)
        self.assertNotEqual(other.read_text().splitlines(), self.lines[:1000])


if __name__ == "__main__":
    unittest.main()
