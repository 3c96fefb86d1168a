#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains SASRec (Kang and McAuley, ICDM 2018) on MovieLens-1M, to predict the next film.

The protocol is that of the paper. The last film of each user is the test, the film before it is the
validation, and the others are for training. The last film is ranked with 100 others that the user
has not seen, which are drawn with equal probabilities. HR@10 is the share of users whose film is
among the ten with the highest scores; it ranks after all films with an equal score. Ranking by
popularity has HR@10 0.458.

The data do not include the very last event of each user, so "last" means the event before it. The
model has two blocks of width 50 with one head. It reads the last 50 films; the paper's
implementation reads 200, so here users with more films give several windows. There is no dropout.
Adam has the learning rate 0.001, with batches of 128 windows. An epoch is four draws of windows and
negative films. The number of epochs is that with the best NDCG@10 in validation, with a seed of its
own. A run takes about a quarter of an hour on one core.
"""

import gzip
import pathlib
import random
import tempfile

import experiment
import pdl

LENGTH = 50
WIDTH = 50
BLOCKS = 2
OTHERS = 100
DRAWINGS = 4


def read(data):
    """Returns the films of each user in order of time, numbered from 1, and their number."""
    with gzip.open(data, "rt") as lines:
        users = [[int(film) for film in line.split()[1:]] for line in lines]
    number = {film: place for place, film in
              enumerate(sorted({film for films in users for film in films}), 1)}
    return [[number[film] for film in films] for films in users], len(number)


def draw(chance, films, besides):
    while (film := chance.randint(1, films)) in besides:
        pass
    return film


def padded(numbers):
    return [0] * (LENGTH - len(numbers)) + numbers


def line(*parts):
    return "\t".join(str(number) for part in parts for number in part) + "\n"


def write_windows(path, users, films):
    """Writes films, whether each exists, the next films, and as many that the user never saw."""
    chance = random.Random(7)
    with open(path, "w") as out:
        for drawing in range(DRAWINGS):
            rows = []
            for user in users:
                end = len(user) - 2
                if end < 2:
                    continue
                if drawing:
                    end -= chance.randrange(min(LENGTH, end - 1))
                seen = set(user)
                while end >= 2:
                    window = user[max(0, end - LENGTH - 1):end]
                    negatives = [draw(chance, films, seen) for _ in window[1:]]
                    rows.append(line(padded(window[:-1]), padded([1] * len(negatives)),
                                     padded(window[1:]), padded(negatives)))
                    end -= LENGTH
            chance.shuffle(rows)
            out.writelines(rows)


def write_candidates(path, users, films, left_out):
    """Writes the films before one that is left out, counted from the end, and the candidates."""
    chance = random.Random(11)
    with open(path, "w") as out:
        for user in users:
            if len(user) < 4:
                continue
            history = user[:-left_out][-LENGTH:]
            besides, candidates = set(user), []
            for _ in range(OTHERS):
                candidates.append(draw(chance, films, besides))
                besides.add(candidates[-1])
            out.write(line(padded(history), padded([1] * len(history)), padded([]),
                           padded([]), [*candidates, user[-left_out]]))


def model():
    made = pdl.Model("sasrec")
    record = made.record("window")
    begin = 0
    for name, width, add in (("films", LENGTH, record.ids), ("mask", LENGTH, record.floats),
                             ("next", LENGTH, record.ids), ("negatives", LENGTH, record.ids),
                             ("candidates", OTHERS + 1, record.ids)):
        add(name, width, columns=range(begin, begin + width))
        begin += width
    adam = pdl.rule("adam", beta2=0.98)
    dense = made.group("dense", rule=adam, rate=1.0e-3)
    sparse = made.group("sparse", rule=adam, rate=1.0e-3, untouched="lazy")
    small = pdl.init.normal(0.0, 0.02)
    rows = made.table("film", WIDTH, init=small, group=sparse)
    places = made.param("places", (LENGTH, WIDTH), init=small, group=dense)
    hits = made.metric("hits", pdl.metrics.recall_at(10))
    ndcg = made.metric("ndcg", pdl.metrics.ndcg_at(10))

    def norm(x, name):
        scale = made.param(f"{name}.scale", (WIDTH,), init=pdl.init.constant(1.0), group=dense)
        shift = made.param(f"{name}.shift", (WIDTH,), init=pdl.init.zeros(), group=dense)
        return pdl.layer_norm(x, scale, shift, 1.0e-8)

    def layer(x, name, activation=None):
        return pdl.layers.dense(x, WIDTH, name, group=dense, activation=activation)

    @made.function
    def encode(films, mask):
        there = pdl.reshape(mask, (None, LENGTH, 1))
        x = (pdl.lookup(rows, films, "sum") * WIDTH ** 0.5 + places) * there
        # Positions after the current one have no weight.
        before = pdl.constant([[0.0 if other <= place else -1.0e9 for other in range(LENGTH)]
                               for place in range(LENGTH)])
        for block in range(1, BLOCKS + 1):
            query = norm(x, f"norm{block}")
            scores = pdl.matmul(layer(query, f"query{block}"), layer(x, f"key{block}"),
                                transpose_rhs=True)
            weights = pdl.softmax(scores * WIDTH ** -0.5 + before, 2)
            attended = query + weights @ layer(x, f"value{block}")
            y = norm(attended, f"inner_norm{block}")
            hidden = layer(y, f"first{block}", "relu")
            x = (layer(hidden, f"second{block}") + y) * there
        return norm(x, "last_norm")

    def score(users, films):
        return pdl.reduce("sum", users * pdl.lookup(rows, films, "sum"), [2])

    @made.program
    def train(films, mask, next, negatives):
        users = encode(films, mask)
        losses = pdl.softplus(-score(users, next)) + pdl.softplus(score(users, negatives))
        count = pdl.reduce("sum", mask, [1], keep=True)
        mean = pdl.reduce("sum", losses * mask, [1], keep=True) / count
        pdl.minimize(mean, [dense, sparse], weights=count)

    @made.program
    def evaluate(films, mask, candidates):
        users = encode(films, mask)
        scores = score(users[:, LENGTH - 1:], candidates)
        last = pdl.constant([0.0] * OTHERS + [1.0])
        labels = pdl.broadcast(last, (None, OTHERS + 1), scores)
        pdl.observe(hits, scores, labels)
        pdl.observe(ndcg, scores, labels)

    return made


def main():
    given = experiment.arguments(__doc__)
    users, films = read(given.data / "movielens-1m" / "sequences_train.txt.gz")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_windows(folder / "train.tsv", users, films)
        write_candidates(folder / "validation.tsv", users, films, 2)
        write_candidates(folder / "test.tsv", users, films, 1)
        program = pdl.compile(model(), folder / "program", numerics="fast")
        flags = ("--data", folder / "train.tsv", "--batch-size", 128)
        search = experiment.train(program, 0, *flags, "--epochs", 8,
                                  "--evaluate-data", folder / "validation.tsv")
        epochs = experiment.best(search, "NDCG@10", least=False)
        experiment.report(f"validation, {epochs} epochs", [search[epochs - 1]])
        runs = [experiment.train(program, seed, *flags, "--epochs", epochs,
                                 "--evaluate-data", folder / "test.tsv")[-1]
                for seed in experiment.SEEDS]
    experiment.report("test", runs)


if __name__ == "__main__":
    main()
