#===- op_cases.py - One model that checks many ops ------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Builds golden cases: the text of a model, and its value in PyTorch (f64).

Every variable of a case is `field + parameter`, with the parameter in a group
that is trained by plain gradient descent at rate 1. So after one step each
parameter has moved by exactly minus the gradient of the mean loss. The loss of
a sample is the sum over all checked results of result * weight, where the
weights are a field of their own.

All inputs are exact in 32-bit floats: one case serves f32 and f64.
"""

import json
import os
import re

import numpy
import torch

import tensorfile

HEADER = """//===- {file} - {what} -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written by integration_test/oracles/generate_op_goldens.py.
//
//===----------------------------------------------------------------------===//

"""


def tensor_type(shape, element="f32"):
    """Returns the type of a tensor. In `shape`, -1 stands for the batch."""
    return "tensor<" + "".join(
        ("?" if size < 0 else str(size)) + "x" for size in shape) + element + ">"


def write_case(folder, name, what, text, facts, data, initial, expected):
    """Writes the files of a case; README.md describes them."""
    path = os.path.join(folder, name)
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, "model.mlir"), "w") as file:
        file.write(HEADER.format(file=f"{name}/model.mlir", what=what) + text)
    with open(os.path.join(path, "case.json"), "w") as file:
        json.dump(facts, file, indent=1)
        file.write("\n")
    for file, arrays in (("data", data), ("init", initial), ("expected", expected)):
        tensorfile.write(
            os.path.join(path, file + ".safetensors"),
            {key: tensorfile.from_numpy(numpy.ascontiguousarray(value))
             for key, value in arrays.items()})


# Ops whose result type does not follow from the operands and the text of the op.
STATING_RESULTS = ("accidental_hits", "broadcast", "call", "cast", "compressed_interaction",
                   "linear", "log_probability", "lookup", "reshape", "segment_max",
                   "segment_pad", "segment_positions", "segment_sizes", "segment_sum")


def type_clause(text, operand_types, result_type):
    """Returns the types after the colon of an op."""
    types = ", ".join(operand_types)
    op = re.match(r"nn\.(\w+)", text)
    return f"({types}) -> {result_type}" if op and op[1] in STATING_RESULTS else types


KEYS = [-2**63, -7, -1, 0, 1, 2, 41, 2**62, 2**63 - 1]


def random_bags(case, slots, keys):
    """Returns bags of 0 to 4 ids with repetitions. The first bag is empty."""
    sizes = case.random.integers(0, 5, case.batch * slots)
    sizes[0], sizes[1] = 0, 4
    splits = numpy.concatenate([[0], numpy.cumsum(sizes)]).astype(numpy.int32)
    values = case.random.choice(numpy.array(keys, dtype=numpy.int64), splits[-1])
    values[:2] = values[0]
    return values, splits


class Value:
    """SSA value with its type and its value in PyTorch. `frozen`: its value in frozen programs, if
    that is different."""

    def __init__(self, name, shape, tensor):
        self.name, self.shape, self.tensor = name, tuple(shape), tensor
        self.frozen = None

    @property
    def type(self):
        return tensor_type(self.shape)


def ragged_type(values, slots):
    return f"!nn.ragged<?x{slots}x*x{'i64' if values.dtype == numpy.int64 else 'f32'}>"


class Bags:
    """Ragged field: its ids or numbers, and the start of each bag."""

    def __init__(self, name, values, splits, slots):
        self.name, self.values, self.splits = name, values, splits
        self.type = ragged_type(values, slots)

    def ranges(self):
        return list(zip(self.splits[:-1], self.splits[1:]))


class Case:
    """Collects one model. Tensors are f64. In the shape of a value that belongs to samples, the
    first dimension is -1. Random numbers depend on `seed_name`, which stays the same if a case is
    renamed."""

    def __init__(self, name, what, batch=8, seed_name=None):
        self.name, self.what, self.batch = name, what, batch
        self.random = numpy.random.default_rng(
            int.from_bytes((seed_name or name).encode(), "little") % 2**63)
        self.fields, self.field_types, self.field_values = [], {}, {}
        self.symbols, self.body = [], []
        self.initial, self.leaves, self.tables = {}, {}, {}
        self.outputs, self.terms = [], []
        self.count = 0

    # --- inputs ---------------------------------------------------------------

    def numbers(self, shape, low=-2.0, high=2.0):
        """Returns multiples of 1/64, so that sums are exact in f32."""
        return numpy.round(self.random.uniform(low, high, shape) * 64) / 64

    def field(self, name, values):
        """Adds a field of floats or ids. If `values` is a tuple (values, splits, slots), the field
        is ragged."""
        self.fields.append(name)
        self.field_values[name] = values
        if isinstance(values, tuple):
            self.field_types[name] = ragged_type(values[0], values[2])
            return name
        integer = values.dtype == numpy.int64
        self.field_types[name] = tensor_type((-1, values.shape[1]),
                                             "i64" if integer else "f32")
        if integer:
            return name
        return Value(name, (-1, values.shape[1]), torch.tensor(values))

    def declare(self, name, values, group="descent", init="#nn.zeros"):
        """Declares a trained parameter; without group, an `nn.state`. Returns its value in
        PyTorch."""
        kind, place = ("param", f" in @{group}") if group else ("state", "")
        self.symbols.append(f"nn.{kind} @{name} : {tensor_type(values.shape)}"
                            f"{place} init({init})")
        self.initial[name] = values.astype(numpy.float32)
        self.leaves[name] = torch.tensor(values, requires_grad=bool(group))
        return self.leaves[name]

    def parameter(self, name, values, group="descent"):
        """Declares a trained parameter and reads it; without group, an `nn.state`."""
        value = Value(name, values.shape, self.declare(name, values, group))
        self.body.append(f"%{name} = nn.read @{name} : {value.type}")
        return value

    def variable(self, width, low=-2.0, high=2.0, ties=None):
        """Returns field + parameter, [batch, width]. `ties`: value (number or array) that the
        first sample has exactly."""
        self.count += 1
        name = f"x{self.count}"
        shift = self.numbers(width, -0.25, 0.25)
        values = self.numbers((self.batch, width), low, high)
        if ties is not None:
            values[0] = ties - shift
        given = self.field(f"{name}_field", values)
        moved = self.parameter(f"{name}_shift", shift)
        return self.emit(f"nn.add %{given.name}, %{moved.name}", [given, moved],
                         (-1, width), given.tensor + moved.tensor)

    def table(self, name, width, keys, init="#nn.zeros", unknown="", default=0.0):
        """Declares a trained table. The case defines its rows for `keys`. `default`: value of all
        other rows."""
        keys = numpy.array(sorted(set(int(key) for key in keys)), dtype=numpy.int64)
        rows = self.numbers((len(keys), width))
        clause = f" unknown({unknown})" if unknown else ""
        self.symbols.append(f"nn.table @{name} : i64 -> tensor<{width}xf32> "
                            f"in @descent init({init}){clause}")
        self.initial[f"{name}.keys"] = keys
        self.initial[f"{name}.values"] = rows.astype(numpy.float32)
        self.tables[name] = {"rows": {int(key): torch.tensor(row, requires_grad=True)
                                      for key, row in zip(keys, rows)},
                             "width": width, "default": default}
        return name

    # --- computation ------------------------------------------------------------

    def emit(self, text, operands, shape, tensor, functional=True, name=None):
        """Adds an op. Returns its result."""
        self.count += 1
        name = name or f"v{self.count}"
        result = Value(name, shape, tensor)
        types = [operand.type for operand in operands] if functional else [result.type]
        self.body.append(f"%{name} = {text} : {type_clause(text, types, result.type)}")
        return result

    def unary(self, op, operand, tensor):
        return self.emit(f"nn.{op} %{operand.name}", [operand], operand.shape,
                         tensor, functional=False)

    def binary(self, op, lhs, rhs, tensor):
        rank = max(len(lhs.shape), len(rhs.shape))
        padded = [(1,) * (rank - len(v.shape)) + v.shape for v in (lhs, rhs)]
        shape = [a if b == 1 else b for a, b in zip(*padded)]
        return self.emit(f"nn.{op} %{lhs.name}, %{rhs.name}", [lhs, rhs], shape,
                         tensor)

    def reshape(self, operand, *tail):
        tensor = operand.tensor.reshape(self.batch, *tail)
        return self.emit(f"nn.reshape %{operand.name}", [operand], (-1, *tail), tensor)

    def id_op(self, text, operand_types, result_type):
        """Adds an op whose results are ids. Returns the name of its result."""
        self.count += 1
        name = f"v{self.count}"
        self.body.append(f"%{name} = {text} : "
                         f"{type_clause(text, operand_types, result_type)}")
        return name

    def lookup(self, table, ids, id_type, values, splits, pooling="sum"):
        """Adds a lookup. `values` and `splits`: the ids and their bags (each id of an id tensor is
        a bag of its own)."""
        state = self.tables[table]
        width, pooled = state["width"], []
        for bag in range(len(splits) - 1):
            keys = [int(key) for key in values[splits[bag]:splits[bag + 1]]]
            total = torch.zeros(width, dtype=torch.float64)
            for key in keys:
                if key not in state["rows"]:
                    state["rows"][key] = torch.full(
                        (width,), state["default"], dtype=torch.float64,
                        requires_grad=True)
                total = total + state["rows"][key]
            if keys and pooling == "mean":
                total = total / len(keys)
            if keys and pooling == "sqrtn":
                total = total / len(keys)**0.5
            pooled.append(total)
        slots = (len(splits) - 1) // self.batch
        self.count += 1
        result = Value(f"v{self.count}", (-1, slots, width),
                       torch.stack(pooled).reshape(self.batch, slots, width))
        self.body.append(f"%{result.name} = nn.lookup @{table}[%{ids}] "
                         f"pool({pooling}) : ({id_type}) -> {result.type}")
        return result

    def lookup_rows(self, table, bags):
        """Looks up a row for each id of ragged ids, without pooling."""
        rows = self.tables[table]["rows"]
        self.count += 1
        result = Value(f"v{self.count}", (-1, self.tables[table]["width"]),
                       torch.stack([rows[int(key)] for key in bags.values]))
        self.body.append(f"%{result.name} = nn.lookup @{table}[%{bags.name}] "
                         f"pool(none) : ({bags.type}) -> {result.type}")
        return result

    # --- what is compared -------------------------------------------------------

    def check(self, value, label):
        """Makes the value an output of @predict and a term of the loss."""
        if value.shape[0] != -1:  # a static tensor is repeated for each sample
            like = Value(self.fields[0], (-1, self.field_values[self.fields[0]].shape[1]),
                         None)
            shape = (-1, 1) + value.shape
            flat = int(numpy.prod(value.shape))
            flattened = value
            if len(value.shape) != 1:
                flattened = self.emit(f"nn.reshape %{value.name}", [value], (flat,),
                                      value.tensor.reshape(flat))
            first = self.emit(f"nn.slice %{like.name} axis 1 offset 0 size 1", [like],
                              (-1, 1), None)
            value = self.emit(
                f"nn.broadcast %{flattened.name} like %{first.name}",
                [flattened, first], (-1, flat),
                flattened.tensor.expand(self.batch, flat))
        self.outputs.append((label, value))
        flat = int(numpy.prod(value.shape[1:]))
        weights = self.numbers((self.batch, flat), -1.0, 1.0)
        given = self.field(f"weight{len(self.outputs)}", weights)
        tensor = value.tensor.reshape(self.batch, flat)
        self.terms.append((value, flat, given.name))
        self.loss = getattr(self, "loss", 0.0) + (tensor * given.tensor).sum(dim=1)

    # --- the whole --------------------------------------------------------------

    def text(self):
        lines = [f"module @{self.name} {{", "  nn.record @sample {"]
        lines += [f"    nn.field @{name} : {self.field_types[name]}"
                  for name in self.fields]
        lines += ["  }", "  nn.group @descent rule(@sgd) rate(1.0)"]
        lines += ["  " + symbol for symbol in self.symbols]
        arguments = ", ".join(f"%{name}: {self.field_types[name]}"
                              for name in self.fields)
        types = ", ".join(self.field_types[name] for name in self.fields)
        results = ", ".join(value.type for _, value in self.outputs)
        names = ", ".join(f"%{value.name}" for _, value in self.outputs)
        returned = f"({results})" if len(self.outputs) != 1 else results
        lines += ["", f"  nn.func private @compute({arguments}) -> {returned} {{"]
        lines += ["    " + line for line in self.body]
        lines += [f"    nn.return {names} : {results}", "  }"]
        call = (f"nn.call @compute({', '.join('%' + name for name in self.fields)})"
                f" : ({types}) -> {returned}")
        bundle = f"%r:{len(self.outputs)}" if len(self.outputs) > 1 else "%r"
        part = (lambda i: f"%r#{i}") if len(self.outputs) > 1 else (lambda i: "%r")
        lines += ["", "  nn.program @train reads(@sample) {", f"  ^bb0({arguments}):",
                  f"    {bundle} = {call}"]
        total = None
        for i, (value, flat, weight) in enumerate(self.terms):
            flat_type, one = tensor_type((-1, flat)), tensor_type((-1, 1))
            source = part(i)
            if value.shape != (-1, flat):
                lines.append(f"    %flat{i} = nn.reshape {source} : "
                             f"({value.type}) -> {flat_type}")
                source = f"%flat{i}"
            lines.append(f"    %product{i} = nn.mul {source}, %{weight} : "
                         f"{flat_type}, {flat_type}")
            lines.append(f"    %term{i} = nn.reduce sum %product{i} axes [1] keep : "
                         f"{flat_type}")
            if total is None:
                total = f"%term{i}"
            else:
                lines.append(f"    %total{i} = nn.add {total}, %term{i} : "
                             f"{one}, {one}")
                total = f"%total{i}"
        lines += [f"    nn.minimize {total} over [@descent] : {tensor_type((-1, 1))}",
                  "  }", "", "  nn.program @predict frozen reads(@sample) {",
                  f"  ^bb0({arguments}):", f"    {bundle} = {call}",
                  f"    nn.return {', '.join(part(i) for i in range(len(self.terms)))}"
                  f" : {results}", "  }", "}", ""]
        return "\n".join(lines)

    def write(self, folder):
        loss = self.loss.mean()
        loss.backward()
        expected = {"loss": numpy.array([loss.item()])}
        for label, value in self.outputs:
            frozen = value.tensor if value.frozen is None else value.frozen
            expected[f"output/{label}"] = frozen.detach().numpy()
        for name, leaf in self.leaves.items():
            gradient = leaf.grad if leaf.grad is not None else torch.zeros_like(leaf)
            expected[f"after/{name}"] = (leaf - gradient).detach().numpy()
        for name, state in self.tables.items():
            keys = sorted(state["rows"])
            rows = [state["rows"][key] for key in keys]
            after = [row.detach() - (row.grad if row.grad is not None else 0.0)
                     for row in rows]
            expected[f"after/{name}.keys"] = numpy.array(keys, dtype=numpy.int64)
            expected[f"after/{name}.values"] = torch.stack(after).numpy()
        data = {}
        for name in self.fields:
            values = self.field_values[name]
            if isinstance(values, tuple):
                is_float = values[0].dtype != numpy.int64
                data[f"{name}.values"] = values[0].astype(
                    numpy.float32 if is_float else numpy.int64)
                data[f"{name}.splits"] = numpy.array(values[1], dtype=numpy.int32)
            elif values.dtype == numpy.int64:
                data[name] = values
            else:
                data[name] = values.astype(numpy.float32)
        facts = {"what": self.what, "batch_size": self.batch, "steps": 1,
                 "outputs": [label for label, _ in self.outputs]}
        write_case(folder, self.name, self.what, self.text(), facts, data,
                   self.initial, expected)
