# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fields of the samples of all random models, and the data of a seed."""

import array
import random

import tensorfile

from smith.recipe import BAGS, IDS, NUMBERS, RAGGED, SAMPLES

SAMPLES_OF_A_SEED = 33
FLOAT_FIELDS = {"x": 6, "y": 4, "z": 1}
ID_FIELDS = {"ids": 2, "item": 1}
SHARES = "shares"  # A number for each id of "bags" and "more".
# Fields, from which steps start, and their kinds.
FIELDS = {**dict.fromkeys(FLOAT_FIELDS, SAMPLES), **dict.fromkeys(ID_FIELDS, IDS),
          **dict.fromkeys(BAGS, RAGGED), SHARES: NUMBERS}
SLOTS = 2
SOME_IDS = (-1, 0, 1, 2, 5, 2 ** 62)


def declare(model):
    """Declares the record."""
    record = model.record("sample")
    record.floats("label", 1)
    for name, width in FLOAT_FIELDS.items():
        record.floats(name, width)
    for name, width in ID_FIELDS.items():
        record.ids(name, width)
    for name in BAGS:
        record.bags(name, SLOTS)
    record.float_bags(SHARES, SLOTS)


def data_of(seed):
    """Returns the tensors of the fields."""
    r = random.Random(f"data {seed}")
    count = SAMPLES_OF_A_SEED
    data = {"label": tensorfile.Tensor("F32", [count, 1], array.array(
        "f", [r.randint(0, 1) for _ in range(count)]))}
    for name, width in FLOAT_FIELDS.items():
        data[name] = tensorfile.Tensor("F32", [count, width], array.array(
            "f", [r.choice((r.uniform(-2, 2), r.uniform(-2, 2), 0.0))
                  for _ in range(count * width)]))
    for name, width in ID_FIELDS.items():
        data[name] = tensorfile.Tensor("I64", [count, width], array.array(
            "q", [r.choice(SOME_IDS) for _ in range(width * count)]))
    splits = None
    for name in BAGS:
        if name != "more":
            splits = [0]
            for _ in range(SLOTS * count):
                splits.append(splits[-1] + r.choice((0, 1, 1, 2, 3, 5)))
        data[f"{name}.values"] = tensorfile.Tensor("I64", [splits[-1]], array.array(
            "q", [r.choice(SOME_IDS) for _ in range(splits[-1])]))
        data[f"{name}.splits"] = tensorfile.Tensor("I32", [len(splits)],
                                                   array.array("i", splits))
        if name == "more":
            data[f"{SHARES}.values"] = tensorfile.Tensor("F32", [splits[-1]], array.array(
                "f", [r.choice((r.uniform(-1, 1), 0.0)) for _ in range(splits[-1])]))
            data[f"{SHARES}.splits"] = data["more.splits"]
    return data
