# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generators for ops that draw random numbers for samples, and for losses of drawn ids."""

import pdl
from smith.table import BAGS, FIXED, IDS, SAMPLES, Generator

BEHIND = 7  # Ids are drawn from 0 to 6.


def choose_distribution(random, may_be_0=True):
    """Returns a distribution of ids. An id that is never drawn has no probability."""
    name = random.choice(("uniform", "log_uniform", "counts"))
    if name != "counts":
        return {"distribution": name}
    counts = [random.randint(0 if may_be_0 else 1, 50) for _ in range(BEHIND - 1)]
    return {"distribution": name, "counts": [*counts, 3],
            "power": random.choice((0.0, 0.75, 1.0, 2.0))}


def distribution_of(step):
    return {key: step[key] for key in ("distribution", "counts", "power") if key in step}


class Dropout(Generator):
    often, learned = 2, True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.value(lambda s: s.kind != FIXED)
        if not x:
            return None
        bags = [chooser.bags(x.kind)] if x.kind in BAGS else []
        return self.step([x, *bags], x.kind, rate=r.choice((0.0, 0.25, 0.5, 0.9)),
                         stream=r.choice((None, None, 5)))

    def build(self, b, step, v, s):
        return pdl.dropout(v[0], s["rate"], bags=v[1] if len(v) > 1 else None,
                           stream=s["stream"])


class Sample(Generator):
    often = 2

    def choose(self, chooser):
        r = chooser.random
        return self.step([], IDS, count=r.randint(1, 4), stream=r.choice((None, None, 5)),
                         **choose_distribution(r))

    def build(self, b, step, v, s):
        return pdl.sample(s["count"], 0, BEHIND, stream=s["stream"], **distribution_of(s))


class LogProbability(Generator):

    def choose(self, chooser):
        x = chooser.one((IDS,))
        return self.step([x], SAMPLES, **choose_distribution(chooser.random, may_be_0=False))

    def build(self, b, step, v, s):
        ids = pdl.id_arithmetic("remainder", v[0], BEHIND)
        return pdl.log_probability(ids, 0, BEHIND, **distribution_of(s))


class AccidentalHits(Generator):

    def choose(self, chooser):
        own = chooser.one((IDS,), lambda s: len(s.shape) == 2)
        drawn = chooser.one((IDS,), lambda s: len(s.shape) == 2)
        return self.step([own, drawn], SAMPLES)

    def build(self, b, step, v, s):
        return pdl.accidental_hits(v[0], v[1])


class SampledLoss(Generator):
    """Loss of a sample's own id compared with some drawn ids, used as a value."""

    often, grows, learned = 3, True, True

    def choose(self, chooser):
        r = chooser.random
        own = chooser.one((IDS,), lambda s: len(s.shape) == 2)
        user = chooser.value(lambda s: len(s.shape) == 2, kinds=(SAMPLES,))
        return user and self.step(
            [own, user], SAMPLES, width=user.shape[1], count=r.randint(1, 4),
            group=chooser.group(), hits=r.random() < 0.5,
            name=r.choice(("sampled_softmax", "nce_loss", "negative_sampling")),
            **choose_distribution(r, may_be_0=False))

    def build(self, b, step, v, s):
        distribution = distribution_of(s)
        own = pdl.id_arithmetic("remainder", pdl.slice(v[0], 1, 0, 1), BEHIND)
        drawn = pdl.sample(s["count"], 0, BEHIND, **distribution)
        table = b.table(s["width"])
        user = pdl.reshape(pdl.tanh(v[1]), (None, s["width"], 1))

        def logits(ids, count):
            rows = pdl.lookup(table, ids, "sum")
            return pdl.reshape(pdl.matmul(rows, user), (None, count))

        hits = pdl.accidental_hits(own, drawn) if s["hits"] else None
        parts = [logits(own, 1), logits(drawn, s["count"])]
        if s["name"] != "negative_sampling":
            parts += [pdl.log_probability(ids, 0, BEHIND, **distribution)
                      for ids in (own, drawn)]
        return getattr(pdl, s["name"])(*parts, hits=hits)
