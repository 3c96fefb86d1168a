# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Results of python/pdl for Python functions: text, names, locations, programs."""

import inspect
import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

from builder import parsed, pdl, with_fields
from folders import FolderTest
from programs import ADULT, PDL_OPT, PDL_TRANSLATE, SOURCE, model, run

SMALL = """\
// Two lines,
// of which this is one.
module @small {
  nn.record @sample {
    nn.field @label : tensor<?x1xf32>
    nn.field @x : tensor<?x2xf32> missing(1.0e-05)
    nn.field @tags : !nn.ragged<?x1x*xi64> hash(#nn.hash<xxh64, salt = 7>) columns(["tags"]) \
separator("|")
  }

  nn.clip @joint : global_norm(10.0)
  nn.group @g rule(@adam {beta1 = 0.8}) rate(0.001) schedule(@cosine {steps = 1000.0}) \
decay(#nn.l2<1.0e-06>, #nn.l1<0.5>) clip(@joint) untouched(lazy) \
average(@ema {decay = 0.99}) merge(sum) rate_over(pushers) \
compensate(@delay_compensation {strength = 0.25})

  nn.table @emb : i64 -> tensor<2xf32> in @g init(#nn.uniform<-0.01, 0.01>) unknown(zero)
  nn.param @w : tensor<2x1xf32> in @g init(#nn.xavier)
  nn.param @b : tensor<1xf32> in @g init(#nn.truncated_normal<0.0, 0.5>)
  nn.state @shift : tensor<2xf32> init(#nn.constant<0.5>)
  nn.metric @auc : #nn.auc<buckets = 16384>

  // The logit.
  nn.func private @logit(%x: tensor<?x2xf32>, %tags: !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32> {
    %shift = nn.read @shift : tensor<2xf32>
    %moved = nn.sub %x, %shift : tensor<?x2xf32>, tensor<2xf32>
    %0 = nn.lookup @emb[%tags] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x2xf32>
    %rows = nn.flatten %0 from 1 : tensor<?x1x2xf32>
    %1 = nn.constant dense<2.0> : tensor<f32>
    %2 = nn.mul %1, %rows : tensor<f32>, tensor<?x2xf32>
    %rows_1 = nn.sub %2, %shift : tensor<?x2xf32>, tensor<2xf32>
    %3 = nn.add %moved, %rows_1 : tensor<?x2xf32>, tensor<?x2xf32>
    %z = nn.linear %3, @w, @b act(tanh) : (tensor<?x2xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x2xf32>, %tags: !nn.ragged<?x1x*xi64>):
    %z = nn.call @logit(%x, %tags) : (tensor<?x2xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    %loss = nn.squared_error %z, %label : tensor<?x1xf32>
    nn.minimize %loss weight %label over [@g] : tensor<?x1xf32>, tensor<?x1xf32>
  }

  nn.program @evaluate frozen reads(@sample) {
  ^bb0(%label: tensor<?x1xf32>, %x: tensor<?x2xf32>, %tags: !nn.ragged<?x1x*xi64>):
    %z = nn.call @logit(%x, %tags) : (tensor<?x2xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    %0 = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%0, %label) : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample except @label) {
  ^bb0(%x: tensor<?x2xf32>, %tags: !nn.ragged<?x1x*xi64>):
    %0 = nn.call @logit(%x, %tags) : (tensor<?x2xf32>, !nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
    nn.return %0 : tensor<?x1xf32>
  }
}
"""


