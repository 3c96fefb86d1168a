#===- reference_models.py - The reference models in PyTorch --*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""The models of models/*.mlir, stated once more in NumPy and PyTorch.

A model says which symbols it owns, how fields become ids (`ids`), and how
looked-up rows become a logit (`logit`). `reference_training.py` does the rest.
"""

from dataclasses import dataclass, field

import numpy
import torch

from hashing import bucketize, cross


@dataclass
class Symbol:
    """A parameter (`shape`) or a table (`shape` is that of a row)."""
    shape: tuple
    group: str
    init: tuple  # ("zeros",), ("uniform", low, high), ("xavier",)
    is_table: bool = False


@dataclass
class Group:
    rule: str
    rate: float
    hyper: dict = field(default_factory=dict)
    l2: float = 0.0
    clip: float = 0.0  # joint over all groups with the same limit; 0: none


def sigmoid_cross_entropy(logits, labels):
    """Per sample. PyTorch's own knows that the gradient at logit 0 is 0.5 - y,
    which its automatic gradient of the formula does not."""
    return torch.nn.functional.binary_cross_entropy_with_logits(
        logits, labels, reduction="none")


def bucket_ids(numbers, column, boundaries, salt):
    """The bucket of one column of numbers, re-hashed to keep features apart."""
    return cross([bucketize(numbers[:, column:column + 1], boundaries)], salt)


GAINS = [1, 3000, 4000, 5000, 6500, 7000, 10000, 14000]
LOSSES = [1, 1500, 1600, 1800, 1900, 2000, 2200, 2400]
HOURS = [20, 30, 36, 40, 41, 46, 50, 56, 60]


class LogisticRegression:
    """models/logistic_regression: buckets and crosses of Adult."""
    name = "logistic_regression"
    data = "adult"
    batch_size = 256
    epochs = 4
    symbols = {
        "weights": Symbol((1,), "linear", ("zeros",), is_table=True),
        "bias": Symbol((1,), "linear", ("zeros",)),
    }
    groups = {"linear": Group("adagrad", 0.1)}

    AGES = [20, 23, 26, 30, 35, 40, 45, 50, 55, 60, 65]
    YEARS = [5, 8, 9, 10, 11, 12, 13, 14, 15]

    def ids(self, fields):
        numbers, categories = fields["numbers"], fields["categories"]
        age = bucket_ids(numbers, 0, self.AGES, 100)
        years = bucket_ids(numbers, 1, self.YEARS, 101)
        gain = bucket_ids(numbers, 2, GAINS, 102)
        loss = bucket_ids(numbers, 3, LOSSES, 103)
        hours = bucket_ids(numbers, 4, HOURS, 104)
        workclass, education, marital, occupation, relationship = (
            categories[:, slot:slot + 1] for slot in range(5))
        return {"weights": [numpy.concatenate([
            categories, age, years, gain, loss, hours,
            cross([education, occupation], 110),
            cross([age, education, occupation], 111),
            cross([relationship, age], 112),
            cross([marital, education], 113),
            cross([occupation, hours], 114),
            cross([workclass, occupation], 115)], axis=1)]}

    def logit(self, fields, pooled, parameters):
        return pooled["weights"][0].sum(dim=1) + parameters["bias"]


class WideDeep:
    """models/wide_deep: Adult, Adagrad on the wide part, Adam on the deep."""
    name = "wide_deep"
    data = "adult"
    batch_size = 256
    epochs = 4
    symbols = {
        "wide_weights": Symbol((1,), "wide", ("zeros",), is_table=True),
        "embedding": Symbol((8,), "deep", ("uniform", -0.05, 0.05), is_table=True),
        "w1": Symbol((101, 100), "deep", ("xavier",)),
        "b1": Symbol((100,), "deep", ("zeros",)),
        "w2": Symbol((100, 50), "deep", ("xavier",)),
        "b2": Symbol((50,), "deep", ("zeros",)),
        "w3": Symbol((50, 1), "deep", ("xavier",)),
        "b3": Symbol((1,), "deep", ("zeros",)),
    }
    groups = {"wide": Group("adagrad", 0.05), "deep": Group("adam", 1e-3)}

    AGES = [18, 25, 30, 35, 40, 45, 50, 55, 60, 65]
    MEAN = [38.6, 10.1, 0.73, 0.36, 40.4]
    DEVIATION = [13.6, 2.57, 2.5, 1.6, 12.3]

    def ids(self, fields):
        numbers, categories = fields["numbers"], fields["categories"]
        age = bucket_ids(numbers, 0, self.AGES, 100)
        gain = bucket_ids(numbers, 2, GAINS, 101)
        loss = bucket_ids(numbers, 3, LOSSES, 102)
        hours = bucket_ids(numbers, 4, HOURS, 103)
        education, occupation, country = (
            categories[:, slot:slot + 1] for slot in (1, 3, 7))
        ids = numpy.concatenate([categories, age, gain, loss, hours], axis=1)
        wide = numpy.concatenate([
            ids, cross([education, occupation], 110),
            cross([age, education, occupation], 111),
            cross([country, occupation], 112)], axis=1)
        return {"wide_weights": [wide], "embedding": [ids]}

    def logit(self, fields, pooled, parameters):
        p = parameters
        numbers = fields["numbers"]
        capital = numbers[:, 2:4]
        tamed = torch.sign(capital) * torch.log1p(torch.abs(capital))
        raw = torch.cat([numbers[:, :2], tamed, numbers[:, 4:]], dim=1)
        standard = ((raw - torch.tensor(self.MEAN, dtype=raw.dtype)) /
                    torch.tensor(self.DEVIATION, dtype=raw.dtype))
        x = torch.cat([pooled["embedding"][0].flatten(1), standard], dim=1)
        h = torch.relu(x @ p["w1"] + p["b1"])
        h = torch.relu(h @ p["w2"] + p["b2"])
        deep = h @ p["w3"] + p["b3"]
        return deep + pooled["wide_weights"][0].sum(dim=1)


class CtrDnn:
    """models/ctr_dnn: Criteo, 26 slots of dimension 10, three layers of 400."""
    name = "ctr_dnn"
    data = "criteo"
    batch_size = 128
    epochs = 2
    symbols = {
        "emb": Symbol((10,), "sparse", ("uniform", -0.01, 0.01), is_table=True),
        "w1": Symbol((273, 400), "dense", ("xavier",)),
        "b1": Symbol((400,), "dense", ("zeros",)),
        "w2": Symbol((400, 400), "dense", ("xavier",)),
        "b2": Symbol((400,), "dense", ("zeros",)),
        "w3": Symbol((400, 400), "dense", ("xavier",)),
        "b3": Symbol((400,), "dense", ("zeros",)),
        "w4": Symbol((400, 1), "dense", ("xavier",)),
        "b4": Symbol((1,), "dense", ("zeros",)),
    }
    groups = {"dense": Group("adam", 1e-3, l2=1e-6, clip=10.0),
              "sparse": Group("adam", 1e-3)}

    def ids(self, f):
        return {"emb": [f["categories"]]}

    def logit(self, fields, pooled, parameters):
        p = parameters
        numbers = fields["numbers"]
        numbers = torch.sign(numbers) * torch.log1p(torch.abs(numbers))
        x = torch.cat([pooled["emb"][0].reshape(len(numbers), -1), numbers], dim=1)
        for layer in "123":
            x = torch.relu(x @ p["w" + layer] + p["b" + layer])
        return x @ p["w4"] + p["b4"]


MODELS = {model.name: model for model in (LogisticRegression, WideDeep, CtrDnn)}
