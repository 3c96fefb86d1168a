# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generators for rows of bags: ops on whole bags, along bags, and from row to row."""

import pdl
from smith.table import BAGS, SAMPLES, Generator

REDUCTIONS = ("sum", "mean", "sqrtn", "max", "first", "last")


class OfRows(Generator):
    """Ops on rows and their bags."""

    def settings(self, chooser, x):
        return {}

    def kind(self, x):
        """Returns the kind of the result: rows, unless a derived class returns samples."""
        return x.kind

    def rank(self, x):
        return True

    def choose(self, chooser):
        x, bags = chooser.rows(self.rank)
        return x and self.step([x, bags], self.kind(x), **self.settings(chooser, x))


class Segment(OfRows):
    often = 4

    def kind(self, x):
        return SAMPLES

    def settings(self, chooser, x):
        return {"name": chooser.random.choice(REDUCTIONS)}

    def build(self, b, step, v, s):
        return getattr(pdl, f"segment_{s['name']}")(v[0], v[1])


class SegmentRows(OfRows):
    often = 2

    def settings(self, chooser, x):
        return {"name": chooser.random.choice(("softmax", "reverse"))}

    def build(self, b, step, v, s):
        return getattr(pdl, f"segment_{s['name']}")(v[0], v[1])


class SegmentShift(OfRows):

    def settings(self, chooser, x):
        return {"by": chooser.random.choice((-2, -1, 1, 2))}

    def build(self, b, step, v, s):
        return pdl.segment_shift(v[0], v[1], by=s["by"])


class SegmentWindow(OfRows):
    often = 2

    def rank(self, x):
        return len(x.shape) == 2

    def settings(self, chooser, x):
        first = chooser.random.randint(-2, 1)
        return {"first": first, "last": chooser.random.randint(first, 2)}

    def build(self, b, step, v, s):
        return pdl.segment_window(v[0], v[1], s["first"], s["last"])


class SegmentPad(OfRows):

    def kind(self, x):
        return SAMPLES

    def settings(self, chooser, x):
        return {"length": chooser.random.randint(1, 4),
                "from_end": chooser.random.random() < 0.5}

    def build(self, b, step, v, s):
        return pdl.segment_pad(v[0], v[1], s["length"], from_end=s["from_end"])


class SegmentUnpad(OfRows):

    def settings(self, chooser, x):
        return {"length": chooser.random.randint(1, 4),
                "from_end": chooser.random.random() < 0.5}

    def build(self, b, step, v, s):
        padded = pdl.segment_pad(v[0], v[1], s["length"], from_end=s["from_end"])
        return pdl.segment_unpad(padded, v[1], from_end=s["from_end"])


class SegmentPositions(OfRows):
    grows = True

    def settings(self, chooser, x):
        return {"from_end": chooser.random.random() < 0.5}

    def rank(self, x):
        return len(x.shape) == 2

    def build(self, b, step, v, s):
        return pdl.mul(pdl.segment_positions(v[1], from_end=s["from_end"]), v[0])


class SegmentSizes(Generator):
    grows = True

    def choose(self, chooser):
        return self.step([chooser.bags(chooser.random.choice(BAGS))], SAMPLES)

    def build(self, b, step, v, s):
        return pdl.segment_sizes(v[0])


class SegmentRepeat(Generator):
    often = 2

    def choose(self, chooser):
        x = chooser.value(lambda s: len(s.shape) > 2 and s.shape[1] == 2, kinds=(SAMPLES,))
        name = chooser.random.choice(BAGS)
        return x and self.step([x, chooser.bags(name)], name)

    def build(self, b, step, v, s):
        return pdl.segment_repeat(v[0], v[1])


class Recurrent(Generator):
    """Ops that go from row to row with states, whose initial values are zeros or numbers of a
    sample."""

    often, learned = 2, True

    def choose(self, chooser):
        r = chooser.random
        x, bags = chooser.rows(lambda s: len(s.shape) == 2)
        if not x:
            return None
        first = chooser.value(lambda s: len(s.shape) == 3 and s.shape[1] == 2
                              and s.shape[2] <= 5, kinds=(SAMPLES,))
        inputs, width = [x, bags], r.randint(1, 4)
        if first and r.random() < 0.6:
            inputs, width = [x, bags, first], first.shape[2]
        return self.step(inputs, x.kind, features=x.shape[1], width=width,
                         group=chooser.group(), from_end=r.random() < 0.4,
                         **self.settings(chooser))

    def settings(self, chooser):
        return {"name": chooser.random.choice(("gru", "lstm")),
                "bias": chooser.random.random() < 0.6}


class Cell(Recurrent):
    """nn.gru and nn.lstm."""

    def build(self, b, step, v, s):
        width = s["width"]
        gates, states = {"gru": (3, 1), "lstm": (4, 2)}[s["name"]]
        rows = pdl.linear(v[0], b.param("i", (s["features"], gates * width)))
        bias = b.param("b", (gates * width,)) if s["bias"] else None
        # The initial values of both states differ.
        init = [v[2], pdl.neg(v[2])][:states] if len(v) > 2 else None
        return getattr(pdl, s["name"])(rows, v[1], b.param("w", (width, gates * width)), bias,
                                       from_end=s["from_end"], init=init)


class Scan(Recurrent):
    """nn.scan with one or two states, and further values of rows."""

    def settings(self, chooser):
        r = chooser.random
        return {"states": r.randint(1, 2), "rows": r.random() < 0.5,
                "body": r.choice(("linear", "gate", "sum"))}

    def build(self, b, step, v, s):
        width, states = s["width"], s["states"]
        inputs = pdl.linear(v[0], b.param("i", (s["features"], width)), None, "tanh")
        weight = b.param("w", (width, width)) if s["body"] != "sum" else None
        decay = pdl.sigmoid(b.param("d", (width,)))

        # If states have initial values, some states are matrices: rows have rank 3, and the body
        # has matrix products.
        cube = len(v) > 2 and step.number % 2 == 0

        def matrices(value):
            shape = tuple(value.type.shape)
            row = pdl.reshape(value, (*shape[:-1], 1, shape[-1]))
            return pdl.concat([row, pdl.neg(row)], axis=len(shape) - 1)

        def unit(row, state):
            if cube and s["body"] == "gate":
                return pdl.tanh(pdl.add(row, pdl.matmul(
                    pdl.matmul(row, state, transpose_rhs=True), state)))
            if s["body"] == "linear":
                return pdl.tanh(pdl.add(row, pdl.linear(state, weight)))
            if s["body"] == "gate":
                gate = pdl.sigmoid(pdl.linear(state, weight))
                return pdl.add(pdl.mul(gate, state), pdl.mul(pdl.sub(1.0, gate), row))
            return pdl.add(pdl.mul(decay, state), row)

        def body(row, *before):
            after = [unit(row, state) for state in before]
            further = [pdl.mul(row, before[0])] if s["rows"] else []
            return [pdl.mul(decay, one) for one in after] + further

        init = [v[2], pdl.neg(v[2])][:states] if len(v) > 2 else [width] * states
        if cube:
            inputs, init = matrices(inputs), [matrices(one) for one in init]
        results = pdl.scan(inputs, v[1], body, init=init, from_end=s["from_end"])
        several = results if isinstance(results, tuple) else (results,)
        total = several[0]
        for one in several[1:]:
            total = pdl.add(total, one)
        return pdl.reduce("sum", total, [1]) if cube else total
