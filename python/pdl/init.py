# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Initial values of parameters, states and rows of tables."""

from typing import Literal

from pdl.arguments import F32, NOT_NEGATIVE, checked
from pdl.attributes import Attribute, of_family
from pdl.errors import ModelError

_FAMILY = "init"


@checked
def zeros() -> Attribute:
    """Every element starts at zero."""
    return of_family(_FAMILY, "zeros")


@checked(value=F32)
def constant(value: float) -> Attribute:
    """Every element starts at one value."""
    return of_family(_FAMILY, "constant", value)


@checked(low=F32, high=F32)
def uniform(low: float, high: float) -> Attribute:
    """Uniform in [low, high)."""
    if low >= high:
        raise ModelError(f"`low` of pdl.init.uniform is {low}, and `high` {high}; the lower "
                         "bound comes first, and the upper one is above it")
    return of_family(_FAMILY, "uniform", low, high)


@checked(mean=F32, deviation=NOT_NEGATIVE)
def normal(mean: float, deviation: float) -> Attribute:
    """Normal with a mean and a standard deviation."""
    return of_family(_FAMILY, "normal", mean, deviation)


@checked(mean=F32, deviation=NOT_NEGATIVE)
def truncated_normal(mean: float, deviation: float) -> Attribute:
    """Normal with a mean and a standard deviation, cut at two deviations."""
    return of_family(_FAMILY, "truncated_normal", mean, deviation)


@checked
def xavier() -> Attribute:
    """Uniform in [-b, b) with b = sqrt(6 / (fan in + fan out)), of a matrix or a row."""
    return of_family(_FAMILY, "xavier")


@checked
def xavier_normal() -> Attribute:
    """Normal with mean 0 and variance 2 / (fan in + fan out), of a matrix or a row."""
    return of_family(_FAMILY, "xavier_normal")


@checked
def msra_uniform(fan: Literal["fan_in", "fan_out"] = "fan_in") -> Attribute:
    """Uniform in [-b, b) with b = sqrt(6 / fan), of a matrix or a row."""
    return of_family(_FAMILY, "msra_uniform", fan)


@checked
def msra_normal(fan: Literal["fan_in", "fan_out"] = "fan_in") -> Attribute:
    """Normal with mean 0 and variance 2 / fan, of a matrix or a row."""
    return of_family(_FAMILY, "msra_normal", fan)
