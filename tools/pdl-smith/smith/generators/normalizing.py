# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generators for ops with states that programs write."""

import pdl
from smith.table import SAMPLES, Generator


class BatchNorm(Generator):
    """Batch norm mixes samples only in programs that train. Frozen programs read its states."""

    often, learned, sums = 2, True, True

    def choose(self, chooser):
        x = chooser.value(lambda s: len(s.shape) > 1, kinds=(SAMPLES,))
        return x and self.step([x], SAMPLES, width=x.shape[-1])

    def build(self, b, step, v, s):
        shape = (s["width"],)
        return pdl.batch_norm(v[0], b.written("m", shape, "mean", 0.0),
                              b.written("v", shape, "mean", 1.0), 0.25)


class DataNorm(Generator):
    often, learned, sums, grows = 2, True, True, True

    def choose(self, chooser):
        x = chooser.value(lambda s: len(s.shape) == 2, kinds=(SAMPLES,))
        return x and self.step([x], SAMPLES, width=x.shape[-1])

    def build(self, b, step, v, s):
        shape = (s["width"],)
        return pdl.data_norm(v[0], b.written("n", shape, "sum", 16.0),
                             b.written("s", shape, "sum", 0.0),
                             b.written("q", shape, "sum", 16.0), 0.25)


class Accumulated(Generator):
    """A value, and the state that accumulates it, as it was after the previous step."""

    often, learned, sums = 2, True, True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value(lambda s: len(s.shape) > 1, kinds=(SAMPLES,))
        return x and self.step([x], SAMPLES, shape=tuple(x.shape[1:]),
                               rule=r.choice(("mean", "sum")), weighted=r.random() < 0.4)

    def build(self, b, step, v, s):
        state = b.written("a", s["shape"], s["rule"], 0.125, s["weighted"])
        b.accumulate(state, v[0], s["weighted"])
        return pdl.sub(v[0], pdl.tanh(pdl.read(state)))


class Cvm(Generator):
    """Counts from the data, and a value. No gradient flows to the counts."""

    def choose(self, chooser):
        counts = chooser.value(lambda s: len(s.shape) == 2 and s.shape[1] >= 2
                               and chooser.known(s), kinds=(SAMPLES,))
        x = chooser.value(lambda s: len(s.shape) == 2, kinds=(SAMPLES,))
        return counts and x and self.step([counts, x], SAMPLES)

    def build(self, b, step, v, s):
        return pdl.cvm(pdl.concat([pdl.abs(pdl.slice(v[0], 1, 0, 2)), v[1]], axis=1))
