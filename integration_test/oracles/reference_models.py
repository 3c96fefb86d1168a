#===- reference_models.py - The reference models in PyTorch --*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""The models of models/*.mlir, written again with NumPy and PyTorch.

A model defines its symbols, the computation of ids from fields (`ids`), and the computation of a
logit from looked-up rows (`logit`), or, with several tasks, that of losses and probabilities
(`losses`, `predictions`). `reference_training.py` does the rest."""

import itertools
from dataclasses import dataclass, field

import numpy
import torch

import reference_data
from hashing import bucketize, cross


@dataclass
class Symbol:
    """Parameter with the shape `shape`, or table whose rows have the shape `shape`."""
    shape: tuple
    group: str
    init: tuple  # ("zeros",), ("constant", value), ("uniform", low, high), ("xavier",)
    is_table: bool = False


@dataclass
class Group:
    rule: str
    rate: float
    hyper: dict = field(default_factory=dict)
    l2: float = 0.0
    clip: float = 0.0  # joint over all groups with the same limit; 0: none


def sigmoid_cross_entropy(logits, labels):
    """Returns the loss of each sample. PyTorch's own function has the correct gradient 0.5 - y at
    logit 0. The automatic gradient of the formula does not."""
    return torch.nn.functional.binary_cross_entropy_with_logits(
        logits, labels, reduction="none")


def bucket_ids(numbers, column, boundaries, salt):
    """Returns the bucket of one column of numbers, hashed so that features have different ids."""
    return cross([bucketize(numbers[:, column:column + 1], boundaries)], salt)


GAINS = [1, 3000, 4000, 5000, 6500, 7000, 10000, 14000]
LOSSES = [1, 1500, 1600, 1800, 1900, 2000, 2200, 2400]
HOURS = [20, 30, 36, 40, 41, 46, 50, 56, 60]


class Model:
    """Common base of the models: one logit, and log loss.

    `fields` and `pooled` are tensors: floats, and for each lookup of a table its rows [batch,
    slots, width], summed within each bag. Each lookup in `sequences`, (table, index), has one row
    for each id instead: [batch, longest, width], with zeros after the end of a bag, and the sizes
    of the bags [batch, 1]."""
    sequences = ()
    # Values that the last forward pass in training has for states, by name.
    accumulated = {}
    # Only for programs that run in turns. `turns`: the group that the program of each step of a
    # cycle trains. `turn`: the group of the step whose loss is computed.
    turns, turn = (), None
    # The programs that draw noise, and the number of random numbers for a sample.
    noise = {}
    # Columns of Adult for each field of ids. The hash of a text depends on its slot.
    id_columns = {"categories": reference_data.ADULT_CATEGORIES}

    def trained(self, ids):
        """Returns the lookups that are used in training. Tests use all lookups."""
        return ids

    def losses(self, fields, pooled, parameters):
        """Returns the loss of each sample, which a step minimizes."""
        return sigmoid_cross_entropy(self.logit(fields, pooled, parameters),
                                     fields["label"])

    def predictions(self, fields, pooled, parameters):
        """Returns {name: (probabilities, labels, which samples count)}. The last is None if all
        samples count."""
        logit = self.logit(fields, pooled, parameters)
        return {"AUC": (torch.sigmoid(logit), fields["label"], None)}

    def figures(self, fields, parameters):
        """Returns {name: number} with quality measures other than AUC."""
        return {}


class LogisticRegression(Model):
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


class WideDeep(Model):
    """models/wide_deep: Adult, with Adagrad for the wide part and Adam for the deep part."""
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


class CtrDnn(Model):
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


STANDARD_MEAN = [3.62, 2.37, 0.73, 0.35, 3.67]
STANDARD_DEVIATION = [0.35, 0.27, 2.46, 1.59, 0.39]


def standard_of_tamed(tamed):
    mean = torch.tensor(STANDARD_MEAN, dtype=tamed.dtype)
    deviation = torch.tensor(STANDARD_DEVIATION, dtype=tamed.dtype)
    return (tamed - mean) / deviation


def standard(numbers):
    """Returns Adult's numbers in the form that the models below use: with a logarithmic scale, and
    standardized."""
    return standard_of_tamed(torch.sign(numbers) * torch.log1p(torch.abs(numbers)))


def layers(x, parameters, names, last_is_linear=True):
    """Computes one layer after the other for each (weight, bias); bias may be None. There is a
    relu between layers, and after the last layer if it is not linear."""
    for i, (weight, bias) in enumerate(names):
        x = x @ parameters[weight]
        if bias:
            x = x + parameters[bias]
        if i + 1 < len(names) or not last_is_linear:
            x = torch.relu(x)
    return x


def layer_symbols(group, names, sizes):
    """Returns the symbols of these layers."""
    symbols = {}
    for (weight, bias), shape in zip(names, zip(sizes, sizes[1:])):
        symbols[weight] = Symbol(shape, group, ("xavier",))
        if bias:
            symbols[bias] = Symbol(shape[1:], group, ("zeros",))
    return symbols


SMALL = ("uniform", -0.05, 0.05)
DENSE_SPARSE = {"dense": Group("adam", 3e-3), "sparse": Group("adam", 3e-3)}
THREE_LAYERS = [("w1", "b1"), ("w2", "b2"), ("w3", "b3")]


class AdultModel(Model):
    """Common base of the models below: Adult, four epochs."""
    data = "adult"
    batch_size = 256
    epochs = 4


class FactorizationMachine(AdultModel):
    """models/fm: here the pairs are added one by one, not computed from the square of the sum."""
    name = "fm"
    symbols = {
        "weights": Symbol((1,), "all", ("zeros",), is_table=True),
        "factors": Symbol((8,), "all", SMALL, is_table=True),
        "number_weights": Symbol((5, 1), "all", ("zeros",)),
        "number_factors": Symbol((5, 8), "all", SMALL),
        "bias": Symbol((1,), "all", ("zeros",)),
    }
    groups = {"all": Group("adagrad", 0.05)}

    def ids(self, fields):
        return {"weights": [fields["categories"]], "factors": [fields["categories"]]}

    def vectors(self, x, pooled, parameters):
        scaled = x[:, :, None] * parameters["number_factors"]
        return torch.cat([pooled["factors"][0], scaled], dim=1)

    def logit(self, fields, pooled, parameters):
        x = standard(fields["numbers"])
        logit = (pooled["weights"][0].sum(dim=1) + x @ parameters["number_weights"] +
                 parameters["bias"])
        vectors = self.vectors(x, pooled, parameters)
        count = vectors.shape[1]
        for i in range(count):
            for j in range(i + 1, count):
                logit = logit + (vectors[:, i] * vectors[:, j]).sum(dim=1, keepdim=True)
        return logit


class DeepFm(FactorizationMachine):
    """models/deepfm."""
    name = "deepfm"
    LAYERS = [("w1", "b1"), ("w2", "b2"), ("w3", None)]
    symbols = {
        "weights": Symbol((1,), "sparse", ("zeros",), is_table=True),
        "factors": Symbol((8,), "sparse", SMALL, is_table=True),
        "number_weights": Symbol((5, 1), "dense", ("zeros",)),
        "number_factors": Symbol((5, 8), "dense", SMALL),
        "bias": Symbol((1,), "dense", ("zeros",)),
        **layer_symbols("dense", LAYERS, [104, 64, 32, 1]),
    }
    groups = DENSE_SPARSE

    def logit(self, fields, pooled, parameters):
        vectors = self.vectors(standard(fields["numbers"]), pooled, parameters)
        return (super().logit(fields, pooled, parameters) +
                layers(vectors.flatten(1), parameters, self.LAYERS))


class NeuralFactorizationMachine(FactorizationMachine):
    """models/nfm."""
    name = "nfm"
    LAYERS = [("w2", "b2"), ("w3", None)]
    symbols = {
        "weights": Symbol((1,), "sparse", ("zeros",), is_table=True),
        "factors": Symbol((8,), "sparse", SMALL, is_table=True),
        "number_weights": Symbol((5, 1), "dense", ("zeros",)),
        "number_factors": Symbol((5, 8), "dense", SMALL),
        "bias": Symbol((1,), "dense", ("zeros",)),
        **layer_symbols("dense", [("w1", None)], [8, 64]),
        **layer_symbols("dense", LAYERS, [64, 32, 1]),
        **{f"{name}_{part}": Symbol((width,), group, init)
           for name, width in (("pairs", 8), ("hidden", 64))
           for part, group, init in (("mean", "seen", ("zeros",)),
                                     ("variance", "seen", ("constant", 1.0)),
                                     ("scale", "dense", ("constant", 1.0)),
                                     ("shift", "dense", ("zeros",)))},
    }
    groups = {**DENSE_SPARSE, "seen": Group("moving_average", 0.1)}

    def __init__(self):
        self.accumulated = {}

    def batch_norm(self, x, parameters, name):
        mean, variance, scale, shift = (parameters[f"{name}_{part}"] for part in (
            "mean", "variance", "scale", "shift"))
        if torch.is_grad_enabled():
            self.accumulated[f"{name}_mean"] = x.detach().mean(dim=0)
            self.accumulated[f"{name}_variance"] = x.detach().var(dim=0, correction=0)
            return torch.nn.functional.batch_norm(x, None, None, scale, shift,
                                                  training=True)
        return torch.nn.functional.batch_norm(x, mean, variance, scale, shift)

    def logit(self, fields, pooled, parameters):
        p = parameters
        x = standard(fields["numbers"])
        vectors = self.vectors(x, pooled, p)
        row, column = torch.tril_indices(13, 13, offset=-1)
        pairs = (vectors[:, row] * vectors[:, column]).sum(dim=1)
        hidden = self.batch_norm(self.batch_norm(pairs, p, "pairs") @ p["w1"], p, "hidden")
        return (pooled["weights"][0].sum(dim=1) + x @ p["number_weights"] + p["bias"] +
                layers(torch.relu(hidden), p, self.LAYERS))


class FieldAwareFactorizationMachine(AdultModel):
    """models/ffm."""
    name = "ffm"
    PAIRS = list(itertools.combinations([0, 1, 3, 5, 6, 7, 10, 12], 2))
    id_columns = {"features": [0, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13],
                  "pairs": [a for a, _ in PAIRS] + [b for _, b in PAIRS]}
    symbols = {
        "weights": Symbol((1,), "first", ("zeros",), is_table=True),
        "factors": Symbol((4,), "second", ("uniform", -0.1, 0.1), is_table=True),
        "bias": Symbol((1,), "first", ("zeros",)),
    }
    groups = {"first": Group("adagrad", 0.05),
              "second": Group("adagrad", 0.05, l2=2e-5)}

    def ids(self, fields):
        return {"weights": [fields["features"]], "factors": [fields["pairs"]]}

    def logit(self, fields, pooled, parameters):
        factors, pairs = pooled["factors"][0], len(self.PAIRS)
        logit = pooled["weights"][0].sum(dim=1) + parameters["bias"]
        return logit + torch.einsum("bpk,bpk->b", factors[:, :pairs],
                                    factors[:, pairs:])[:, None]


class DeepCross(AdultModel):
    """models/dcn."""
    name = "dcn"
    symbols = {
        "embedding": Symbol((4,), "sparse", SMALL, is_table=True),
        **{f"cross_w{layer}": Symbol((37, 1), "dense", ("xavier",))
           for layer in (1, 2, 3)},
        **{f"cross_b{layer}": Symbol((37,), "dense", ("zeros",))
           for layer in (1, 2, 3)},
        **layer_symbols("dense", THREE_LAYERS[:2], [37, 64, 32]),
        **layer_symbols("dense", THREE_LAYERS[2:], [69, 1]),
    }
    groups = DENSE_SPARSE

    def ids(self, fields):
        return {"embedding": [fields["categories"]]}

    def input(self, fields, pooled):
        return torch.cat([pooled["embedding"][0].flatten(1),
                          standard(fields["numbers"])], dim=1)

    def logit(self, fields, pooled, parameters):
        x = first = self.input(fields, pooled)
        for layer in "123":
            outer = torch.einsum("bi,bj->bij", first, x)
            x = ((outer @ parameters["cross_w" + layer]).squeeze(2) +
                 parameters["cross_b" + layer] + x)
        deep = layers(first, parameters, THREE_LAYERS[:2], last_is_linear=False)
        return layers(torch.cat([x, deep], dim=1), parameters, THREE_LAYERS[2:])


class DeepCross2(DeepCross):
    """models/dcn_v2."""
    name = "dcn_v2"
    CROSS = [("cross_w1", "cross_b1"), ("cross_w2", "cross_b2")]
    symbols = {
        "embedding": Symbol((4,), "sparse", SMALL, is_table=True),
        **layer_symbols("dense", CROSS, [37, 37, 37]),
        **layer_symbols("dense", THREE_LAYERS, [37, 64, 32, 1]),
    }

    def logit(self, fields, pooled, parameters):
        x = first = self.input(fields, pooled)
        for layer in self.CROSS:
            x = first * layers(x, parameters, [layer]) + x
        return layers(x, parameters, THREE_LAYERS)


class Dlrm(AdultModel):
    """models/dlrm."""
    name = "dlrm"
    BOTTOM = [("bottom_w1", "bottom_b1"), ("bottom_w2", "bottom_b2")]
    TOP = [("top_" + weight, "top_" + bias) for weight, bias in THREE_LAYERS]
    symbols = {
        "embedding": Symbol((8,), "sparse", SMALL, is_table=True),
        **layer_symbols("dense", BOTTOM, [5, 32, 8]),
        **layer_symbols("dense", TOP, [44, 64, 32, 1]),
    }
    groups = DENSE_SPARSE

    def ids(self, fields):
        return {"embedding": [fields["categories"]]}

    def logit(self, fields, pooled, parameters):
        dense = layers(standard(fields["numbers"]), parameters, self.BOTTOM,
                       last_is_linear=False)
        vectors = torch.cat([dense[:, None], pooled["embedding"][0]], dim=1)
        dots = vectors @ vectors.transpose(1, 2)
        row, column = torch.tril_indices(9, 9, offset=-1)
        x = torch.cat([dense, dots[:, row, column]], dim=1)
        return layers(x, parameters, self.TOP)


class XDeepFm(AdultModel):
    """models/xdeepfm: the interactions are computed as a sum over all pairs."""
    name = "xdeepfm"
    LAYERS = [("w1", "b1"), ("w2", "b2"), ("w3", None)]
    symbols = {
        "weights": Symbol((1,), "sparse", ("zeros",), is_table=True),
        "embedding": Symbol((8,), "sparse", SMALL, is_table=True),
        "number_weights": Symbol((5, 1), "dense", ("zeros",)),
        "bias": Symbol((1,), "dense", ("zeros",)),
        "interaction_w1": Symbol((64, 16), "dense", ("xavier",)),
        "interaction_w2": Symbol((128, 16), "dense", ("xavier",)),
        "interaction_w3": Symbol((32, 1), "dense", ("xavier",)),
        **layer_symbols("dense", LAYERS, [69, 64, 32, 1]),
    }
    groups = DENSE_SPARSE

    def ids(self, fields):
        return {"weights": [fields["categories"]], "embedding": [fields["categories"]]}

    def logit(self, fields, pooled, parameters):
        x, first = standard(fields["numbers"]), pooled["embedding"][0]
        rows, sums = first, []
        for weight in ("interaction_w1", "interaction_w2"):
            weights = parameters[weight].reshape(rows.shape[1], 8, 16)
            rows = torch.einsum("bik,bjk,jih->bhk", first, rows, weights)
            sums.append(rows.sum(dim=2))
        deep = torch.cat([first.flatten(1), x], dim=1)
        return (pooled["weights"][0].sum(dim=1) + x @ parameters["number_weights"] +
                parameters["bias"] + torch.cat(sums, 1) @ parameters["interaction_w3"] +
                layers(deep, parameters, self.LAYERS))


class TwoTaskModel(AdultModel):
    """Common base of the models with two tasks: features that reveal neither label, and the same
    input for both tasks."""
    id_columns = {"categories": [1, 3, 6, 8, 9, 13]}
    groups = DENSE_SPARSE

    def ids(self, fields):
        return {"embedding": [fields["categories"]]}

    def input(self, fields, pooled):
        return torch.cat([pooled["embedding"][0].flatten(1),
                          standard(fields["numbers"])], dim=1)


class MultiGateMixture(TwoTaskModel):
    """models/mmoe."""
    name = "mmoe"
    TASKS = {"income": "label", "single": "single"}
    EXPERTS = [("experts_w", "experts_b")]
    GATE = {task: [(task + "_gate_w", task + "_gate_b")] for task in TASKS}
    TOWER = {task: [(task + "_w1", task + "_b1"), (task + "_w2", task + "_b2")]
             for task in TASKS}
    symbols = {
        "embedding": Symbol((8,), "sparse", SMALL, is_table=True),
        **layer_symbols("dense", EXPERTS, [53, 64]),
        **{name: symbol for names in GATE.values()
           for name, symbol in layer_symbols("dense", names, [53, 4]).items()},
        **{name: symbol for names in TOWER.values()
           for name, symbol in layer_symbols("dense", names, [16, 16, 1]).items()},
    }

    def logits(self, fields, pooled, parameters):
        x = self.input(fields, pooled)
        experts = layers(x, parameters, self.EXPERTS, last_is_linear=False)
        experts = experts.reshape(len(x), 4, 16)
        for task in self.TASKS:
            gate = torch.softmax(layers(x, parameters, self.GATE[task]), dim=1)
            mixture = torch.einsum("be,bek->bk", gate, experts)
            yield task, layers(mixture, parameters, self.TOWER[task])

    def losses(self, fields, pooled, parameters):
        return sum(sigmoid_cross_entropy(logit, fields[self.TASKS[task]])
                   for task, logit in self.logits(fields, pooled, parameters))

    def predictions(self, fields, pooled, parameters):
        return {f"{task} AUC": (torch.sigmoid(logit), fields[self.TASKS[task]], None)
                for task, logit in self.logits(fields, pooled, parameters)}


class EntireSpace(TwoTaskModel):
    """models/esmm."""
    name = "esmm"
    TOWER = {rate: [(rate + "_" + weight, rate + "_" + bias)
                    for weight, bias in THREE_LAYERS] for rate in ("ctr", "cvr")}
    symbols = {
        "embedding": Symbol((8,), "sparse", SMALL, is_table=True),
        **{name: symbol for names in TOWER.values()
           for name, symbol in layer_symbols("dense", names, [53, 32, 16, 1]).items()},
    }

    def logits(self, fields, pooled, parameters):
        x = self.input(fields, pooled)
        return [layers(x, parameters, tower) for tower in self.TOWER.values()]

    def losses(self, fields, pooled, parameters):
        ctr, cvr = self.logits(fields, pooled, parameters)
        click, both = fields["spouse"], fields["spouse"] * fields["label"]
        ctcvr = torch.clamp(torch.sigmoid(ctr) * torch.sigmoid(cvr), 1e-7, 0.9999999)
        return (sigmoid_cross_entropy(ctr, click) +
                torch.nn.functional.binary_cross_entropy(ctcvr, both,
                                                         reduction="none"))

    def predictions(self, fields, pooled, parameters):
        ctr, cvr = map(torch.sigmoid, self.logits(fields, pooled, parameters))
        click, conversion = fields["spouse"], fields["label"]
        return {"ctr AUC": (ctr, click, None), "cvr AUC": (cvr, conversion, click),
                "ctcvr AUC": (ctr * cvr, click * conversion, None)}


class GenerativeAdversarial(AdultModel):
    """models/gan."""
    name = "gan"
    epochs = 40
    id_columns = {}
    turns = ("critic",) * 5 + ("generator",)
    noise = {"train_critic": 8, "train_generator": 8, "evaluate": 8}
    CRITIC, GENERATOR = ([(f"{part}_{weight}", f"{part}_{bias}")
                          for weight, bias in THREE_LAYERS]
                         for part in ("critic", "generator"))
    symbols = {**layer_symbols("critic", CRITIC, [6, 64, 64, 1]),
               **layer_symbols("generator", GENERATOR, [9, 64, 64, 5])}
    groups = {"critic": Group("bounded_rmsprop", 1e-3),
              "generator": Group("rmsprop", 1e-3)}

    def ids(self, fields):
        return {}

    def made(self, fields, parameters, program):
        x = layers(torch.cat([fields["noise of " + program], fields["label"]], dim=1),
                   parameters, self.GENERATOR)
        mean, deviation = (torch.tensor(numbers, dtype=x.dtype)
                           for numbers in (STANDARD_MEAN, STANDARD_DEVIATION))
        return torch.relu(x * deviation + mean)

    def judged(self, tamed, fields, parameters):
        x = torch.cat([standard_of_tamed(tamed), fields["label"]], dim=1)
        for weight, bias in self.CRITIC[:2]:
            x = torch.nn.functional.leaky_relu(x @ parameters[weight] + parameters[bias], 0.2)
        return layers(x, parameters, self.CRITIC[2:])

    def losses(self, fields, pooled, parameters):
        made = self.made(fields, parameters, "train_" + self.turn)
        score = self.judged(made, fields, parameters)
        if self.turn == "generator":
            return -score
        return score - self.judged(torch.log1p(fields["numbers"]), fields, parameters)

    def predictions(self, fields, pooled, parameters):
        made = self.made(fields, parameters, "evaluate")
        scores = [self.judged(tamed, fields, parameters)
                  for tamed in (torch.log1p(fields["numbers"]), made)]
        labels = [torch.ones_like(scores[0]), torch.zeros_like(scores[1])]
        return {"AUC": (torch.sigmoid(torch.cat(scores)), torch.cat(labels), None)}

    def figures(self, fields, parameters):
        made = torch.floor(torch.exp(self.made(fields, parameters, "evaluate")) - 0.5)
        return column_distances(made.numpy(), fields["numbers"].numpy())


def column_distances(made, real):
    """Returns, for each column, the largest difference between both distribution functions (the
    Kolmogorov-Smirnov statistic), and the mean of these."""
    distances = {}
    for name, left, right in zip(("age", "years", "gain", "loss", "hours"),
                                 numpy.sort(made, axis=0).T, numpy.sort(real, axis=0).T):
        places = numpy.concatenate([left, right])
        shares = [numpy.searchsorted(side, places, side="right") / len(side)
                  for side in (left, right)]
        distances[name] = float(numpy.abs(shares[0] - shares[1]).max())
    return {**distances, "distance": sum(distances.values()) / len(distances)}


MODELS = {model.name: model for model in (
    LogisticRegression, WideDeep, CtrDnn, FactorizationMachine, DeepFm,
    NeuralFactorizationMachine, FieldAwareFactorizationMachine, DeepCross, DeepCross2,
    Dlrm, XDeepFm, MultiGateMixture, EntireSpace, GenerativeAdversarial)}
