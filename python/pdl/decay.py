# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regularizers of groups."""

from pdl.arguments import NOT_NEGATIVE, checked
from pdl.attributes import Attribute, of_family

_FAMILY = "decay"


@checked(coefficient=NOT_NEGATIVE)
def l1(coefficient: float) -> Attribute:
    """Adds coefficient * sign(value) to the gradient."""
    return of_family(_FAMILY, "l1", coefficient)


@checked(coefficient=NOT_NEGATIVE)
def l2(coefficient: float) -> Attribute:
    """Adds coefficient * value to the gradient."""
    return of_family(_FAMILY, "l2", coefficient)
