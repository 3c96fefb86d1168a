#===- selection_cases.py - Cases of places, sums and angles ----*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Golden cases of selecting entries by positions, of cumulative sums, and of angles."""

import numpy
import torch

from op_cases import Case, tensor_type


def selection():
    case = Case("selection", "The largest of a row, entries by their places, sums up to them")
    width = 6

    # Values are so different that gradient steps keep their order. Equal values stay equal.
    spread = numpy.stack([case.random.permutation(width) * 0.5 for _ in range(case.batch)])
    far = case.field("far", spread)
    x = case.binary("add", far, case.parameter("moved", case.numbers(width, -0.125, 0.125)),
                    None)
    x.tensor = far.tensor + case.leaves["moved"]
    equal = case.random.integers(0, 3, (case.batch, width)) * 0.5
    for x, count in ((x, 1), (x, 4), (x, width), (case.field("equal", equal), 4)):
        case.count += 1
        name = f"v{case.count}"
        places = tensor_type((-1, count), "i64")
        case.body.append(f"%{name} = nn.top_k %{x.name} count {count} : {x.type}")
        order = numpy.argsort(-x.tensor.detach().numpy(), axis=1, kind="stable")[:, :count]
        number = case.emit(f"nn.cast %{name}", [], (-1, count), torch.tensor(order.astype(float)),
                           functional=False)
        case.body[-1] = f"%{number.name} = nn.cast %{name} : ({places}) -> {number.type}"
        case.check(number, f"places_{len(case.outputs)}")
        taken = case.emit(f"nn.gather %{x.name} at %{name}", [x], (-1, count),
                          torch.gather(x.tensor, 1, torch.tensor(order)))
        case.body[-1] = f"%{taken.name} = nn.gather %{x.name} at %{name} : {x.type}, {places}"
        case.check(taken, f"largest_{len(case.outputs)}")

    # Positions come from the data. Some are invalid, and one occurs twice.
    values = case.random.integers(-1, 4, (case.batch, 3))
    values[0], values[1] = [2, 2, 0], [-1, 7, 1]
    places = case.field("places", values.astype(numpy.int64))
    rows = case.reshape(case.variable(8), 4, 2)
    picked = torch.stack([
        torch.stack([rows.tensor[sample, place] if 0 <= place < 4 else torch.zeros(2, dtype=torch.float64)
                     for place in values[sample]]) for sample in range(case.batch)])
    result = case.emit("", [], (-1, 3, 2), picked)
    case.body[-1] = (f"%{result.name} = nn.gather %{rows.name} at %{places} : {rows.type}, "
                     f"{case.field_types[places]}")
    case.check(result, "rows")

    for clause in ("", " exclusive", " reversed", " exclusive reversed"):
        for shape in ((5,), (2, 3)):
            y = case.variable(int(numpy.prod(shape)))
            if len(shape) > 1:
                y = case.reshape(y, *shape)
            given = y.tensor.flip(-1) if "reversed" in clause else y.tensor
            summed = torch.cumsum(given, dim=-1)
            if "exclusive" in clause:
                summed = summed - given
            if "reversed" in clause:
                summed = summed.flip(-1)
            case.check(case.emit(f"nn.cumulative_sum %{y.name}{clause}", [y], y.shape, summed,
                                 functional=False),
                       f"sums{clause.replace(' ', '_')}_{len(shape)}")

    for op, function in (("sin", torch.sin), ("cos", torch.cos)):
        for limit in (4, 2000):
            z = case.variable(4, -limit, limit, 0.0)
            case.check(case.unary(op, z, function(z.tensor)), f"{op}_{limit}")
    return case
