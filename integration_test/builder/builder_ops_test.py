# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python/pdl has all ops of the dialect, and infers the same types as the compiler."""

import inspect
import itertools
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from programs import PDL_OPT, SOURCE, run

sys.path.insert(0, str(SOURCE / "python"))

import pdl
from pdl import shapes
from pdl.values import Operand

REFERENCE = SOURCE / "docs" / "Reference" / "NN.md"

# Calls of the ops that `plain_call` cannot call. Each call gets a Namespace. Columns: x and y
# [batch, 4], z [batch, 1], cube [batch, 2, 3]. Ids: ids and more_ids [batch, 4]. Bags: bags and
# more_bags [batch, 4], rows [ids of bags, 3], of_bags [batch, 4, 3]. Others: matrix [4, 5], vector
# [5], table, group, metric.
EXAMPLES = {
    "accidental_hits": [lambda n: pdl.accidental_hits(n.ids, n.more_ids) + n.x],
    "broadcast": [lambda n: pdl.broadcast(n.z, (None, 4), n.x),
                  lambda n: pdl.broadcast(n.vector, (None, 5), n.z),
                  lambda n: pdl.broadcast(n.vector, (3, 5)),
                  lambda n: pdl.lookup(n.table, pdl.broadcast(
                      pdl.constant([7, 2**64 - 1], element="i64"), (None, 2), n.ids), "sum")],
    "accumulate": [lambda n: [pdl.accumulate(n.kept(4), n.x),
                              pdl.minimize(n.trained, [n.group])],
                   lambda n: [pdl.accumulate(n.kept(2, 3), n.cube, n.z),
                              pdl.minimize(n.trained, [n.group])]],
    "batch_norm": [lambda n: pdl.batch_norm(n.x, n.kept(4), n.kept(4)),
                   lambda n: pdl.batch_norm(n.cube, n.kept(3), n.kept(3), 1e-3)],
    "batch_sum": [lambda n: n.x - pdl.batch_sum(n.x), lambda n: n.cube - pdl.batch_sum(n.cube)],
    "bucketize": [lambda n: pdl.bucketize(n.x, [1, 2.5])],
    "cast": [lambda n: pdl.cast(n.ids), lambda n: pdl.cast(n.x),
             lambda n: pdl.cast(n.bags) * n.rows,
             lambda n: pdl.cast(0.5 * pdl.cast(n.x, "f64"), "f32") + n.x,
             lambda n: pdl.cast(n.ids, "f64") * pdl.cast(n.x, "f64"),
             lambda n: pdl.cast(n.shares, "f64")],
    "compressed_interaction": [lambda n: pdl.compressed_interaction(
        n.cube, pdl.reshape(n.cube[:, 0:1], (None, 1, 3)), n.param((2, 7)))],
    "concat": [lambda n: pdl.concat([n.x, n.z], 1), lambda n: pdl.concat([n.cube, n.cube], 2),
               lambda n: pdl.concat([n.ids], axis=1)],
    "cosine_similarity": [lambda n: pdl.cosine_similarity(n.x, n.y),
                          lambda n: pdl.cosine_similarity(n.cube, n.cube, epsilon=0.1)],
    "cross": [lambda n: pdl.cross([n.ids]), lambda n: pdl.cross([n.ids, n.more_ids], salt=3),
              lambda n: pdl.cross([n.ids, n.bags])],
    "cross_layer": [lambda n: pdl.cross_layer(n.x, n.y, n.param((4, 4)), n.param((4,))),
                    lambda n: pdl.cross_layer(n.x, n.y, n.param((4, 1)), n.param((4,)), True)],
    "cvm": [lambda n: pdl.cvm(n.x), lambda n: pdl.cvm(n.cube)],
    "data_norm": [lambda n: pdl.data_norm(n.x, n.kept(4), n.kept(4), n.kept(4)),
                  lambda n: pdl.data_norm(n.x, n.kept(4), n.kept(4), n.kept(4), 0.5)],
    "dropout": [lambda n: pdl.dropout(n.cube, 0.5),
                lambda n: pdl.dropout(n.rows, 0.1, n.bags, stream=3) + n.rows],
    "factorization": [lambda n: pdl.factorization(n.cube)],
    "flatten": [lambda n: pdl.flatten(n.cube, 1), lambda n: pdl.flatten(n.cube, from_=2)],
    "id_arithmetic": [lambda n: pdl.id_arithmetic("add", n.ids, -3),
                      lambda n: pdl.lookup(n.table, pdl.id_arithmetic("quotient", n.bags, 7),
                                           "none") + n.rows],
    "in_batch_softmax": [lambda n: pdl.in_batch_softmax(n.x, n.y),
                         lambda n: pdl.in_batch_softmax(n.x, n.y, n.z, n.ids[:, 0:1]),
                         lambda n: pdl.in_batch_softmax(n.x, n.y, ids=n.ids[:, 0:1])],
    "layer_norm": [lambda n: pdl.layer_norm(n.cube),
                   lambda n: pdl.layer_norm(n.x, n.param((4,)), n.param((4,)), 1e-3)],
    "linear": [lambda n: pdl.linear(n.x, n.matrix),
               lambda n: pdl.linear(n.cube, n.param((3, 2)), n.param((2,))),
               lambda n: pdl.linear(n.x, n.matrix, n.vector, "tanh"),
               lambda n: pdl.linear(n.x, n.matrix, activation="none")],
    "log_probability": [lambda n: pdl.log_probability(n.ids, 0, 9, "uniform") + n.x,
                        lambda n: pdl.log_probability(n.ids, 0, 2, "counts", [5, 1], 0.75)],
    "log_softmax": [lambda n: pdl.log_softmax(n.x, axis=1)],
    "lookup": [lambda n: pdl.lookup(n.table, n.ids, "sum"),
               lambda n: pdl.lookup(n.table, n.bags, "mean"),
               lambda n: pdl.lookup(n.table, n.bags, "none"),
               lambda n: pdl.lookup(n.table, n.bags, "mean", weights=pdl.cast(n.bags))],
    "matmul": [lambda n: pdl.matmul(n.x, n.matrix),
               lambda n: pdl.matmul(n.matrix, n.matrix, transpose_lhs=True),
               lambda n: pdl.matmul(n.x, n.matrix[0:2, 0:4], transpose_rhs=True),
               lambda n: pdl.matmul(n.cube, n.param((3, 2))),
               lambda n: pdl.matmul(n.cube, n.cube, transpose_rhs=True),
               lambda n: pdl.matmul(n.cube, n.cube, transpose_lhs=True)],
    "gru": [lambda n: pdl.gru(n.rows, n.bags, n.param((1, 3))) - n.rows,
            lambda n: pdl.gru(n.rows, n.bags, n.param((1, 3)), n.param((3,)), from_end=True),
            lambda n: pdl.gru(n.rows, n.bags, n.param((1, 3)), init=[n.of_bags[:, :, 0:1]])],
    "lstm": [lambda n: pdl.lstm(pdl.concat([n.rows, n.rows[:, 0:1]], 1), n.bags,
                                n.param((1, 4)), n.param((4,))),
             lambda n: pdl.lstm(pdl.concat([n.rows, n.rows[:, 0:1]], 1), n.bags,
                                n.param((1, 4)), from_end=True)],
    "minimize": [lambda n: pdl.minimize(n.trained, [n.group])],
    "nce_loss": [lambda n: pdl.nce_loss(n.z, n.x, n.z, n.y, n.y)],
    "negative_sampling": [lambda n: pdl.negative_sampling(n.z, n.x),
                          lambda n: pdl.negative_sampling(n.z, n.x, n.y)],
    "observe": [lambda n: pdl.observe(n.metric, n.z, n.z),
                lambda n: pdl.observe(n.metric, n.z, n.z, weights=n.z),
                lambda n: pdl.observe(n.mean, n.z, weights=n.z),
                lambda n: pdl.observe(n.recall, n.x, n.y),
                lambda n: pdl.observe(n.recall, n.x, n.z, weights=n.z),
                lambda n: pdl.observe(n.gauc, n.z, n.z, pdl.bucketize(n.z, [1]), n.z),
                lambda n: pdl.observe(n.gauc, n.z, n.z, group=pdl.bucketize(n.z, [1]))],
    "pad": [lambda n: pdl.pad(n.cube, 1, 2, 0)],
    "pairwise_dots": [lambda n: pdl.pairwise_dots(n.cube),
                      lambda n: pdl.pairwise_dots(n.cube, self=True)],
    "read": [lambda n: pdl.read(n.matrix)],
    "reduce": [lambda n: pdl.reduce("sum", n.x, [1]), lambda n: pdl.reduce("max", n.cube, [1, 2]),
               lambda n: pdl.reduce("mean", n.cube, [2], keep=True)],
    "reshape": [lambda n: pdl.reshape(n.cube, (None, 3, 2)),
                lambda n: pdl.reshape(n.ids, (None, 2, 2))],
    "rotate": [lambda n: pdl.rotate(n.cube, 1), lambda n: pdl.rotate(n.ids, by=-2)],
    "sample": [lambda n: pdl.lookup(n.table, pdl.sample(5, 0, 9, "log_uniform"), "sum"),
               lambda n: pdl.sample(1, -3, 3, "uniform", stream=7),
               lambda n: pdl.sample(2, 0, 3, "counts", [5, 0, 1], 0.75, stream=7)],
    "sampled_softmax": [lambda n: pdl.sampled_softmax(n.z, n.x, n.z, n.y)],
    "same_bags": [lambda n: pdl.lookup(n.table, pdl.same_bags(n.more_bags, n.bags), "none"),
                  lambda n: pdl.cast(pdl.same_bags(n.shares, n.bags)) * n.rows],
    **{f"segment_{kind}": [lambda n, kind=kind: getattr(pdl, f"segment_{kind}")(n.rows, n.bags)]
       for kind in ("first", "last", "max", "mean", "reverse", "softmax", "sqrtn", "sum")},
    "segment_pad": [lambda n: pdl.segment_pad(n.rows, n.bags, 5),
                    lambda n: pdl.segment_pad(n.rows, n.bags, 1, from_end=True)],
    "segment_positions": [lambda n: pdl.segment_positions(n.bags) * n.rows,
                          lambda n: pdl.segment_positions(n.bags, from_end=True)],
    "segment_repeat": [lambda n: pdl.segment_repeat(n.of_bags, n.bags) - n.rows],
    "segment_shift": [lambda n: pdl.segment_shift(n.rows, n.bags, by=-1)],
    "segment_sizes": [lambda n: pdl.segment_sizes(n.bags) + n.of_bags],
    "segment_unpad": [lambda n: pdl.segment_unpad(
        pdl.segment_pad(n.rows, n.bags, 5), n.bags, from_end=True) + n.rows],
    "segment_window": [lambda n: pdl.segment_window(n.rows, n.bags, first=-1, last=2)],
    "select": [lambda n: pdl.select(n.x > n.z, n.y, 0.0),
               lambda n: pdl.select((n.x >= n.z) * (n.y <= 1), n.y, 0.0)],
    "slice": [lambda n: pdl.slice(n.x, 1, 2, 2), lambda n: pdl.slice(n.ids, 1, 0, 1)],
    "softmax": [lambda n: pdl.softmax(n.cube, axis=2)],
    "gather": [lambda n: pdl.gather(n.x, pdl.top_k(n.x, 2)),
               lambda n: pdl.gather(n.cube, pdl.bucketize(n.x, [1]))],
    "top_k": [lambda n: pdl.cast(pdl.top_k(n.cube, 2))],
    "cumulative_sum": [lambda n: pdl.cumulative_sum(n.cube),
                       lambda n: pdl.cumulative_sum(n.x, exclusive=True, reversed=True)],
    "one_hot": [lambda n: pdl.one_hot(n.x[:, 0:1], 5)],
    "softmax_cross_entropy": [lambda n: pdl.softmax_cross_entropy(n.x, n.y)],
    "standardize": [lambda n: pdl.standardize(n.z, [1.5], [0.1])],
    "take": [lambda n: pdl.take(n.cube, 1, [1, -1, 0]), lambda n: pdl.take(n.ids, 1, [3])],
    "transpose": [lambda n: pdl.transpose(n.cube, [0, 2, 1]),
                  lambda n: pdl.transpose(n.matrix, [1, 0])],
}


