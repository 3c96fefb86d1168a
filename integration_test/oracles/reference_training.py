#===- reference_training.py - Training in PyTorch ------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Trains the reference models with the semantics of PDL.

Order of an update: gradient of the mean loss, clip, L2, rule. A row of a table
is updated when its key stands in the batch (`untouched(lazy)`), with the step
count of its group.
"""

import math

import numpy
import torch

from reference_rules import RULES


def area_under_curve(predictions, labels):
    """Exact ROC AUC; ties count by halves."""
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
    """(values, splits, slots) of an id array [b, s], each id a bag of one."""
    if isinstance(ids, tuple):
        return ids
    return ids.reshape(-1), numpy.arange(ids.size + 1)


class Trainer:
    """Holds one model's values and slots; `step` trains on one batch."""

    def __init__(self, model, keys, seed=0, dtype=torch.float64):
        """`keys`: table name to the sorted int64 keys that any batch may
        hold; each gets its initial value now."""
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
            # Exact in f32, so that one file of initial values serves both.
            self.values[name] = torch.tensor(initial.astype(numpy.float32),
                                             dtype=dtype)
            rule = RULES[model.groups[symbol.group].rule]
            hyper = {**rule.hyper, **model.groups[symbol.group].hyper}
            self.slots[name] = {slot: torch.full(shape, value, dtype=dtype)
                                for slot, value in rule.slots(hyper).items()}

    def initial_tensors(self):
        """The values as an --init-from file holds them."""
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
        """Takes values from such a file; keys that it lacks keep theirs."""
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
        """The fields as tensors, the pooled rows of each lookup, and for training
        the leaf rows of each table."""
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
        """Those that the next step changes."""
        turns = self.model.turns
        return [turns[self.done % len(turns)]] if turns else list(self.steps)

    def gradients(self, fields, ids):
        """(mean loss, {symbol: gradient of it}, {table: (row index, keys)})."""
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
        # What a state is handed takes the place of a gradient.
        gradients.update(self.model.accumulated)
        touched = {}
        for table, (index, rows, distinct) in leaves.items():
            gradients[table] = rows.grad
            touched[table] = (index, distinct)
        return loss.item(), gradients, touched

    def step(self, fields, ids):
        """Trains on one batch; returns its mean loss before the update, NaN where that
        is not the loss of the first of programs that take turns."""
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
        """What the model's `figures` says."""
        with torch.no_grad():
            return self.model.figures(self._forward(fields, ids, False)[0],
                                      self._parameters())

    def predict(self, fields, ids):
        """What the model's `predictions` says, as NumPy arrays."""
        with torch.no_grad():
            tensors, pooled, _ = self._forward(fields, ids, False)
            predictions = self.model.predictions(tensors, pooled, self._parameters())
        return {name: tuple(None if part is None else part.numpy() for part in parts)
                for name, parts in predictions.items()}
