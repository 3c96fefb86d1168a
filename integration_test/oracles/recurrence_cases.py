#===- recurrence_cases.py - Cases of scans ---------------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Golden cases of recurrence over rows of bags: PyTorch's own GRU and LSTM on packed
sequences, and scans whose bodies are written out."""

import torch

from op_cases import KEYS, Bags, Case, random_bags


def recurrence():
    case = Case("recurrence", "Scans over rows of bags, and cells", batch=6)
    slots, given, width = 2, 2, 3
    keys = KEYS[:6]
    bags = Bags(case.field("bags", (*random_bags(case, slots, keys), slots)),
                *case.field_values["bags"])
    x = case.lookup_rows(case.table("x_rows", given, keys), bags)
    y = case.lookup_rows(case.table("y_rows", width, keys), bags)

    def by_bag(function, init=()):
        """The rows that `function` makes of those of each bag, and of what it begins
        with."""
        firsts = [value.tensor.reshape(-1, width) for value in init]
        return torch.cat([function(x.tensor[begin:end], *(first[bag] for first in firsts))
                          for bag, (begin, end) in enumerate(bags.ranges())])

    def check(rows, name):
        """Sums of products with other rows: what is compared of rows."""
        product = case.binary("mul", rows, y, rows.tensor * y.tensor)
        sums = torch.stack([product.tensor[begin:end].sum(dim=0)
                            for begin, end in bags.ranges()])
        case.check(case.emit(f"nn.segment_sum %{product.name} of %{bags.name}",
                             [product, bags], (-1, slots, width),
                             sums.reshape(case.batch, slots, width)), name)

    def run_packed(module, backwards, init):
        """PyTorch packs sequences by their length; empty ones it refuses."""
        parts = [x.tensor[begin:end] for begin, end in bags.ranges()]
        filled = [bag for bag, part in enumerate(parts) if len(part)]
        parts = [part.flip(0) if backwards else part for part in parts if len(part)]
        packed = torch.nn.utils.rnn.pack_sequence(parts, enforce_sorted=False)
        firsts = [value.tensor.reshape(1, -1, width)[:, filled] for value in init]
        given = [tuple(firsts) if len(firsts) > 1 else first for first in firsts[:1]]
        rows, sizes = torch.nn.utils.rnn.pad_packed_sequence(module(packed, *given)[0],
                                                             batch_first=True)
        rows = [row[:size] for row, size in zip(rows, sizes)]
        return torch.cat([row.flip(0) if backwards else row for row in rows])

    cells = {"gru": (3, torch.nn.GRU), "lstm": (4, torch.nn.LSTM)}

    def run_cell(op, clause, bias, init=()):
        """A cell with weights of its own; its rows, which are compared."""
        gates, module = cells[op]
        name = f"{op}{clause.replace(' ', '_')}{'_init' if init else ''}"
        w, u = (case.declare(f"{name}_{letter}", case.numbers((size, gates * width), -1, 1))
                for letter, size in (("w", given), ("u", width)))
        linear = case.emit(f"nn.linear %{x.name}, @{name}_w", [x], (-1, gates * width),
                           x.tensor @ w)
        cell = module(given, width, dtype=torch.float64)
        values = {"weight_ih_l0": w.T, "weight_hh_l0": u.T,
                  "bias_ih_l0": torch.zeros(gates * width, dtype=torch.float64),
                  "bias_hh_l0": torch.zeros(gates * width, dtype=torch.float64)}
        if bias:
            values["bias_hh_l0"] = case.declare(
                f"{name}_b", case.numbers(gates * width, -1, 1))

        def module_of(*given):
            return torch.func.functional_call(cell, values, given)

        text = f", @{name}_b" if bias else ""
        begin = f" init({names(init)})" if init else ""
        rows = case.emit(f"nn.{op} %{linear.name} of %{bags.name}, @{name}_u{text}"
                         f"{clause}{begin}", [linear, bags, *init], (-1, width),
                         run_packed(module_of, bool(clause), init))
        check(rows, name)
        return rows

    def names(values):
        return ", ".join("%" + value.name for value in values)

    encoded = run_cell("gru", "", True)
    run_cell("gru", " from_end", False)
    run_cell("lstm", "", True)
    run_cell("lstm", " from_end", False)

    def scan(name, clause, shared, states, body, function, init=()):
        """A scan whose body is `body`; `function` makes the rows of a bag of its
        rows, and of the first states if there is `init`."""
        rows = "tensor<?x3xf32>"
        case.count += 1
        arguments = ", ".join(["%row: tensor<?x2xf32>",
                               *(f"%state{n}: {rows}" for n in range(states)),
                               *(f"%shared{n}: {value.type}"
                                 for n, value in enumerate(shared))])
        within = f" init({names(init)})" if init else ""
        within += f" with ({names(shared)})" if shared else ""
        types = ", ".join([x.type, bags.type, *(value.type for value in (*init, *shared))])
        count = max(states, 1)
        case.body.append(f"%{name}:{count} = nn.scan %{x.name} of %{bags.name}{clause}"
                         f"{within} {{")
        case.body.append(f"^bb0({arguments}):")
        case.body.extend("  " + line for line in body)
        case.body.append(f"}} : {types}")

        def of_bag(part, *firsts):
            turned = part.flip(0) if clause else part
            result = function(turned, *firsts)
            return result.flip(0) if clause else result

        result = case.emit(f"nn.neg %{name}#0", [], (-1, width), -by_bag(of_bag, init),
                           functional=False)
        check(result, name)

    # A tensor that all rows share, by two ways; a state that grows.
    m = case.parameter("m", case.numbers((width, width), -0.5, 0.5))
    v = case.declare("v", case.numbers((given, width), -1, 1))

    zeros = torch.zeros(width, dtype=torch.float64)

    def plain(part, state=zeros):
        rows = []
        scale = m.tensor * m.tensor
        for row in part:
            state = torch.tanh(row @ v + state @ m.tensor + state @ scale + 0.25)
            rows.append(state)
        return torch.stack(rows) if rows else torch.zeros((0, width), dtype=torch.float64)

    body = ["%scale = nn.mul %shared0, %shared0 : tensor<3x3xf32>, tensor<3x3xf32>",
            "%quarter = nn.constant dense<0.25> : tensor<1xf32>",
            "%a = nn.linear %row, @v : (tensor<?x2xf32>) -> tensor<?x3xf32>",
            "%b = nn.matmul %state0, %shared0 : tensor<?x3xf32>, tensor<3x3xf32>",
            "%c = nn.matmul %state0, %scale : tensor<?x3xf32>, tensor<3x3xf32>",
            "%ab = nn.add %a, %b : tensor<?x3xf32>, tensor<?x3xf32>",
            "%abc = nn.add %ab, %c : tensor<?x3xf32>, tensor<?x3xf32>",
            "%abcd = nn.add %abc, %quarter : tensor<?x3xf32>, tensor<1xf32>",
            "%after = nn.tanh %abcd : tensor<?x3xf32>",
            "nn.yield %after : tensor<?x3xf32>"]
    scan("plain", "", [m], 1, body, plain)
    scan("plain_from_end", " from_end", [m], 1, body, plain)

    # Two states that change places.
    def swapped(part, first=zeros, second=zeros):
        rows = []
        for row in part:
            first, second = second + row @ v, first * 0.5
            rows.append(first)
        return torch.stack(rows) if rows else torch.zeros((0, width), dtype=torch.float64)

    swapping = [
        "%half = nn.constant dense<0.5> : tensor<1xf32>",
        "%a = nn.linear %row, @v : (tensor<?x2xf32>) -> tensor<?x3xf32>",
        "%first = nn.add %state1, %a : tensor<?x3xf32>, tensor<?x3xf32>",
        "%second = nn.mul %state0, %half : tensor<?x3xf32>, tensor<1xf32>",
        "nn.yield %first, %second : tensor<?x3xf32>, tensor<?x3xf32>"]
    scan("swapped", "", [], 2, swapping, swapped)

    # No state at all.
    scan("stateless", "", [], 0,
         ["%a = nn.linear %row, @v act(tanh) : (tensor<?x2xf32>) -> tensor<?x3xf32>",
          "nn.yield %a : tensor<?x3xf32>"], lambda part: torch.tanh(part @ v))

    # States that begin with what a sample gives, and with what an encoder has come to;
    # that of an empty bag is zero, and nothing reads what the empty bag begins with.
    of_samples = case.reshape(case.variable(slots * width), slots, width)
    ends = [encoded.tensor[end - 1] if end > begin else zeros for begin, end in bags.ranges()]
    last = case.emit(f"nn.segment_last %{encoded.name} of %{bags.name}", [encoded, bags],
                     (-1, slots, width), torch.stack(ends).reshape(case.batch, slots, width))
    run_cell("gru", "", False, [last])
    run_cell("lstm", " from_end", True, [of_samples, last])
    scan("plain_init", "", [m], 1, body, plain, [of_samples])
    scan("plain_init_from_end", " from_end", [m], 1, body, plain, [last])
    scan("swapped_init", "", [], 2, swapping, swapped, [of_samples, last])
    # A state that depends on nothing trained but where it begins.
    scan("decayed_init", "", [], 1,
         ["%half = nn.constant dense<0.5> : tensor<1xf32>",
          "%after = nn.mul %state0, %half : tensor<?x3xf32>, tensor<1xf32>",
          "nn.yield %after : tensor<?x3xf32>"],
         lambda part, first: torch.stack([first * 0.5**(n + 1) for n in range(len(part))])
         if len(part) else zeros.reshape(1, -1)[:0], [of_samples])
    return case