class Namespace:
    """Model and values that the examples use."""

    def __init__(self):
        self.model = pdl.Model("ops")
        self.numbers = itertools.count()
        record = self.model.record("r")
        for name, width in (("x", 4), ("y", 4), ("z", 1), ("six", 6)):
            record.floats(name, width)
        record.ids("ids", 4)
        record.ids("more_ids", 4)
        record.bags("bags", 4)
        record.bags("more_bags", 4)
        record.float_bags("shares", 4, separator="|")
        self.group = self.model.group("g", rule="sgd", rate=0.1)
        self.kept_group = self.model.group("kept", rule="moving_average", rate=0.1)
        self.table = self.model.table("table", 3, init=pdl.init.uniform(-1, 1))
        self.matrix = self.model.param("matrix", (4, 5), init=pdl.init.xavier())
        self.vector = self.model.state("vector", (5,), init=pdl.init.normal(0, 1))
        self.metric = self.model.metric("log_loss", pdl.metrics.log_loss())
        self.recall = self.model.metric("recall", pdl.metrics.recall_at(2))
        self.gauc = self.model.metric("gauc", pdl.metrics.grouped_auc())
        self.mean = self.model.metric("mean", pdl.metrics.mean())

    def param(self, shape):
        """Returns a new parameter."""
        return self.model.param(f"p{next(self.numbers)}", shape, init=pdl.init.zeros())

    def kept(self, *shape):
        """Returns a new state that programs can write."""
        return self.model.param(f"kept{next(self.numbers)}", shape, group=self.kept_group,
                                init=pdl.init.constant(1))

    def program(self, build):
        """Returns a model with the program that `build` builds. The model is to be compiled."""
        trains = self.model.param("trained", (4, 1), group=self.group, init=pdl.init.zeros())

        def program(x, y, z, six, ids, more_ids, bags, more_bags, shares):
            self.x, self.y, self.z = x, y, z
            self.cube = pdl.reshape(six, (None, 2, 3))
            self.ids, self.more_ids, self.bags, self.more_bags = ids, more_ids, bags, more_bags
            self.shares = shares
            self.rows = pdl.lookup(self.table, bags, "none")
            self.of_bags = pdl.lookup(self.table, bags, "sum")
            self.trained = pdl.linear(x, trains)
            build(self)

        self.model.program(program)
        return str(self.model)


