# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of python/pdl: one message with the user's line and a remedy."""

import inspect
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from builder import in_program, parsed, pdl, with_fields
from programs import PDL_TRANSLATE


class Errors(unittest.TestCase):
    """Each error has one message with the user's line and a remedy."""

    def test_numbers_of_fields_are_finite(self):
        record = pdl.Model("m").record("sample")
        for given in ({"missing": float("nan")}, {"missing": float("inf")},
                      {"values": {"a": 1.0, "b": float("-inf")}}):
            for make in (record.floats, record.float_bags):
                with self.assertRaisesRegex(pdl.ModelError, "of field 'x' is (nan|inf|-inf); it "
                                            "has to be a finite number"):
                    make("x", 1, **given)

    def refused(self, build, *parts, **fields):
        line = inspect.currentframe().f_back.f_lineno
        with self.assertRaises(pdl.ModelError) as caught:
            in_program(build, **fields)
        message = str(caught.exception)
        for part in parts:
            self.assertIn(part, message)
        self.assertTrue(message.startswith(f"{__file__}:{line}: "), message)
        self.assertEqual(caught.exception.place[:2], (__file__, line))

    def test_shapes(self):
        self.refused(lambda m, x, y: x + y, "nn.add: `lhs` is %x : tensor<?x3xf32> and `rhs` %y",
                     "do not broadcast", "pdl.reshape can")
        self.refused(lambda m, x, y: pdl.squared_error(x, y), "they need one type")
        self.refused(lambda m, x, y: x * pdl.cast(x, "f64"), "of two types",
                     "pdl.cast(..., 'f32') makes one of the other")
        self.refused(lambda m, x, y: pdl.concat([pdl.cast(x, "f64"), y], 1), "of two types",
                     "pdl.cast(..., 'f64')")
        self.refused(lambda m, x, y: pdl.cast(x, "f32"), "f32 as it is; leave the cast out")
        self.refused(lambda m, x, y: pdl.cast(x, "f16"), "f32 or f64")
        self.refused(lambda m, x, y: pdl.linear(x, m.param(
            "w", (3, 1), init=pdl.init.zeros(), element="f64")), "different element types",
            "pdl.cast(..., 'f64')")
        self.refused(lambda m, x, y: pdl.l2_normalize(
            m.param("v", (4,), init=pdl.init.zeros())), "it has to be [batch, ..., features]")
        self.refused(lambda m, x, y: pdl.linear(x, m.param("w", (4, 1), init=pdl.init.zeros())),
                     "with 3 features", "@w : tensor<4x1xf32> has 4 rows",
                     "declare it with shape (3, 1)")
        self.refused(lambda m, x, y: pdl.linear(
            x, m.param("w", (3, 1), init=pdl.init.zeros()),
            m.param("b", (2,), init=pdl.init.zeros())), "declare the bias with shape (1,)")
        self.refused(lambda m, x, y: pdl.reshape(x, (None, 2, 2)),
                     "with 3 elements a sample", "has 4; they have to be equal")
        self.refused(lambda m, x, y: pdl.count(m.param("w", (3, 1), init=pdl.init.zeros()), x),
                     "it has to be what model.table has returned")
        self.refused(lambda m, x, y: pdl.count(m.table("t", 2, init=pdl.init.zeros()),
                                               pdl.bucketize(x, [0.0])), "adds nothing")
        self.refused(lambda m, x, y: pdl.count(m.table("t", 2, init=pdl.init.zeros()), x, show=1),
                     "`ids` is %x", "ids are bags")
        self.refused(lambda m, x, y: pdl.count(m.table("t", 2, init=pdl.init.zeros()),
                                               pdl.bucketize(x, [0.0]), show=y),
                     "`show` is %y", "one number for each sample")
        self.refused(lambda m, x, y: pdl.count(m.table("t", 2, init=pdl.init.zeros()),
                                               pdl.bucketize(x, [0.0]), show=1),
                     "needs a value of samples among show")
        self.refused(lambda m, x, y: pdl.reshape(x, (3,)), "the batch, None, stays the first")
        self.refused(lambda m, x, y: pdl.concat([x, pdl.reshape(y, (None, 2, 2))], 1),
                     "does not fit to %x : tensor<?x3xf32> along axis 1")
        self.refused(lambda m, x, y: pdl.concat([x, y], 0), "the batch of tensor<?x3xf32>")
        self.refused(lambda m, x, y: pdl.concat([], 1), "give one value at least")
        self.refused(lambda m, x, y: pdl.reduce("sum", x, [2]), "has the axes 0 to 1")
        self.refused(lambda m, x, y: pdl.reduce("sum", x, [0]), "samples stay apart")
        self.refused(lambda m, x, y: pdl.flatten(x, 2), "has the axes 1 to 1 after the first")
        self.refused(lambda m, x, y: pdl.slice(x, 1, 2, 2), "which has the indices 0 to 2")
        self.refused(lambda m, x, y: x[:, 2:5], "the range 2:5 of axis 1")
        self.refused(lambda m, x, y: x[0:1], "axis 0", "is the batch")
        self.refused(lambda m, x, y: x[:, 1], "write x[:, 3:4]")
        self.refused(lambda m, x, y: x[:, ::2], "a range has no step")
        self.refused(lambda m, x, y: x @ pdl.neg(y), "tensor<?x4xf32>", "add over the samples")
        self.refused(lambda m, x, y: pdl.broadcast(pdl.constant([1, 2]), (None, 2)), "`like`")
        self.refused(lambda m, x, y: pdl.broadcast(x, (None, 2)), "does not broadcast to")
        self.refused(lambda m, x, y: pdl.broadcast(pdl.constant(1.0), x), "`shape` is", "`like`")
        self.refused(lambda m, x, y: pdl.transpose(x, [1, 0]), "stays the first axis, 0")
        self.refused(lambda m, x, y: pdl.transpose(x, [0]), "names each of the axes 0 to 1")
        self.refused(lambda m, x, y: pdl.take(x, 1, [3]), "from 0 to 2 that axis 1")
        self.refused(lambda m, x, y: pdl.softmax(x, 0), "the batch of")
        self.refused(lambda m, x, y: pdl.layer_norm(x, scale=y), "one number a feature")
        self.refused(lambda m, x, y: pdl.factorization(x), "[batch, fields, width]")
        self.refused(lambda m, x, y: pdl.matmul(pdl.reshape(x, (None, 3, 1)),
                                                pdl.reshape(y, (None, 1, 2, 2))),
                     "whose dimensions before the last two differ")
        self.refused(lambda m, x, y: pdl.cross_layer(
            x, x, m.param("w", (3, 1), init=pdl.init.zeros()),
            m.param("b", (3,), init=pdl.init.zeros())), "declare it with shape (3, 3)")
        self.refused(lambda m, x, y: pdl.segment_sum(x, y), "bags of ids, as record.bags")
        self.refused(lambda m, x, y: pdl.standardize(x, [1, 2], [1, 2]), "give 3 of each")
        self.refused(lambda m, x, y: pdl.bucketize(x, [2, 1]), "each is above the one before")
        self.refused(lambda m, x, y: pdl.sample(5, 0, 3, "counts", [1, 2], 0.75),
                     "`counts` has 2 numbers for 3 ids")
        for more in (["counts"], ["uniform", [1, 2], 0.75], ["counts", [1, 2]]):
            self.refused(lambda m, x, y, more=more: pdl.sample(5, 0, 2, *more),
                         '"counts", and nothing else, has `counts` and `power`')
        self.refused(lambda m, x, y: pdl.sample(5, 0, 2, "counts", [1, 2.5], 0.75),
                     "`counts` of nn.sample is 2.5; it has to be a whole number")

    def test_keys_that_come_and_go(self):
        for clauses, message in (
                ({"admit_count": 2, "admit_score": 1.0},
                 "@t admits keys by more than one of count, probability and score"),
                ({"admit_probability": 0.5, "admit_score": 1.0},
                 "give one of admit_count, admit_probability and admit_score"),
                ({"admit_score": "much"}, "`admit_score` of @t is 'much'; it has to be a number"),
                ({"admit_count": 1.5}, "`admit_count` of @t is 1.5; it has to be a whole number"),
                ({"admit_score": 1.0, "score": {"show": "x"}}, "'show' of `score` of @t is 'x'; it has to be a number"),
                ({"shrink_every": 2}, "@t shrinks only with both shrink_every"),
                ({"shrink_decay": 0.5}, "give shrink_every and shrink_unseen too"),
                ({"widen_from": 1}, "@t widens only with both widen_from"),
                ({"widen_init": pdl.init.zeros()}, "@t widens only with both widen_from"),
                ({"widen_from": 2, "widen_score": 1.0},
                 "@t has widen_from=2; expected a whole number from 1 to 1"),
                ({"widen_from": 1, "widen_score": "much"}, "`widen_score` of @t is 'much'")):
            self.refused(lambda m, x, y, clauses=clauses: m.table(
                "t", 2, init=pdl.init.zeros(), **clauses), message)

    def test_kinds(self):
        def table(m):
            return m.table("t", 2, init=pdl.init.zeros())

        self.refused(lambda m, x, y: pdl.lookup(table(m), x, "sum"),
                     "pdl.bucketize makes ids of them")
        self.refused(lambda m, x, y: pdl.lookup(x, x, "sum"), "`table` of nn.lookup is %x")
        self.refused(lambda m, x, y: pdl.lookup("t", x, "sum"), "`table` of nn.lookup is 't'")
        self.refused(lambda m, x, y: pdl.lookup(table(m), pdl.bucketize(x, [1]), "summ"),
                     "'summ'; did you mean 'sum'?")
        self.refused(lambda m, x, y: pdl.relu(pdl.bucketize(x, [1])),
                     "the result of nn.bucketize : tensor<?x3xi64>, which holds ids")
        self.refused(lambda m, x, y: pdl.cross([x]), "pdl.bucketize makes ids")
        self.refused(lambda m, x, y: x + "1", "`rhs` of nn.add is of type str")
        self.refused(lambda m, x, y: x + None, "`rhs` of nn.add is None")
        self.refused(lambda m, x, y: pdl.relu([1, 2]), "pdl.constant would make a tensor of")
        self.refused(lambda m, x, y: pdl.concat(x, 1), "`inputs` of nn.concat", "a list")
        self.refused(lambda m, x, y: pdl.flatten(x, 1.0), "has to be a whole number")
        self.refused(lambda m, x, y: pdl.linear(
            x, m.param("w", (3, 1), init=pdl.init.zeros()), activation="rely"),
            "'rely'; did you mean 'relu'?")
        self.refused(lambda m, x, y: pdl.minimize(x, []), "one number a sample")
        self.refused(lambda m, x, y: pdl.minimize(x[:, 0:1], []), "lists one group at least")
        self.refused(lambda m, x, y: pdl.minimize(x[:, 0:1], [table(m)]), "model.group")
        self.refused(lambda m, x, y: pdl.observe(table(m), x), "model.metric")
        self.refused(lambda m, x, y: pdl.constant([[1], [1, 2]]), "different lengths")
        self.refused(lambda m, x, y: pdl.constant([1, 2], shape=(3,)), "for one number")
        self.refused(lambda m, x, y: bool(x > 1), "Python cannot branch on it")
        self.refused(lambda m, x, y: list(x), "pdl.scan goes from row to row")
        self.refused(lambda m, x, y: pdl.lookup(table(m), pdl.bucketize(x, [1]), x),
                     "`pooling` of nn.lookup is %x")

    def test_layers(self):
        self.refused(lambda m, x, y: pdl.layers.dense(pdl.constant([1, 2, 3]), 2, "d",
                                                      group=None),
                     "dense 'd' gets", "it takes [batch, ..., features]")
        self.refused(lambda m, x, y: pdl.layers.mlp(x, [], "d", group=None), "has no widths")
        self.refused(lambda m, x, y: [pdl.layers.dense(x, 2, "d", group=None) for _ in "ab"],
                     "nn.param @d.weight has the name of an nn.param", "in a @model.function")
        self.refused(lambda m, x, y: pdl.layers.cross(x, 2, "c", group=None, version=3),
                     "there are 1 and 2")
        self.refused(lambda m, x, y: pdl.layers.cross(x, 2, "c", group=None, version=1, rank=2),
                     "which version 2 has only")

    def raises(self, expected, build, *arguments, **named):
        with self.assertRaisesRegex(pdl.ModelError, expected):
            build(*arguments, **named)

    def test_declarations(self):
        result = with_fields(x=3, label=1)
        record = result.only_record()
        self.raises("a model has one record", result.record, "other")
        self.raises("has a field 'x' already", record.floats, "x", 1)
        self.raises("`width` of field 'z' is 0; it has to be from 1", record.floats, "z", 0)
        self.raises("`missing_element` of field 'z' is inf", record.float_bags, "z", 1,
                    missing_element=float("inf"))
        self.raises("give a list of texts, such as \\['NA'\\]", pdl.Model("m").record, "r",
                    missing_texts="NA")
        self.raises("have no blank at their ends", pdl.Model("m").record, "r",
                    missing_texts=["NA "])
        self.raises("columns= lists 2", record.floats, "z", 1, columns=[1, 2])
        self.raises("has the name of an nn.record of .*builder.py", result.param, "r", (1,),
                    init=pdl.init.zeros())
        self.raises("its sizes are whole numbers", result.param, "w", (None, 2),
                    init=pdl.init.zeros())
        self.raises("`group` is 'g'; it has to be what model.group has returned", result.param, "v", (2,), group="g", init=pdl.init.zeros())
        self.raises("did you mean 'lazy'", result.group, "g", rule="sgd", rate=1.0,
                    untouched="lasy")
        self.raises("did you mean 'mean'", result.group, "g", rule="sgd", rate=1.0,
                    merge="meen")
        self.raises("did you mean 'pushers'", result.group, "g", rule="sgd", rate=1.0,
                    rate_over="pusher")
        self.raises("did you mean 'bf16'", result.table, "t", 4, init=pdl.init.zeros(),
                    stored="bf61")
        self.raises("it has one, such as global_norm", result.clip, "c")
        self.raises("stands in no program", pdl.relu, 1.0)
        self.raises("`element` of pdl.Model is 'f16'; write one of 'f32' and 'f64'", pdl.Model, "m", element="f16")
        self.raises("has to be a number", pdl.rule, "adam", beta1="x")

        def train(lable):
            pass
        self.raises("takes 'lable', which is no field of @r; did you mean 'label'",
                    result.program, train)
        self.raises("has no record", pdl.Model("empty").program, train)

    def test_calls(self):
        """Missing and unknown arguments. The message states what to write."""
        result = with_fields(x=3)
        record = result.only_record()
        for expected, build, positional, named in (
                ("model.group has no argument 'optimizer'; write rule=", result.group, ["g"],
                 {"optimizer": "adam", "lr": 0.1}),
                ("model.group has no argument 'lr'; write rate=", result.group, ["g"],
                 {"rule": "adam", "lr": 0.1}),
                ("model.group lacks 'rate'; write the learning rate, such as rate=1.0e-3",
                 result.group, ["g"], {"rule": "adam"}),
                ("model.group gets 2 arguments without names, and takes 1; give the others by "
                 "name", result.group, ["g", "adam"], {"rate": 0.1}),
                ("pdl.layers.dense lacks 'group'; group=model.group.* group=None",
                 pdl.layers.dense, [1.0, 2, "d"], {}),
                ("record.ids has no argument 'separator'; record.bags declares", record.ids,
                 ["i", 1], {"separator": "|"}),
                ("record.floats has no argument 'separator'; record.float_bags declares",
                 record.floats, ["i", 1], {"separator": "|"}),
                ("record.floats has no argument 'mising'; did you mean 'missing'", record.floats,
                 ["i", 1], {"mising": 0.0}),
                ("pdl.init.uniform lacks 'high'; it takes low, high", pdl.init.uniform, [0.0], {}),
                ("pdl.relu lacks 'input'", pdl.relu, [], {}),
                ("pdl.softmax has no argument 'dim'; write axis=", pdl.softmax, [1.0], {"dim": 1}),
                ("pdl.relu gets 'input' twice", pdl.relu, [1.0], {"input": 1.0}),
                ("pdl.scalars.maximum lacks 'second'", pdl.scalars.maximum, [1.0], {}),
                ("pdl.xxh64 has no argument 'seed'", pdl.xxh64, [], {"seed": 1}),
                ("pdl.Model lacks 'name'", pdl.Model, [], {}),
                ("pdl.compile lacks 'out'", pdl.compile, [result], {}),
                ("pdl.key lacks 'text'", pdl.key, [], {})):
            with self.subTest(expected):
                line = inspect.currentframe().f_lineno + 2
                with self.assertRaisesRegex(pdl.ModelError, expected) as caught:
                    build(*positional, **named)
                self.assertEqual(caught.exception.place[:2], (__file__, line))

    def test_numbers_and_words_out_of_range(self):
        """The builder rejects at the user's line what the compiler would reject later."""
        result = with_fields(x=3)
        record = result.only_record()
        group = {"rule": "adam", "rate": 0.1}
        for expected, build, positional, named in (
                ("`rate` of group @g is -1.0, by which the loss would grow", result.group, ["g"],
                 {**group, "rate": -1}),
                ("`rate` of group @g is nan; it has to be a finite", result.group, ["g"],
                 {**group, "rate": float("nan")}),
                ("`rule` of group @g is 'Adam'; did you mean 'adam'", result.group, ["g"],
                 {**group, "rule": "Adam"}),
                ("`rule` of group @g is 'warm_up'; there are", result.group, ["g"],
                 {**group, "rule": "warm_up"}),
                ("`schedule` of group @g is 'cosin'; did you mean 'cosine'", result.group, ["g"],
                 {**group, "schedule": "cosin"}),
                ("`average` of group @g is 'sgd'; there are ema, model_average", result.group,
                 ["g"], {**group, "average": "sgd"}),
                ("@adam has no hyper-parameter 'beta_1'; did you mean 'beta1'", result.group,
                 ["g"], {**group, "rule": pdl.rule("adam", beta_1=0.8)}),
                ("`beta1` of @adam is 1.0; it has to be at least 0 and below 1", result.group,
                 ["g"], {**group, "rule": pdl.rule("adam", beta1=1.0)}),
                ("`salt` of pdl.xxh64 is 'slott'; did you mean 'slot'", pdl.xxh64, ["slott"], {}),
                ("`salt` of pdl.xxh64 is -1; it has to be from 0", pdl.xxh64, [-1], {}),
                ("`deviation` of pdl.init.normal is -1", pdl.init.normal, [0, -1], {}),
                ("`low` of pdl.init.uniform is 1.0, and `high` 0.0", pdl.init.uniform, [1, 0], {}),
                ("`k` of pdl.metrics.ndcg_at is 0", pdl.metrics.ndcg_at, [0], {}),
                ("`init` of @p is #nn.auc.*, which is no init attribute", result.param,
                 ["p", (3,)], {"init": pdl.metrics.auc()}),
                ("the limit of clip @c is 'norms'; did you mean 'norm'", result.clip, ["c"],
                 {"norms": 1.0}),
                ("`norm` of clip @c is 0; it has to be above 0", result.clip, ["c"], {"norm": 0}),
                ("`missing` of field 'i' is 'none', which is a text; write a number, or hash=",
                 record.ids, ["i", 1], {"missing": "none"}),
                ("`missing` of field 'i' is 3, which is an id; the field hashes", record.ids,
                 ["i", 1], {"missing": 3, "hash": pdl.xxh64()}),
                ("`separator` of field 'i' is '::'; write one ASCII character", record.bags,
                 ["i", 1], {"separator": "::"}),
                ("an entry of `columns` of field 'i' is -1", record.ids, ["i", 1],
                 {"columns": [-1]}),
                ("with positions and names; use one", record.ids, ["i", 2],
                 {"columns": [1, "two"]}),
                ("`unknown` of @t is 'zer'; did you mean 'zero'", result.table, ["t", 2],
                 {"init": pdl.init.zeros(), "unknown": "zer"}),
                ("`shrink_decay` of @t is 2.0; it has to be above 0 and at most 1", result.table,
                 ["t", 2], {"init": pdl.init.zeros(), "shrink_decay": 2.0}),
                ("`mode` of pdl.compile is 3; it has to be a text", pdl.compile,
                 [result, "out"], {"mode": 3})):
            with self.subTest(expected):
                line = inspect.currentframe().f_lineno + 2
                with self.assertRaisesRegex(pdl.ModelError, expected) as caught:
                    build(*positional, **named)
                self.assertEqual(caught.exception.place[:2], (__file__, line))
        own = result.rule("mine", each=lambda value, gradient, rate: value - rate * gradient)
        result.group("of_mine", rule="mine", rate=0.1)
        self.raises("@mine has no hyper-parameter 'beta'", result.group, "g", rate=0.1,
                    rule=pdl.rule("mine", beta=1))
        self.raises("`average` of group @g is @mine, which is a rule for gradients; name a rule "
                    'of "averages", such as "ema"', result.group, "g", rule="sgd", rate=0.1,
                    average=own)
        self.refused(lambda m, x, y: pdl.concat([x, pdl.bucketize(x, [0.0])], 1),
                     "`inputs` has numbers, %x", "and ids", "pdl.cast")

    def test_functions(self):
        result = with_fields(x=3, y=4)
        kept = []

        @result.function
        def double(value):
            kept.append(value)
            return value + value

        @result.function
        def endless(value):
            return endless(value)

        self.raises("stands in no program", double, 1.0)

        def program(build):
            # Each program needs a name of its own.
            def of_program(x, y):
                build(x, y)
            of_program.__name__ = f"p{len(result._symbols)}"
            return lambda: result.program(of_program)

        self.raises(r"takes \(tensor<\?x3xf32>\) since its first call, and is called with "
                    r"\(tensor<\?x4xf32>\)", program(lambda x, y: [double(x), double(y)]))
        self.raises("missing a required argument: 'value'", program(lambda x, y: double()))
        self.raises("function @endless calls itself", program(lambda x, y: endless(x)))
        self.raises("%value : tensor<.x3xf32> of function @double, which program @p.* cannot see; "
                    "hand it over as an argument", program(lambda x, y: pdl.relu(kept[0])))
        other = pdl.Model("other").param("w", (3, 1), init=pdl.init.zeros())
        self.raises("@w of another model, 'other'",
                    program(lambda x, y: pdl.linear(x, other)))
        self.raises("@w is of model 'other'", program(lambda x, y: other + 1))
        self.raises("what program .* returns is of type str",
                    result.program, lambda x: "x")
    def test_arguments_have_names(self):
        result = with_fields(x=3)
        for function, text in ((lambda *fields: None, r"takes \*fields; name each field"),
                               (lambda x, **more: None, r"takes \*\*more; name each field")):
            self.raises(text, result.program, function)
        self.raises(r"takes \*values; name each value .* without @model.function",
                    result.function, lambda *values: values[0])

    def test_a_program_that_failed_can_be_written_again(self):
        """In a notebook, a user corrects a cell with an error and runs it again."""
        result = with_fields(x=3, y=4)

        def predict(x, y):
            return pdl.layers.dense(x, 1, "a", group=None) + pdl.layers.mlp(
                y, widths, "b", group=None)
        widths = []
        self.raises("has no widths", result.program, predict)
        widths = [1]
        result.program(predict)
        self.assertEqual(str(result).count("nn.param"), 4)

        @result.function
        def f(value):
            return pdl.layers.mlp(value, layers, "f", group=None)

        def of_f(x):
            return f(x)
        layers = 3
        self.raises("`widths` of pdl.layers.mlp 'f' is 3; write widths=\\[64, 1\\]", result.program, of_f)
        layers = [3]
        result.program(of_f)
        parsed(result)

    def test_a_cell_that_runs_again(self):
        namespace = {"pdl": pdl}
        cell = compile("record = model.record('r')\nrecord.floats('x', 1)\n"
                       "@model.program\ndef predict(x):\n    return -x\n",
                       "/tmp/ipykernel_1/2.py", "exec")
        namespace["model"] = with_fields()
        namespace["model"]._symbols.clear()
        exec(cell, namespace)
        self.raises("run the one with pdl.Model.* first", exec, cell, namespace)
        again = compile("@model.program\ndef predict(x):\n    return -x\n",
                        "/tmp/ipykernel_1/3.py", "exec")
        self.raises(r"name of an nn.program of /tmp/ipykernel_1/2.py:3; .*run the one with "
                    "pdl.Model", exec, again, namespace)

    def test_hints(self):
        """Names from other packages, and values of a wrong kind."""
        for name, hint in (("silu", "pdl.swish(x)"), ("where", "pdl.select(condition"),
                           ("sum", 'pdl.reduce("sum", x'), ("mean", 'pdl.reduce("mean", x'),
                           ("conv2d", "no convolution"), ("sigmoidd", "did you mean 'sigmoid'?"),
                           ("tanhh", "did you mean 'tanh'?")):
            with self.assertRaises(AttributeError) as caught:
                getattr(pdl, name)
            self.assertIn(hint, str(caught.exception))

        def method(m, x, y):
            with self.assertRaisesRegex(AttributeError, "a value has no 'mean'; write "
                                        "pdl.reduce"):
                x.mean(1)
        in_program(method)
        self.assertFalse(hasattr(pdl, "__path_of_nothing__"))
        result = with_fields(x=3, label=1)
        record = result.only_record()
        group = {"rule": "sgd", "rate": 0.1}
        self.raises("`clip` of group @g is 10.0; .*clip=model.clip\\(\"g_clip\", "
                    "global_norm=10.0\\)", result.group, "g", clip=10.0, **group)
        self.raises("write decay=pdl.decay.l2\\(0.1\\)", result.group, "g", decay=0.1, **group)
        self.raises("it has to be at least 0", pdl.decay.l2, -0.1)
        self.raises("it has to be at least 0", pdl.decay.l1, -1)
        self.raises("`coefficient` of pdl.decay.l2 is 'x'", pdl.decay.l2, "x")
        self.raises("`rate` of group @g is '0.1'", result.group, "g", rule="sgd", rate="0.1")
        self.raises("`rule` of group @g is <function", result.group, "g", rule=pdl.rule, rate=1.0)
        self.raises("write init=pdl.init.constant\\(0.1\\)", result.param, "w", (3,), init=0.1)
        self.raises("write init=pdl.init", result.table, "t", 3, init=pdl.init.zeros)
        self.raises("write hash=pdl.xxh64\\(\\)", record.ids, "i", 1, hash="xxh64")
        self.raises("write pdl.metrics.auc", result.metric, "auc", "auc")
        self.raises("without quotes: 3", record.floats, "z", "3")
        self.raises("without quotes: 3", record.bags, "z", "3")
        self.raises("`width` of @t is '3'", result.table, "t", "3", init=pdl.init.zeros())
        self.refused(lambda m, x, y: pdl.layers.dense(x, "3", "d", group=None),
                     "without quotes: 3")
        self.refused(lambda m, x, y: pdl.layers.gru(x, x, "3", "d", group=None),
                     "`width` of pdl.layers.gru 'd' is '3'")
        self.refused(lambda m, x, y: pdl.reshape(x, (None, "3")), "a size is a whole number")
        self.refused(lambda m, x, y: pdl.one_hot(pdl.bucketize(x[:, :1], [0.0]), 2),
                     "pdl.cast makes numbers of ids")
        self.refused(lambda m, x, y: pdl.softmax_cross_entropy(x, y[:, :1]),
                     "a class a sample; pdl.one_hot(", ", 3) makes")
        self.refused(lambda m, x, y: pdl.bucketize(x, [0.0]) + 0.5, "pdl.id_arithmetic")

    def test_former_names(self):
        """Names of earlier versions are reported at the user's line."""
        for former, present in (("standardise", "standardize"), ("l2_normalise", "l2_normalize")):
            self.refused(lambda m, x, y, former=former: getattr(pdl, former),
                         f"pdl has no '{former}'; did you mean '{present}'?")
            self.refused(lambda m, x, y, former=former: getattr(x, former),
                         f"a value has no '{former}'; did you mean '{present}'?")
        self.refused(lambda m, x, y: pdl.layers.attention(
            x, y, x, [1], "a", group=None, normalised=True),
                     "pdl.layers.attention has no argument 'normalised'; did you mean 'normalized'?")

    def test_numbers_that_a_type_has(self):
        self.refused(lambda m, x, y: x * 1e39, "1e+39 is infinite in f32", 'element="f64"')
        self.refused(lambda m, x, y: pdl.constant([1.0, -1e39]), "-1e+39 is infinite in f32")
        self.refused(lambda m, x, y: x * float("nan"), "a number is NaN")
        self.refused(lambda m, x, y: pdl.constant(float("nan")), "a number is NaN")
        self.refused(lambda m, x, y: pdl.constant([1, 0.5], element="i64"),
                     "an id of a constant is 0.5; it has to be a whole number")
        self.refused(lambda m, x, y: pdl.constant(2**64, element="i64"),
                     "it has to be from -9223372036854775808 to 18446744073709551615")
        self.refused(lambda m, x, y: pdl.constant(1, element="i64") + x, "holds ids")
        record = pdl.Model("m").record("sample")
        self.raises("infinite in f32", record.floats, "x", 1, missing=1e39)
        self.raises("infinite in f32", record.floats, "x", 1, values={"many": 1e39})
        record.floats("x", 1, missing=1e39, element="f64")
        self.raises("infinite in f32", pdl.Model("m").rule, "r",
                    each=lambda value, gradient, rate: value - 1e39)

    def test_axes_from_the_end(self):
        def build(m, x, y):
            cube = pdl.reshape(x, (None, 3, -1))
            self.assertEqual(cube.shape, (None, 3, 1))
            for one, other in (
                    (pdl.softmax(x, -1), pdl.softmax(x, 1)),
                    (pdl.concat([x, y], -1), pdl.concat([x, y], 1)),
                    (pdl.reduce("sum", cube, [-1, -2]), pdl.reduce("sum", cube, [1, 2])),
                    (pdl.take(x, -1, [0]), pdl.take(x, 1, [0])),
                    (pdl.flatten(cube, -2), pdl.flatten(cube, 1)),
                    (pdl.transpose(cube, [0, -1, -2]), pdl.transpose(cube, [0, 2, 1]))):
                statements = pdl.body.current("the test").statements
                texts = [str(next(statement.parts for statement in statements
                                  if statement.results[0] is value)) for value in (one, other)]
                self.assertEqual(*texts)
        in_program(build)
        self.refused(lambda m, x, y: pdl.softmax(x, -2), "the batch of")
        self.refused(lambda m, x, y: pdl.softmax(x, -3), "`axis` is -3")
        self.refused(lambda m, x, y: pdl.reduce("sum", x, [1, -1]), "each once")

    def refused_by_the_compiler(self, result):
        with tempfile.TemporaryDirectory() as folder, \
                mock.patch.dict(os.environ, PDL_TRANSLATE=str(PDL_TRANSLATE)), \
                self.assertRaises(pdl.CompileError) as caught:
            pdl.compile(result, pathlib.Path(folder, "out"))
        return str(caught.exception)

    def test_what_the_parser_refuses(self):
        """The parser stops in the generated text, which the user has not seen. The message has the
        Python line instead."""
        result = with_fields(x=2)
        result.only_record().bags("bag", 1, hash=pdl.attribute("hash", "xxh46"))
        line = inspect.currentframe().f_lineno - 1
        message = self.refused_by_the_compiler(result)
        self.assertRegex(message, rf"^{__file__}:{line}:\d+: error: ")
        self.assertNotIn("model.mlir", message)
        result = with_fields(x=2)
        result.table("t", 2, init=pdl.attribute("zeroes"))
        line = inspect.currentframe().f_lineno - 1
        self.assertRegex(self.refused_by_the_compiler(result), rf"^{__file__}:{line}:\d+: error: ")
        # Later errors also have the line, that of a field or of the model.
        result = with_fields(x=2)
        result.only_record().ids("id.values", 1)
        result.only_record().bags("id", 1)
        line = inspect.currentframe().f_lineno - 2
        self.assertRegex(self.refused_by_the_compiler(result),
                         rf"^{__file__}:{line}:\d+: error: 'nn.field'")
        result = pdl.Model("m")
        line = inspect.currentframe().f_lineno - 1
        self.assertRegex(self.refused_by_the_compiler(result),
                         rf"^{__file__}:{line}:\d+: error: the model declares no program")

    def test_errors_come_first(self):
        said = ("m.py:1:1: warning: one\n  x\n  ^\nm.py:2:1: error: two\n  y\n"
                "m.py:3:1: note: of two\nm.py:4:1: warning: three\n")
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "program")
            program.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{said}END\nexit 1\n")
            program.chmod(0o755)
            with mock.patch.dict(os.environ, PDL_TRANSLATE=str(program)), \
                    self.assertRaises(pdl.CompileError) as caught:
                pdl.compile(with_fields(x=1), pathlib.Path(folder, "out"))
        self.assertEqual(
            str(caught.exception), "m.py:2:1: error: two\n  y\nm.py:3:1: note: of two\n"
            "m.py:1:1: warning: one\n  x\n  ^\nm.py:4:1: warning: three")


if __name__ == "__main__":
    unittest.main()