def small():
    """Returns the model whose text is SMALL."""
    result = pdl.Model("small", description="""Two lines,
    of which this is one.""")
    sample = result.record("sample")
    sample.floats("label", 1)
    sample.floats("x", 2, missing=1e-5)
    sample.bags("tags", 1, hash=pdl.xxh64(salt=7), columns=["tags"], separator="|")
    g = result.group("g", rule=pdl.rule("adam", beta1=0.8), rate=1e-3,
                     schedule=pdl.schedule("cosine", steps=1000),
                     decay=[pdl.decay.l2(1e-6), pdl.decay.l1(0.5)],
                     clip=result.clip("joint", global_norm=10), untouched="lazy",
                     average=pdl.rule("ema", decay=0.99), merge="sum",
                     rate_over="pushers",
                     compensate=pdl.rule("delay_compensation", strength=0.25))
    emb = result.table("emb", 2, group=g, init=pdl.init.uniform(-0.01, 0.01), unknown="zero")
    w = result.param("w", (2, 1), group=g, init=pdl.init.xavier())
    b = result.param("b", (1,), group=g, init=pdl.init.truncated_normal(0, 0.5))
    shift = result.state("shift", (2,), init=pdl.init.constant(0.5))
    auc = result.metric("auc", pdl.metrics.auc())

    @result.function
    def logit(x, tags):
        """The logit."""
        moved = x - shift
        rows = pdl.flatten(pdl.lookup(emb, tags, "sum"), 1)
        rows = 2 * rows - shift
        return pdl.linear(moved + rows, w, b, "tanh").named("z")

    @result.program
    def train(label, x, tags):
        z = logit(x, tags)
        loss = pdl.squared_error(z, label)
        pdl.minimize(loss, [g], weights=label)

    @result.program
    def evaluate(tags, x, label):
        z = logit(tags=tags, x=x)
        pdl.observe(auc, pdl.sigmoid(z), label)

    @result.program
    def predict(x, tags):
        return logit(x, tags)

    return result


