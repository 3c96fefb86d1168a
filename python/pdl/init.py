# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Initial values of parameters, states and rows of tables."""

from pdl.errors import ModelError
from pdl.text import Attribute, attribute, did_you_mean


def zeros() -> Attribute:
    """Every element starts at zero."""
    return attribute("zeros")


def constant(value: float) -> Attribute:
    """Every element starts at one value."""
    return attribute("constant", float(value))


def uniform(low: float, high: float) -> Attribute:
    """Uniform in [low, high)."""
    return attribute("uniform", float(low), float(high))


def normal(mean: float, deviation: float) -> Attribute:
    """Normal with a mean and a standard deviation."""
    return attribute("normal", float(mean), float(deviation))


def truncated_normal(mean: float, deviation: float) -> Attribute:
    """Normal with a mean and a standard deviation, cut at two deviations."""
    return attribute("truncated_normal", float(mean), float(deviation))


def xavier() -> Attribute:
    """Uniform in [-b, b) with b = sqrt(6 / (fan in + fan out)), of a matrix or a row."""
    return attribute("xavier")


def xavier_normal() -> Attribute:
    """Normal with mean 0 and variance 2 / (fan in + fan out), of a matrix or a row."""
    return attribute("xavier_normal")


def _fan(fan: str) -> str:
    if fan not in ("fan_in", "fan_out"):
        raise ModelError(f"`fan` is {fan!r}" + did_you_mean(str(fan), ("fan_in", "fan_out")))
    return fan


def msra_uniform(fan: str = "fan_in") -> Attribute:
    """Uniform in [-b, b) with b = sqrt(6 / fan), of a matrix or a row."""
    return attribute("msra_uniform", _fan(fan))


def msra_normal(fan: str = "fan_in") -> Attribute:
    """Normal with mean 0 and variance 2 / fan, of a matrix or a row."""
    return attribute("msra_normal", _fan(fan))
