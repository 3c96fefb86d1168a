#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates clicks whose best prediction is known.

  make_known_clicks.py FILE [--rows N] [--test SHARE] [--seed N] [--bits N]

Columns, separated by tabs: label, three numbers, eight ids in hexadecimal digits. FILE may end with
.gz. The rows are the same each time for the same seed and number of bits; fewer rows are the first
ones of more. Also writes FILE.json and prints it: the best possible results.

The logit of a row is a sum of terms that are drawn once for a seed. Each id has a weight; ids of a
slot follow Zipf's law, so most are rare. For three pairs of slots, each pair of their ids' classes
has a weight. Each number has a function. The label is 1 with the probability of the logit. So this
probability is the best prediction, and its log loss and AUC are the optimum. For the last rows, the
test, it is also computed separately:

  log_loss, auc                        of the true probability, against the labels that were drawn
  expected_log_loss, expected_auc      the same, over all labels that could have been drawn
  mean_log_loss                        of the share of positive labels, said of each row

Needs only the standard library. Ten million rows take one or two minutes.
"""

import argparse
import gzip
import json
import math
import operator
import pathlib
import random
from array import array
from itertools import repeat

NUMBERS = 3
# By slot: bits of the number that selects an id (at most; --bits), and the maximum number of ids.
# Probabilities are multiples of 2^-bits, so rarer ids do not occur.
SLOTS = ((16, 10), (16, 100), (16, 1000), (16, 1000), (20, 10000), (20, 20000), (20, 50000),
         (20, 100000))
EXPONENT = 1.05
# Slots whose ids' classes have a joint effect, and the number of classes of an id.
PAIRS = ((0, 1), (2, 3), (4, 6))
CLASSES = 16
BIAS = -1.6
CHUNK = 1 << 16
BUCKETS = 1 << 14


def normal(draw):
    """Returns a normal number. Uses only random(), whose numbers are the same in all versions of
    Python."""
    return math.sqrt(-2.0 * math.log(1.0 - draw.random())) * math.cos(
        2.0 * math.pi * draw.random())


class Slot:
    """The ids of a slot: for each, the number of the 2^bits numbers that select it, its text, its
    weight and its class."""

    def __init__(self, draw, number, bits, most):
        self.bits = bits
        size = 1 << bits
        # Each id has at least one number. The others are distributed by rank.
        ids = min(most, size // 4)
        shares = [(rank + 1) ** -EXPONENT for rank in range(ids)]
        scale = (size - ids) / sum(shares)
        self.counts = [1 + int(share * scale) for share in shares]
        self.counts[0] += size - sum(self.counts)
        # The factor is odd, so no two ids have the same digits.
        self.ids = [f"{rank * 0x9e3779b1 & 0xfffffff:07x}{number:x}" for rank in range(ids)]
        self.weights = [0.35 * normal(draw) for _ in range(ids)]
        self.classes = [int(draw.random() * CLASSES) for _ in range(ids)]

    def table(self, values):
        """Returns the value of the selected id among `values`, by drawn number."""
        return [value for value, count in zip(values, self.counts) for _ in range(count)]


class Truth:
    """The properties of a seed that apply to all rows."""

    def __init__(self, seed, bits):
        draw = random.Random(seed)
        self.slots = [Slot(draw, number, min(of, bits), most)
                      for number, (of, most) in enumerate(SLOTS)]
        self.weights = [slot.table(slot.weights) for slot in self.slots]
        self.texts = [slot.table(slot.ids) for slot in self.slots]
        self.pairs = []
        for first, second in PAIRS:
            self.pairs.append((
                first, second,
                self.slots[first].table([CLASSES * one for one in self.slots[first].classes]),
                self.slots[second].table(self.slots[second].classes),
                [0.5 * normal(draw) for _ in range(CLASSES * CLASSES)]))
        # Each number has 4096 values, so its function is a table too.
        self.number_texts, self.number_weights = [], []
        for form in (lambda x: 0.2 * x, lambda x: 0.4 * math.tanh(x),
                     lambda x: 0.3 * math.cos(x)):
            values = [round(2.0 * normal(draw), 3) for _ in range(4096)]
            self.number_texts.append([f"{value:g}" for value in values])
            self.number_weights.append([form(value) for value in values])


def numbers_below(draw, bits, count):
    """Returns `count` numbers of `bits` bits. getrandbits is the same in all versions of Python."""
    wide = 16 if bits <= 16 else 32
    words = array("H" if wide == 16 else "I")
    words.frombytes(draw.getrandbits(wide * count).to_bytes(wide // 8 * count, "little"))
    return [word >> (wide - bits) for word in words] if bits != wide else words


def rows(truth, seed, count):
    """Yields chunks of rows, as (lines, true probabilities, labels)."""
    draw = random.Random(f"rows {seed}")
    left = count
    while left > 0:
        # Always draws whole chunks, so that fewer rows are the first ones of more.
        drawn = [numbers_below(draw, slot.bits, CHUNK) for slot in truth.slots]
        values = [numbers_below(draw, 12, CHUNK) for _ in range(NUMBERS)]
        chances = numbers_below(draw, 32, CHUNK)
        logits = repeat(BIAS, CHUNK)
        for weights, places in zip(truth.weights, drawn):
            logits = map(operator.add, logits, map(weights.__getitem__, places))
        for weights, places in zip(truth.number_weights, values):
            logits = map(operator.add, logits, map(weights.__getitem__, places))
        for first, second, rough, fine, weights in truth.pairs:
            classes = map(operator.add, map(rough.__getitem__, drawn[first]),
                          map(fine.__getitem__, drawn[second]))
            logits = map(operator.add, logits, map(weights.__getitem__, classes))
        exp = math.exp
        true = [1.0 / (1.0 + exp(-logit)) for logit in logits]
        labels = [int(chance < p * 4294967296.0) for chance, p in zip(chances, true)]
        columns = [map(str, labels)]
        columns += [map(texts.__getitem__, places)
                    for texts, places in zip(truth.number_texts, values)]
        columns += [map(texts.__getitem__, places)
                    for texts, places in zip(truth.texts, drawn)]
        lines = list(map("\t".join, zip(*columns)))
        some = min(left, CHUNK)
        yield lines[:some], true[:some], labels[:some]
        left -= some


class Optimum:
    """Log loss and AUC of the true probabilities of rows."""

    def __init__(self):
        self.rows = self.positive = 0
        self.loss = self.expected_loss = 0.0
        # By the bucket of the probability: drawn rows of each label, expected positive rows, and
        # all rows.
        self.drawn = [[0] * BUCKETS, [0] * BUCKETS]
        self.expected = [0.0] * BUCKETS
        self.counts = [0] * BUCKETS

    def add(self, true, labels):
        log = math.log
        drawn, expected, counts = self.drawn, self.expected, self.counts
        for p, label in zip(true, labels):
            self.loss -= log(p) if label else log(1.0 - p)
            self.expected_loss -= p * log(p) + (1.0 - p) * log(1.0 - p)
            bucket = int(p * BUCKETS)
            drawn[label][bucket] += 1
            expected[bucket] += p
            counts[bucket] += 1
        self.rows += len(true)
        self.positive += sum(labels)

    @staticmethod
    def auc(negatives, positives):
        """Returns the AUC of two histograms over buckets. Rows of one bucket are ties."""
        below = right = 0.0
        for negative, positive in zip(negatives, positives):
            right += positive * (below + 0.5 * negative)
            below += negative
        pairs = below * sum(positives)
        return right / pairs if pairs else float("nan")

    def figures(self):
        missed = [count - one for count, one in zip(self.counts, self.expected)]
        share = self.positive / self.rows
        # The loss of a prediction that only knows the share of positive labels.
        mean_loss = -sum(p * math.log(p) for p in (share, 1.0 - share) if p > 0.0)
        return {"rows": self.rows, "positive": share, "mean_log_loss": mean_loss,
                "log_loss": self.loss / self.rows, "auc": self.auc(*self.drawn),
                "expected_log_loss": self.expected_loss / self.rows,
                "expected_auc": self.auc(missed, self.expected)}


def write(path, count, test=0.1, seed=1, bits=20):
    """Writes the rows and FILE.json. Returns the content of FILE.json.

    `test`: the share of rows, the last ones, whose optimum is computed. `bits`: of the numbers that
    select ids, 8 to 20. Fewer bits give fewer ids and a faster start."""
    path = pathlib.Path(path)
    truth, optimum, done = Truth(seed, bits), Optimum(), 0
    begin = count - int(count * test)
    with (gzip.open(path, "wt", compresslevel=1) if path.suffix == ".gz" else
          open(path, "w")) as file:
        for lines, true, labels in rows(truth, seed, count):
            file.write("\n".join(lines))
            file.write("\n")
            if done + len(lines) > begin:
                first = max(0, begin - done)
                optimum.add(true[first:], labels[first:])
            done += len(lines)
    said = {"seed": seed, "bits": bits, "all_rows": count, "test_begins": begin,
            **optimum.figures()}
    path.with_name(path.name + ".json").write_text(json.dumps(said, indent=1) + "\n")
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--test", type=float, default=0.1, metavar="SHARE",
                        help="the share of rows, the last ones, that FILE.json is about")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bits", type=int, default=20)
    given = parser.parse_args()
    if given.rows < 1 or not 0.0 < given.test <= 1.0 or int(given.rows * given.test) < 1:
        parser.error("--rows and --test leave no row for the test")
    if not 8 <= given.bits <= 20:
        parser.error("--bits is 8 to 20")
    print(json.dumps(write(given.file, given.rows, given.test, given.seed, given.bits),
                     indent=1))


if __name__ == "__main__":
    main()
