#===- mixing_cases.py - Cases of negatives and of draws ----------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Golden cases of ops that mix the samples of a batch, of ops that draw, and of losses of drawn
ids."""

import numpy
import torch

import draws
from op_cases import KEYS, Bags, Case, Value, random_bags, tensor_type


def mixing():
    case = Case("mixing", "Samples of one batch beside each other")
    users, items = case.variable(5, -1, 1), case.variable(5, -1, 1)
    correction = case.field("correction", case.numbers((case.batch, 1), -3, 0))
    # Three samples have the same item, and two have another one.
    ids = numpy.array([[7], [3], [7], [-1], [3], [7], [2**62], [0]], dtype=numpy.int64)
    ids_type = tensor_type((-1, 1), "i64")
    ids_name = case.field("ids", ids)

    def in_batch_softmax(corrected, masked):
        scores = users.tensor @ items.tensor.T
        operands, text = [users, items], f"nn.in_batch_softmax %{users.name}, %{items.name}"
        if corrected:
            scores = scores - correction.tensor.T
            operands.append(correction)
            text += f" correction %{correction.name}"
        own = scores.diagonal()[:, None]
        if masked:
            equal = torch.tensor(ids == ids.T) & ~torch.eye(case.batch, dtype=torch.bool)
            scores = scores.masked_fill(equal, -torch.inf)
            operands.append(Value(ids_name, (-1, 1), None))
            text += f" ids %{ids_name}"
        result = case.emit(text, operands, (-1, 1), scores.logsumexp(dim=1)[:, None] - own)
        if masked:
            case.body[-1] = case.body[-1].removesuffix(tensor_type((-1, 1))) + ids_type
        return result

    for corrected in (False, True):
        for masked in (False, True):
            case.check(in_batch_softmax(corrected, masked),
                       "softmax" + "_corrected" * corrected + "_masked" * masked)
    for by in (1, -3, 0, 8, 11):
        case.check(case.emit(f"nn.rotate %{items.name} by {by}", [items], items.shape,
                             items.tensor.roll(-by, 0), functional=False), f"rotate_{by}")
    box = case.reshape(case.variable(6), 2, 3)
    case.check(case.emit(f"nn.rotate %{box.name} by 2", [box], box.shape,
                         box.tensor.roll(-2, 0), functional=False), "rotate_rank_3")
    # Loss with the other samples of the batch as negatives, here by rotations: two negatives.
    product = case.binary("mul", users, items, users.tensor * items.tensor)
    own = case.emit(f"nn.reduce sum %{product.name} axes [1] keep", [product], (-1, 1),
                    product.tensor.sum(dim=1, keepdim=True))
    table = case.table("item_rows", 5, ids.reshape(-1))
    case.count += 1
    other_ids = f"v{case.count}"
    case.body.append(f"%{other_ids} = nn.rotate %{ids_name} by 1 : {ids_type}")
    rows = case.lookup(table, other_ids, ids_type, numpy.roll(ids, -1, 0).reshape(-1),
                       numpy.arange(case.batch + 1))
    flat = case.reshape(rows, 5)
    product = case.binary("mul", users, flat, users.tensor * flat.tensor)
    other = case.emit(f"nn.reduce sum %{product.name} axes [1] keep", [product], (-1, 1),
                      product.tensor.sum(dim=1, keepdim=True))
    case.check(case.emit(f"nn.bpr_loss %{own.name}, %{other.name}", [own], (-1, 1),
                         torch.nn.functional.softplus(other.tensor - own.tensor,
                                                      threshold=1e3),
                         functional=False), "rotated_ids")
    return case


def drawing():
    case = Case("drawing", "Random numbers of samples")

    def dropout(value, rate, ordinal, rows=None, operands=(), clause=""):
        """Adds an nn.dropout. `rows`: number of rows of each sample; by default one."""
        count = int(numpy.prod(value.shape[1:]))
        scale = 1 / (1 - rate)
        kept = [draws.kept(rate, "train", ordinal, sample,
                           count * (rows[sample] if rows else 1))
                for sample in range(case.batch)]
        mask = torch.tensor(numpy.concatenate(kept) * 1.0).reshape(value.tensor.shape)
        result = case.emit(f"nn.dropout %{value.name}{clause} rate({rate})",
                           [value, *operands], value.shape, value.tensor * mask * scale)
        result.frozen = value.tensor
        return result

    # The quotients of these rates are exact in f32.
    x = case.variable(9)
    case.check(dropout(x, 0.5, 0), "dropout")
    box = case.reshape(case.variable(6), 2, 3)
    case.check(dropout(box, 0.75, 1), "dropout_rank_3")
    case.check(dropout(x, 0.0, 2), "dropout_nothing")
    slots, width, keys = 2, 3, KEYS[:6]
    bags = Bags(case.field("bags", (*random_bags(case, slots, keys), slots)),
                *case.field_values["bags"])
    rows = case.lookup_rows(case.table("bag_rows", width, keys), bags)
    sizes = [int(bags.splits[(i + 1) * slots] - bags.splits[i * slots])
             for i in range(case.batch)]
    dropped = dropout(rows, 0.5, 3, sizes, [bags], f" of %{bags.name}")

    def by_bag(tensor):
        parts = [tensor[begin:end].sum(dim=0) for begin, end in bags.ranges()]
        return torch.stack(parts).reshape(case.batch, slots, width)

    total = case.emit(f"nn.segment_sum %{dropped.name} of %{bags.name}", [dropped, bags],
                      (-1, slots, width), by_bag(dropped.tensor))
    total.frozen = by_bag(dropped.frozen)
    case.check(total, "dropout_of_rows")

    # Ids that are drawn and then looked up.
    counts = {"counts": [7, 0, 40, 1, 3, 0], "power": 0.75}
    for ordinal, (kind, first, behind, more) in enumerate([
            ("uniform", -2, 4, {}), ("log_uniform", 10, 16, {}), ("counts", 20, 26, counts)]):
        count = 5
        clause = kind
        if more:
            clause += f"(dense<{more['counts']}> : tensor<6xi64>) power({more['power']})"
        table = case.table(f"{kind}_rows", 2, range(first, behind))
        case.count += 1
        name = f"v{case.count}"
        type_ = tensor_type((-1, count), "i64")
        case.body.append(f"%{name} = nn.sample {count} from {first} below {behind} "
                         f"{clause} : {type_}")
        looked_up = None
        for program in ("predict", "train"):
            ids = numpy.array([draws.ids(kind, first, behind, program, ordinal, sample, count,
                                         **more)
                               for sample in range(case.batch)])
            body = list(case.body)
            found = case.lookup(table, name, type_, ids.reshape(-1),
                                numpy.arange(ids.size + 1))
            if program == "predict":
                frozen, case.body = found.tensor.detach(), body
            else:
                looked_up = found
        looked_up.frozen = frozen
        case.check(looked_up, kind)
        given = case.random.integers(first, behind, (case.batch, 3), dtype=numpy.int64)
        if more:
            # Select among the ids that can be drawn.
            given = first + numpy.flatnonzero(more["counts"])[given % 4]
        given = case.field(f"{kind}_ids", given)
        values = case.field_values[given]
        probability = draws.log_probability(kind, first, behind, values, **more)
        scale = case.variable(3)
        case.count += 1
        name = f"v{case.count}"
        case.body.append(f"%{name} = nn.log_probability %{given} from {first} below "
                         f"{behind} {clause} : (tensor<?x3xi64>) -> tensor<?x3xf32>")
        result = Value(name, (-1, 3), torch.tensor(probability))
        case.check(case.binary("mul", result, scale, result.tensor * scale.tensor),
                   f"{kind}_log_probability")
    return case


def sampled_losses():
    case = Case("sampled_losses", "Losses of ids that were drawn")
    functional = torch.nn.functional
    own_ids = case.random.integers(0, 6, (case.batch, 2), dtype=numpy.int64)
    drawn_ids = case.random.integers(0, 6, (case.batch, 4), dtype=numpy.int64)
    case.field("own_ids", own_ids)
    case.field("drawn_ids", drawn_ids)
    hit = (own_ids[:, :, None] == drawn_ids[:, None, :]).any(axis=1)
    hits = Value("hits", (-1, 4), torch.tensor(hit * 1.0))
    case.body.append("%hits = nn.accidental_hits %own_ids, %drawn_ids : "
                     "(tensor<?x2xi64>, tensor<?x4xi64>) -> tensor<?x4xf32>")
    own, drawn = case.variable(1, -3, 3), case.variable(4, -3, 3)
    q, qn = case.variable(1, -4, -1), case.variable(4, -4, -1)

    def softplus(x):
        return functional.softplus(x, threshold=1e3)

    def softmax(x, y, kept):
        y = y.masked_fill(~kept, -torch.inf)
        return -torch.cat([x, y], dim=1).log_softmax(dim=1)[:, :1]

    def binary(x, y, kept):
        return softplus(-x) + (softplus(y) * kept).sum(dim=1, keepdim=True)

    def nce(x, y, kept):
        return binary(x - numpy.log(4), y - numpy.log(4), kept)

    for op, corrected, function in [("sampled_softmax", True, softmax),
                                    ("nce_loss", True, nce),
                                    ("negative_sampling", False, binary)]:
        for masked in (False, True):
            kept = torch.tensor(~hit) if masked else torch.ones_like(drawn.tensor).bool()
            x, y, operands = own.tensor, drawn.tensor, [own, drawn]
            text = f"nn.{op} %{own.name}, %{drawn.name}"
            if corrected:
                x, y, operands = x - q.tensor, y - qn.tensor, [*operands, q, qn]
                text += f" correction %{q.name}, %{qn.name}"
            if masked:
                operands, text = [*operands, hits], text + " hits %hits"
            case.check(case.emit(text, operands, (-1, 1), function(x, y, kept)),
                       op + "_masked" * masked)
    return case
