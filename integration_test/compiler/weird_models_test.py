# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Legal models that no user would write. Compiled, they compute the same bits as the interpreter,
with batches of five (the last one is smaller) and of one."""

import array
import math
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import exactness
from programs import run

import tensorfile

SAMPLES = 13
FIELDS = {"label": "tensor<?x1xf32>", "x": "tensor<?x6xf32>",
          "bags": "!nn.ragged<?x2x*xi64>", "ids": "tensor<?x3xi64>"}


class Value:
    """SSA value. `shape` begins with None if the value has a batch dimension."""

    def __init__(self, name, shape, element="f32"):
        self.name, self.shape, self.element = name, tuple(shape), element

    @property
    def type(self):
        if self.element == "ragged":
            return FIELDS["bags"]
        sizes = ["?" if size is None else str(size) for size in self.shape]
        return f"tensor<{'x'.join(sizes + [self.element])}>"


def broadcast(a, b):
    """Returns the shape to which two shapes are broadcast."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    return tuple(y if x == 1 else x for x, y in zip(a, b))


class Model:
    """Writes a model. It tracks the types of values, so that test cases are short."""

    def __init__(self, group="rule(@sgd) rate(0.125)"):
        self.symbols = [f"nn.group @g {group}",
                        "nn.metric @auc : #nn.auc<buckets = 16>"]
        self.functions, self.body, self.outputs = [], [], []
        self.weight, self.widths = None, {}
        self.label = Value("label", (None, 1))
        self.x = Value("x", (None, 6))
        self.bags = Value("bags", (None, 2), "ragged")
        self.ids = Value("ids", (None, 3), "i64")

    def emit(self, text, shape, element="f32", count=None):
        name = f"v{len(self.body)}"
        if count is None:
            self.body.append(f"%{name} = {text}")
            return Value(name, shape, element)
        self.body.append(f"%{name}:{count} = {text}")
        return [Value(f"{name}#{i}", shape, element) for i in range(count)]

    def op(self, op, inputs, shape, attributes="", element="f32"):
        names = ", ".join(f"%{v.name}" for v in inputs)
        types = ", ".join(v.type for v in inputs)
        if op in ("reshape", "broadcast", "cast"):  # whose result the text says
            types = f"({types}) -> {Value('', shape, element).type}"
        return self.emit(f"nn.{op} {names}{attributes} : {types}", shape, element)

    def unary(self, op, value, attributes=""):
        return self.emit(f"nn.{op} %{value.name}{attributes} : {value.type}",
                         value.shape)

    def binary(self, op, a, b):
        return self.op(op, [a, b], broadcast(a.shape, b.shape))

    def add(self, a, b):
        return self.binary("add", a, b)

    def mul(self, a, b):
        return self.binary("mul", a, b)

    def reshape(self, value, shape):
        return self.op("reshape", [value], shape, element=value.element)

    def slice(self, value, axis, offset, size):
        shape = list(value.shape)
        shape[axis] = size
        return self.op("slice", [value], shape,
                       f" axis {axis} offset {offset} size {size}",
                       value.element)

    def concat(self, values, axis):
        shape = list(values[0].shape)
        shape[axis] = sum(v.shape[axis] for v in values)
        return self.op("concat", values, shape, f" axis {axis}",
                       values[0].element)

    def reduce(self, kind, value, axes, keep=False):
        shape = [1 if i in axes else size for i, size in enumerate(value.shape)
                 if keep or i not in axes]
        return self.op(f"reduce {kind}", [value], shape,
                       f" axes {list(axes)}{' keep' if keep else ''}")

    def matmul(self, a, b, transposed=(False, False)):
        rows = a.shape[1 if transposed[0] else 0]
        columns = b.shape[0 if transposed[1] else 1]
        marks = [" transposed" if mark else "" for mark in transposed]
        return self.emit(f"nn.matmul %{a.name}{marks[0]}, %{b.name}{marks[1]} "
                         f": {a.type}, {b.type}", (rows, columns))

    def constant(self, text, shape):
        value = Value("", shape)
        return self.emit(f"nn.constant dense<{text}> : {value.type}", shape)

    def param(self, name, shape, group=" in @g", start="#nn.normal<0.0, 0.5>",
              kind="param"):
        """Declares a parameter and reads it."""
        value = Value("", shape)
        self.symbols.append(
            f"nn.{kind} @{name} : {value.type}{group} init({start})")
        return self.emit(f"nn.read @{name} : {value.type}", shape)

    def table(self, name, width):
        self.symbols.append(f"nn.table @{name} : i64 -> tensor<{width}xf32> in "
                            f"@g init(#nn.uniform<-0.5, 0.5>)")
        self.widths[name] = width

    def lookup(self, table, ids, pooling="sum"):
        shape = ids.shape + (self.widths[table],)
        result = Value("", shape)
        return self.emit(f"nn.lookup @{table}[%{ids.name}] pool({pooling}) : "
                         f"({ids.type}) -> {result.type}", shape)

    def output(self, *values):
        self.outputs += values

    def text(self):
        arguments = ", ".join(f"%{name}: {type}"
                              for name, type in FIELDS.items())
        # The loss is half of the sum of squares of all outputs.
        loss, tail = None, len(self.body)
        for value in self.outputs:
            width = 1
            for size in value.shape[1:]:
                width *= size
            flat = self.reshape(value, (None, width))
            term = self.reduce("mean", self.mul(flat, flat), [1], keep=True)
            loss = term if loss is None else self.add(loss, term)
        body, tail = self.body[:tail], self.body[tail:]
        weight = f" weight %{self.weight.name}" if self.weight else ""
        types = ", ".join([loss.type] * (2 if self.weight else 1))
        tail.append(f"nn.minimize %{loss.name}{weight} over [@g] : {types}")
        names = ", ".join(f"%{v.name}" for v in self.outputs)
        result = f"nn.return {names} : {', '.join(v.type for v in self.outputs)}"
        lines = ["module {", "nn.record @sample {"]
        lines += [f"nn.field @{name} : {type}"
                  for name, type in FIELDS.items()]
        lines += ["}", *self.symbols, *self.functions]
        lines += ["nn.program @train reads(@sample) {", f"^bb0({arguments}):",
                  *body, *tail, "}"]
        lines += ["nn.program @predict frozen reads(@sample) {",
                  f"^bb0({arguments}):", *body, result, "}", "}", ""]
        return "\n".join(lines)


