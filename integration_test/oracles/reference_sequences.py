#===- reference_sequences.py - Models of sequences in PyTorch *- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""The models of models/*.mlir that read histories or texts, written again in PyTorch. Sequences
are padded to the longest one of a batch and masked, while PDL has one row for each id."""

import torch

from reference_models import (DENSE_SPARSE, SMALL, THREE_LAYERS, Group, Model, Symbol,
                              layer_symbols, layers, sigmoid_cross_entropy)


class HistoryModel(Model):
    """Common base of the models: data and batch size."""
    data = "histories"
    batch_size = 128
    epochs = 4


def mask_of(rows, sizes):
    """Returns a mask of the rows that exist: [batch, longest, 1]."""
    return (torch.arange(rows.shape[1]) < sizes)[:, :, None].to(rows.dtype)


class DeepInterest(HistoryModel):
    """models/din."""
    name = "din"
    ATTENTION = [("aw1", "ab1"), ("aw2", "ab2")]
    symbols = {
        "item_rows": Symbol((16,), "sparse", SMALL, is_table=True),
        "category_rows": Symbol((16,), "sparse", SMALL, is_table=True),
        **layer_symbols("dense", ATTENTION, [128, 36, 1]),
        **layer_symbols("dense", THREE_LAYERS, [96, 80, 40, 1]),
    }
    groups = {"dense": Group("adam", 3e-3), "sparse": Group("adagrad", 0.05)}
    sequences = (("item_rows", 1), ("category_rows", 1))

    def ids(self, fields):
        return {"item_rows": [fields["item"], fields["items"]],
                "category_rows": [fields["category"], fields["categories"]]}

    def logit(self, fields, pooled, parameters):
        p = parameters
        (item, (items, sizes)) = pooled["item_rows"]
        (category, (categories, _)) = pooled["category_rows"]
        shown = torch.cat([item, category], dim=2)
        rows = torch.cat([items, categories], dim=2)
        mask = mask_of(rows, sizes)
        like = shown.expand_as(rows)
        x = torch.cat([rows, like, rows - like, rows * like], dim=2)
        score = torch.sigmoid(x @ p["aw1"] + p["ab1"]) @ p["aw2"] + p["ab2"]
        # An empty history has no maximum, but its weight is 0 anyway.
        weight = torch.softmax(score.masked_fill(mask == 0, -1e30), dim=1) * mask
        interest, shown = (weight * rows).sum(dim=1), shown[:, 0]
        x = torch.cat([interest, shown, interest * shown], dim=1)
        for weight, bias in THREE_LAYERS[:2]:
            x = torch.sigmoid(x @ p[weight] + p[bias])
        return layers(x, p, THREE_LAYERS[2:])


class PairModel(HistoryModel):
    """Common base of the models with a positive and a negative item. `scores` returns the logits
    of both."""

    def losses(self, fields, pooled, parameters):
        positive, negative = self.scores(pooled, parameters)
        return (sigmoid_cross_entropy(positive, torch.ones_like(positive)) +
                sigmoid_cross_entropy(negative, torch.zeros_like(negative)))

    def predictions(self, fields, pooled, parameters):
        scores = torch.cat(list(self.scores(pooled, parameters)))
        labels = (torch.arange(len(scores)) < len(scores) // 2)[:, None]
        return {"AUC": (torch.sigmoid(scores), labels, None)}


def mean_of(rows, sizes):
    """Returns the mean of each bag, and zeros for an empty one: [batch, width]."""
    return rows.sum(dim=1) / torch.clamp(sizes, min=1)


class YoutubeDnn(PairModel):
    """models/youtube_dnn."""
    name = "youtube_dnn"
    symbols = {
        "seen_rows": Symbol((16,), "sparse", SMALL, is_table=True),
        "item_rows": Symbol((16,), "sparse", SMALL, is_table=True),
        **layer_symbols("dense", THREE_LAYERS, [16, 64, 32, 16]),
    }
    groups = DENSE_SPARSE
    sequences = (("seen_rows", 0),)

    def ids(self, fields):
        return {"seen_rows": [fields["items"]],
                "item_rows": [fields["next"], fields["other"]]}

    def scores(self, pooled, parameters):
        user = layers(mean_of(*pooled["seen_rows"][0]), parameters, THREE_LAYERS,
                      last_is_linear=False)
        return [(user * item[:, 0]).sum(dim=1, keepdim=True)
                for item in pooled["item_rows"]]


def last_state(rows, sizes, p):
    """Returns the last state of PyTorch's own GRU on packed sequences, and zeros for an empty one.
    """
    width = rows.shape[2]
    cell = torch.nn.GRU(width, width, dtype=rows.dtype)
    values = {"weight_ih_l0": p["w"].T, "weight_hh_l0": p["u"].T,
              "bias_ih_l0": p["wb"], "bias_hh_l0": p["ub"]}
    sizes = sizes[:, 0].long()
    full = sizes > 0
    packed = torch.nn.utils.rnn.pack_padded_sequence(
        rows[full], sizes[full], batch_first=True, enforce_sorted=False)
    _, last = torch.func.functional_call(cell, values, (packed,))
    states = torch.zeros((len(rows), width), dtype=rows.dtype)
    return states.index_put((full.nonzero()[:, 0],), last[0])


class Sessions(PairModel):
    """models/gru4rec."""
    name = "gru4rec"
    WIDTH = 32
    symbols = {
        "seen_rows": Symbol((WIDTH,), "sparse", SMALL, is_table=True),
        "item_rows": Symbol((WIDTH,), "sparse", SMALL, is_table=True),
        **layer_symbols("dense", [("w", "wb")], [WIDTH, 3 * WIDTH]),
        **layer_symbols("dense", [("u", "ub")], [WIDTH, 3 * WIDTH]),
    }
    groups = DENSE_SPARSE
    sequences = (("seen_rows", 0),)

    def ids(self, fields):
        return {"seen_rows": [fields["items"]],
                "item_rows": [fields["next"], fields["other"]]}

    def scores(self, pooled, parameters):
        session = last_state(*pooled["seen_rows"][0], parameters)
        return [(session * item[:, 0]).sum(dim=1, keepdim=True)
                for item in pooled["item_rows"]]

    def losses(self, fields, pooled, parameters):
        positive, negative = self.scores(pooled, parameters)
        return -torch.nn.functional.logsigmoid(positive - negative)


class TwoTowers(PairModel):
    """models/two_towers."""
    name = "two_towers"
    USER = [("user_w1", "user_b1"), ("user_w2", "user_b2")]
    ITEM = [("item_w1", "item_b1"), ("item_w2", "item_b2")]
    symbols = {
        **{table: Symbol((16,), "sparse", SMALL, is_table=True) for table in (
            "seen_rows", "seen_category_rows", "item_rows", "category_rows")},
        **layer_symbols("dense", USER, [32, 32, 16]),
        **layer_symbols("dense", ITEM, [32, 32, 16]),
    }
    groups = DENSE_SPARSE
    sequences = (("seen_rows", 0), ("seen_category_rows", 0))

    def ids(self, fields):
        return {"seen_rows": [fields["items"]],
                "seen_category_rows": [fields["categories"]],
                "item_rows": [fields["next"], fields["other"]],
                "category_rows": [fields["next_category"], fields["other_category"]]}

    def tower(self, x, parameters, names):
        for weight, bias in names:
            x = torch.tanh(x @ parameters[weight] + parameters[bias])
        return x

    def scores(self, pooled, parameters):
        user = self.tower(torch.cat([mean_of(*pooled["seen_rows"][0]),
                                     mean_of(*pooled["seen_category_rows"][0])], dim=1),
                          parameters, self.USER)
        for item, category in zip(pooled["item_rows"], pooled["category_rows"]):
            row = self.tower(torch.cat([item, category], dim=2)[:, 0], parameters,
                             self.ITEM)
            yield 10 * cosine(user, row)

    def losses(self, fields, pooled, parameters):
        positive, negative = self.scores(pooled, parameters)
        return -torch.nn.functional.logsigmoid(positive - negative)


class Dssm(TwoTowers):
    """models/dssm."""
    name = "dssm"

    def tower(self, x, parameters, names):
        (w1, b1), (w2, b2) = names
        x = torch.tanh(x @ parameters[w1] + parameters[b1])
        x = x @ parameters[w2] + parameters[b2]
        length = torch.clamp((x * x).sum(dim=1, keepdim=True), min=1e-4)
        return x / torch.sqrt(length)

    def towers(self, pooled, parameters):
        user = self.tower(torch.cat([mean_of(*pooled["seen_rows"][0]),
                                     mean_of(*pooled["seen_category_rows"][0])], dim=1),
                          parameters, self.USER)
        items = [self.tower(torch.cat([item, category], dim=2)[:, 0], parameters, self.ITEM)
                 for item, category in zip(pooled["item_rows"], pooled["category_rows"])]
        return 10 * user, items

    def scores(self, pooled, parameters):
        user, items = self.towers(pooled, parameters)
        return [(user * item).sum(dim=1, keepdim=True) for item in items]

    def trained(self, ids):
        return {table: lookups[:1] for table, lookups in ids.items()}

    def losses(self, fields, pooled, parameters):
        user, (item,) = self.towers(pooled, parameters)
        scores = user @ item.T
        same = fields["next_number"] == fields["next_number"].T
        same &= ~torch.eye(len(same), dtype=torch.bool)
        return (scores.masked_fill(same, -torch.inf).logsumexp(dim=1) -
                scores.diagonal())[:, None]


class Word2Vec(PairModel):
    """models/word2vec."""
    name = "word2vec"
    data = "pairs"
    DRAWN, WORDS = 5, 400
    symbols = {table: Symbol((32,), "sparse", SMALL, is_table=True)
               for table in ("word_rows", "neighbour_rows")}
    groups = {"sparse": Group("adagrad", 0.05)}

    def ids(self, fields):
        return {"word_rows": [fields["word"]],
                "neighbour_rows": [fields["neighbor"], fields["drawn"]]}

    def logits(self, pooled):
        word = pooled["word_rows"][0]
        return [(word * rows).sum(dim=2) for rows in pooled["neighbour_rows"]]

    def scores(self, pooled, parameters):
        neighbor, drawn = self.logits(pooled)
        return [neighbor, drawn[:, :1]]

    def losses(self, fields, pooled, parameters):
        neighbor, drawn = self.logits(pooled)
        softplus = torch.nn.functional.softplus
        return softplus(-neighbor, threshold=1e3) + (
            softplus(drawn, threshold=1e3) * (1 - fields["hits"])).sum(dim=1, keepdim=True)


def cosine(left, right):
    """Returns the cosine: [batch, 1]. Lengths are at least 1e-6."""
    lengths = [torch.sqrt(torch.clamp((side * side).sum(dim=1, keepdim=True), min=1e-12))
               for side in (left, right)]
    return (left * right).sum(dim=1, keepdim=True) / (lengths[0] * lengths[1])


class SelfAttention(PairModel):
    """models/sasrec."""
    name = "sasrec"
    PLACES = 10
    symbols = {
        "item_rows": Symbol((16,), "sparse", SMALL, is_table=True),
        "places": Symbol((PLACES, 16), "dense", SMALL),
        **{f"scale{n}": Symbol((16,), "dense", ("constant", 1.0)) for n in (1, 2, 3)},
        **{f"shift{n}": Symbol((16,), "dense", ("zeros",)) for n in (1, 2, 3)},
        **{name: Symbol((16, 16), "dense", ("xavier",))
           for name in ("query", "key", "value")},
        **layer_symbols("dense", THREE_LAYERS[:2], [16, 16, 16]),
    }
    groups = DENSE_SPARSE
    sequences = (("item_rows", 0),)

    def ids(self, fields):
        return {"item_rows": [fields["items"], fields["next"], fields["other"]]}

    def user(self, rows, sizes, p):
        def norm(x, n):
            return torch.nn.functional.layer_norm(x, (16,), p[f"scale{n}"],
                                                  p[f"shift{n}"], eps=1e-5)
        count = self.PLACES
        sequences, mask = [], torch.zeros((len(rows), count), dtype=torch.bool)
        for i, size in enumerate(sizes[:, 0].tolist()):
            kept = min(size, count)
            sequences.append(torch.nn.functional.pad(
                rows[i, size - kept:size], (0, 0, count - kept, 0)))
            mask[i, count - kept:] = True
        x = (torch.stack(sequences) * 16 ** 0.5 + p["places"]) * mask[:, :, None]
        normed = norm(x, 1)
        scores = (normed @ p["query"]) @ (normed @ p["key"]).transpose(1, 2) / 16 ** 0.5
        allowed = mask[:, None, :] & torch.tril(torch.ones(count, count)).bool()
        weights = torch.softmax(scores.masked_fill(~allowed, -1e30), dim=2)
        x = x + weights @ (normed @ p["value"])
        x = x + layers(norm(x, 2), p, THREE_LAYERS[:2])
        return norm(x[:, -1], 3)

    def scores(self, pooled, parameters):
        sequence, *items = pooled["item_rows"]
        user = self.user(*sequence, parameters)
        return [(user * item[:, 0]).sum(dim=1, keepdim=True) for item in items]


class TagSpace(PairModel):
    """models/tagspace."""
    name = "tagspace"
    data = "texts"
    symbols = {
        "word_rows": Symbol((16,), "sparse", SMALL, is_table=True),
        "tag_rows": Symbol((16,), "sparse", SMALL, is_table=True),
        **layer_symbols("dense", [("window_w", "window_b")], [48, 32]),
        **layer_symbols("dense", [("w", "b")], [32, 16]),
    }
    groups = DENSE_SPARSE
    sequences = (("word_rows", 0),)

    def ids(self, fields):
        return {"word_rows": [fields["words"]],
                "tag_rows": [fields["tag"], fields["other"]]}

    def scores(self, pooled, parameters):
        rows, sizes = pooled["word_rows"][0]
        kernel = parameters["window_w"].reshape(3, 16, 32).permute(2, 1, 0)
        outputs = torch.tanh(torch.nn.functional.conv1d(
            rows.transpose(1, 2), kernel, parameters["window_b"], padding=1))
        hidden = mask_of(rows, sizes).transpose(1, 2) == 0
        largest = outputs.masked_fill(hidden, -2.0).max(dim=2).values
        text = layers(largest, parameters, [("w", "b")])
        return [10 * cosine(text, tag[:, 0]) for tag in pooled["tag_rows"]]

    def losses(self, fields, pooled, parameters):
        positive, negative = self.scores(pooled, parameters)
        return torch.relu(1 - (positive - negative))


class SequenceRetrieval(PairModel):
    """models/ssr."""
    name = "ssr"
    symbols = {
        "item_rows": Symbol((32,), "sparse", SMALL, is_table=True),
        **layer_symbols("dense", [("w", "wb")], [32, 96]),
        **layer_symbols("dense", [("u", "ub")], [32, 96]),
        **layer_symbols("dense", [("user_w", "user_b")], [32, 16]),
        **layer_symbols("dense", [("item_w", "item_b")], [32, 16]),
    }
    groups = DENSE_SPARSE
    sequences = (("item_rows", 0),)

    def ids(self, fields):
        return {"item_rows": [fields["items"], fields["next"], fields["other"]]}

    def side(self, x, p, name):
        """Returns a vector of length 1, or a shorter one if its length was below 0.01."""
        x = torch.tanh(x @ p[name + "_w"] + p[name + "_b"])
        return x / torch.sqrt(torch.clamp((x * x).sum(dim=1, keepdim=True), min=1e-4))

    def sides(self, pooled, p):
        """Returns the inputs of the user's side and of the sides of both items."""
        session, *items = pooled["item_rows"]
        return last_state(*session, p), [item[:, 0] for item in items]

    def scores(self, pooled, parameters):
        user, items = self.sides(pooled, parameters)
        user = self.side(user, parameters, "user")
        return [3 * (user * self.side(item, parameters, "item")).sum(dim=1, keepdim=True)
                for item in items]

    def losses(self, fields, pooled, parameters):
        positive, negative = self.scores(pooled, parameters)
        return torch.relu(1 - (positive - negative))


