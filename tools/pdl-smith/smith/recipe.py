# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Parts of a random model, in a form that can be reduced."""

import copy

SAMPLES = "samples"  # Its first dimension counts samples.
FIXED = "fixed"      # It has no batch.
IDS = "ids"          # Ids of samples.
PLACES = "places"    # Positions that parameters may decide: nothing is looked up by them.
RAGGED = "ragged"    # Bags of ids.
NUMBERS = "numbers"  # Bags of numbers.
# Fields of bags. Floats of such a kind have one row for each id of the field. The first two fields
# have bags of the same sizes.
BAGS = ("bags", "more", "other")
FLOATS = (SAMPLES, FIXED, *BAGS)


class Step:
    """One step of a model: the generator `op` with the steps numbered `inputs` as inputs, and
    `settings`. `kind`: the meaning of the first dimension. For ragged ids, the setting `bags` is
    the field with the same bags, if there is one. `shape` is known after the step was built."""

    def __init__(self, op, inputs=(), kind=SAMPLES, **settings):
        self.op, self.inputs, self.kind = op, tuple(inputs), kind
        self.settings, self.shape = settings, None
        self.number = None

    def with_inputs(self, inputs):
        """Returns the same step with other inputs."""
        other = copy.copy(self)
        other.inputs = tuple(inputs)
        return other


class Training:
    """Settings for the training of a model. `form`: "one" loss over all groups, "several" losses
    over groups of their own, or a "cycle" of programs. `groups`: settings for smith.groups.
    `weighted`: true if samples have weights. `counter`: true if there is a counter of steps, which
    conditions use. `lives`: clauses of smith.lives that tables may have. `crossings`: tables that
    are looked up by other losses than the one that trains them."""

    def __init__(self, groups, form="one", weighted=False, counter=False, lives=(), crossings=()):
        self.groups, self.form = groups, form
        self.weighted, self.counter, self.lives = weighted, counter, lives
        self.crossings = crossings

    def size(self):
        return (len(self.groups) + self.weighted + self.counter + (self.form != "one")
                + len(self.lives) + len(self.crossings))

    def _with(self, **changed):
        """Returns the same settings with some changes."""
        other = copy.copy(self)
        other.__dict__.update(changed)
        return other

    def smaller(self, plain):
        """Yields simpler settings. `plain`: the simplest group."""
        for crossing in self.crossings:
            yield self._with(crossings=tuple(c for c in self.crossings if c != crossing))
        for clause in self.lives:
            yield self._with(lives=tuple(c for c in self.lives if c != clause))
        if self.weighted:
            yield self._with(weighted=False)
        if self.counter:
            yield self._with(counter=False)
        if self.form != "one":
            yield self._with(form="one")
        elif len(self.groups) > 1:
            yield self._with(groups=self.groups[:1])
            yield self._with(groups=self.groups[:-1])
        if any(group != plain for group in self.groups):
            yield self._with(groups=[plain] * len(self.groups))
            for group in self.groups:
                if group != plain:
                    yield self._with(groups=[plain if g is group else g for g in self.groups])


class Recipe:
    """Model that can be built and reduced. Steps are a dict by number. Outputs are pairs of a
    step's number and the name of a loss."""

    def __init__(self, steps, outputs, training):
        self.steps, self.outputs, self.training = steps, outputs, training

    def size(self):
        return len(self.steps) + len(self.outputs)

    def live(self):
        """Returns the recipe without steps that no output needs."""
        needed = {number for number, _ in self.outputs}
        for number in sorted(self.steps, reverse=True):
            if number in needed:
                needed.update(self.steps[number].inputs)
        return Recipe({n: s for n, s in self.steps.items() if n in needed},
                      self.outputs, self.training)

    def ops(self):
        """Returns the names of the generators of all steps."""
        return {step.op for step in self.steps.values()}

    def smaller(self, plain_group):
        """Yields reduced recipes; the largest reductions come first."""
        for output in self.outputs:
            if len(self.outputs) > 1:
                yield Recipe(self.steps, [output], self.training).live()
        for output in self.outputs:
            if len(self.outputs) > 1:
                rest = [o for o in self.outputs if o is not output]
                yield Recipe(self.steps, rest, self.training).live()
        # Replace an output or an input by a step from which it is computed.
        for i, (number, loss) in enumerate(self.outputs):
            for inner in self.steps[number].inputs:
                if self.steps[inner].kind == SAMPLES:
                    outputs = list(self.outputs)
                    outputs[i] = (inner, loss)
                    yield Recipe(self.steps, outputs, self.training).live()
        for number, step in sorted(self.steps.items(), reverse=True):
            for inner in step.inputs:
                other = self.steps[inner]
                if (other.shape, other.kind) != (step.shape, step.kind):
                    continue
                steps = {n: s.with_inputs(inner if i == number else i for i in s.inputs)
                         for n, s in self.steps.items()}
                outputs = [(inner if n == number else n, loss) for n, loss in self.outputs]
                yield Recipe(steps, outputs, self.training).live()
        for training in self.training.smaller(plain_group):
            yield Recipe(self.steps, self.outputs, training)
