# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Regularizers of groups."""

from pdl.text import Attribute, attribute


def l1(coefficient: float) -> Attribute:
    """Adds coefficient * sign(value) to the gradient."""
    return attribute("l1", float(coefficient))


def l2(coefficient: float) -> Attribute:
    """Adds coefficient * value to the gradient."""
    return attribute("l2", float(coefficient))
