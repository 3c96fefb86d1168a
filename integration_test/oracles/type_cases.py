#===- type_cases.py - Cases of ids, numbers and weights ---------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Golden cases of comparisons, of ids that are computed or come from numbers, and of lookups with
weights."""

import numpy
import torch

from op_cases import KEYS, Bags, Case, Value, random_bags, tensor_type

COMPARISONS = [("greater_equal", torch.ge), ("less", torch.lt), ("less_equal", torch.le),
               ("not_equal", torch.ne)]


def comparisons():
    case = Case("comparisons", "Comparisons, which give 0 or 1")
    for op, function in COMPARISONS:
        a = case.variable(3, 0.5, 4, 2.0)
        b = case.variable(3, 0.5, 4, 2.0)  # the first sample has equal operands
        holds = case.binary(op, a, b, function(a.tensor, b.tensor).double())
        case.check(holds, op)
        case.check(case.emit(f"nn.select %{holds.name}, %{a.name}, %{b.name}",
                             [holds, a, b], (-1, 3),
                             torch.where(holds.tensor != 0, a.tensor, b.tensor)),
                   f"{op}_select")
    return case


def wrapped(value):
    """Returns the number modulo 2^64, in the range that starts at -2^63."""
    return (value + 2**63) % 2**64 - 2**63


ARITHMETIC = {
    "add": lambda key, number: wrapped(key + number),
    "multiply": lambda key, number: wrapped(key * number),
    # Python's operators equal Euclidean division for positive numbers.
    "quotient": lambda key, number: key // number,
    "remainder": lambda key, number: key % number,
}


def computed(kind, ids, number):
    flat = [ARITHMETIC[kind](int(key), number) for key in ids.reshape(-1)]
    return numpy.array(flat, dtype=numpy.int64).reshape(ids.shape)


def id_arithmetic():
    case = Case("id_arithmetic", "Ids, each computed with one number")
    anchor = case.variable(1)
    case.check(case.unary("neg", anchor, -anchor.tensor), "anchor")
    two, ragged = tensor_type((-1, 2), "i64"), "!nn.ragged<?x2x*xi64>"
    ids = case.random.choice(numpy.array(KEYS, dtype=numpy.int64), (case.batch, 2))
    ids_name = case.field("ids", ids)
    values, splits = random_bags(case, 2, KEYS)
    bags_name = case.field("bags", (values, splits, 2))

    def arithmetic(kind, name, type, number):
        case.count += 1
        result = f"v{case.count}"
        case.body.append(f"%{result} = nn.id_arithmetic {kind} %{name} with {number} : "
                         f"{type}")
        return result

    def check_ids(label, name, type, keys, splits):
        """Checks ids by a table in which each expected key has a row of its own, and other keys
        read zeros."""
        table = case.table(f"{label}_rows", 2, keys, unknown="zero")
        case.check(case.lookup(table, name, type, keys, splits), label)

    for kind, number in [("add", 7), ("add", -2**63), ("multiply", 3), ("multiply", -2**40),
                         ("quotient", 3), ("quotient", 2**62), ("remainder", 3),
                         ("remainder", 2**63 - 1), ("remainder", 1)]:
        label = f"{kind}_{number}".replace("-", "minus_")
        check_ids(label, arithmetic(kind, ids_name, two, number), two,
                  computed(kind, ids, number).reshape(-1), numpy.arange(ids.size + 1))
        check_ids(f"{label}_bags", arithmetic(kind, bags_name, ragged, number), ragged,
                  computed(kind, values, number), splits)
    # The rows of many ids from two small tables are multiplied pairwise.
    parts = []
    for kind in ("quotient", "remainder"):
        name = arithmetic(kind, bags_name, ragged, 5)
        keys = computed(kind, values, 5)
        table = case.table(f"part_{kind}", 3, keys)
        parts.append(case.lookup_rows(table, Bags(name, keys, splits, 2)))
    product = case.binary("mul", *parts, parts[0].tensor * parts[1].tensor)
    sums = torch.stack([product.tensor[begin:end].sum(dim=0)
                        for begin, end in zip(splits[:-1], splits[1:])])
    case.check(case.emit(f"nn.segment_sum %{product.name} of %{bags_name}",
                         [product, Bags(bags_name, values, splits, 2)], (-1, 2, 3),
                         sums.reshape(case.batch, 2, 3)), "parts")
    return case


def casts():
    case = Case("cast", "Ids as numbers, numbers as ids, and counts")
    classes = case.random.integers(-1, 6, (case.batch, 1))  # 0 to 4 are classes
    name = case.field("class", classes)
    given = Value(name, (-1, 1), None)
    case.body.append(f"%number = nn.cast %{name} : (tensor<?x1xi64>) -> tensor<?x1xf32>")
    number = Value("number", (-1, 1), torch.tensor(classes * 1.0))
    # Integer labels of several classes.
    one_hot = torch.tensor((classes == numpy.arange(5)) * 1.0)
    labels = case.emit(f"nn.one_hot %{number.name} classes 5", [number], (-1, 5), one_hot)
    z = case.variable(5)
    value = -(one_hot * torch.log_softmax(z.tensor, dim=1)).sum(dim=1, keepdim=True)
    case.check(case.emit(f"nn.softmax_cross_entropy %{z.name}, %{labels.name}", [z, labels],
                         (-1, 1), value), "labels")
    # No float equals these numbers, but each integral float is converted exactly.
    wide = numpy.array([[key] for key in KEYS[:case.batch]], dtype=numpy.int64)
    name = case.field("wide", wide)
    case.body.append(f"%wide_number = nn.cast %{name} : (tensor<?x1xi64>) -> tensor<?x1xf32>")
    scale = case.parameter("scale", numpy.array([0.5]))
    scaled = case.emit(f"nn.mul %wide_number, %{scale.name}",
                       [Value("wide_number", (-1, 1), None), scale], (-1, 1), None)
    small = case.emit(f"nn.signed_log1p %{scaled.name}", [scaled], (-1, 1),
                      torch.sign(torch.tensor(wide * 1.0) * scale.tensor)
                      * torch.log1p(torch.abs(torch.tensor(wide * 1.0) * scale.tensor)),
                      functional=False)
    case.check(small, "wide")
    # Conversion rounds towards zero and saturates at 64 bits. NaN becomes 0.
    numbers = numpy.array([[-0.0, 0.75], [-0.75, 1.0], [-1.0, 2.5], [-2.5, 2.0**40],
                           [2.0**63, -2.0**63], [1e30, -1e30], [3.75, -3.75], [41.0, 7.5]])
    keys = numpy.array([[0, 0], [0, 1], [-1, 2], [-2, 2**40], [2**63 - 1, -2**63],
                        [2**63 - 1, -2**63], [3, -3], [41, 7]], dtype=numpy.int64)
    field = case.field("numbers", numbers)
    two = tensor_type((-1, 2), "i64")
    name = case.id_op(f"nn.cast %{field.name}", [field.type], two)
    table = case.table("rows", 2, keys.reshape(-1), unknown="zero")
    case.check(case.lookup(table, name, two, keys.reshape(-1), numpy.arange(keys.size + 1)),
               "ids")
    # NaN, and what is beyond all numbers.
    field = case.field("edges", numpy.array([[-4.0], [0.0], [9.0]] + [[1.0]] * 5))
    edges = case.emit(f"nn.log %{field.name}", [field], (-1, 1), None, functional=False)
    keys = numpy.array([0, -2**63, 2] + [0] * 5, dtype=numpy.int64)
    one = tensor_type((-1, 1), "i64")
    name = case.id_op(f"nn.cast %{edges.name}", [edges.type], one)
    table = case.table("edge_rows", 2, keys, unknown="zero")
    case.check(case.lookup(table, name, one, keys, numpy.arange(keys.size + 1)), "edges")
    # Shows and clicks are the first elements of a row.
    for shape in ((4,), (2,), (3, 5)):
        counts = case.variable(int(numpy.prod(shape)), 0.5, 9)
        if len(shape) > 1:
            counts = case.reshape(counts, *shape)
        fixed = counts.tensor.detach()
        shows = torch.log1p(fixed[..., :1])
        clicks = torch.log1p(fixed[..., 1:2]) - shows
        tensor = torch.cat([shows, clicks, counts.tensor[..., 2:]], dim=-1)
        case.check(case.unary("cvm", counts, tensor), f"cvm_{shape[0]}_{len(shape)}")
    return case


def weighted_lookups():
    case = Case("weighted", "Lookups with weights, and rows beside each other")
    slots, width = 2, 3
    keys = KEYS[:6]
    bags = Bags(case.field("bags", (*random_bags(case, slots, keys), slots)),
                *case.field_values["bags"])
    # Integers that belong to the ids.
    seconds = case.random.integers(1, 9, len(bags.values)).astype(numpy.int64)
    case.field("seconds", (seconds, bags.splits, slots))
    case.body.append(f"%joined = nn.same_bags %seconds like %{bags.name} : {bags.type}")
    joined = Bags("joined", seconds, bags.splits, slots)
    given = case.emit("nn.cast %joined", [joined], (-1, 1),
                      torch.tensor(seconds * 1.0)[:, None])
    learned = case.lookup_rows(case.table("weights", 1, keys), bags)
    # The values stay away from 0, so that differences do not divide by 0.
    positive = case.unary("exp", learned, torch.exp(learned.tensor))
    for name, weights in (("given", given), ("learned", positive)):
        for pooling in ("sum", "mean", "sqrtn"):
            table = case.table(f"{name}_{pooling}_rows", width, keys)
            rows = case.tables[table]["rows"]
            found = torch.stack([rows[int(key)] for key in bags.values])
            pooled = []
            for begin, end in bags.ranges():
                part = weights.tensor[begin:end]
                total = (found[begin:end] * part).sum(dim=0)
                if end > begin and pooling == "mean":
                    total = total / part.sum()
                if end > begin and pooling == "sqrtn":
                    total = total / (part**2).sum().sqrt()
                pooled.append(total)
            case.check(case.emit(
                f"nn.lookup @{table}[%{bags.name}] weights(%{weights.name}) pool({pooling})",
                [bags, weights], (-1, slots, width),
                torch.stack(pooled).reshape(case.batch, slots, width)), f"{name}_{pooling}")
    # If all weights are 0, there is no division.
    nothing = case.binary("sub", given, given, given.tensor - given.tensor)
    zeros = torch.zeros(case.batch, slots, width, dtype=torch.float64)
    table = case.table("zero_rows", width, keys)
    for pooling in ("mean", "sqrtn"):
        case.check(case.emit(
            f"nn.lookup @{table}[%{bags.name}] weights(%{nothing.name}) pool({pooling})",
            [bags, nothing], (-1, slots, width), zeros), f"zero_{pooling}")
    # Neighbors of a row, side by side.
    x = case.lookup_rows(case.table("x_rows", width, keys), bags)
    for first, last in ((-1, 1), (0, 0), (-3, -2), (1, 3)):
        parts = []
        for begin, end in bags.ranges():
            for i in range(begin, end):
                parts.append(torch.cat([
                    x.tensor[j] if begin <= j < end else torch.zeros(width,
                                                                     dtype=torch.float64)
                    for j in range(i + first, i + last + 1)]))
        wide = width * (last - first + 1)
        window = case.emit(f"nn.segment_window %{x.name} of %{bags.name} from {first} to {last}",
                           [x, bags], (-1, wide), torch.stack(parts))
        product = case.binary("mul", window, given, window.tensor * given.tensor)
        sums = torch.stack([product.tensor[begin:end].sum(dim=0)
                            for begin, end in bags.ranges()])
        case.check(case.emit(f"nn.segment_sum %{product.name} of %{bags.name}",
                             [product, bags], (-1, slots, wide),
                             sums.reshape(case.batch, slots, wide)),
                   f"window_{first}_{last}".replace("-", "minus_"))
    check_numbers_of_bags(case, bags, slots, keys)
    return case


def check_numbers_of_bags(case, bags, slots, keys):
    """Checks a field of numbers that belong to the ids: weights, columns of rows, a history."""
    numbers = case.numbers(len(bags.values), 0.25, 2.0)
    case.field("shares", (numbers, bags.splits, slots))
    field = Bags("shares", numbers, bags.splits, slots)
    case.body.append(f"%joined_shares = nn.same_bags %shares like %{bags.name} : "
                     f"{field.type}, {bags.type}")
    shares = case.emit("nn.cast %joined_shares", [field], (-1, 1),
                       torch.tensor(numbers)[:, None])
    width = 3

    def by_bag(make):
        parts = [make(begin, end) for begin, end in bags.ranges()]
        return torch.stack(parts)

    for pooling in ("sum", "mean"):
        table = case.table(f"shares_{pooling}_rows", width, keys)
        found = torch.stack([case.tables[table]["rows"][int(key)] for key in bags.values])

        def pool(begin, end, found=found, pooling=pooling):
            part = shares.tensor[begin:end]
            total = (found[begin:end] * part).sum(dim=0)
            return total / part.sum() if end > begin and pooling == "mean" else total

        case.check(case.emit(
            f"nn.lookup @{table}[%{bags.name}] weights(%{shares.name}) pool({pooling})",
            [bags, shares], (-1, slots, width),
            by_bag(pool).reshape(case.batch, slots, width)), f"shares_{pooling}")
    rows = case.lookup_rows(case.table("beside_rows", width, keys), bags)
    beside = case.emit(f"nn.concat %{rows.name}, %{shares.name} axis 1", [rows, shares],
                       (-1, width + 1), torch.cat([rows.tensor, shares.tensor], dim=1))
    squares = case.binary("mul", beside, beside, beside.tensor * beside.tensor)
    sums = by_bag(lambda begin, end: squares.tensor[begin:end].sum(dim=0))
    case.check(case.emit(f"nn.segment_sum %{squares.name} of %{bags.name}", [squares, bags],
                         (-1, slots, width + 1),
                         sums.reshape(case.batch, slots, width + 1)), "shares_beside")
    # The bags of the numbers themselves, without a join with ids.
    case.body.append(f"%alone = nn.cast %shares : ({field.type}) -> tensor<?x1xf32>")
    alone = Value("alone", (-1, 1), torch.tensor(numbers)[:, None])
    length = 3

    def pad(begin, end):
        part = alone.tensor[begin:end][:length]
        return torch.cat([part, torch.zeros((length - len(part), 1), dtype=torch.float64)])

    case.check(case.emit("nn.segment_pad %alone of %shares", [alone, field],
                         (-1, slots, length, 1),
                         by_bag(pad).reshape(case.batch, slots, length, 1)), "shares_padded")