class Text(unittest.TestCase):

    def test_all_there_is(self):
        self.assertEqual(str(small()), SMALL)
        parsed(SMALL, "--pdl-pipeline=to=gradient")

    def test_same_text_in_every_process(self):
        """The text depends neither on hashes of strings nor on the version of Python."""
        script = "import builder_test; print(builder_test.small(), end='')"
        for seed in ("1", "2"):
            done = run(sys.executable, "-c", script, cwd=pathlib.Path(__file__).parent,
                       env={**os.environ, "PYTHONHASHSEED": seed})
            self.assertEqual(done.stdout, SMALL)

    def test_outputs_have_names(self):
        result = pdl.Model("named")
        result.record("r").floats("x", 1)

        @result.program
        def predict(x):
            return {"ctr": x, 'a "b"': 2.0 * x}

        self.assertIn('nn.return %x as "ctr", %1 as "a \\22b\\22" : '
                      "tensor<?x1xf32>, tensor<?x1xf32>\n", str(result))
        parsed(result)

    def test_keys_that_come_and_go(self):
        result = pdl.Model("life")
        clicks = result.group("clicks", rule="click_adagrad", rate=0.05, untouched="lazy")
        for name, clauses in (
                ("a", {"admit_score": 2, "score": {"show": 0.1, "click": 0.9}}),
                ("b", {"admit_count": 10, "shrink_every": 1000, "shrink_unseen": 7}),
                ("c", {"admit_probability": 0.5}),
                ("d", {"widen_from": 1, "widen_score": 2, "score": {"show": 1}}),
                ("e", {"widen_from": 3, "widen_score": 0.5, "score": {"click": 1},
                       "widen_init": pdl.init.uniform(-0.5, 0.5)})):
            result.table(name, 4, init=pdl.init.zeros(), group=clicks, **clauses)
        text = str(result)
        for clauses in ("admit(score = 2.0) score(show = 0.1, click = 0.9)",
                        "admit(count = 10) shrink(every = 1000, unseen = 7)",
                        "admit(probability = 0.5)",
                        "score(show = 1.0) widen(from = 1, score = 2.0)",
                        "score(click = 1.0) widen(from = 3, score = 0.5, "
                        "init = #nn.uniform<-0.5, 0.5>)"):
            self.assertIn(f" in @clicks init(#nn.zeros) {clauses}\n", text)
        parsed(result)

    def test_names_are_for_outputs(self):
        result = pdl.Model("named")
        result.record("r").floats("x", 1)

        @result.function
        def both(x):
            return {"x": x}

        with self.assertRaisesRegex(pdl.ModelError, "function @both returns names; names are "
                                    "for outputs of programs: return a tuple"):
            @result.program
            def predict(x):
                return both(x)

        with self.assertRaisesRegex(pdl.ModelError, "names an output 1; a name is a str"):
            @result.program
            def numbered(x):
                return {1: x}

    def test_write(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "small.mlir")
            small().write(path)
            self.assertEqual(path.read_text(), SMALL)

    def test_places(self):
        """With locations, each op and symbol has the Python line that created it."""
        lines, begin = inspect.getsourcelines(small)
        text = small().text(locations=True)
        printed = parsed(text, "--mlir-print-debuginfo", "--mlir-print-local-scope")
        for op, source in (("nn.sub", "moved = x - shift"), ("nn.linear", "named(\"z\")"),
                           ("nn.table", "emb = "), ("nn.minimize", "pdl.minimize")):
            [line] = [begin + index for index, one in enumerate(lines) if source in one]
            self.assertRegex(printed, rf'{op} .*loc\("{__file__}":{line}:\d+\)')
        self.assertEqual(parsed(text), parsed(SMALL))

    def test_names(self):
        result = with_fields(x=3)

        def helper(value):
            inner = pdl.relu(value)
            return pdl.tanh(inner)

        @result.function
        def pair(value):
            return pdl.exp(value), pdl.log(value)

        @result.program
        def predict(x):
            first = helper(x)
            a, b = pair(first)
            a = -a
            ünicode = a + b
            _ = abs(ünicode)
            third = (pdl.relu(a)).named("third")
            return [helper(third), third]

        found = [line.split(" = ")[0].strip() for line in str(result).splitlines()
                 if " = nn." in line]
        self.assertEqual(found, ["%0", "%1", "%inner", "%first", "%a, %b", "%a_1", "%0", "%1",
                                 "%third", "%inner_1", "%2"])
        parsed(result)

    def test_operators(self):
        result = with_fields(x=3)
        w = result.param("w", (3, 3), init=pdl.init.normal(0, 1))

        @result.program
        def predict(x):
            a = 1 - x
            a = x / 2 + 2 / x * w[0:1, :] - w[1:2]
            a = (x @ w) * (x > 0.5) + (x < 1)
            a = abs(-a)
            return a[:, 1:], w[0:1] * x, 3 + a[:, -1:]

        ops = [line.split(" = nn.")[1].split()[0] for line in str(result).splitlines()
               if " = nn." in line]
        for op in ("sub", "div", "mul", "add", "matmul", "greater", "neg", "abs", "slice"):
            self.assertIn(op, ops)
        # Each number and each parameter occurs once.
        self.assertEqual(ops.count("read"), 1)
        self.assertEqual(ops.count("constant"), 4)
        parsed(result)

    def test_element_types(self):
        result = pdl.Model("wide", element="f64")
        result.record("r").floats("x", 2)
        w = result.param("w", (2, 1), init=pdl.init.zeros())

        @result.program
        def predict(x):
            return pdl.linear(x * 0.1, w)

        self.assertIn("nn.constant dense<0.1> : tensor<f64>", str(result))
        self.assertNotIn("f32", str(result))
        parsed(result)

    def test_constants(self):
        result = with_fields(x=2)

        @result.program
        def predict(x):
            shift = pdl.constant([1, 2.5])
            table = pdl.constant([[1, 2], [3, float("inf")]])
            return x + shift + pdl.constant(0.1, shape=(2,)), x @ table

        text = str(result)
        self.assertIn("%shift = nn.constant dense<[1.0, 2.5]> : tensor<2xf32>", text)
        self.assertIn("dense<[[1.0, 2.0], [3.0, 0x7F800000]]> : tensor<2x2xf32>", text)
        self.assertIn("dense<0.1> : tensor<2xf32>", text)
        parsed(result)

    def test_odd_names(self):
        result = pdl.Model("a model")
        record = result.record("of \"clicks\"")
        record.floats("das x", 1, values={"a\\b": 1.0, "ü": 2.0}, columns=["das x"])
        record.floats("class", 1)
        result.param("w-1", (1,), init=pdl.init.zeros())

        @result.program
        def predict(das_x, class_):
            return das_x + class_

        self.assertIn(r'values({"a\5Cb" = 1.0, "\C3\BC" = 2.0}) columns(["das x"])', str(result))
        parsed(result)

    def test_missing_values(self):
        result = pdl.Model("m")
        record = result.record("r", missing_texts=["\\N", "NULL"])
        record.bags("tags", 1, hash=pdl.xxh64(), missing="none", missing_element="gap")
        record.bags("keys", 1, missing_element=7)
        record.float_bags("shares", 1, missing_element=0.5)

        @result.program
        def predict(tags):
            return pdl.segment_sizes(tags)

        text = str(result)
        self.assertIn('nn.record @r missing_texts(["\\5CN", "NULL"]) {', text)
        self.assertIn('missing("none") missing_element("gap")', text)
        self.assertIn("missing_element(7)", text)
        self.assertIn("missing_element(0.5)", text)
        parsed(result)
        other = pdl.Model("n")
        other.record("r", missing_texts=[])
        self.assertIn("nn.record @r missing_texts([]) {", str(other))

    def test_frozen(self):
        result = with_fields(x=1)

        @result.program(frozen=False)
        def observe(x):
            pass

        @result.program
        def predict(x):
            return x

        self.assertIn("nn.program @observe reads(@r) {\n", str(result))
        self.assertIn("nn.program @predict frozen reads(@r) {\n", str(result))
        parsed(result)

    def test_cycle(self):
        model = pdl.Model("turns")
        record = model.record("r")
        record.floats("x", 2)
        groups = [model.group(name, rule="sgd", rate=0.1) for name in "ab"]
        first, second = (model.param(name, (2, 1), init=pdl.init.zeros(), group=group)
                         for name, group in zip("vw", groups))

        @model.program
        def one(x):
            pdl.minimize(pdl.linear(x, first), [groups[0]])

        @model.program
        def other(x):
            pdl.minimize(pdl.linear(x, second), [groups[1]])

        @model.program(frozen=True)
        def predict(x):
            return pdl.linear(x, first)

        for turns, text in (((), "has no turns"), (((one, 0),), "the number of steps of a turn of cycle @train is 0"),
                            ((predict,), "program @predict, which minimizes nothing"),
                            (("one",), "a turn of 'one'; a turn is a program")):
            with self.assertRaisesRegex(pdl.ModelError, text):
                model.cycle("train", *turns)
        model.cycle("train", (one, 3), other)
        self.assertTrue(model.text().endswith("\n  nn.cycle @train [@one * 3, @other]\n}\n"))
        run(PDL_OPT, "-", "--pdl-pipeline=to=fused", input=model.text())

    def test_uncalled_function(self):
        """The types of a function that is never called are not known, so it is omitted."""
        result = small()

        @result.function
        def unused(x):
            return x

        self.assertEqual(str(result), SMALL)


