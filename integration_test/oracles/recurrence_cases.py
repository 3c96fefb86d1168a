#===- recurrence_cases.py - Cases of scans ---------------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Golden cases of recurrence over rows of bags: PyTorch's own GRU and LSTM on packed sequences,
and scans whose bodies are also written in PyTorch."""

import torch

from op_cases import KEYS, Bags, Case, random_bags

SLOTS, GIVEN, WIDTH = 2, 2, 3
CELLS = {"gru": (3, torch.nn.GRU), "lstm": (4, torch.nn.LSTM)}  # gates, and PyTorch's cell
ZEROS = torch.zeros(WIDTH, dtype=torch.float64)


def names(values):
    return ", ".join("%" + value.name for value in values)


def stacked(rows):
    return torch.stack(rows) if rows else torch.zeros((0, WIDTH), dtype=torch.float64)


class Recurrence:
    """The case, and the rows of bags that its cells and scans read."""

    def __init__(self):
        case = Case("recurrence", "Scans over rows of bags, and cells", batch=6)
        keys = KEYS[:6]
        self.case = case
        self.bags = Bags(case.field("bags", (*random_bags(case, SLOTS, keys), SLOTS)),
                         *case.field_values["bags"])
        self.x = case.lookup_rows(case.table("x_rows", GIVEN, keys), self.bags)
        self.y = case.lookup_rows(case.table("y_rows", WIDTH, keys), self.bags)

    def by_bag(self, function, init=()):
        """Calls `function` with the rows of each bag and its initial states, and joins the
        results."""
        firsts = [value.tensor.reshape(-1, WIDTH) for value in init]
        return torch.cat([function(self.x.tensor[begin:end], *(first[bag] for first in firsts))
                          for bag, (begin, end) in enumerate(self.bags.ranges())])

    def by_slot(self, op, rows, tensors):
        """Adds the op `op`, which has one row for each bag: `tensors`, computed from `rows`."""
        return self.case.emit(f"nn.{op} %{rows.name} of %{self.bags.name}", [rows, self.bags],
                              (-1, SLOTS, WIDTH),
                              torch.stack(tensors).reshape(self.case.batch, SLOTS, WIDTH))

    def check(self, rows, name):
        """Adds a check of rows: their products with other rows, summed by bag."""
        product = self.case.binary("mul", rows, self.y, rows.tensor * self.y.tensor)
        self.case.check(self.by_slot("segment_sum", product,
                                     [product.tensor[begin:end].sum(dim=0)
                                      for begin, end in self.bags.ranges()]), name)

    def last_rows(self, rows):
        """Adds the last row of each bag; zeros for an empty bag."""
        return self.by_slot("segment_last", rows,
                            [rows.tensor[end - 1] if end > begin else ZEROS
                             for begin, end in self.bags.ranges()])

    def run_packed(self, module, backwards, init):
        """Runs a module of PyTorch, which packs sequences by length and rejects empty ones."""
        parts = [self.x.tensor[begin:end] for begin, end in self.bags.ranges()]
        filled = [bag for bag, part in enumerate(parts) if len(part)]
        parts = [part.flip(0) if backwards else part for part in parts if len(part)]
        packed = torch.nn.utils.rnn.pack_sequence(parts, enforce_sorted=False)
        firsts = [value.tensor.reshape(1, -1, WIDTH)[:, filled] for value in init]
        given = [tuple(firsts) if len(firsts) > 1 else first for first in firsts[:1]]
        rows, sizes = torch.nn.utils.rnn.pad_packed_sequence(module(packed, *given)[0],
                                                             batch_first=True)
        rows = [row[:size] for row, size in zip(rows, sizes)]
        return torch.cat([row.flip(0) if backwards else row for row in rows])

    def run_cell(self, op, clause, bias, init=()):
        """Adds a cell with weights of its own, and a check of its rows."""
        case = self.case
        gates, module = CELLS[op]
        name = f"{op}{clause.replace(' ', '_')}{'_init' if init else ''}"
        w, u = (case.declare(f"{name}_{letter}", case.numbers((size, gates * WIDTH), -1, 1))
                for letter, size in (("w", GIVEN), ("u", WIDTH)))
        linear = case.emit(f"nn.linear %{self.x.name}, @{name}_w", [self.x],
                           (-1, gates * WIDTH), self.x.tensor @ w)
        cell = module(GIVEN, WIDTH, dtype=torch.float64)
        values = {"weight_ih_l0": w.T, "weight_hh_l0": u.T,
                  "bias_ih_l0": torch.zeros(gates * WIDTH, dtype=torch.float64),
                  "bias_hh_l0": torch.zeros(gates * WIDTH, dtype=torch.float64)}
        if bias:
            values["bias_hh_l0"] = case.declare(
                f"{name}_b", case.numbers(gates * WIDTH, -1, 1))

        def module_of(*given):
            return torch.func.functional_call(cell, values, given)

        text = f", @{name}_b" if bias else ""
        begin = f" init({names(init)})" if init else ""
        rows = case.emit(f"nn.{op} %{linear.name} of %{self.bags.name}, @{name}_u{text}"
                         f"{clause}{begin}", [linear, self.bags, *init], (-1, WIDTH),
                         self.run_packed(module_of, bool(clause), init))
        self.check(rows, name)
        return rows

    def scan(self, name, clause, shared, states, body, function, init=()):
        """Adds a scan with the body `body`. `function` computes the rows of a bag from its rows,
        and from the initial states if there is `init`."""
        self.write_scan(name, clause, shared, states, body, init)

        def of_bag(part, *firsts):
            turned = part.flip(0) if clause else part
            result = function(turned, *firsts)
            return result.flip(0) if clause else result

        result = self.case.emit(f"nn.neg %{name}#0", [], (-1, WIDTH),
                                -self.by_bag(of_bag, init), functional=False)
        self.check(result, name)

    def write_scan(self, name, clause, shared, states, body, init):
        case, x, bags = self.case, self.x, self.bags
        rows = "tensor<?x3xf32>"
        case.count += 1
        arguments = ", ".join(["%row: tensor<?x2xf32>",
                               *(f"%state{n}: {rows}" for n in range(states)),
                               *(f"%shared{n}: {value.type}"
                                 for n, value in enumerate(shared))])
        within = f" init({names(init)})" if init else ""
        within += f" with ({names(shared)})" if shared else ""
        types = ", ".join([x.type, bags.type, *(value.type for value in (*init, *shared))])
        case.body.append(f"%{name}:{max(states, 1)} = nn.scan %{x.name} of %{bags.name}"
                         f"{clause}{within} {{")
        case.body.append(f"^bb0({arguments}):")
        case.body.extend("  " + line for line in body)
        case.body.append(f"}} : {types}")


PLAIN = [
    "%scale = nn.mul %shared0, %shared0 : tensor<3x3xf32>, tensor<3x3xf32>",
    "%quarter = nn.constant dense<0.25> : tensor<1xf32>",
    "%a = nn.linear %row, @v : (tensor<?x2xf32>) -> tensor<?x3xf32>",
    "%b = nn.matmul %state0, %shared0 : tensor<?x3xf32>, tensor<3x3xf32>",
    "%c = nn.matmul %state0, %scale : tensor<?x3xf32>, tensor<3x3xf32>",
    "%ab = nn.add %a, %b : tensor<?x3xf32>, tensor<?x3xf32>",
    "%abc = nn.add %ab, %c : tensor<?x3xf32>, tensor<?x3xf32>",
    "%abcd = nn.add %abc, %quarter : tensor<?x3xf32>, tensor<1xf32>",
    "%after = nn.tanh %abcd : tensor<?x3xf32>",
    "nn.yield %after : tensor<?x3xf32>"]
SWAPPED = [
    "%half = nn.constant dense<0.5> : tensor<1xf32>",
    "%a = nn.linear %row, @v : (tensor<?x2xf32>) -> tensor<?x3xf32>",
    "%first = nn.add %state1, %a : tensor<?x3xf32>, tensor<?x3xf32>",
    "%second = nn.mul %state0, %half : tensor<?x3xf32>, tensor<1xf32>",
    "nn.yield %first, %second : tensor<?x3xf32>, tensor<?x3xf32>"]
STATELESS = [
    "%a = nn.linear %row, @v act(tanh) : (tensor<?x2xf32>) -> tensor<?x3xf32>",
    "nn.yield %a : tensor<?x3xf32>"]
DECAYED = [
    "%half = nn.constant dense<0.5> : tensor<1xf32>",
    "%after = nn.mul %state0, %half : tensor<?x3xf32>, tensor<1xf32>",
    "nn.yield %after : tensor<?x3xf32>"]


class Bodies:
    """The same bodies in PyTorch, as functions of the rows of a bag."""

    def __init__(self, m, v):
        self.m, self.v = m, v

    def plain(self, part, state=ZEROS):
        """A tensor that all rows share is used in two ways. The state accumulates."""
        rows = []
        scale = self.m * self.m
        for row in part:
            state = torch.tanh(row @ self.v + state @ self.m + state @ scale + 0.25)
            rows.append(state)
        return stacked(rows)

    def swapped(self, part, first=ZEROS, second=ZEROS):
        """Two states are exchanged in each step."""
        rows = []
        for row in part:
            first, second = second + row @ self.v, first * 0.5
            rows.append(first)
        return stacked(rows)

    def stateless(self, part):
        """There is no state."""
        return torch.tanh(part @ self.v)

    @staticmethod
    def decayed(part, first):
        """The state depends on no trained value except its initial value."""
        return stacked([first * 0.5**(n + 1) for n in range(len(part))])


def recurrence():
    this = Recurrence()
    case = this.case
    encoded = this.run_cell("gru", "", True)
    this.run_cell("gru", " from_end", False)
    this.run_cell("lstm", "", True)
    this.run_cell("lstm", " from_end", False)

    m = case.parameter("m", case.numbers((WIDTH, WIDTH), -0.5, 0.5))
    v = case.declare("v", case.numbers((GIVEN, WIDTH), -1, 1))
    bodies = Bodies(m.tensor, v)
    this.scan("plain", "", [m], 1, PLAIN, bodies.plain)
    this.scan("plain_from_end", " from_end", [m], 1, PLAIN, bodies.plain)
    this.scan("swapped", "", [], 2, SWAPPED, bodies.swapped)
    this.scan("stateless", "", [], 0, STATELESS, bodies.stateless)

    # Initial states from values of the sample, and from the result of an encoder. The initial
    # state of an empty bag is not used.
    of_samples = case.reshape(case.variable(SLOTS * WIDTH), SLOTS, WIDTH)
    last = this.last_rows(encoded)
    this.run_cell("gru", "", False, [last])
    this.run_cell("lstm", " from_end", True, [of_samples, last])
    this.scan("plain_init", "", [m], 1, PLAIN, bodies.plain, [of_samples])
    this.scan("plain_init_from_end", " from_end", [m], 1, PLAIN, bodies.plain, [last])
    this.scan("swapped_init", "", [], 2, SWAPPED, bodies.swapped, [of_samples, last])
    this.scan("decayed_init", "", [], 1, DECAYED, bodies.decayed, [of_samples])
    return case