def data():
    """Writes the samples. Some bags are empty, and ids are repeated."""
    source = random.Random(3)
    number = lambda count: array.array(
        "f", [source.choice((0.0, -0.5, source.gauss(0, 1)))
              for _ in range(count)])
    splits = [0]
    for _ in range(2 * SAMPLES):
        splits.append(splits[-1] + source.choice((0, 1, 1, 2, 3)))
    ids = lambda count: array.array(
        "q", [source.choice((-1, 0, 1, 2, 5, 2 ** 62)) for _ in range(count)])
    return {
        "label": tensorfile.Tensor("F32", [SAMPLES, 1], array.array(
            "f", [source.randint(0, 1) for _ in range(SAMPLES)])),
        "x": tensorfile.Tensor("F32", [SAMPLES, 6], number(6 * SAMPLES)),
        "bags.values": tensorfile.Tensor("I64", [splits[-1]], ids(splits[-1])),
        "bags.splits": tensorfile.Tensor("I32", [len(splits)],
                                         array.array("i", splits)),
        "ids": tensorfile.Tensor("I64", [SAMPLES, 3], ids(3 * SAMPLES)),
    }


class WeirdModels(exactness.ExactnessTest):

    def setUp(self):
        super().setUp()
        self.data = self.root / "data.safetensors"
        tensorfile.write(self.data, data())

    def check(self, model):
        source = self.root / "model.mlir"
        source.write_text(model if isinstance(model, str) else model.text())
        trainer = self.compile_strict(source)
        for batch_size in (5, 1):
            with self.subTest(batch_size=batch_size):
                self.check_program(source, trainer, self.data, batch_size,
                                   steps=4)

    def check_metrics(self, model, names):
        """Checks the values of the metrics in an epoch, computed from their sums in a checkpoint.
        There are two metrics of each kind. For some, checks the number of predictions outside [0,
        1]."""
        self.check(model)
        source, saved = self.root / "model.mlir", self.root / "saved"
        run(self.compile_strict(source), "train", "--data", self.data, "--seed",
            7, "--batch-size", 5, "--steps", 2, "--checkpoint", saved)
        step, = saved.glob("step-*")
        sums = {name.split(".")[1]: tensor.data for name, tensor in
                tensorfile.read(step / "trainer.safetensors").items()
                if name.startswith("metric.")}
        lines = self.root / "metrics"
        self.interpret(source, "gradient", f"program=train data={self.data} "
                       f"batch-size=5 seed=7 steps=2 metrics={lines}")
        values = dict(line.split() for line in lines.read_text().splitlines())
        for name in names:
            total, weight, *outside = sums[name]
            self.assertEqual(outside, [0.0] * len(outside), name)
            value = total / weight
            self.assertEqual(math.sqrt(value) if name == "rmse" else value,
                             float(values[name]), name)

    def test_products_with_several_users(self):
        m = Model()
        w, b = m.param("w", (6, 4)), m.param("b", (4,))
        product = m.matmul(m.x, w)
        biased = m.add(product, b)
        m.output(product, m.unary("relu", biased), m.unary("sigmoid", biased))
        # The same operand twice, and a product that is its own mask.
        other = m.matmul(m.x, m.param("w2", (6, 4)))
        m.output(m.mul(other, other), m.add(m.unary("relu", other), other))
        self.check(m)

    def test_orders_of_what_follows_products(self):
        m = Model()
        b, c = m.param("b", (4,)), m.param("c", (4,))
        for i, chain in enumerate(("b", "rb", "br", "bb", "rr", "brr", "Br",
                                   "brb", "xr", "rx")):
            value = m.matmul(m.x, m.param(f"w{i}", (6, 4)))
            for link in chain:
                value = {"b": lambda: m.add(value, b),
                         "B": lambda: m.add(b, value),
                         "r": lambda: m.unary("relu", value),
                         "x": lambda: m.add(value, m.mul(c, c))}[link]()
            m.output(value)
        self.check(m)

    def test_deep_relu_layers(self):
        m = Model()
        value = m.x
        for i in range(4):
            value = m.unary("relu", m.add(
                m.matmul(value, m.param(f"w{i}", (6, 6))),
                m.param(f"b{i}", (6,))))
        m.output(value, m.matmul(value, m.param("last", (6, 1))))
        self.check(m)

    def test_products_of_parameters_and_transposed_ones(self):
        m = Model(group="rule(@sgd) rate(0.0078125)")
        a, b = m.param("a", (6, 4)), m.param("b", (5, 4))
        both = m.matmul(a, b, (False, True))
        square = m.matmul(a, a, (True, False))
        m.output(m.matmul(m.x, both), m.matmul(m.matmul(m.x, a), square),
                 m.matmul(m.x, m.param("t", (3, 6)), (False, True)))
        self.check(m)

    def test_one_parameter_in_many_places(self):
        m = Model(group="rule(@adam) rate(0.125) "
                        "decay(#nn.l2<0.25>, #nn.l1<0.125>) clip(@c) "
                        "untouched(lazy)")
        m.symbols.append("nn.clip @c : global_norm(0.5)")
        w = m.param("w", (6, 6))
        first = m.unary("tanh", m.matmul(m.x, w))
        second = m.unary("tanh", m.matmul(first, w, (False, True)))
        row = m.reshape(m.slice(w, 0, 2, 1), (6,))
        m.output(second, m.add(m.x, row),
                 m.mul(m.x, m.reduce("max", w, [0])))
        self.check(m)

    def test_broadcast_of_unit_and_missing_dimensions(self):
        m = Model()
        x = m.reshape(m.x, (None, 3, 2))
        for i, shape in enumerate(((3, 1), (1, 2), (1, 1, 1), (2,), (), (1,),
                                   (1, 3, 2), (1, 1, 2), (3, 2))):
            op = ("add", "mul", "sub", "max", "min")[i % 5]
            p = m.param(f"p{i}", shape, start="#nn.uniform<1.0, 2.0>")
            m.output(m.binary(op, x, p), m.binary(op, p, x),
                     m.binary("div", x, p))
        narrow = m.reshape(m.slice(m.x, 1, 4, 1), (None, 1, 1))
        wide = m.mul(narrow, m.param("wide", (1, 5)))
        m.output(wide, m.add(wide, m.reshape(m.slice(m.x, 1, 1, 5),
                                             (None, 1, 5))))
        self.check(m)

    def test_dimensions_that_join_for_some_operands_only(self):
        m = Model()
        x = m.reshape(m.x, (None, 1, 3, 1, 2, 1))
        m.output(m.add(x, m.param("a", (2, 1, 3, 1, 2))),
                 m.mul(m.param("b", (2, 3, 1, 1, 4)), x),
                 m.add(m.mul(x, m.param("c", (1, 3, 1, 1, 1))),
                       m.param("d", (5, 1, 1, 1, 1))))
        self.check(m)

    def test_sums_over_middle_axes(self):
        m = Model()
        p = m.param("p", (2, 3, 4, 5))
        x = m.slice(m.x, 1, 0, 1)
        for kind in ("sum", "mean", "max"):
            for axes in ([1], [2], [1, 3], [0, 2], [0, 1, 2, 3], [2, 3], [0]):
                for keep in (False, True):
                    less = m.reduce(kind, p, axes, keep)
                    size = 1
                    for dimension in less.shape:
                        size *= dimension
                    m.output(m.add(x, m.reshape(less, (size,))))
        self.check(m)

    def test_sums_over_axes_of_samples(self):
        m = Model()
        x = m.mul(m.reshape(m.x, (None, 3, 1, 2)), m.param("p", (3, 4, 2)))
        for kind in ("sum", "mean", "max"):
            for axes in ([1], [2], [3], [1, 3], [1, 2], [2, 3], [1, 2, 3]):
                m.output(m.reduce(kind, x, axes), m.reduce(kind, x, axes, True))
        self.check(m)

    def test_slices_of_slices_and_chains_of_reshapes(self):
        m = Model()
        x = m.mul(m.x, m.param("p", (6,)))
        inner = m.slice(m.slice(x, 1, 1, 4), 1, 2, 2)
        chain = m.reshape(m.reshape(m.reshape(x, (None, 2, 3)),
                                    (None, 3, 1, 2)), (None, 6))
        joined = m.concat([inner, chain, inner, m.slice(chain, 1, 5, 1)], 1)
        middle = m.slice(m.reshape(joined, (None, 1, 11)), 2, 0, 11)
        columns = m.concat([m.slice(m.reshape(x, (None, 3, 2)), 1, 2, 1),
                            m.slice(m.reshape(x, (None, 3, 2)), 1, 0, 2)], 1)
        q = m.param("q", (4, 3, 2))
        part = m.slice(m.slice(m.slice(q, 0, 1, 2), 1, 1, 2), 2, 1, 1)
        m.output(middle, columns, m.add(m.slice(x, 1, 0, 1),
                                        m.reshape(part, (4,))))
        self.check(m)

    def test_columns_of_wider_tensors(self):
        """Rows are so wide that loops could run across gaps."""
        m = Model()
        m.table("rows", 8)
        wide = m.mul(m.reshape(m.x, (None, 6, 1)), m.param("p", (6, 20)))
        flat = m.reshape(wide, (None, 120))
        summed = m.reduce("sum", wide, [1])
        product = m.matmul(m.x, m.param("w", (6, 24)))
        left = m.unary("sigmoid", m.slice(flat, 1, 17, 32))
        # Concatenations of concatenations. `left` and `summed` are also read by other ops.
        inner = m.concat([left, product, left], 1)
        mean = m.reduce("mean", m.reshape(inner, (None, 4, 22)), [1])
        pooled = m.reshape(m.lookup("rows", m.bags, "mean"), (None, 16))
        each = m.reshape(m.lookup("rows", m.ids), (None, 24))
        outer = m.concat([pooled, inner, summed, mean, each, m.x], 1)
        m.output(m.unary("tanh", outer), m.mul(left, m.param("q", (32,))),
                 m.add(m.slice(outer, 1, 16, 32), left),
                 m.reduce("mean", m.reshape(m.slice(outer, 1, 40, 32),
                                            (None, 4, 8)), [1]),
                 m.mul(summed, summed))
        # Concatenations along the second and the last of three axes, with other views of the same
        # elements and of parameters.
        deep = m.concat([m.unary("relu", wide),
                         m.mul(wide, m.param("r", (6, 20)))], 2)
        part = m.slice(deep, 2, 3, 18)
        m.output(m.unary("tanh", deep), m.mul(part, part),
                 m.slice(m.reshape(deep, (None, 240)), 1, 40, 80),
                 m.matmul(m.reshape(m.slice(deep, 1, 2, 1), (None, 40)),
                          m.param("s", (40, 3))))
        rows = m.unary("tanh", m.param("a", (3, 20)))
        row = m.slice(rows, 0, 1, 1)
        joined = m.concat([row, m.unary("sigmoid", row)], 1)
        m.output(m.matmul(m.reshape(m.slice(deep, 1, 4, 1), (None, 40)),
                          joined, (False, True)))
        self.check(m)

    def test_outputs_that_belong_to_something_else(self):
        m = Model()
        p = m.param("p", (6,))
        value = m.mul(m.x, p)
        repeated = m.emit(f"nn.broadcast %{p.name} like %x : (tensor<6xf32>, "
                          f"tensor<?x6xf32>) -> tensor<?x6xf32>", (None, 6))
        m.output(m.x, m.x, m.label, m.reshape(m.x, (None, 2, 3)), value, value,
                 m.reshape(value, (None, 6, 1)), repeated,
                 m.unary("stop_gradient", value), m.slice(m.x, 1, 0, 6),
                 m.concat([value], 1))
        self.check(m)

    def test_symbols_that_nothing_uses(self):
        m = Model()
        m.param("unused", (3, 3))
        m.param("never_trained", (2,), group="")
        m.param("constant", (2,), group="", kind="state")
        m.symbols.append("nn.group @nobody rule(@adam) rate(1.0) "
                         "untouched(dense)")
        m.symbols.append("nn.metric @unseen : #nn.copc")
        m.table("unused_rows", 3)
        fixed = m.param("fixed", (6,), group="", kind="state")
        free = m.param("free", (6,), group="")
        m.output(m.add(m.mul(m.mul(m.x, fixed), free), m.param("p", (1,))))
        self.check(m)

    def test_gradients_without_computation(self):
        m = Model()
        zero = m.constant("0.0", ())
        a, b, c, d = (m.param(name, (6,)) for name in "abcd")
        m.output(m.mul(m.x, m.mul(a, zero)),        # zero
                 m.mul(m.x, m.unary("stop_gradient", b)),  # none
                 m.mul(m.x, m.unary("sign", c)),    # none
                 m.add(m.x, d))
        m.output(m.add(m.slice(m.x, 1, 0, 1), m.param("e", (1, 1))))
        self.check(m)

    def test_loss_without_computation(self):
        for loss in ("%a = nn.read @p : tensor<1x1xf32>\n"
                     "%l = nn.add %label, %a : tensor<?x1xf32>, "
                     "tensor<1x1xf32>",
                     "%a = nn.read @p : tensor<1x1xf32>\n"
                     "%l = nn.broadcast %a like %label : (tensor<1x1xf32>, "
                     "tensor<?x1xf32>) -> tensor<?x1xf32>",
                     "%i = nn.slice %ids axis 1 offset 0 size 1 : "
                     "tensor<?x3xi64>\n"
                     "%e = nn.lookup @t[%i] pool(sum) : (tensor<?x1xi64>) -> "
                     "tensor<?x1x1xf32>\n"
                     "%l = nn.flatten %e from 1 : tensor<?x1x1xf32>"):
            with self.subTest(loss=loss):
                m = Model()
                m.table("t", 1)
                m.symbols.append(
                    "nn.param @p : tensor<1x1xf32> in @g init(#nn.zeros)")
                m.output(m.label)
                lines = m.text().split("\n")
                at = next(i for i, line in enumerate(lines)
                          if "nn.minimize" in line)
                lines[at] = (f"{loss}\nnn.minimize %l over [@g] : "
                             f"tensor<?x1xf32>\n"
                             f"nn.return %l, %l : tensor<?x1xf32>, "
                             f"tensor<?x1xf32>")
                self.check("\n".join(lines))

    def test_lookups_of_the_same_ids(self):
        m = Model()
        m.table("t", 3)
        m.table("u", 2)
        for ids in (m.bags, m.ids):
            for pooling in ("sum", "mean", "sqrtn", "sum"):
                m.output(m.lookup("t", ids, pooling))
            m.output(m.lookup("u", ids))
        self.check(m)

    def test_lookups_that_lead_nowhere(self):
        m = Model()
        m.table("t", 3)
        m.table("cut", 2)
        m.lookup("t", m.ids, "mean")
        whole = m.lookup("t", m.bags)
        m.output(m.slice(whole, 1, 1, 1),
                 m.unary("stop_gradient", m.lookup("cut", m.bags, "mean")),
                 m.unary("stop_gradient", m.lookup("t", m.ids, "sum")))
        self.check(m)

    def test_ids_that_are_computed(self):
        m = Model()
        m.table("t", 2)
        scaled = m.mul(m.x, m.constant("[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]", (6,)))
        buckets = m.op("bucketize", [scaled], (None, 6),
                       " boundaries [-1.0, 0.0, 0.5]", "i64")
        joined = m.concat([m.slice(buckets, 1, 4, 2), m.ids,
                           m.slice(m.ids, 1, 2, 1)], 1)
        again = m.op("cross", [joined], (None, 6), " salt(7)", "i64")
        crossed = m.op("cross", [buckets, again, buckets], (None, 6), "", "i64")
        turned = m.reshape(m.reshape(crossed, (None, 2, 3)), (None, 6))
        m.output(m.lookup("t", joined), m.lookup("t", again),
                 m.lookup("t", turned, "mean"), scaled)
        self.check(m)

    def test_rows_of_bags(self):
        m = Model()
        m.table("t", 3)
        rows_type = Value("", (None, 3)).type

        def of_bags(op, value, shape, word="of", attributes=""):
            types = f"{value.type}, {m.bags.type}"
            if op in ("sum", "max", "pad"):  # whose result the text says
                types = f"({types}) -> {Value('', shape).type}"
            return m.emit(f"nn.segment_{op} %{value.name} {word} %bags{attributes} : {types}",
                          shape)

        rows = m.emit(f"nn.lookup @t[%bags] pool(none) : ({m.bags.type}) -> "
                      f"{rows_type}", (None, 3))
        weight = m.param("w", (3, 3))
        hidden = m.unary("tanh", m.matmul(rows, weight))
        of_each = (None, 2, 3)
        query = m.reshape(m.x, of_each)
        asked = m.mul(hidden, of_bags("repeat", query, (None, 3), "over"))
        share = of_bags("softmax", asked, (None, 3))
        before = of_bags("shift", of_bags("reverse", rows, (None, 3)), (None, 3),
                         attributes=" by 1")
        for value in (rows, m.mul(share, before), m.add(hidden, before)):
            m.output(*[of_bags(kind, value, of_each)
                       for kind in ("sum", "mean", "sqrtn", "max", "first", "last")])
        for end in ("", " from_end"):
            padded = of_bags("pad", hidden, (None, 2, 2, 3), attributes=end)
            back = of_bags("unpad", padded, (None, 3), "over", end)
            m.output(padded, of_bags("sum", m.mul(back, rows), of_each))
        self.check(m)

    def test_rows_by_their_position(self):
        # Positions are computed when ids are prepared, and again when rows are.
        m = Model()
        m.table("t", 3)
        m.table("place", 3)
        positions = m.emit(f"nn.segment_positions %bags : ({m.bags.type}) -> "
                           f"tensor<?x1xf32>", (None, 1))
        ids = m.op("bucketize", [positions], (None, 1), " boundaries [1.0, 2.0]", "i64")
        placed = m.reshape(m.lookup("place", ids), (None, 3))
        rows = m.emit(f"nn.lookup @t[%bags] pool(none) : ({m.bags.type}) -> "
                      f"{placed.type}", (None, 3))
        both = m.mul(m.add(rows, placed), positions)
        m.output(m.emit(f"nn.segment_sum %{both.name} of %bags : ({both.type}, "
                        f"{m.bags.type}) -> tensor<?x2x3xf32>", (None, 2, 3)))
        self.check(m)

    def test_crosses_of_bags(self):
        m = Model()
        m.table("t", 2)
        two = m.slice(m.ids, 1, 0, 2)

        def cross(*inputs):
            names = ", ".join(f"%{v.name}" for v in inputs)
            types = ", ".join(v.type for v in inputs)
            return m.emit(f"nn.cross {names} : {types}", (None, 2), "ragged")

        once = cross(m.bags, m.bags)
        mixed = cross(two, m.bags)
        chain = cross(once, mixed, two)
        m.output(m.lookup("t", once), m.lookup("t", mixed, "mean"),
                 m.lookup("t", chain, "sqrtn"), m.lookup("t", m.bags),
                 m.lookup("t", cross(m.bags)))
        self.check(m)

    def test_weights_that_may_all_be_zero(self):
        m = Model(group="rule(@momentum) rate(0.125) untouched(lazy)")
        m.table("t", 2)
        m.output(m.mul(m.x, m.param("p", (6,))), m.lookup("t", m.bags))
        m.weight = m.label
        self.check(m)

    def test_one_value_on_both_sides(self):
        m = Model()
        x = m.mul(m.x, m.param("p", (6,)))
        for op in ("add", "sub", "mul", "max", "min", "equal", "greater"):
            m.output(m.binary(op, x, x))
        m.output(m.binary("div", x, m.add(m.mul(x, x), m.constant("1.0", ()))))
        m.output(m.emit(f"nn.squared_error %{x.name}, %{x.name} : {x.type}",
                        x.shape))
        m.output(m.emit(f"nn.sigmoid_cross_entropy %{x.name}, %{x.name} : "
                        f"{x.type}", x.shape))
        self.check(m)

    def test_ties_and_edges(self):
        m = Model()
        p = m.param("p", (6,), start="#nn.zeros")
        x = m.mul(m.x, p)
        for op in ("abs", "relu", "sign", "signed_log1p", "exp", "tanh",
                   "sigmoid", "log1p"):
            m.output(m.unary(op, m.add(x, m.constant("0.0", ()))))
        m.output(m.binary("max", x, m.constant("0.0", (1,))),
                 m.binary("min", m.x, p), m.reduce("max", x, [1], True))
        self.check(m)

    def test_entries_next_to_infinite_ones(self):
        """An entry that is masked by -inf is not selected, does not change the selected entries,
        and gets no gradient."""
        m = Model()
        p = m.param("p", (6,), start="#nn.constant<1.0>")
        shown = m.binary("greater", m.x, m.constant("0.0", (1,)))
        mask = m.binary("div", m.binary("sub", shown, m.constant("1.0", (1,))), shown)
        zero = m.mul(m.slice(m.x, 1, 0, 1), m.constant("0.0", (1,)))
        entries = m.concat([m.add(m.mul(m.x, p), mask), m.unary("abs", zero)], 1)
        places = m.op("top_k", [entries], (None, 1), " count 1", "i64")
        taken = m.emit(f"nn.gather %{entries.name} at %{places.name} : {entries.type}, "
                       f"{places.type}", (None, 1))
        # The same for a list of rows, if an index selects none of them.
        rows = m.reshape(entries, (None, 7, 1))
        m.output(taken, m.emit(f"nn.gather %{rows.name} at %{places.name} : {rows.type}, "
                               f"{places.type}", (None, 1, 1)))
        self.check(m)
        outputs = self.root / "outputs"
        self.interpret(self.root / "model.mlir", "gradient",
                       f"program=predict data={self.data} batch-size=5 seed=7 outputs={outputs}")
        x = tensorfile.read(self.data)["x"].data
        found = [float(line.split("\t")[0]) for line in outputs.read_text().splitlines()[1:]]
        self.assertEqual(array.array("f", found),
                         array.array("f", [max(0.0, *x[6 * i:6 * i + 6]) for i in range(SAMPLES)]))

    def test_long_chains_share_memory(self):
        m = Model()
        values = [m.mul(m.x, m.param("p", (6,)))]
        for i in range(12):
            values.append(m.unary(("tanh", "sigmoid", "abs")[i % 3], values[-1]))
            if i % 4 == 3:
                values.append(m.add(values[-1], values[i // 2]))
            if i % 5 == 4:
                values.append(m.concat([m.slice(values[-1], 1, 3, 3),
                                        m.slice(values[-2], 1, 0, 3)], 1))
        m.output(values[-1], values[3])
        self.check(m)

    def test_sizes_lent_by_values_that_nothing_else_needs(self):
        m = Model()
        p = m.param("p", (1, 6))
        size = m.mul(m.x, p)
        like = m.emit(f"nn.broadcast %{p.name} like %{size.name} : ({p.type}, "
                      f"{size.type}) -> {size.type}", size.shape)
        m.output(m.mul(like, m.slice(m.x, 1, 0, 1)))
        self.check(m)

    def test_constants_and_fixed_statistics(self):
        m = Model()
        c = m.constant("[[1.0, -2.0, 0x7F800000], [0.5, 3.0, -0.0]]", (2, 3))
        x = m.reshape(m.mul(m.x, m.param("p", (6,))), (None, 2, 3))
        m.output(m.unary("sigmoid", m.add(x, c)),
                 m.unary("standardize", x, " mean [0.5, 1.0, 0.1] "
                         "deviation [2.0, 0.1, 3.0]"),
                 m.unary("standardize", m.reshape(x, (None, 6, 1)),
                         " mean [0.3] deviation [0.7]"))
        m.output(m.unary("standardize", m.reduce("sum", x, [1, 2], True),
                         " mean [1.0] deviation [3.0]"))
        self.check(m)

    def test_functions_in_functions(self):
        m = Model()
        m.symbols.append("nn.param @p : tensor<6xf32> in @g init(#nn.zeros)")
        m.functions += [
            "nn.func private @nothing() { nn.return }",
            "nn.func private @state() -> tensor<6xf32> {",
            "%p = nn.read @p : tensor<6xf32>",
            "nn.call @nothing() : () -> ()",
            "nn.return %p : tensor<6xf32> }",
            "nn.func private @same(%a: tensor<?x6xf32>, %b: "
            "!nn.ragged<?x2x*xi64>) -> (tensor<?x6xf32>, tensor<?x6xf32>) {",
            "%p = nn.call @state() : () -> tensor<6xf32>",
            "%q = nn.call @state() : () -> tensor<6xf32>",
            "%r = nn.mul %p, %q : tensor<6xf32>, tensor<6xf32>",
            "%s = nn.add %a, %r : tensor<?x6xf32>, tensor<6xf32>",
            "nn.return %a, %s : tensor<?x6xf32>, tensor<?x6xf32> }"]
        call = ("nn.call @same(%{}, %bags) : (tensor<?x6xf32>, "
                "!nn.ragged<?x2x*xi64>) -> (tensor<?x6xf32>, tensor<?x6xf32>)")
        first = m.emit(call.format("x"), (None, 6), count=2)
        second = m.emit(call.format(first[1].name), (None, 6), count=2)
        m.output(*first, *second)
        self.check(m)

    def test_a_metric_fed_twice(self):
        m = Model()
        p = m.unary("sigmoid", m.mul(m.slice(m.x, 1, 0, 1),
                                     m.param("p", (1,))))
        for labels in (m.label, m.label, p):
            m.body.append(f"nn.observe @auc(%{p.name}, %{labels.name}) : "
                          f"tensor<?x1xf32>")
        m.output(p)
        self.check(m)

    def test_loops_over_rows(self):
        """Loops of lengths with many remainders modulo sixteen, of the largest length and of one
        that is too large; with -0; and over rows that two dimensions count."""
        m = Model()
        column = m.slice(m.x, 1, 0, 1)
        for width in (2, 3, 7, 13, 16, 17, 47, 512, 513):
            rows = m.mul(column, m.param(f"p{width}", (width,)))
            apart = m.binary("sub", rows, m.reduce("mean", rows, [1], True))
            square = m.reduce("mean", m.mul(apart, apart), [1], True)
            zeros = m.mul(rows, m.constant("-0.0", (1,)))
            m.output(m.unary("softmax", rows, " axis 1"), m.mul(apart, square),
                     m.reduce("sum", zeros, [1], True))
        self.check(m)
        m = Model()
        rows = m.mul(m.reshape(m.x, (None, 1, 6)), m.param("q", (5, 6)))
        m.output(m.unary("softmax", rows, " axis 2"))
        self.check(m)

    def test_metrics_with_weights(self):
        m = Model()
        p = m.unary("sigmoid", m.mul(m.slice(m.x, 1, 0, 1),
                                     m.param("p", (1,))))
        m.symbols += ["nn.metric @mean : #nn.mean",
                      "nn.metric @log_loss : #nn.log_loss",
                      "nn.metric @copc : #nn.copc",
                      "nn.metric @mae : #nn.mae",
                      "nn.metric @rmse : #nn.rmse",
                      "nn.metric @accuracy : #nn.accuracy<threshold = 0.5>",
                      "nn.metric @bucket_error : #nn.bucket_error<buckets = 64>"]
        for observed in (f"@auc(%{p.name}, %{m.label.name})",
                         f"@log_loss(%{p.name}, %{m.label.name})",
                         f"@copc(%{p.name}, %{m.label.name})",
                         f"@mean(%{p.name})",
                         f"@mae(%{p.name}, %{m.label.name})",
                         f"@rmse(%{p.name}, %{m.label.name})",
                         f"@accuracy(%{p.name}, %{m.label.name})",
                         f"@bucket_error(%{p.name}, %{m.label.name})"):
            m.body.append(f"nn.observe {observed} weight %{p.name} : "
                          f"tensor<?x1xf32>")
        m.output(p)
        self.check_metrics(m, ("mean", "log_loss", "copc", "mae", "rmse",
                               "accuracy"))

    def test_metrics_of_lists(self):
        """Metrics of a value that is part of a wider value, too."""
        m = Model()
        p = m.unary("sigmoid", m.mul(m.slice(m.x, 1, 0, 1),
                                     m.param("p", (1,))))
        scores = m.mul(m.x, m.param("w", (6,)))
        some = m.slice(scores, 1, 1, 3)
        m.symbols += [f"nn.metric @{name} : #nn.{kind}" for name, kind in (
            ("accuracy", "accuracy_at<k = 1>"), ("recall", "recall_at<k = 2>"),
            ("ndcg", "ndcg_at<k = 4>"), ("mrr", "mrr"))]
        m.body += [
            f"nn.observe @accuracy(%{scores.name}, %{m.label.name}) : "
            "tensor<?x6xf32>, tensor<?x1xf32>",
            f"nn.observe @recall(%{scores.name}, %x) : tensor<?x6xf32>",
            f"nn.observe @ndcg(%{scores.name}, %x) weight %{p.name} : "
            "tensor<?x6xf32>",
            f"nn.observe @mrr(%{some.name}, %{m.label.name}) weight %{p.name} : "
            "tensor<?x3xf32>, tensor<?x1xf32>"]
        m.output(scores, some)
        self.check_metrics(m, ("accuracy", "recall", "ndcg", "mrr"))

    def test_names_beyond_ascii(self):
        m = Model()
        m.output(m.mul(m.x, m.param('"größe Δ/1 %s"', (6,))))
        self.check(m)


if __name__ == "__main__":
    unittest.main()
