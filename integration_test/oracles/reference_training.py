#===- reference_training.py - Training in PyTorch ------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Trains the reference models with the semantics of PDL.

Order of an update: gradient of the mean loss, clip, L2, rule. A row of a table is updated if its
key is in the batch (`untouched(lazy)`), with the step count of its group."""

import math

import numpy
import torch

from reference_rules import RULES


def area_under_curve(predictions, labels):
    """Returns the exact ROC AUC. Ties count as one half."""
    predictions = numpy.asarray(predictions, dtype=numpy.float64).reshape(-1)
    labels = numpy.asarray(labels).reshape(-1) > 0.5
    _, inverse, counts = numpy.unique(predictions, return_inverse=True,
                                      return_counts=True)
    last = numpy.cumsum(counts)
    ranks = (last - (counts - 1) / 2.0)[inverse]
    positives = labels.sum()
    negatives = len(labels) - positives
    rank_sum = ranks[labels].sum()
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


def as_bags(ids):
    """Returns (values, splits) of an id array [b, s], in which each id is a bag of its own."""
    if isinstance(ids, tuple):
        return ids
    return ids.reshape(-1), numpy.arange(ids.size + 1)


class Trainer:
    """Has the values and slots of one model. `step` trains on one batch."""

    def __init__(self, model, keys, seed=0, dtype=torch.float64):
        """`keys`: for each table, all keys that a batch may contain, as sorted int64 numbers. Each
        key gets its initial value now."""
        self.model = model
        self.dtype = dtype
        self.keys = keys
        self.values, self.slots = {}, {}
        self.steps = {group: 0 for group in model.groups}
        self.done = 0
        random = numpy.random.default_rng(seed)
        for name, symbol in model.symbols.items():
            shape = symbol.shape
            if symbol.is_table:
                shape = (len(keys[name]),) + shape
            kind, *numbers = symbol.init
            if kind == "zeros":
                initial = numpy.zeros(shape)
            elif kind == "constant":
                initial = numpy.full(shape, numbers[0])
            elif kind == "uniform":
                initial = random.uniform(*numbers, size=shape)
            elif kind == "xavier":
                bound = math.sqrt(6.0 / (symbol.shape[0] + symbol.shape[1]))
                initial = random.uniform(-bound, bound, size=shape)
            # The values are exact in f32, so one file of initial values can be used for f32 and
            # f64.
            self.values[name] = torch.tensor(initial.astype(numpy.float32),
                                             dtype=dtype)
            rule = RULES[model.groups[symbol.group].rule]
            hyper = {**rule.hyper, **model.groups[symbol.group].hyper}
            self.slots[name] = {slot: torch.full(shape, value, dtype=dtype)
                                for slot, value in rule.slots(hyper).items()}

    def initial_tensors(self):
        """Returns the values in the form of an --init-from file."""
        tensors = {}
        for name, symbol in self.model.symbols.items():
            value = self.values[name].numpy().copy()
            if symbol.is_table:
                tensors[name + ".keys"] = self.keys[name]
                tensors[name + ".values"] = value
            else:
                tensors[name] = value
        return tensors

    def load(self, tensors):
        """Loads values from such a file. Keys that are not in the file keep their values."""
        for name, symbol in self.model.symbols.items():
            if not symbol.is_table:
                self.values[name] = torch.tensor(tensors[name], dtype=self.dtype)
                continue
            rows = numpy.searchsorted(self.keys[name], tensors[name + ".keys"])
            rows = torch.as_tensor(numpy.minimum(rows, len(self.keys[name]) - 1))
            known = torch.as_tensor(self.keys[name][rows.numpy()] ==
                                    tensors[name + ".keys"])
            values = torch.tensor(tensors[name + ".values"], dtype=self.dtype)
            self.values[name][rows[known]] = values[known]

    def _forward(self, fields, ids, train):
        """Returns the fields as tensors, the pooled rows of each lookup, and in training the leaf
        rows of each table."""
        pooled, leaves = {}, {}
        for table, lookups in ids.items():
            bags = [as_bags(lookup) for lookup in lookups]
            flat = numpy.concatenate([values for values, _ in bags])
            distinct, inverse = numpy.unique(flat, return_inverse=True)
            index = torch.as_tensor(numpy.searchsorted(self.keys[table], distinct))
            rows = self.values[table][index]
            if train:
                rows.requires_grad_()
            leaves[table] = (index, rows, distinct)
            pooled[table], first = [], 0
            samples = len(fields["label"])
            for values, splits in bags:
                count, width = len(splits) - 1, rows.shape[1]
                bag_of = torch.as_tensor(
                    numpy.repeat(numpy.arange(count), numpy.diff(splits)))
                chosen = torch.as_tensor(inverse[first:first + len(values)])
                first += len(values)
                if (table, len(pooled[table])) in self.model.sequences:
                    sizes = numpy.diff(splits)
                    pooled[table].append((
                        torch.nn.utils.rnn.pad_sequence(
                            torch.split(rows[chosen], sizes.tolist()), batch_first=True),
                        torch.as_tensor(sizes)[:, None]))
                    continue
                zeros = torch.zeros((count, width), dtype=self.dtype)
                sums = zeros.index_add(0, bag_of, rows[chosen])
                pooled[table].append(sums.reshape(samples, count // samples, width))
        tensors = {name: torch.as_tensor(value).to(self.dtype)
                   for name, value in fields.items() if not isinstance(value, tuple)
                   and value.dtype == numpy.float64}
        return tensors, pooled, leaves

    def trained_groups(self):
        """Returns the groups that the next step trains."""
        turns = self.model.turns
        return [turns[self.done % len(turns)]] if turns else list(self.steps)

    def gradients(self, fields, ids):
        """Returns (mean loss, {symbol: its gradient}, {table: (row index, keys)})."""
        groups = self.trained_groups()
        self.model.turn = groups[0]
        parameters = {name: self.values[name].detach().clone().requires_grad_(
                          symbol.group in groups)
                      for name, symbol in self.model.symbols.items()
                      if not symbol.is_table}
        tensors, pooled, leaves = self._forward(fields, self.model.trained(ids), True)
        loss = self.model.losses(tensors, pooled, parameters).mean()
        loss.backward()
        gradients = {name: value.grad for name, value in parameters.items()
                     if value.requires_grad}
        # The values for states are used instead of gradients.
        gradients.update(self.model.accumulated)
        touched = {}
        for table, (index, rows, distinct) in leaves.items():
            gradients[table] = rows.grad
            touched[table] = (index, distinct)
        return loss.item(), gradients, touched

    def step(self, fields, ids):
        """Trains on one batch. Returns its mean loss before the update. If several programs run in
        turns, returns NaN for steps of other programs than the first."""
        is_first = self.trained_groups()[0] == (self.model.turns or list(self.steps))[0]
        loss, gradients, touched = self.gradients(fields, ids)
        clips = {}
        for name, gradient in gradients.items():
            limit = self.model.groups[self.model.symbols[name].group].clip
            if limit:
                clips[limit] = clips.get(limit, 0.0) + gradient.square().sum().item()
        for group in self.trained_groups():
            self.steps[group] += 1
        self.done += 1
        for name, gradient in gradients.items():
            group_name = self.model.symbols[name].group
            group = self.model.groups[group_name]
            if group.clip:
                norm = math.sqrt(clips[group.clip])
                gradient = gradient * (group.clip / max(norm, group.clip))
            index = touched[name][0] if name in touched else slice(None)
            value = self.values[name][index]
            if group.l2:
                gradient = gradient + group.l2 * value
            rule = RULES[group.rule]
            slots = {slot: state[index] for slot, state in self.slots[name].items()}
            value, slots = rule.update(value, gradient, slots, group.rate,
                                       self.steps[group_name],
                                       {**rule.hyper, **group.hyper})
            self.values[name][index] = value
            for slot, state in slots.items():
                self.slots[name][slot][index] = state
        return loss if is_first else math.nan

    def _parameters(self):
        return {name: self.values[name] for name, symbol in self.model.symbols.items()
                if not symbol.is_table}

    def figures(self, fields, ids):
        """Returns the result of the model's `figures`."""
        with torch.no_grad():
            return self.model.figures(self._forward(fields, ids, False)[0],
                                      self._parameters())

    def predict(self, fields, ids):
        """Returns the result of the model's `predictions` as NumPy arrays."""
        with torch.no_grad():
            tensors, pooled, _ = self._forward(fields, ids, False)
            predictions = self.model.predictions(tensors, pooled, self._parameters())
        return {name: tuple(None if part is None else part.numpy() for part in parts)
                for name, parts in predictions.items()}