class MultiViewSimilarity(SequenceRetrieval):
    """models/multiview_simnet."""
    name = "multiview_simnet"
    symbols = {
        "item_rows": Symbol((16,), "sparse", SMALL, is_table=True),
        "category_rows": Symbol((16,), "sparse", SMALL, is_table=True),
        **layer_symbols("dense", [("w", "wb")], [16, 48]),
        **layer_symbols("dense", [("u", "ub")], [16, 48]),
        **layer_symbols("dense", [("user_w", "user_b")], [32, 16]),
        **layer_symbols("dense", [("item_w", "item_b")], [32, 16]),
    }
    sequences = (("category_rows", 0),)

    def ids(self, fields):
        return {"item_rows": [fields["items"], fields["next"], fields["other"]],
                "category_rows": [fields["categories"], fields["next_category"],
                                  fields["other_category"]]}

    def sides(self, pooled, p):
        bag, *items = [torch.tanh(rows[:, 0]) for rows in pooled["item_rows"]]
        sequence, *categories = pooled["category_rows"]
        return (torch.cat([bag, last_state(*sequence, p)], dim=1),
                [torch.cat([item, category[:, 0]], dim=1)
                 for item, category in zip(items, categories)])


MODELS = {model.name: model for model in (
    DeepInterest, YoutubeDnn, Sessions, TwoTowers, Dssm, Word2Vec, SelfAttention, TagSpace,
    SequenceRetrieval, MultiViewSimilarity)}