class TwoTypes(unittest.TestCase):

    def test_layers_compute_in_the_type_of_what_they_get(self):
        model = pdl.Model("two_types")
        model.record("r").floats("x", 4)
        wide = model.group("wide", rule="adam", rate=1.0e-3)

        @model.program
        def predict(x):
            y = pdl.layers.layer_norm(pdl.cast(x, "f64"), "norm", group=wide)
            y = pdl.layers.cross(y, 1, "cross", group=wide)
            return pdl.cast(pdl.layers.mlp(y, [2, 1], "deep", group=wide) / 2, "f32")

        text = str(model)
        types = set(re.findall(r"nn\.param @[\w.]+ : tensor<[\dx]+x(f32|f64)>", text))
        self.assertEqual(types, {"f64"})
        self.assertIn("nn.constant dense<2.0> : tensor<f64>", text)
        self.assertIn("-> tensor<?x1xf32>\n    nn.return", text)

    def test_a_rule_of_the_other_type(self):
        model = pdl.Model("other_type")
        model.rule("own", element="f64", each=lambda value, gradient, rate: value - rate * gradient)
        self.assertIn("^bb0(%value: f64, %gradient: f64, %rate: f64):", str(model))
        with self.assertRaisesRegex(pdl.ModelError, "`element` of rule @half is 'f16'; write one of 'f32' and 'f64'"):
            model.rule("half", element="f16", each=lambda value, gradient, rate: value)


