# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generators for ops on one element, or on elements at the same position."""

import pdl
from smith.table import FIXED, Generator, free_axes

# Ops whose inputs may be any floats that are not large.
PLAIN = ("abs", "neg", "tanh", "sigmoid", "relu", "gelu", "gelu_erf", "erf", "softplus", "signed_log1p",
         "leaky_relu", "elu", "floor", "sign", "hard_sigmoid", "swish", "sin", "cos")
POSITIVE = ("log", "log1p", "sqrt", "rsqrt")
BINARY = ("add", "mul", "sub", "max", "min")
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def positive(value):
    """Returns values of at least 0.5 that have a slope."""
    return pdl.add(pdl.abs(value), 0.5)


def steps_of(value):
    """Returns integers. Their jumps are at values that no earlier step gives exactly, such as 1,
    which is the cosine similarity of a value with itself except for rounding."""
    return pdl.floor(pdl.add(value, 0.3))


def broadcasts(step):
    """Returns a test for steps of the same rank that can be broadcast with this one."""
    return lambda other: len(other.shape) == len(step.shape) and all(
        a == b or 1 in (a, b) for a, b in zip(step.shape, other.shape))


class OfOne(Generator):
    """Ops that have one operand and a result of the same type."""

    def settings(self, chooser, x):
        return {}

    def choose(self, chooser):
        x = chooser.value()
        return x and self.step([x], x.kind, **self.settings(chooser, x))


class Unary(OfOne):
    often = 4

    def settings(self, chooser, x):
        return {"name": chooser.random.choice(PLAIN)}

    def build(self, b, step, v, s):
        return steps_of(v[0]) if s["name"] == "floor" else getattr(pdl, s["name"])(v[0])


class Positive(OfOne):

    def settings(self, chooser, x):
        return {"name": chooser.random.choice(POSITIVE)}

    def build(self, b, step, v, s):
        return getattr(pdl, s["name"])(positive(v[0]))


class Wide(Generator):
    """Ops on f64 between ops on f32."""

    often, learned = 2, True

    def choose(self, chooser):
        x = chooser.value()
        return x and self.step([x, chooser.like(x)], x.kind, width=x.shape[-1])

    def build(self, b, step, v, s):
        first, second = (pdl.cast(one, "f64") for one in v)
        scaled = pdl.mul(first, pdl.read(b.wide_param((s["width"],))))
        return pdl.cast(pdl.tanh(pdl.add(scaled, second)), "f32")


class Exp(OfOne):

    def build(self, b, step, v, s):
        return pdl.exp(pdl.tanh(v[0]))


class Pow(OfOne):
    grows = True

    def settings(self, chooser, x):
        return {"exponent": chooser.random.choice((-1.5, 0.5, 2.0, 3.0))}

    def build(self, b, step, v, s):
        return pdl.pow(positive(v[0]), s["exponent"])


class Clamp(OfOne):

    def build(self, b, step, v, s):
        return pdl.clamp(v[0], -0.75, 0.5)


class Standardize(OfOne):
    grows = True

    def settings(self, chooser, x):
        r, width = chooser.random, x.shape[-1]
        return {"mean": [r.choice((-0.5, 0.0, 0.25)) for _ in range(width)],
                "deviation": [r.choice((0.5, 1.0, 2.0)) for _ in range(width)]}

    def build(self, b, step, v, s):
        return pdl.standardize(v[0], s["mean"], s["deviation"])


class StopGradient(OfOne):

    def build(self, b, step, v, s):
        return pdl.neg(v[0]) if b.plain else pdl.stop_gradient(v[0])


class ReluGradient(Generator):
    """Op without a gradient. No trained value may be its input."""

    def choose(self, chooser):
        x = chooser.value()
        return x and self.step([x, chooser.like(x)], x.kind)

    def build(self, b, step, v, s):
        if b.plain:
            return pdl.select(pdl.greater(v[1], 0.0), v[0], pdl.mul(v[0], 0.0))
        return pdl.relu_gradient(pdl.stop_gradient(v[0]), pdl.stop_gradient(v[1]))


class Binary(Generator):
    often = 3

    def choose(self, chooser):
        x = chooser.value()
        if not x:
            return None
        other = chooser.mate(x, broadcasts(x))
        names = BINARY + (("squared_error",) if other.shape == x.shape else ())
        return self.step([x, other], x.kind, name=chooser.random.choice(names))

    def build(self, b, step, v, s):
        return getattr(pdl, s["name"])(v[0], v[1])


class Comparison(Generator):

    def choose(self, chooser):
        x = chooser.value()
        return x and self.step([x, chooser.mate(x, broadcasts(x))], x.kind,
                               name=chooser.random.choice(COMPARISONS))

    def build(self, b, step, v, s):
        return getattr(pdl, s["name"])(v[0], v[1])


class Scaled(Generator):
    """Product of a value and a parameter, or a fixed value, that is broadcast."""

    often, learned = 3, True

    def choose(self, chooser):
        x = chooser.value()
        if not x:
            return None
        r = chooser.random
        size = [x.shape[i] if r.random() < 0.7 else 1 for i in free_axes(x)]
        name = r.choice(BINARY)
        fixed = chooser.all((FIXED,), lambda s: len(s.shape) == 1 and s.shape[0] in (
            1, x.shape[-1]))
        if fixed and r.random() < 0.3:
            return self.step([x, r.choice(fixed)], x.kind, name=name)
        return self.step([x], x.kind, name=name, group=chooser.group(),
                         shape=tuple(size[r.randrange(len(size)):]))

    def build(self, b, step, v, s):
        other = v[1] if len(v) > 1 else b.param("", s["shape"])
        return getattr(pdl, s["name"])(v[0], other)


class Div(Generator):
    grows = True

    def choose(self, chooser):
        x = chooser.value()
        return x and self.step([x, chooser.mate(x, broadcasts(x))], x.kind)

    def build(self, b, step, v, s):
        return pdl.div(v[0], positive(v[1]))


class Select(Generator):
    often = 2

    def choose(self, chooser):
        x = chooser.value()
        return x and self.step([x, chooser.like(x), chooser.like(x)], x.kind,
                               name=chooser.random.choice(COMPARISONS))

    def build(self, b, step, v, s):
        return pdl.select(getattr(pdl, s["name"])(v[0], v[1]), v[0], v[2])