def plain_call(op):
    """Returns a function that calls an op whose operands have equal types. Numbers are 0.5."""
    def call(namespace):
        values = iter([namespace.x, namespace.y, namespace.y])
        arguments = {}
        for name, parameter in inspect.signature(op).parameters.items():
            if parameter.annotation == Operand:
                arguments[name] = next(values)
            elif parameter.annotation in (float, float | None):
                arguments[name] = 0.5
            else:
                raise AssertionError(f"{name} of {op.__name__}: it needs a line in EXAMPLES")
        op(**arguments)
    return call


class Ops(unittest.TestCase):

    def test_all_of_the_dialect(self):
        """The builder has exactly the ops that the compiler accepts in phase `model`."""
        printed = run(PDL_OPT, "--print-op-obligations").stdout.splitlines()
        reference = re.split(r"^### `nn\.(\w+)`", REFERENCE.read_text(), flags=re.M)
        any_phase = {name for name, text in zip(reference[1::2], reference[2::2])
                     if "`HasPhases`" not in text}
        expected = {op.removeprefix("nn.") for op, first, *_ in map(str.split, printed)
                    if first == "model" or op.removeprefix("nn.") in any_phase}
        # `call` is pdl.model.Function, and `if` is pdl.cond. These and pdl.constant, pdl.scan and
        # pdl.count are written by hand.
        self.assertEqual(sorted(expected),
                         sorted({*pdl.ops.__all__, "call", "constant", "count", "if", "scan"}))

    def test_types(self):
        """The compiler accepts each op with the result type that the builder computes."""
        for name in pdl.ops.__all__:
            calls = EXAMPLES.get(name) or [plain_call(getattr(pdl.ops, name))]
            for index, call in enumerate(calls):
                with self.subTest(name, index=index):
                    text = Namespace().program(call)
                    self.assertIn(f"nn.{name} ", text)
                    done = subprocess.run([PDL_OPT, "-", "-o", "/dev/null"], input=text,
                                          capture_output=True, text=True, check=False)
                    self.assertEqual((done.returncode, done.stderr), (0, ""), text)

    def test_plain_calls_alone(self):
        """An op has an example only if `plain_call` cannot call it."""
        self.assertLessEqual(set(EXAMPLES), set(pdl.ops.__all__))

    def test_rules(self):
        """Ops can be called in rules, with arguments by name."""
        for name, rule in shapes.RULES.items():
            taken = inspect.signature(rule).parameters
            if any(one.kind == one.VAR_KEYWORD for one in taken.values()):
                continue
            self.assertEqual(set(taken), set(inspect.signature(getattr(pdl.ops, name)).parameters),
                             name)

    def test_activations(self):
        """Each activation can be used in nn.linear, and no other op can."""
        namespace = Namespace()
        text = namespace.program(lambda n: [pdl.linear(n.x, n.matrix, activation=one)
                                            for one in pdl.ops.ACTIVATIONS])
        run(PDL_OPT, "-", input=text)
        wrong = text.replace("act(relu)", "act(wrong)")
        done = subprocess.run([PDL_OPT, "-"], input=wrong, capture_output=True, text=True,
                              check=False)
        [listed] = re.findall(r"expected none, (.*) \(C2\)", done.stderr)
        self.assertEqual(["none", *listed.split(", ")], list(pdl.ops.ACTIVATIONS))


