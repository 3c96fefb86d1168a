#===- reference_data.py - Fields of the reference models -----*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Reads Adult, Criteo, synthetic histories and texts into fields, as the models' records declare
them.

A field is a NumPy array [rows, width] (float64, or int64 keys) or, for bags, a pair (values int64
[ids], splits int64 [rows * slots + 1])."""

import gzip

import numpy

import draws
import hashing

# Columns of the two fields, in the order of the models' records.
ADULT_NUMBERS = [0, 4, 10, 11, 12]
ADULT_CATEGORIES = [1, 3, 5, 6, 7, 8, 9, 13]
ADULT_LABELS = {"<=50K": 0.0, ">50K": 1.0}
# Labels of tasks other than income, derived from the marital status.
ADULT_MARITAL = 5
ADULT_SINGLE = {"Never-married"}
ADULT_SPOUSE = {"Married-civ-spouse", "Married-AF-spouse"}
CRITEO_NUMBERS = 13
CRITEO_SLOTS = 26


def _open(path):
    return gzip.open(path, "rt") if str(path).endswith(".gz") else open(path)


def read_adult(path, id_columns):
    """Returns all rows of Adult. `id_columns`: the columns of each field of ids. A missing text
    ("?") has its own key."""
    with _open(path) as lines:
        rows = [[cell.strip() for cell in line.split(",")] for line in lines
                if line.strip()]
    fields = {name: numpy.stack([
        hashing.hash_texts([row[column] for row in rows], slot)
        for slot, column in enumerate(columns)], axis=1)
        for name, columns in id_columns.items()}
    fields["numbers"] = numpy.array([[float(row[column]) for column in ADULT_NUMBERS]
                                     for row in rows])
    fields["label"] = numpy.array([[ADULT_LABELS[row[14]]] for row in rows])
    for name, texts in (("single", ADULT_SINGLE), ("spouse", ADULT_SPOUSE)):
        fields[name] = numpy.array([[float(row[ADULT_MARITAL] in texts)]
                                    for row in rows])
    return fields


def read_criteo(path):
    """Returns all rows of a Criteo Kaggle file. A missing number is 0, and a missing category is
    an empty bag."""
    labels, numbers, keys, splits = [], [], [], [0]
    with _open(path) as lines:
        for line in lines:
            cells = line.rstrip("\n").split("\t")
            labels.append([float(cells[0])])
            numbers.append([float(cell) if cell.strip() else 0.0
                            for cell in cells[1:1 + CRITEO_NUMBERS]])
            for slot, cell in enumerate(cells[1 + CRITEO_NUMBERS:]):
                if cell.strip():
                    keys.append(hashing.hash_text(cell, slot))
                splits.append(len(keys))
    return {"label": numpy.array(labels), "numbers": numpy.array(numbers),
            "categories": (numpy.array(keys, dtype=numpy.int64),
                           numpy.array(splits, dtype=numpy.int64))}


def as_key_bags(texts):
    """Returns bags of the decimal numbers in each text."""
    bags = [[int(cell) for cell in text.split()] for text in texts]
    return (numpy.array([key for bag in bags for key in bag], dtype=numpy.int64),
            numpy.cumsum([0] + [len(bag) for bag in bags]))


def read_histories(path):
    """Returns all rows of a file of scripts/make_histories.py."""
    with _open(path) as lines:
        columns = list(zip(*(line.rstrip("\n").split("\t") for line in lines)))
    names = ["label", "item", "category", "items", "categories", "next",
             "next_category", "other", "other_category"]
    fields = {name: as_key_bags(column) if name in ("items", "categories")
              else numpy.array(column, dtype=numpy.int64)[:, None]
              for name, column in zip(names, columns, strict=True)}
    fields["label"] = fields["label"].astype(numpy.float64)
    # This field is compared with values of other samples in a batch.
    fields["next_number"] = fields["next"].astype(numpy.float64)
    return fields


def read_pairs(path, count, words):
    """Returns all rows of a file of scripts/make_pairs.py. Each row also has the `count` words,
    out of `words`, that a training program draws for it in the first epoch."""
    with _open(path) as lines:
        pairs = numpy.array([line.split("\t") for line in lines], dtype=numpy.int64)
    drawn = numpy.array([draws.ids("log_uniform", 0, words, "train", 0, row, count)
                         for row in range(len(pairs))], dtype=numpy.int64)
    return {"word": pairs[:, :1], "neighbor": pairs[:, 1:], "drawn": drawn,
            "hits": (drawn == pairs[:, 1:]) * 1.0, "label": numpy.ones((len(pairs), 1))}


def read_texts(path):
    """Returns all rows of a file of scripts/make_texts.py."""
    with _open(path) as lines:
        words, *tags = zip(*(line.rstrip("\n").split("\t") for line in lines))
    tag, other = (numpy.array(column, dtype=numpy.int64)[:, None] for column in tags)
    # All rows have the same weight. The label is only used to count them.
    return {"words": as_key_bags(words), "tag": tag, "other": other,
            "label": numpy.ones((len(words), 1))}


def noise(program, rows, width):
    """Returns the numbers that a program of models/gan draws for each of `rows` rows in the first
    epoch."""
    return numpy.array([draws.ids("uniform", -1024, 1025, program, 0, row, width)
                        for row in range(rows)]) / 1024


def slice_rows(fields, begin, end):
    """Returns the rows [begin, end) of each field."""
    sliced = {}
    for name, field in fields.items():
        if isinstance(field, tuple):
            values, splits = field
            slots = (len(splits) - 1) // len(fields["label"])
            part = splits[begin * slots:end * slots + 1]
            sliced[name] = (values[part[0]:part[-1]], part - part[0])
        else:
            sliced[name] = field[begin:end]
    return sliced


def take_rows(fields, order):
    """Returns the rows of each field in the order of the index array `order`."""
    taken = {}
    for name, field in fields.items():
        if isinstance(field, tuple):
            values, splits = field
            slots = (len(splits) - 1) // len(fields["label"])
            bags = (order[:, None] * slots + numpy.arange(slots)).reshape(-1)
            sizes = splits[bags + 1] - splits[bags]
            new_splits = numpy.concatenate([[0], numpy.cumsum(sizes)])
            index = numpy.repeat(splits[bags] - new_splits[:-1], sizes)
            taken[name] = (values[index + numpy.arange(new_splits[-1])], new_splits)
        else:
            taken[name] = field[order]
    return taken
