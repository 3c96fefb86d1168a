# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regularizers of groups."""

from pdl import checks
from pdl.errors import ModelError
from pdl.text import Attribute, attribute


def _coefficient(rule: str, value: float) -> float:
    given = checks.real(f"the coefficient of pdl.decay.{rule}", value)
    if given < 0:
        raise ModelError(f"the coefficient of pdl.decay.{rule} is {value}, with which values "
                         "grow; it has to be 0 or more")
    return given


def l1(coefficient: float) -> Attribute:
    """Adds coefficient * sign(value) to the gradient."""
    return attribute("l1", _coefficient("l1", coefficient))


def l2(coefficient: float) -> Attribute:
    """Adds coefficient * value to the gradient."""
    return attribute("l2", _coefficient("l2", coefficient))
