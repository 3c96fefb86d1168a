# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generators for ops that mix the samples of a batch."""

import pdl
from smith.table import FIXED, IDS, SAMPLES, Generator


class BatchSum(Generator):
    mixes, learned, grows = True, True, True

    def choose(self, chooser):
        x = chooser.value(lambda s: len(s.shape) > 1 and s.kind != FIXED)
        return x and self.step([x], FIXED)

    def build(self, b, step, v, s):
        return pdl.batch_sum(v[0])


class Rotate(Generator):
    """Number or id of another sample."""

    mixes = True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.one((IDS,)) if r.random() < 0.3 else chooser.value(kinds=(SAMPLES,))
        return x and self.step([x], x.kind, by=r.choice((-2, -1, 1, 3)))

    def build(self, b, step, v, s):
        return pdl.rotate(v[0], s["by"])


class InBatchSoftmax(Generator):
    mixes, learned, grows = True, True, True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value(lambda s: len(s.shape) == 2, kinds=(SAMPLES,))
        if not x:
            return None
        inputs = [x, chooser.like(x)]
        correction = chooser.value(lambda s: s.shape == (None, 1) and chooser.known(s),
                                   kinds=(SAMPLES,))
        ids = chooser.one((IDS,), lambda s: s.shape == (None, 1))
        with_correction = bool(correction) and r.random() < 0.5
        with_ids = bool(ids) and r.random() < 0.5
        return self.step(inputs + [correction] * with_correction + [ids] * with_ids, SAMPLES,
                         corrected=with_correction, ids=with_ids)

    def build(self, b, step, v, s):
        rest = list(v[2:])
        return pdl.in_batch_softmax(pdl.tanh(v[0]), pdl.tanh(v[1]),
                                    rest.pop(0) if s["corrected"] else None,
                                    rest.pop(0) if s["ids"] else None)
