# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains models of models/ in PyTorch, on tensors in memory. Prints samples per second of each
requested kind, as JSON.

    torch_models.py MODEL DATA --batch N --kinds KIND[,KIND] [--check]

A kind says in which form the layers are (flat, packed, padded; rows, if there is only one form).
Then it says which rows of tables an update changes: `lazy`, those of the batch (with SparseAdam, or
with Adagrad), or `all` (fused, which suits the few rows of these data). Then it has `compiled` or
nothing. Sparse gradients and packed sequences are not compiled.

With --check, lazy kinds first do the steps of integration_test/oracles/goldens, in f64. Their
losses must equal those of the reference there, with which PDL is compared too. The batches are made
before the measurement.
"""

import argparse
import json
import pathlib
import sys
import time

import numpy
import torch
from torch.nn import functional

ORACLES = pathlib.Path(__file__).resolve().parents[2] / "integration_test" / "oracles"
sys.path.insert(0, str(ORACLES))
import reference_data  # noqa: E402
import reference_models  # noqa: E402
import tensorfile  # noqa: E402

# Maximum difference between a loss and that of the goldens, both in f64.
TOLERANCE = 1e-9


class Twin(torch.nn.Module):
    """Values from a file of the goldens: tables as embeddings, all others as parameters."""

    def __init__(self, name, sparse):
        super().__init__()
        found = {symbol: torch.from_numpy(tensorfile.to_numpy(tensor)) for symbol, tensor
                 in tensorfile.read(ORACLES / "goldens/models" / name / "init.safetensors")
                 .items()}
        self.keys, self.tables = {}, torch.nn.ModuleDict()
        self.layers = torch.nn.ParameterDict()
        for symbol, value in found.items():
            table, _, part = symbol.partition(".")
            if part == "keys":
                self.keys[table] = value.numpy()
            elif part == "values":
                # One more row, for keys that the goldens do not contain.
                rows = torch.cat([value, value[:1]])
                self.tables[table] = torch.nn.Embedding.from_pretrained(
                    rows, freeze=False, sparse=sparse)
            else:
                self.layers[symbol] = torch.nn.Parameter(value)

    def linear(self, x, layer, bias):
        return functional.linear(x, self.layers[layer].T, self.layers[bias] if bias else None)

    def places(self, table, ids):
        """Returns keys as positions in a table."""
        keys = self.keys[table]
        found = numpy.minimum(numpy.searchsorted(keys, ids), len(keys) - 1)
        return numpy.where(keys[found] == ids, found, len(keys))


class Adult(Twin):
    """Numbers, ids and labels; a loss of one logit."""
    KINDS = ("rows lazy", "rows all", "rows all compiled")
    TABLE = "embedding"

    def read(self, path):
        fields = reference_data.read_adult(
            path, {"categories": reference_data.ADULT_CATEGORIES})
        return {"ids": self.places(self.TABLE, fields["categories"]),
                "numbers": fields["numbers"].astype("f4"), "label": fields["label"].astype("f4")}

    def batch(self, data, rows):
        return [torch.from_numpy(data[name][rows]) for name in ("ids", "numbers", "label")]

    def forward(self, ids, numbers, label):
        x = reference_models.standard(numbers)
        return functional.binary_cross_entropy_with_logits(self.logit(ids, x), label)


class DeepFm(Adult):
    TABLE = "factors"

    def logit(self, ids, x):
        first = self.tables["weights"](ids).sum(1) + self.linear(x, "number_weights", "bias")
        vectors = torch.cat([self.tables["factors"](ids),
                             x[:, :, None] * self.layers["number_factors"]], 1)
        second = (vectors.sum(1).square() - vectors.square().sum(1)).sum(1, keepdim=True) / 2
        h = torch.relu(self.linear(vectors.flatten(1), "w1", "b1"))
        h = torch.relu(self.linear(h, "w2", "b2"))
        return first + second + self.linear(h, "w3", None)


class DeepCross2(Adult):

    def logit(self, ids, x):
        first = x = torch.cat([self.tables["embedding"](ids).flatten(1), x], 1)
        for layer in "12":
            x = first * self.linear(x, "cross_w" + layer, "cross_b" + layer) + x
        h = torch.relu(self.linear(x, "w1", "b1"))
        h = torch.relu(self.linear(h, "w2", "b2"))
        return self.linear(h, "w3", "b3")


class Histories(Twin):
    """Bags of items. Each is padded at its end to the longest of the batch, with a key that only
    padding has."""
    NAMES = ()
    TABLES = {"items": "item_rows", "categories": "category_rows"}

    def read(self, path):
        fields = reference_data.read_histories(path)
        splits = fields["items"][1]
        lengths = numpy.diff(splits)
        inside = numpy.arange(lengths.max()) < lengths[:, None]
        data = {name: value.astype("f4") if name == "label" else value
                for name, value in fields.items() if not isinstance(value, tuple)}
        for name, table in self.TABLES.items():
            data[name] = numpy.full(inside.shape, len(self.keys[table]))
            data[name][inside] = fields[name][0]
        return {**data, "lengths": lengths}

    def batch(self, data, rows):
        longest = max(1, data["lengths"][rows].max())
        return [torch.from_numpy(data[name][rows][:, :longest] if name in self.TABLES
                                 else data[name][rows]) for name in self.NAMES]


class DeepInterest(Histories):
    KINDS = ("flat lazy", "flat all", "padded lazy", "padded all", "padded all compiled")
    NAMES = ("items", "categories", "lengths", "item", "category", "label")

    def score(self, rows, shown):
        x = torch.cat([rows, shown, rows - shown, rows * shown], -1)
        return self.linear(torch.sigmoid(self.linear(x, "aw1", "ab1")), "aw2", "ab2")

    def interest(self, items, categories, lengths, shown):
        inside = torch.arange(items.shape[1]) < lengths[:, None]
        items_of, categories_of = self.tables["item_rows"], self.tables["category_rows"]
        if self.flat:
            # Layers work on the existing items; the tensor is padded only for the softmax.
            rows = torch.cat([items_of(items[inside]), categories_of(categories[inside])], 1)
            found = self.score(rows, shown.repeat_interleave(lengths, 0))
            scores = torch.full(items.shape, -1e30, dtype=found.dtype).masked_scatter(inside, found)
            weights = torch.softmax(scores, 1)[inside][:, None]
            return torch.segment_reduce(rows * weights, "sum", lengths=lengths, initial=0)
        rows = torch.cat([items_of(items), categories_of(categories)], 2)
        scores = self.score(rows, shown[:, None].expand_as(rows)).squeeze(2)
        # An empty history has no maximum; its weight is 0 in any case.
        weights = torch.softmax(scores.masked_fill(~inside, -1e30), 1) * inside
        return torch.bmm(weights[:, None], rows)[:, 0]

    def forward(self, items, categories, lengths, item, category, label):
        shown = torch.cat([self.tables["item_rows"](item[:, 0]),
                           self.tables["category_rows"](category[:, 0])], 1)
        interest = self.interest(items, categories, lengths, shown)
        h = torch.cat([interest, shown, interest * shown], 1)
        h = torch.sigmoid(self.linear(h, "w1", "b1"))
        h = torch.sigmoid(self.linear(h, "w2", "b2"))
        return functional.binary_cross_entropy_with_logits(self.linear(h, "w3", "b3"), label)


class Sessions(Histories):
    KINDS = ("packed lazy", "packed all", "padded lazy", "padded all", "padded all compiled")
    NAMES = ("items", "lengths", "next", "other")
    TABLES = {"items": "seen_rows"}

    def __init__(self, name, sparse):
        super().__init__(name, sparse)
        own = self.layers
        self.gru = torch.nn.GRU(32, 32, batch_first=True)
        for part, value in (("weight_ih_l0", own["w"].T), ("weight_hh_l0", own["u"].T),
                            ("bias_ih_l0", own["wb"]), ("bias_hh_l0", own["ub"])):
            getattr(self.gru, part).data.copy_(value.data)
        self.layers = torch.nn.ParameterDict()

    def forward(self, items, lengths, following, other):
        rows = self.tables["seen_rows"](items)
        if self.flat:
            packed = torch.nn.utils.rnn.pack_padded_sequence(
                rows, lengths.clamp(min=1), batch_first=True, enforce_sorted=False)
            last = self.gru(packed)[1][0]
        else:
            states = self.gru(rows)[0]
            last = states[torch.arange(len(items)), (lengths - 1).clamp(min=0)]
        last = last * (lengths > 0).unsqueeze(1)
        good = (last * self.tables["item_rows"](following[:, 0])).sum(1)
        bad = (last * self.tables["item_rows"](other[:, 0])).sum(1)
        return -functional.logsigmoid(good - bad).mean()


MODELS = {"deepfm": DeepFm, "dcn_v2": DeepCross2, "din": DeepInterest, "gru4rec": Sessions}


def trainer(name, kind):
    """Returns the model, a function that trains on a batch, and the optimizer that updates rows
    separately."""
    sparse = "lazy" in kind
    model = MODELS[name](name, sparse)
    model.flat = kind.startswith(("flat", "packed"))
    tables = list(model.tables.parameters())
    dense = [value for part, value in model.named_parameters() if not part.startswith("tables")]
    if name == "din":
        rows = torch.optim.Adagrad(tables, lr=0.05, fused=None if sparse else True)
    elif sparse:
        rows = torch.optim.SparseAdam(tables, lr=3e-3)
    else:
        dense, rows = dense + tables, None
    optimizers = [torch.optim.Adam(dense, lr=3e-3, fused=True)] + ([rows] if rows else [])
    loss_of = torch.compile(model, dynamic=False) if "compiled" in kind else model

    def step(batch):
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = loss_of(*batch)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        return loss
    return model, step, rows


def check(name, kind, data):
    folder = ORACLES / "goldens/models" / name
    size = json.loads((folder / "case.json").read_text())["batch_size"]
    expected = tensorfile.to_numpy(tensorfile.read(folder / "expected.safetensors")["loss"])
    model, step, rows = trainer(name, kind)
    model.double()
    for number, loss in enumerate(expected):
        if isinstance(rows, torch.optim.SparseAdam):
            # This class adds epsilon to the root of the biased mean, the paper to that of the
            # unbiased one.
            rows.param_groups[0]["eps"] = 1e-8 * (1 - 0.999 ** (number + 1)) ** 0.5
        batch = model.batch(data, numpy.arange(number * size, (number + 1) * size))
        found = step([part.double() if part.is_floating_point() else part
                      for part in batch]).item()
        if not abs(found - loss) <= TOLERANCE:
            sys.exit(f"{name}, {kind}: step {number + 1} has the loss {found}, the goldens "
                     f"{loss}")


def rate(name, kind, data, size):
    model, step, _ = trainer(name, kind)
    order = numpy.random.default_rng(1).permutation(len(data["label"]))
    # A last batch of another size would be compiled again.
    batches = [model.batch(data, order[begin:begin + size])
               for begin in range(0, len(order) - size + 1, size)]
    widest = max(batches, key=lambda batch: batch[0].shape[1])
    batches = [batch for batch in batches if batch[0].shape[1] == widest[0].shape[1]]
    for batch in batches[:3]:
        step(batch)
    steps, start = 0, time.process_time()
    while time.process_time() - start < 2:
        step(batches[steps % len(batches)])
        steps += 1
    return steps * size / (time.process_time() - start)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--kinds")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    kinds = MODELS[options.model].KINDS
    if options.kinds:
        kinds = options.kinds.split(",")
    data = MODELS[options.model](options.model, False).read(options.data)
    if options.check:
        for kind in kinds:
            if "lazy" in kind:
                check(options.model, kind, data)
    print(json.dumps({kind: rate(options.model, kind, data, options.batch) for kind in kinds}))


if __name__ == "__main__":
    main()
