#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains logistic regression on the first 9,999 rows of Avazu: on 8,000 rows, tested on the next
1,999.

The features are the 21 columns after the hour, hashed with their numbers, without and with three
crosses. The number of epochs is that with the smallest log loss on rows 6,400 to 8,000 after
training on the rows before. Then the model is trained from the start on all 8,000 rows, and tested
once. Learning rate and decay were selected on the same rows (Adagrad, learning rate 0.02 of 0.01 to
0.1, decay 3e-4 of 1e-5 to 3e-2), and so were the crosses, from twelve.

If scikit-learn is installed, its logistic regression runs on the same features as one-hot columns,
with its C selected on the same rows.
"""

import csv
import gzip
import math
import pathlib
import tempfile

import avazu
import experiment
import pdl

COLUMNS = ("C1 banner_pos site_id site_domain site_category app_id app_domain app_category "
           "device_id device_ip device_model device_type device_conn_type "
           "C14 C15 C16 C17 C18 C19 C20 C21").split()
CROSSES = [("site_id", "C14"), ("site_id", "app_id", "device_conn_type"),
           ("device_ip", "device_model")]


def model(crosses):
    return avazu.logistic_regression("avazu", COLUMNS, crosses, rule="adagrad", rate=2.0e-2,
                                     decay=pdl.decay.l2(3.0e-4))


def measure(name, crosses, data, folder):
    program = pdl.compile(model(crosses), folder / "program")
    flags = ("--data", data, "--header", "--batch-size", 64, "--shuffle-window", 10000)
    search = experiment.train(program, 0, *flags, "--rows", "0:6400", "--evaluate-rows",
                              "6400:8000", "--epochs", 25)
    epochs = experiment.best(search, "log loss", least=True)
    runs = [experiment.train(program, seed, *flags, "--rows", "0:8000", "--evaluate-rows",
                             "8000:", "--epochs", epochs)[-1] for seed in experiment.SEEDS]
    experiment.report(f"PDL, {name}, {epochs} epochs", runs)


def one_hot(data, crosses):
    """Returns rows of {column=value: 1}, and labels."""
    rows, labels = [], []
    with gzip.open(data, "rt") as lines:
        for row in csv.DictReader(lines):
            labels.append(int(row["click"]))
            kinds = [(column,) for column in COLUMNS] + crosses
            rows.append({f"{'*'.join(kind)}={'*'.join(row[c] for c in kind)}": 1
                         for kind in kinds})
    return rows, labels


def measure_peer(name, crosses, data):
    try:
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.metrics import log_loss, roc_auc_score
    except ImportError:
        print("scikit-learn is not installed: no peer")
        return
    rows, labels = one_hot(data, crosses)

    def fit(c, end, test):
        columns = DictVectorizer()
        regression = LogisticRegression(C=c, max_iter=5000)
        regression.fit(columns.fit_transform(rows[:end]), labels[:end])
        p = regression.predict_proba(columns.transform(rows[test]))[:, 1]
        return {"AUC": roc_auc_score(labels[test], p), "log loss": log_loss(labels[test], p)}

    def loss(c):
        return fit(c, 6400, slice(6400, 8000))["log loss"]

    c = min((math.exp(step * math.log(10) / 4) for step in range(-8, 1)), key=loss)
    experiment.report(f"scikit-learn, {name}, C = {c:.3f}", [fit(c, 8000, slice(8000, None))])


def main():
    data = experiment.arguments(__doc__).data / "avazu" / "avazu_head9999.csv.gz"
    for name, crosses in (("columns", []), ("and crosses", CROSSES)):
        with tempfile.TemporaryDirectory() as folder:
            measure(name, crosses, data, pathlib.Path(folder))
        measure_peer(name, crosses, data)


if __name__ == "__main__":
    main()
