# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of the Python functions that users hand over."""

import inspect
from collections.abc import Callable

from pdl.errors import ModelError


def parameters(role: str, function: Callable) -> list[inspect.Parameter]:
    """Returns the parameters of a Python function, or of another object that can be called."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ModelError(f"{role} is {function!r}; it has to be a Python function") from None


def function(what: str, value: Callable) -> Callable:
    """Returns `value`, which must be a Python function with a name."""
    if not inspect.isfunction(value):
        raise ModelError(f"{what} is {value!r}; it has to be a Python function")
    return value
