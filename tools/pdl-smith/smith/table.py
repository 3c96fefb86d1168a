# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of generators, and the choice of steps.

A generator is a class derived from `Generator`: `choose` returns a random step that uses existing
steps, and `build` writes it. A new op of the dialect needs one more class in the file of its
family in smith/generators, or one more name in a list there."""

import math
import random
import re

from smith.recipe import BAGS, FIXED, FLOATS, IDS, NUMBERS, PLACES, RAGGED, SAMPLES, Step

MOST = 96  # Elements of a sample or a fixed tensor.
GENERATORS = {}


class Generator:
    """One kind of step.

    - often: how often it is tried, relative to a generator with 1
    - learned: its value depends on parameters, so no ids are computed from it (nn.lookup looks up
      ids before parameters are read)
    - mixes: the result of a sample depends on other samples of its batch, also in frozen programs
    - grows: values may become large, so a tanh is added after the step
    - sums: its state has a rule that no cycle of programs permits (nn.cycle, C3 and C4)
    - counts: its table has a rule that counts, so keys may be added and removed
    """

    often, learned, mixes, grows, sums, counts = 1, False, False, False, False, False

    def __init_subclass__(cls, **keywords):
        super().__init_subclass__(**keywords)
        cls.name = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        if hasattr(cls, "build"):
            GENERATORS[cls.name] = cls()

    def choose(self, chooser):
        """Returns a step that uses existing steps; None if none fits."""
        raise NotImplementedError

    def step(self, inputs, kind, **settings):
        """Returns a step of this generator. `inputs` are steps."""
        return Step(self.name, [one.number for one in inputs], kind, **settings)


def elements(shape):
    """Returns the number of numbers in a sample, a row or a fixed tensor."""
    return math.prod(size for size in shape if size is not None)


def free_axes(step):
    """Returns the axes other than the batch."""
    return [i for i, size in enumerate(step.shape) if size is not None]


class Chooser:
    """Chooses the steps of a recipe while it is being built, so that shapes are known."""

    def __init__(self, seed, training):
        self.random = random.Random(seed)
        self.steps = {}
        self.training = training
        self.kinds = (SAMPLES,)
        names = [name for name, one in GENERATORS.items()
                 if not (one.sums and training.form == "cycle")]
        # Each model prefers two families, so that their steps are combined.
        families = sorted({GENERATORS[name].__module__ for name in names})
        leaning = self.random.sample(families, 2)
        self.rows_often = 0.3 if "smith.generators.bags" in leaning else 0.0
        self.names, self.weights = names, [
            GENERATORS[name].often * (4 if GENERATORS[name].__module__ in leaning else 1)
            * (6 if GENERATORS[name].counts and training.lives else 1) for name in names]

    # Functions for generators.

    def group(self):
        """Returns the number of a group for the parameters of a step."""
        return self.random.randrange(4)

    def all(self, kinds, test=lambda step: True):
        """Returns the steps of some kinds that pass a test."""
        return [s for s in self.steps.values() if s.kind in kinds and test(s)]

    def one(self, kinds, test=lambda step: True):
        """Returns one of these steps, preferably a late one; None if there is none."""
        found = self.all(kinds, test)
        return max(self.random.choice(found), self.random.choice(found),
                   key=lambda s: s.number) if found else None

    def value(self, test=lambda step: True, kinds=None):
        """Returns a step with floats that have at least one dimension other than the batch."""
        return self.one(kinds or self.kinds, lambda s: free_axes(s) and test(s))

    def mate(self, step, test):
        """Returns a step of the same kind that passes a test."""
        found = self.all((step.kind,), test)
        return self.random.choice(found) if found else None

    def like(self, step):
        """Returns a step of the same type."""
        return self.mate(step, lambda s: s.shape == step.shape)

    def rows(self, test=lambda step: True):
        """Returns a step with rows of bags, and the field with the bags."""
        step = self.one(BAGS, test)
        return (step, self.bags(step.kind)) if step else (None, None)

    def bags(self, name):
        """Returns the step of a field of bags."""
        return next(s for s in self.steps.values()
                    if s.op == "field" and s.settings["name"] == name)

    def known(self, step):
        """Returns true if a step depends only on fields."""
        return not GENERATORS[step.op].learned and all(
            self.known(self.steps[i]) for i in step.inputs)

    @property
    def last(self):
        """Returns the number of the last step."""
        return max(self.steps)

    # Generation of recipes.

    def choose(self):
        """Returns a random step, or None."""
        chance = self.random.random()
        self.kinds = BAGS if chance < self.rows_often else (
            FLOATS if chance < 0.5 else (SAMPLES,))
        [name] = self.random.choices(self.names, self.weights)
        step = GENERATORS[name].choose(self)
        if step is not None and step.kind in FLOATS and self._tamed(step):
            step.settings["squash"] = True
        return step

    def _tamed(self, step):
        if GENERATORS[step.op].grows:
            return True
        return step.settings.get("name") in (
            "mul", "sum", "sqrtn", "add", "sub", "squared_error") and self.random.random() < 0.6

    def put(self, builder, step):
        """Builds a step and keeps it. Raises the builder's errors, and `TooLarge`."""
        step.number = max(self.steps, default=-1) + 1
        builder.add(step)
        if step.kind in FLOATS and elements(step.shape) > MOST:
            builder.forget(step)
            raise TooLarge(f"{step.op} has {elements(step.shape)} elements")
        self.steps[step.number] = step


class TooLarge(Exception):
    """Raised for a step with more elements than these models need."""


__all__ = ["BAGS", "FIXED", "FLOATS", "GENERATORS", "IDS", "NUMBERS", "PLACES", "RAGGED", "SAMPLES",
           "Chooser", "Generator", "Step", "TooLarge", "elements", "free_axes"]
