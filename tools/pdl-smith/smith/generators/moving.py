# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generators for ops that move elements to other shapes, positions and lengths, and for sums over
axes."""

import pdl
from smith.generators.elementwise import steps_of
from smith.table import FIXED, IDS, PLACES, SAMPLES, Generator, elements, free_axes


class Field(Generator):
    """Field of the record. Every model has all fields."""

    often = 0

    def build(self, b, step, v, s):
        return b.fields[s["name"]]


class Param(Generator):
    learned = True

    def choose(self, chooser):
        r = chooser.random
        shape = tuple(r.choice((1, 2, 3, 4, 6)) for _ in range(r.randint(1, 3)))
        return self.step([], FIXED, shape=shape, group=chooser.group(),
                         trained=r.random() < 0.7)

    def build(self, b, step, v, s):
        return pdl.read(b.param("", s["shape"]) if s["trained"] else b.state("", s["shape"]))


class Constant(Generator):
    """Numbers in the model's text."""

    def choose(self, chooser):
        r = chooser.random
        return self.step([], FIXED, numbers=[r.choice((-1.0, -0.25, 0.0, 0.5, 0.1, 2.0))
                                             for _ in range(r.choice((1, 2, 3, 4, 6)))])

    def build(self, b, step, v, s):
        return pdl.constant(s["numbers"])


class Broadcast(Generator):
    """Value without a batch, broadcast to each sample or row; or a fixed tensor, broadcast to a
    larger one."""

    def choose(self, chooser):
        r = chooser.random
        like = chooser.value()
        if not like:
            return None
        x = chooser.value(lambda s: len(s.shape) <= len(like.shape) and all(
            a == b or a == 1 for a, b in zip(s.shape[::-1], like.shape[::-1])), kinds=(FIXED,))
        if x and r.random() < 0.7:
            return self.step([x, like], like.kind, shape=like.shape)
        x = chooser.value(kinds=(FIXED,))
        return x and self.step([x], FIXED, shape=(r.choice((1, 2, 3)), *x.shape))

    def build(self, b, step, v, s):
        return pdl.broadcast(v[0], s["shape"], like=v[1] if len(v) > 1 else None)


class Reduce(Generator):
    often = 2

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value(lambda s: len(s.shape) > 1)
        if not x:
            return None
        free = free_axes(x)
        axes = sorted(r.sample(free, r.randint(1, len(free))))
        return self.step([x], x.kind, axes=axes, name=r.choice(("sum", "mean", "max")),
                         keep=r.random() < 0.5 or len(axes) == len(free))

    def build(self, b, step, v, s):
        return pdl.reduce(s["name"], v[0], s["axes"], keep=s["keep"])


class Concat(Generator):
    often = 2

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value()
        if not x:
            return None
        axis = r.choice(free_axes(x))
        others = [chooser.mate(x, lambda s: len(s.shape) == len(x.shape) and all(
            i == axis or s.shape[i] == x.shape[i] for i in range(len(x.shape))))
            for _ in range(r.randint(0, 2))]
        return self.step([x, *others], x.kind, axis=axis)

    def build(self, b, step, v, s):
        return pdl.concat(v, axis=s["axis"])


class Slice(Generator):
    often = 2

    def choose(self, chooser):
        r = chooser.random
        # Ids are used too, for example the first ones of a sample's ids.
        x = chooser.value(kinds=(IDS,)) if r.random() < 0.2 else chooser.value()
        if not x:
            return None
        axis = r.choice(free_axes(x))
        offset = r.randrange(x.shape[axis])
        return self.step([x], x.kind, axis=axis, offset=offset,
                         size=r.randint(1, x.shape[axis] - offset))

    def build(self, b, step, v, s):
        return pdl.slice(v[0], s["axis"], s["offset"], s["size"])


class Pad(Generator):

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value()
        return x and self.step([x], x.kind, axis=r.choice(free_axes(x)), low=r.randint(0, 2),
                               high=r.randint(0, 2))

    def build(self, b, step, v, s):
        return pdl.pad(v[0], s["axis"], s["low"], s["high"])


class Reshape(Generator):
    often = 2

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value()
        if not x:
            return None
        total, parts = elements(x.shape), []
        while total > 1 and len(parts) < 3 and (not parts or r.random() < 0.6):
            parts.append(r.choice([d for d in range(1, total + 1) if total % d == 0]))
            total //= parts[-1]
        batch = () if x.kind == FIXED else (None,)
        return self.step([x], x.kind, shape=(*batch, *parts, total))

    def build(self, b, step, v, s):
        return pdl.reshape(v[0], s["shape"])


class Flatten(Generator):

    def choose(self, chooser):
        x = chooser.value(lambda s: len(s.shape) > 2)
        return x and self.step([x], x.kind, start=chooser.random.randint(1, len(x.shape) - 1))

    def build(self, b, step, v, s):
        return pdl.flatten(v[0], s["start"])


class Transpose(Generator):

    def choose(self, chooser):
        x = chooser.value()
        if not x:
            return None
        start = 0 if x.kind == FIXED else 1
        order = list(range(start, len(x.shape)))
        chooser.random.shuffle(order)
        return self.step([x], x.kind, order=[*range(start), *order])

    def build(self, b, step, v, s):
        return pdl.transpose(v[0], s["order"])


class Take(Generator):

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value()
        if not x:
            return None
        axis = r.choice(free_axes(x))
        return self.step([x], x.kind, axis=axis, at=[
            r.randrange(-1, x.shape[axis]) for _ in range(r.randint(1, 5))])

    def build(self, b, step, v, s):
        return pdl.take(v[0], s["axis"], s["at"])


class CumulativeSum(Generator):
    often, grows = 2, True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value(lambda s: len(s.shape) > 1)
        return x and self.step([x], x.kind, exclusive=r.random() < 0.5,
                               backwards=r.random() < 0.5)

    def build(self, b, step, v, s):
        return pdl.cumulative_sum(v[0], s["exclusive"], s["backwards"])


class TopK(Generator):
    often = 2

    def choose(self, chooser):
        x = chooser.value(lambda s: len(s.shape) > 1, kinds=(SAMPLES,))
        return x and self.step([x], PLACES, count=chooser.random.randint(1, x.shape[-1]))

    def build(self, b, step, v, s):
        return pdl.top_k(v[0], s["count"])


class Gather(Generator):
    often = 3

    def choose(self, chooser):
        places = chooser.one((PLACES, IDS), lambda s: len(s.shape) == 2)
        x = chooser.value(lambda s: len(s.shape) in (2, 3), kinds=(SAMPLES,))
        return places and x and self.step([x, places], SAMPLES)

    def build(self, b, step, v, s):
        return pdl.gather(v[0], v[1])


class OneHot(Generator):
    often = 2

    def choose(self, chooser):
        x = chooser.value(lambda s: s.shape == (None, 1), kinds=(SAMPLES,))
        return x and self.step([x], SAMPLES, classes=chooser.random.randint(2, 5))

    def build(self, b, step, v, s):
        # The result has integers from 0 to 3, and some numbers between them.
        return pdl.one_hot(steps_of(pdl.mul(pdl.abs(v[0]), 2.0)), s["classes"])
