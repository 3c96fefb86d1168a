# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generators for functions, and for choices between two computations."""

import pdl
from smith.shared import shared_function
from smith.table import FIXED, IDS, RAGGED, SAMPLES, Generator, free_axes

WAYS = ("scale", "linear", "tanh", "neg", "sin", "other", "choice")


class Call(Generator):
    """Function that is called twice, and refers to its parameter by name."""

    learned = True

    def choose(self, chooser):
        x = chooser.value()
        if not x:
            return None
        size = [x.shape[i] for i in free_axes(x)]
        start = chooser.random.randrange(len(size))
        return self.step([x], x.kind, shape=tuple(size[start:]), group=chooser.group())

    def build(self, b, step, v, s):
        weight = b.param("", s["shape"])

        def inner(value):
            return pdl.tanh(pdl.add(pdl.mul(value, weight), value))
        inner.__name__ = inner.__qualname__ = f"inner{step.number}"
        function = b.model.function(inner)
        return pdl.add(function(v[0]), function(pdl.neg(v[0])))


class CallWith(Generator):
    """Function that gets a parameter with each call."""

    often, learned = 2, True

    def choose(self, chooser):
        x = chooser.value(lambda s: s.kind != FIXED)
        return x and self.step([x], x.kind, features=x.shape[-1], group=chooser.group(),
                               width=chooser.random.choice((1, 2, 3, 5)))

    def build(self, b, step, v, s):
        shape = (s["features"], s["width"])

        def layer(value, weight):
            return pdl.linear(value, weight, None, "tanh")
        function = shared_function(b.model, f"layer{step.number}", layer)
        return pdl.add(function(v[0], with_=[b.param("a", shape)]),
                       function(v[0], with_=[b.param("b", shape)]))


class CallWithTable(Generator):
    """Function that gets a table with each call."""

    learned = True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.one((IDS, RAGGED), lambda s: s.kind == RAGGED or len(s.shape) == 2)
        return self.step([x], SAMPLES, width=r.randint(1, 5), group=chooser.group(),
                         pooling=r.choice(("sum", "mean", "sqrtn")))

    def build(self, b, step, v, s):
        def rows(ids, table):
            return pdl.tanh(pdl.lookup(table, ids, s["pooling"]))
        function = shared_function(b.model, f"rows{step.number}", rows)
        return pdl.sub(function(v[0], with_=[b.table(s["width"], "a")]),
                       function(v[0], with_=[b.table(s["width"], "b")]))


class If(Generator):
    """nn.if with a condition that depends on a counter of steps or on a fixed tensor."""

    often, learned = 3, True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value()
        if not x:
            return None
        fixed = chooser.one((FIXED,))
        if not chooser.training.counter and not fixed:
            return None
        counted = chooser.training.counter and (not fixed or r.random() < 0.6)
        ways = [[r.choice(WAYS) for _ in range(r.randint(0, 3))] for _ in range(2)]
        inputs = [x, chooser.like(x)] + ([] if counted else [fixed])
        return self.step(inputs, x.kind, ways=ways, width=x.shape[-1], group=chooser.group(),
                         after=r.randint(0, 6) if counted else None)

    def build(self, b, step, v, s):
        if s["after"] is not None:
            number, bounds = b.steps(), (s["after"], s["after"] + 2)
        else:
            axes = range(len(v[2].type.shape))
            number, bounds = pdl.reduce("sum", v[2], list(axes), keep=True), (0, 0.5)
        condition, inner = (pdl.greater(number, float(bound)) for bound in bounds)

        def way(which):
            def body():
                value = v[0]
                for i, word in enumerate(s["ways"][which]):
                    value = self.part(b, word, f"{which}{i}", value, v[1], s["width"], inner)
                return value
            return body
        return pdl.cond(condition, way(0), way(1))

    @staticmethod
    def part(b, word, name, value, other, width, inner):
        """Returns one op of a body. `inner` is the condition of a choice inside it."""
        if word == "choice":
            scale = b.param(name, (width,))
            return pdl.cond(inner, lambda: pdl.mul(value, scale), lambda: pdl.cos(value))
        if word == "linear" and value.type.shape[0] is None:
            return pdl.linear(value, b.param(name, (width, width)), None, "tanh")
        if word in ("scale", "linear"):
            return pdl.mul(value, b.param(name, (width,)))
        return pdl.add(value, other) if word == "other" else getattr(pdl, word)(value)
