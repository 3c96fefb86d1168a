#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains GRU4Rec (Hidasi et al., ICLR 2016) on Diginetica, to predict the next item of a session.

The protocol is that of NARM (Li et al., CIKM 2017) and SR-GNN (Wu et al., AAAI 2019). Each session
gives all of its prefixes, each with its next item. P@20 is the share of prefixes whose next item is
among the twenty items with the highest scores, of all items. MRR@20 is the mean of 1 / rank of that
item, or 0 if the rank is above 20. An item ranks after all others with an equal score. In the
tables of these papers, GRU4Rec has P@20 29.45 and MRR@20 8.33.

The data are the training sessions of SR-GNN, in order of time. They do not include the test week of
that paper. So the test is the last sessions, with 60,858 prefixes, as many as the published test
has. The validation is as many prefixes before them, and the rest is for training. Items that do not
occur in training are removed from validation and test, as in the protocol. The number of epochs is
that with the best P@20 in validation, with a seed of its own. Then the program trains on everything
before the test.

There are two differences from the paper. One row is a prefix and its next item, so the rows of a
batch are independent. The loss is the softmax over the items of the batch, from whose scores the
logarithms of their shares of the training rows are subtracted. Items that are only the first of
sessions have no row for scores. If such an item is the next one, it counts as missed. Needs NumPy
for scores.
"""

import collections
import gzip
import math
import pathlib
import subprocess
import tempfile

import experiment
import pdl

WIDTH = 100
BATCH = 512
DENSE_RATE = 1.0e-3
SPARSE_RATE = 1.0e-2
DROPOUT = 0.25
TEST_PREFIXES = 60858
PLACES = 20


def read(path):
    with gzip.open(path, "rt") as lines:
        return [[int(item) for item in line.split()] for line in lines]


def split(sessions):
    """Returns all sessions except the last ones, and the last ones, which have TEST_PREFIXES
    prefixes."""
    prefixes, place = 0, len(sessions)
    while prefixes < TEST_PREFIXES:
        place -= 1
        prefixes += len(sessions[place]) - 1
    return sessions[:place], sessions[place:]


def prefixes(sessions):
    return [(session[:place], session[place]) for session in sessions
            for place in range(1, len(session))]


def only_seen(sessions, by):
    """Returns the sessions without items that are not in `by`."""
    seen = {item for session in by for item in session}
    return [[item for item in session if item in seen] for session in sessions]


def write_rows(path, rows):
    """Writes a prefix, its next item, and the logarithm of this item's share of the rows."""
    counts = collections.Counter(following for _, following in rows)
    with open(path, "w") as out:
        for items, following in rows:
            share = math.log(counts[following] / len(rows))
            out.write(f"{' '.join(map(str, items))}\t{following}\t{share:.6f}\n")


def model():
    made = pdl.Model("gru4rec")
    record = made.record("prefix")
    record.bags("items", 1, separator=" ", columns=[0])
    record.ids("next", 1, columns=[1])
    record.floats("share", 1, columns=[2])
    dense = made.group("dense", rule="adam", rate=DENSE_RATE)
    sparse = made.group("sparse", rule="adam", rate=SPARSE_RATE, untouched="lazy")
    small = pdl.init.uniform(-0.1, 0.1)
    seen = made.table("seen", WIDTH, init=small, group=sparse)
    scored = made.table("scored", WIDTH, init=small, group=sparse)

    @made.function
    def session(items):
        rows = pdl.lookup(seen, items, "none")
        states = pdl.layers.gru(pdl.dropout(rows, DROPOUT, items), items, WIDTH, "gru",
                                group=dense)
        last = pdl.flatten(pdl.segment_last(states, items), 1)
        return pdl.dropout(last, DROPOUT)

    @made.program
    def train(items, next, share):
        rows = pdl.flatten(pdl.lookup(scored, next, "sum"), 1)
        pdl.minimize(pdl.in_batch_softmax(session(items), rows, share, next), [dense, sparse])

    @made.program
    def predict(items):
        return session(items)

    return made

def figures(places):
    """Returns P@20 and MRR@20 of the ranks of the next items, both in %."""
    near = [place for place in places if place <= PLACES]
    return {"P@20": 100.0 * len(near) / len(places),
            "MRR@20": 100.0 * sum(1 / place for place in near) / len(places)}


def of_session(rows):
    """Returns the result of predicting the items of the prefix, the most frequent and latest
    first."""
    places = []
    for items, following in rows:
        counts = collections.Counter(items)
        last = {item: place for place, item in enumerate(items)}
        named = sorted(counts, key=lambda item: (counts[item], last[item]), reverse=True)
        places.append(named.index(following) + 1 if following in counts else math.inf)
    return figures(places)


def measure(program, end, path, rows):
    """Returns the result of the values in the dump `end` on the rows in `path`."""
    import numpy
    scores = path.with_suffix(".states")
    subprocess.run([program / "trainer", "predict", "--threads", "1", "--data", path,
                    "--init-from", end, "--output", scores], check=True, capture_output=True)
    states = numpy.loadtxt(scores, numpy.float32, delimiter="\t", skiprows=1)
    keys, items = experiment.table(end, "scored")
    row_of = {int(key): row for row, key in enumerate(keys)}
    places = []
    for begin in range(0, len(rows), 2000):
        products = states[begin:begin + 2000] @ items.T
        for line, (_, following) in zip(products, rows[begin:begin + 2000]):
            # An item that was never a next item in training has no row, and counts as missed.
            row = row_of.get(following)
            places.append(math.inf if row is None else int((line >= line[row]).sum()))
    return figures(places)


def main():
    given = experiment.arguments(__doc__)
    known, test = split(read(given.data / "sessions" / "diginetica_train_sessions.txt.gz"))
    fitted, validation = split(known)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = pdl.compile(model(), folder / "program", numerics="fast")

        def run(what, trained, tested, seed, epochs, *more):
            """Returns the figures after training with the flags `more`."""
            train_rows = prefixes(trained)
            test_rows = prefixes(only_seen(tested, trained))
            train_path, test_path = folder / f"{what}.train.tsv", folder / f"{what}.tsv"
            if not train_path.exists():
                write_rows(train_path, train_rows)
                write_rows(test_path, test_rows)
            end = folder / "end.safetensors"
            experiment.train(program, seed, "--data", train_path, "--batch-size", BATCH,
                             "--shuffle-window", len(train_rows), "--epochs", epochs,
                             "--dump", end, *more)
            return measure(program, end, test_path, test_rows)

        # Adds epochs as long as the result improves.
        search = []
        while len(search) < 2 or search[-1]["P@20"] > search[-2]["P@20"]:
            search.append(run("validation", fitted, validation, 9, len(search) + 1,
                              "--checkpoint", folder / "saved", "--resume"))
            experiment.report(f"validation, {len(search)} epochs", search[-1:])
        epochs = len(search) - 1
        experiment.report("items of the session", [of_session(prefixes(only_seen(test, known)))])
        runs = []
        for seed in experiment.SEEDS:
            runs.append(run("test", known, test, seed, epochs))
            experiment.report(f"seed {seed}", runs[-1:])
    experiment.report(f"test, {epochs} epochs", runs)


if __name__ == "__main__":
    main()
