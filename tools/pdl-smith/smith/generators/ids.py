# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generators for ids: computed from numbers and from other ids, converted to numbers, and looked
up."""

import pdl
from smith.table import BAGS, IDS, NUMBERS, PLACES, RAGGED, SAMPLES, Generator


class Bucketize(Generator):

    def choose(self, chooser):
        x = chooser.value(lambda s: len(s.shape) == 2 and chooser.known(s), kinds=(SAMPLES,))
        return x and self.step([x], IDS)

    def build(self, b, step, v, s):
        return pdl.bucketize(v[0], [-0.5, 0.0, 0.25, 1.0])


class IdArithmetic(Generator):
    often = 2

    def choose(self, chooser):
        r = chooser.random
        x = chooser.one((IDS, RAGGED))
        kind = r.choice(("add", "multiply", "quotient", "remainder"))
        number = r.choice((2, 3, 7, 2 ** 31) if kind in ("quotient", "remainder") else
                          (-5, 0, 1, 3, 2 ** 62))
        return self.step([x], x.kind, name=kind, number=number, bags=x.settings.get("bags"))

    def build(self, b, step, v, s):
        return pdl.id_arithmetic(s["name"], v[0], s["number"])


class Catalog(Generator):
    """Ids that are the same for each sample, with all 64 bits."""

    def choose(self, chooser):
        r = chooser.random
        like = chooser.value(lambda s: len(s.shape) == 2 and chooser.known(s), kinds=(SAMPLES,))
        ids = [r.choice((0, -1, 7, 2 ** 62, -2 ** 63, r.randrange(50)))
               for _ in range(r.choice((1, 3, 5)))]
        return like and self.step([like], IDS, ids=ids)

    def build(self, b, step, v, s):
        return pdl.broadcast(pdl.constant(s["ids"], element="i64"), (None, len(s["ids"])), v[0])


class IdsOfNumbers(Generator):
    """nn.cast from numbers to ids."""

    def choose(self, chooser):
        x = chooser.value(lambda s: len(s.shape) == 2 and chooser.known(s), kinds=(SAMPLES,))
        return x and self.step([x], IDS)

    def build(self, b, step, v, s):
        return pdl.cast(pdl.mul(v[0], 3.0))


class NumbersOfIds(Generator):
    """nn.cast from ids to numbers. Ids of bags become rows."""

    often, grows = 2, True

    def choose(self, chooser):
        x = chooser.one((IDS, PLACES, RAGGED), lambda s: s.kind != RAGGED or s.settings["bags"])
        return x and self.step([x], x.settings["bags"] if x.kind == RAGGED else SAMPLES)

    def build(self, b, step, v, s):
        return pdl.mul(pdl.cast(v[0]), 0.125)


class Cross(Generator):

    def choose(self, chooser):
        r = chooser.random
        ids = chooser.all((IDS,), lambda s: len(s.shape) == 2)
        fields = [chooser.bags(name) for name in BAGS]
        ragged = r.random() < 0.5
        first = r.choice(fields if ragged else ids)
        found = fields + [s for s in ids if s.shape == (None, 2)] if ragged else [
            s for s in ids if s.shape == first.shape]
        return self.step([first, r.choice(found)], RAGGED if ragged else IDS,
                         salt=r.randrange(9), bags=None)

    def build(self, b, step, v, s):
        return pdl.cross(v, salt=s["salt"])


class SameBags(Generator):

    def choose(self, chooser):
        return self.step([chooser.bags("more"), chooser.bags("bags")], RAGGED, bags="bags")

    def build(self, b, step, v, s):
        return pdl.same_bags(v[0], v[1])


class RowsOfNumbers(Generator):
    """Ragged field of floats, as rows of the bags with the same sizes."""

    often = 2

    def choose(self, chooser):
        name = chooser.random.choice(BAGS[:2])
        return self.step([chooser.all((NUMBERS,))[0], chooser.bags(name)], name)

    def build(self, b, step, v, s):
        return pdl.cast(pdl.same_bags(v[0], v[1]))


class Lookup(Generator):
    often, learned = 2, True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.one((IDS, RAGGED), lambda s: s.kind == RAGGED or len(s.shape) == 2)
        return self.step([x], SAMPLES, width=r.randint(1, 9), group=chooser.group(),
                         pooling=r.choice(("sum", "mean", "sqrtn")))

    def build(self, b, step, v, s):
        return pdl.lookup(b.table(s["width"]), v[0], s["pooling"])


class CountedLookup(Generator):
    """Rows of a field whose rule uses the counts of nn.count."""

    often, learned, sums, counts = 2, True, True, True

    def choose(self, chooser):
        r = chooser.random
        x = chooser.one((IDS, RAGGED), lambda s: s.op == "field")
        return self.step([x], SAMPLES, width=r.randint(1, 9), group=chooser.group(),
                         field=x.settings["name"], pooling=r.choice(("sum", "mean", "sqrtn")))

    def build(self, b, step, v, s):
        return pdl.lookup(b.counted_table(s["width"], s["field"]), v[0], s["pooling"])


class WeightedLookup(Generator):
    """Rows that are multiplied by one number each, which has a gradient, and then summed."""

    often, learned, grows = 2, True, True

    def choose(self, chooser):
        r = chooser.random
        rows, _ = chooser.rows()
        if not rows:
            return None
        ids = chooser.one((RAGGED,), lambda s: s.settings["bags"] == rows.kind)
        step = self.step([ids, rows], SAMPLES, width=r.randint(1, 9), group=chooser.group(),
                         pooling=r.choice(("sum", "mean", "sqrtn")))
        if chooser.training.lives and ids.op == "field":
            step.settings["field"] = ids.settings["name"]
        return step

    def build(self, b, step, v, s):
        axes = range(1, len(v[1].type.shape))
        weights = pdl.reshape(pdl.reduce("mean", v[1], list(axes), keep=True), (None, 1))
        if s["pooling"] != "sum":  # Which divides by them.
            weights = pdl.add(pdl.sigmoid(weights), 0.25)
        table = (b.counted_table(s["width"], s["field"]) if "field" in s
                 else b.table(s["width"]))
        return pdl.lookup(table, v[0], s["pooling"], weights=weights)


class Rows(Generator):
    """One row for each id of bags."""

    often, learned = 4, True

    def choose(self, chooser):
        x = chooser.one((RAGGED,), lambda s: s.settings["bags"])
        return self.step([x], x.settings["bags"], width=chooser.random.randint(1, 9),
                         group=chooser.group())

    def build(self, b, step, v, s):
        return pdl.lookup(b.table(s["width"]), v[0], "none")
