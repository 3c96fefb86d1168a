#===- segment_cases.py - Cases of rows of bags -------------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Golden cases of rows of bags."""

import numpy
import torch

from op_cases import KEYS, Bags, Case, Value, random_bags, tensor_type


def segments():
    case = Case("segments", "Rows of bags, and their way to samples and back")
    slots, width, length = 2, 3, 3
    keys = KEYS[:6]
    bags = Bags(case.field("bags", (*random_bags(case, slots, keys), slots)),
                *case.field_values["bags"])
    x = case.lookup_rows(case.table("x_rows", width, keys), bags)
    # Other ids at the same positions.
    others = case.random.choice(numpy.array(keys, dtype=numpy.int64), len(bags.values))
    case.field("others", (others, bags.splits, slots))
    case.body.append(f"%same = nn.same_bags %others like %{bags.name} : {bags.type}")
    y = case.lookup_rows(case.table("y_rows", width, keys),
                         Bags("same", others, bags.splits, slots))

    def by_bag(function, value, tail=(width,)):
        """Returns the results of `function` for the rows of each bag; zeros for an empty bag."""
        parts = [function(value.tensor[begin:end]) if end > begin
                 else torch.zeros(tail, dtype=torch.float64)
                 for begin, end in bags.ranges()]
        return torch.stack(parts).reshape(case.batch, slots, *tail)

    def to_samples(op, value, function, clause="", tail=(width,)):
        return case.emit(f"nn.{op} %{value.name} of %{bags.name}{clause}",
                         [value, bags], (-1, slots, *tail),
                         by_bag(function, value, tail))

    def within(op, value, function, clause=""):
        parts = [function(value.tensor[begin:end]) for begin, end in bags.ranges()]
        return case.emit(f"nn.{op} %{value.name} of %{bags.name}{clause}",
                         [value, bags], value.shape, torch.cat(parts))

    def to_rows(op, value, tensor, clause=""):
        return case.emit(f"nn.{op} %{value.name} over %{bags.name}{clause}",
                         [value, bags], (-1, *tensor.shape[1:]), tensor)

    def total(rows):
        """Adds a check of rows: their products with other rows, summed."""
        product = case.binary("mul", rows, y, rows.tensor * y.tensor)
        return to_samples("segment_sum", product, lambda part: part.sum(dim=0))

    for name, function in [("sum", lambda part: part.sum(dim=0)),
                           ("mean", lambda part: part.mean(dim=0)),
                           ("sqrtn", lambda part: part.sum(dim=0) / len(part)**0.5),
                           ("max", lambda part: part.amax(dim=0)),
                           ("first", lambda part: part[0]),
                           ("last", lambda part: part[-1])]:
        case.check(to_samples(f"segment_{name}", x, function), name)
    sizes = torch.tensor([float(end - begin) for begin, end in bags.ranges()],
                         dtype=torch.float64).reshape(case.batch, slots, 1)
    case.check(case.emit(f"nn.segment_sizes %{bags.name}", [bags], (-1, slots, 1), sizes),
               "sizes")
    for clause, place in [("", lambda i, size: i), (" from_end", lambda i, size: size - 1 - i)]:
        tensor = torch.tensor([[float(place(i, end - begin))]
                               for begin, end in bags.ranges()
                               for i in range(end - begin)], dtype=torch.float64)
        rows = case.emit(f"nn.segment_positions %{bags.name}{clause}", [bags], (-1, 1),
                         tensor)
        case.check(total(case.binary("mul", rows, x, rows.tensor * x.tensor)),
                   f"positions{clause.replace(' ', '_')}")
    case.check(total(within("segment_softmax", x, lambda part: part.softmax(dim=0))),
               "softmax")
    case.check(total(within("segment_reverse", x, lambda part: part.flip(0))), "reverse")
    for by in (1, -1, 2, 0):
        def shift(part, by=by):
            size = len(part)
            return torch.stack([part[i - by] if 0 <= i - by < size
                                else torch.zeros(width, dtype=torch.float64)
                                for i in range(size)]) if size else part
        case.check(total(within("segment_shift", x, shift, f" by {by}")), f"shift_{by}")
    query = case.reshape(case.variable(slots * width), slots, width)
    repeated = torch.cat([query.tensor.reshape(-1, width)[bag].expand(end - begin, width)
                          for bag, (begin, end) in enumerate(bags.ranges())])
    case.check(total(to_rows("segment_repeat", query, repeated)), "repeat")
    for clause in ("", " from_end"):
        def pad(part, clause=clause):
            zeros = torch.zeros((max(length - len(part), 0), width), dtype=torch.float64)
            kept = part[-length:] if clause else part[:length]
            return torch.cat([zeros, kept] if clause else [kept, zeros])
        label = clause.replace(" ", "_")
        padded = to_samples("segment_pad", x, pad, clause, (length, width))
        case.check(padded, f"pad{label}")
        flat = padded.tensor.reshape(-1, length, width)
        parts = []
        for bag, (begin, end) in enumerate(bags.ranges()):
            size = end - begin
            for i in range(size):
                place = length - size + i if clause else i
                parts.append(flat[bag, place] if 0 <= place < length
                             else torch.zeros(width, dtype=torch.float64))
        case.check(total(to_rows("segment_unpad", padded, torch.stack(parts), clause)),
                   f"unpad{label}")
    # Buckets of the positions of rows in their bags select other rows.
    where = case.emit(f"nn.segment_positions %{bags.name}", [bags], (-1, 1), None)
    bucket = case.id_op(f"nn.bucketize %{where.name} boundaries [1.0, 2.0]", [where.type],
                        tensor_type((-1, 1), "i64"))
    table = case.table("position_rows", width, [0, 1, 2])
    by_place = torch.stack([case.tables[table]["rows"][min(i, 2)]
                            for begin, end in bags.ranges() for i in range(end - begin)])
    case.count += 1
    case.body.append(f"%placed = nn.lookup @{table}[%{bucket}] pool(sum) : "
                     f"(tensor<?x1xi64>) -> tensor<?x1x3xf32>")
    placed = Value("placed", (-1, 1, width), by_place[:, None])
    placed = case.emit("nn.reshape %placed", [placed], (-1, width), by_place)
    case.check(total(placed), "position_rows")
    # The same layer is used for rows and for samples.
    w = case.declare("w", case.numbers((width, width), -1, 1))
    hidden = case.emit(f"nn.linear %{x.name}, @w act(tanh)", [x], x.shape,
                       torch.tanh(x.tensor @ w))
    case.check(total(hidden), "linear")
    return case