class Bodies(unittest.TestCase):
    """Ops whose bodies are Python functions."""

    @staticmethod
    def model_with(loss):
        """Returns a model that minimizes the result of `loss`, which is called with the model, its
        group, label, x and the bags."""
        result = with_fields(label=1, x=3)
        result.only_record().bags("tags", 2)
        group = result.group("g", rule="sgd", rate=0.1)

        @result.program
        def train(label, x, tags):
            pdl.minimize(loss(result, group, label, x, tags), [group])

        return result

    @staticmethod
    def recurrent(of_rows):
        """Returns a loss function that calls `of_rows` with rows, their bags, and the weight and
        bias of GRU cells, and uses the result."""
        def loss(model, group, label, x, tags):
            weight = model.param("u", (4, 12), group=group, init=pdl.init.xavier())
            bias = model.param("b", (12,), group=group, init=pdl.init.constant(0.5))
            items = model.table("items", 3, group=group, init=pdl.init.uniform(-1, 1))
            rows = pdl.layers.dense(pdl.lookup(items, tags, "none"), 12, "in", group=group)
            states = of_rows(rows, tags, weight, bias)
            last = pdl.reduce("sum", pdl.segment_last(states, tags), axes=[1, 2], keep=True)
            return pdl.squared_error(pdl.flatten(last, 1), label)
        return loss

    def test_gru_by_hand(self):
        """A cell that is written in Python equals the op, including each op of its gradient."""
        def by_hand(rows, tags, weight, bias):
            def cell(row, before):
                gates = pdl.linear(before, weight, bias)
                reset = pdl.sigmoid(row[:, 0:4] + gates[:, 0:4])
                update = pdl.sigmoid(row[:, 4:8] + gates[:, 4:8])
                new = pdl.tanh(row[:, 8:] + reset * gates[:, 8:])
                return new + update * (before - new)
            return pdl.scan(rows, tags, cell, init=4, from_end=True)

        def op(rows, tags, weight, bias):
            return pdl.gru(rows, tags, weight, bias, from_end=True)

        hand, given = (sorted(parsed(self.model_with(self.recurrent(one)),
                                     "--pdl-pipeline=to=gradient", "--cse").splitlines())
                       for one in (by_hand, op))
        opcodes = [[re.sub(r"%\w+(#\d+)?", "%", line) for line in lines]
                   for lines in (hand, given)]
        self.assertEqual(*map(sorted, opcodes))
        self.assertGreater(sum("nn.scan" in line for line in hand), 1)

    def test_scan_text(self):
        """Text of a scan: rows, states, values from outside, and the names of all of them."""
        def loss(model, group, label, x, tags):
            scale = model.param("scale", (3,), group=group, init=pdl.init.constant(1)) * 2
            places = pdl.segment_positions(tags)
            first = pdl.broadcast(scale, (None, 2, 3), like=pdl.segment_sizes(tags))

            def body(place, state, other):
                after = state * scale + place
                return other, after, place

            ends, afters, copies = pdl.scan([places], tags, body, init=[first, first])
            sums = pdl.segment_sum(afters + ends * copies, tags)
            return pdl.flatten(pdl.reduce("sum", sums, [1, 2], True), 1)

        model = self.model_with(loss)
        self.assertIn("""\
    %ends, %afters, %copies = nn.scan %places of %tags init(%first, %first) with(%scale_1) {
    ^bb0(%place: tensor<?x1xf32>, %state: tensor<?x3xf32>, %other: tensor<?x3xf32>, \
%scale_1_1: tensor<3xf32>):
      %2 = nn.mul %state, %scale_1_1 : tensor<?x3xf32>, tensor<3xf32>
      %after = nn.add %2, %place : tensor<?x3xf32>, tensor<?x1xf32>
      nn.yield %other, %after, %place : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x1xf32>
    } : tensor<?x1xf32>, !nn.ragged<?x2x*xi64>, tensor<?x2x3xf32>, tensor<?x2x3xf32>, \
tensor<3xf32>
""", str(model))
        parsed(model, "--pdl-pipeline=to=gradient")
        located = model.text(locations=True)
        self.assertRegex(located, r'nn.yield .* loc\(".*builder_test.py":\d+:\d+\)')
        parsed(located)

    def test_cond(self):
        """Both branches get the values that either of them uses. A branch can call a function of
        the model, and contain another `cond`."""
        def loss(model, group, label, x, tags):
            w = model.param("w", (3, 1), group=group, init=pdl.init.xavier())
            steps = model.param("steps", (1,), group=model.group(
                "counter", rule="step_counter", rate=1.0), init=pdl.init.zeros())
            pdl.accumulate(steps, label)

            @model.function
            def logit(x):
                return pdl.linear(x, w)

            def late():
                small = pdl.cond(steps < 20, lambda: 0.5 * x, lambda: x)
                return logit(small), label

            z, wanted = pdl.cond(steps >= 10, late, lambda: (label, pdl.tanh(label)))
            return pdl.squared_error(z, wanted)

        model = self.model_with(loss)
        text = str(model)
        self.assertIn("""\
    %z, %wanted = nn.if %1 with(%x, %label) {
    ^bb0(%x_1: tensor<?x3xf32>, %label_1: tensor<?x1xf32>):
""", text)
        self.assertIn("""\
    } else {
    ^bb0(%x_2: tensor<?x3xf32>, %label_2: tensor<?x1xf32>):
      %7 = nn.tanh %label_2 : tensor<?x1xf32>
      nn.yield %label_2, %7 : tensor<?x1xf32>, tensor<?x1xf32>
    } : tensor<1xf32>, tensor<?x3xf32>, tensor<?x1xf32>
""", text)
        parsed(model, "--pdl-pipeline=to=gradient")

    def refused(self, build, *parts):
        with self.assertRaises(pdl.ModelError) as caught:
            self.model_with(lambda model, group, label, x, tags: build(
                label, x, tags, pdl.segment_positions(tags)))
        for part in parts:
            self.assertIn(part, str(caught.exception))
        self.assertEqual(caught.exception.place.file, __file__)

    def test_scan_errors(self):
        self.refused(lambda label, x, tags, rows: pdl.scan(rows, tags, lambda a, b: a, init=3),
                     "returns %a : tensor<?x1xf32> for state 'b', which is tensor<?x3xf32>")
        self.refused(lambda label, x, tags, rows: pdl.scan(rows, tags, lambda a: a, init=3),
                     "takes (a); it has to take 2: a row of each of `rows`, then the states")
        self.refused(lambda label, x, tags, rows: pdl.scan(rows, tags, lambda a, b: b, init=x),
                     "pdl.scan: `init` has %x : tensor<?x3xf32>; it has to be [batch, 2, ...]")
        self.refused(lambda label, x, tags, rows: pdl.scan(rows, tags, lambda a, b: b, init=[]),
                     "has to give all states the same way")
        self.refused(lambda label, x, tags, rows: pdl.scan(rows, tags, lambda a, b: b, init=0),
                     "a state has 1 column or more")
        self.refused(lambda label, x, tags, rows: pdl.scan(rows, rows, lambda a, b: b, init=1),
                     "it has to be bags of ids")
        self.refused(lambda label, x, tags, rows: pdl.scan(tags, tags, lambda a, b: b, init=1),
                     "it has to be the rows of bags")
        self.refused(lambda label, x, tags, rows: pdl.scan(rows, tags, lambda a, b: b * x,
                                                           init=1),
                     "make it one of `rows` (pdl.segment_repeat leads")
        self.refused(lambda label, x, tags, rows: pdl.scan(
            rows, tags, lambda a, b: pdl.segment_sum(b, tags), init=1), "sees no bags")
        self.refused(lambda label, x, tags, rows: pdl.scan(
            rows, tags, lambda a, b, c: b, init=[1, 1]), "the 2 states after the row")
        self.refused(lambda label, x, tags, rows: pdl.scan(
            rows, tags, lambda a, b: (b, 1.0), init=1), "which is no row [?, ...]")
        self.refused(lambda label, x, tags, rows: pdl.scan(rows, tags, 5, init=1),
                     "it has to be a Python function")

    def test_cond_errors(self):
        self.refused(lambda label, x, tags, rows: pdl.cond(label, lambda: x, lambda: x),
                     "it has to be one number: pdl.select chooses for each sample")
        self.refused(lambda label, x, tags, rows: pdl.cond(1.0, lambda: x, lambda: label),
                     "returns (tensor<?x3xf32>), and `otherwise` (tensor<?x1xf32>)")
        self.refused(lambda label, x, tags, rows: pdl.cond(1.0, lambda a: x, lambda: x),
                     "`then` of pdl.cond takes (a); it takes nothing")
        self.refused(lambda label, x, tags, rows: pdl.cond(1.0, lambda: (), lambda: ()),
                     "`then` of pdl.cond returns nothing; it has to return what is used")
        kept = []
        self.refused(lambda label, x, tags, rows: pdl.cond(
            1.0, lambda: (kept.append(pdl.tanh(x)), x)[1], lambda: x) + kept[0],
                     "of `then` of pdl.cond, which program @train cannot see; return it from "
                     "there")