class Attributes(unittest.TestCase):

    ARGUMENTS = {"constant": (0.5,), "uniform": (-1, 1), "normal": (0, 1),
                 "truncated_normal": (0, 1), "l1": (0.1,), "l2": (0.1,), "accuracy_at": (2,),
                 "recall_at": (2,), "ndcg_at": (2,)}

    def offered(self, module):
        """Returns the functions of a module that create attributes."""
        return {name: one for name, one in vars(module).items()
                if inspect.isfunction(one) and one.__module__ == module.__name__
                and not name.startswith("_")}

    def test_all_of_the_dialect(self):
        text = REFERENCE.read_text().partition("\n## Attributes\n")[2].partition("\n## Types\n")[0]
        sections = re.findall(r"^### \w+Attr\n(.*?)(?=^### |\Z)", text, flags=re.M | re.S)
        # Enumerations of ops and declarations are no attributes of their own, and only passes
        # write scalars.
        names = {re.search(r"#nn\.(\w+)", section)[1] for section in sections
                 if not re.search(r"\| value \|.*an enum of type", section)} - {"scalar"}
        offered = set().union(*(self.offered(module) for module in
                                (pdl.init, pdl.decay, pdl.metrics)), {"hash"})
        self.assertEqual(names - offered, set(),
                         "a line in python/pdl/init.py, decay.py or metrics.py offers each")
        self.assertEqual(offered - names, set())

    def test_taken(self):
        """The compiler accepts each attribute at its place."""
        model = pdl.Model("attributes")
        model.record("r").floats("x", 1)
        for name, make in self.offered(pdl.init).items():
            model.param(f"init_{name}", (2, 3), init=make(*self.ARGUMENTS.get(name, ())))
        for name, make in self.offered(pdl.decay).items():
            model.group(f"decay_{name}", rule="sgd", rate=1, decay=make(*self.ARGUMENTS[name]))
        for name, make in self.offered(pdl.metrics).items():
            model.metric(f"metric_{name}", make(*self.ARGUMENTS.get(name, ())))
        run(PDL_OPT, "-", input=str(model))


if __name__ == "__main__":
    unittest.main()
