# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reduction and storage of failing models."""

import pathlib
import re

import pdl

from smith.checks import Failure, NotFinite
from smith.groups import PLAIN_GROUP
from smith.model import model_of

TRIES = 150


def signature(failure):
    """Returns the common part of failures with one cause. A different message of the compiler is a
    different failure."""
    found = re.search(r"error: (.{0,40})", str(failure))
    return failure.check, found and re.sub(r"[%@'\"\d].*", "", found[1])


def reduce(checker, recipe, failure):
    """Returns the smallest recipe found for which the same check fails, and its failure."""
    wanted, tries, progress = signature(failure), 0, True
    while progress and tries < TRIES:
        progress = False
        for smaller in recipe.smaller(PLAIN_GROUP):
            if smaller.size() >= recipe.size() and smaller.training is recipe.training:
                continue
            tries += 1
            try:
                checker.check(smaller, {failure.check})
            except Failure as other:
                if signature(other) == wanted:
                    recipe, failure, progress = smaller, other, True
                    break
            except (NotFinite, pdl.ModelError, KeyError):
                pass
    return recipe, failure


def keep(folder, seed, recipe, failure, data):
    """Writes a failing model with its data and the command that reproduces the failure."""
    place = pathlib.Path(folder) / f"seed{seed}-{failure.check}"
    place.mkdir(parents=True, exist_ok=True)
    (place / "model.mlir").write_text(
        model_of(seed, recipe, plain=failure.check == "gradients").text)
    (place / "data.safetensors").write_bytes(data.read_bytes())
    (place / "what.txt").write_text(
        f"tools/pdl-smith/pdl-smith --seeds {seed}:{seed} --checks {failure.check}\n\n"
        f"{failure}\n")
    return place