class Layers(unittest.TestCase):

    def model_with(self, layer):
        result = with_fields(label=1, x=6)
        result.only_record().bags("tags", 3)
        group = result.group("g", rule="sgd", rate=0.1)

        @result.function
        def logit(x, tags):
            return layer(x, tags, group)

        @result.program
        def train(label, x, tags):
            pdl.minimize(pdl.sigmoid_cross_entropy(logit(x, tags), label), [group])

        parsed(result, "--pdl-pipeline=to=gradient")
        return [line.strip() for line in str(result).splitlines()]

    def test_dense_at_each_place(self):
        def layer(x, tags, group):
            rows = pdl.layers.embedding(tags, 4, "emb", group=group)
            placed = pdl.layers.dense(rows, 5, "places", group=group, activation="relu")
            return pdl.layers.dense(pdl.flatten(placed, 1), 1, "last", group=group)

        lines = self.model_with(layer)
        self.assertIn("nn.param @places.weight : tensor<4x5xf32> in @g init(#nn.xavier)", lines)
        self.assertIn("nn.param @last.weight : tensor<15x1xf32> in @g init(#nn.xavier)", lines)

    def test_mlp_and_embedding(self):
        def layer(x, tags, group):
            rows = pdl.layers.embedding(tags, 4, "emb", group=group, pooling="mean")
            deep = pdl.concat([x, pdl.flatten(rows, 1)], 1)
            return pdl.layers.mlp(deep, [8, 1], "deep", group=group, activation="tanh")

        lines = self.model_with(layer)
        self.assertIn("nn.table @emb : i64 -> tensor<4xf32> in @g init(#nn.uniform<-0.01, 0.01>)",
                      lines)
        self.assertIn("nn.param @deep.1.weight : tensor<18x8xf32> in @g init(#nn.xavier)", lines)
        self.assertIn("nn.param @deep.2.bias : tensor<1xf32> in @g init(#nn.zeros)", lines)
        self.assertTrue(any("@deep.1.bias act(tanh)" in line for line in lines))
        self.assertTrue(any("@deep.2.bias :" in line for line in lines))

    def test_activations_and_norms(self):
        """An activation with numbers is a function. Norms have parameters of their own."""
        def layer(x, tags, group):
            y = pdl.layers.dense(x, 4, "first", group=group,
                                 activation=lambda value: pdl.leaky_relu(value, 0.1))
            y = pdl.layers.layer_norm(y, "norm", group=group)
            return pdl.layers.mlp(y, [3, 1], "deep", group=group, activation=pdl.gelu,
                                  last=lambda value: pdl.clamp(value, -1.0, 1.0))

        lines = self.model_with(layer)
        for line in ("nn.param @norm.scale : tensor<4xf32> in @g init(#nn.constant<1.0>)",
                     "nn.param @norm.shift : tensor<4xf32> in @g init(#nn.zeros)"):
            self.assertIn(line, lines)
        text = "".join(lines)
        for op in ("nn.leaky_relu", "nn.layer_norm", "nn.gelu", "nn.clamp"):
            self.assertIn(op, text)

    def test_attention(self):
        """Attention with and without a softmax of the weights: the ops differ, the parameters are
        equal."""
        for normalized in (True, False):
            def layer(x, tags, group, normalized=normalized):
                items = pdl.Model.table(group.model, "items", 4, group=group,
                                        init=pdl.init.uniform(-1, 1))
                query = pdl.lookup(items, tags, "mean")
                found = pdl.layers.attention(pdl.lookup(items, tags, "none"), tags, query, [5],
                                             "a", group=group, normalized=normalized)
                return pdl.layers.dense(pdl.flatten(found, 1), 1, "last", group=group)

            lines = self.model_with(layer)
            self.assertIn("nn.param @a.1.weight : tensor<16x5xf32> in @g init(#nn.xavier)", lines)
            self.assertIn("nn.param @last.weight : tensor<12x1xf32> in @g init(#nn.xavier)", lines)
            self.assertEqual(any("nn.segment_softmax" in line for line in lines), normalized)
            self.assertTrue(any("%found = nn.segment_sum" in line for line in lines), lines)

    def test_recurrent(self):
        for layer_of, gates in ((pdl.layers.gru, 3), (pdl.layers.lstm, 4)):
            def layer(x, tags, group, layer_of=layer_of):
                items = pdl.Model.table(group.model, "items", 4, group=group,
                                        init=pdl.init.uniform(-1, 1))
                zeros = pdl.broadcast(0.0, (None, 3, 5), like=pdl.segment_sizes(tags))
                states = layer_of(pdl.lookup(items, tags, "none"), tags, 5, "r", group=group,
                                  from_end=True,
                                  init=zeros if layer_of is pdl.layers.gru else [zeros, zeros])
                first = pdl.segment_first(states, tags)
                return pdl.layers.dense(pdl.flatten(first, 1), 1, "last", group=group)

            lines = self.model_with(layer)
            for name, shape in (("r.input.weight", f"4x{5 * gates}"), ("r.weight", f"5x{5 * gates}"),
                                ("r.bias", f"{5 * gates}")):
                self.assertTrue(any(f"nn.param @{name} : tensor<{shape}xf32>" in line
                                    for line in lines), name)
            self.assertTrue(any("@r.weight, @r.bias from_end init(%" in line for line in lines))

    def test_cross(self):
        for version, rank, expected in ((1, None, "@c.1.weight : tensor<6x1xf32>"),
                                        (2, None, "@c.2.weight : tensor<6x6xf32>"),
                                        (2, 2, "@c.2.up : tensor<2x6xf32>")):
            def layer(x, tags, group, version=version, rank=rank):
                crossed = pdl.layers.cross(x, 2, "c", group=group, version=version, rank=rank)
                return pdl.layers.dense(crossed, 1, "last", group=group, bias=False)

            lines = self.model_with(layer)
            self.assertIn(f"nn.param {expected} in @g init(#nn.xavier)", lines)
            self.assertNotIn("@last.bias", "".join(lines))


