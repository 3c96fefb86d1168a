#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares FTRL-Proximal on clicks with Vowpal Wabbit's `--ftrl`: logistic regression on 10,000
random rows of Avazu, trained once on 8,000 in file order, tested on the next 2,000.

The features are the 21 columns after the label, hashed with their numbers. The settings are those
that were published for the contest on these data: alpha 0.1, beta 1, and l1 and l2 of 1; then the
same without l1 and l2. Vowpal Wabbit updates after each row, PDL after each batch. No setting was
selected on the results.

Vowpal Wabbit is the package `vowpalwabbit`. If it is not installed, its lines are left out.
"""

import bisect
import csv
import gzip
import math
import pathlib
import tempfile

import avazu
import experiment
import pdl

COLUMNS = ("hour C1 banner_pos site_id site_domain site_category app_id app_domain "
           "app_category device_id device_model device_type device_conn_type "
           "C14 C15 C16 C17 C18 C19 C20 C21").split()
BATCHES = (1, 16, 256, 4096)
SETTINGS = {"l1 = l2 = 1": (1.0, 1.0), "l1 = l2 = 0": (0.0, 0.0)}
ALPHA, BETA = 0.1, 1.0
TRAINED = 8000


def model(l1, l2):
    return avazu.logistic_regression("avazu_ftrl", COLUMNS, rate=ALPHA,
                                     rule=pdl.rule("ftrl", beta=BETA, l1=l1, l2=l2))


def area(scores, labels):
    """Returns the exact area under the ROC curve."""
    positives = [score for score, label in zip(scores, labels) if label]
    negatives = sorted(score for score, label in zip(scores, labels) if not label)
    right = sum(bisect.bisect_left(negatives, score) + bisect.bisect_right(negatives, score)
                for score in positives) / 2
    return right / (len(positives) * len(negatives))


def measure_peer(data, l1, l2):
    """Returns AUC and log loss of Vowpal Wabbit, or None if it is not installed."""
    try:
        import vowpalwabbit
    except ImportError:
        return None
    lines, labels = [], []
    with gzip.open(data, "rt") as rows:
        for row in csv.DictReader(rows):
            labels.append(int(row["click"]))
            lines.append(" ".join(f"|{chr(ord('a') + place)} {row[column]}"
                                  for place, column in enumerate(COLUMNS)))
    learner = vowpalwabbit.Workspace(
        f"--ftrl --ftrl_alpha {ALPHA} --ftrl_beta {BETA} --l1 {l1} --l2 {l2} "
        "--loss_function logistic --link logistic --bit_precision 22 --quiet")
    for label, line in zip(labels[:TRAINED], lines):
        learner.learn(f"{2 * label - 1} {line}")
    scores = [learner.predict(line) for line in lines[TRAINED:]]
    learner.finish()
    labels = labels[TRAINED:]
    loss = -sum(math.log(p if y else 1 - p) for p, y in zip(scores, labels)) / len(labels)
    return area(scores, labels), loss


def main():
    data = experiment.arguments(__doc__).data / "avazu" / "avazu_random_10000.csv.gz"
    print("| settings | program | batch | AUC | log loss |\n|---|---|---|---|---|")
    for name, (l1, l2) in SETTINGS.items():
        peer = measure_peer(data, l1, l2)
        if peer:
            print(f"| {name} | Vowpal Wabbit --ftrl | 1 | {peer[0]:.4f} | {peer[1]:.4f} |")
        with tempfile.TemporaryDirectory() as folder:
            program = pdl.compile(model(l1, l2), pathlib.Path(folder) / "program")
            for batch in BATCHES:
                test, = experiment.train(program, 0, "--data", data, "--header",
                                         "--batch-size", batch, "--rows", f"0:{TRAINED}",
                                         "--evaluate-rows", f"{TRAINED}:")
                print(f"| {name} | PDL @ftrl | {batch} | {test['AUC']:.4f} | "
                      f"{test['log loss']:.4f} |", flush=True)


if __name__ == "__main__":
    main()