class Compile(FolderTest):

    def setUp(self):
        super().setUp()
        saved = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(saved)))
        os.environ["PDL_TRANSLATE"] = str(PDL_TRANSLATE)

    def test_program(self):
        """The program of a Python model equals that of its text."""
        run(PDL_TRANSLATE, model("logistic_regression"), "-o", self.root / "text",
            "--numerics=strict")
        sys.path.insert(0, str(SOURCE / "models" / "logistic_regression"))
        self.addCleanup(sys.path.pop, 0)
        import logistic_regression
        folder = pdl.compile(logistic_regression.model, self.root / "python",
                             numerics="strict")
        self.assertEqual(folder, self.root / "python")
        results = []
        for trainer in (folder / "trainer", self.root / "text" / "trainer"):
            dump = self.root / "dump"
            run(trainer, "train", "--data", ADULT, "--rows", "0:1000", "--dump", dump)
            results.append((run(trainer, "--version").stdout, dump.read_bytes()))
        self.assertEqual(*results)

    def test_flags(self):
        echo = self.root / "echo"
        echo.write_text('#!/bin/sh\nshift\necho "$@" >&2\n')
        echo.chmod(0o755)
        os.environ["PDL_TRANSLATE"] = str(echo)
        done = run(sys.executable, "-c", "import builder_test\nbuilder_test.pdl.compile("
                   "builder_test.small(), 'out', mode='sync', compute='f32', element_type='f64', "
                   "target_cpu='native', options=['--jobs=1'])",
                   cwd=pathlib.Path(__file__).parent)
        self.assertEqual(done.stderr, "-o out --mode=sync --numerics=fast --compute=f32 "
                                      "--element-type=f64 --target-cpu=native --jobs=1\n")

    def test_finds_it_on_path(self):
        del os.environ["PDL_TRANSLATE"]
        os.environ["PATH"] = str(PDL_TRANSLATE.parent)
        self.assertEqual(pdl.compiler.find_translate(), str(PDL_TRANSLATE))
        os.environ["PATH"] = str(self.root)
        with self.assertRaisesRegex(pdl.CompileError, "is not on PATH; add .* or set PDL_TRANSL"):
            pdl.compile(small(), self.root / "out")
        os.environ["PDL_TRANSLATE"] = "/nowhere"
        with self.assertRaisesRegex(pdl.CompileError, "PDL_TRANSLATE is /nowhere"):
            pdl.compile(small(), self.root / "out")

    def test_refused(self):
        """Errors that only the compiler finds are reported at the Python line."""
        result = with_fields(y=1, x=2)
        limit = result.clip("limit", norm=1.0)
        first = result.group("first", rule="sgd", rate=0.1, clip=limit, merge="sum")
        result.param("v", (2, 1), group=first, init=pdl.init.zeros())
        group = result.group("g", rule="sgd", rate=0.1, clip=limit, merge="mean")
        line = inspect.currentframe().f_lineno - 1
        w = result.param("w", (2, 1), group=group, init=pdl.init.zeros())

        @result.program
        def train(y, x):
            pdl.minimize(pdl.squared_error(pdl.linear(x, w), y), [group])

        with self.assertRaises(pdl.CompileError) as caught:
            pdl.compile(result, self.root / "out")
        self.assertRegex(str(caught.exception), rf"{__file__}:{line}:\d+: error: .*@first")


if __name__ == "__main__":
    unittest.main()
