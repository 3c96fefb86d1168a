# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of arguments that functions of this package share."""

from pdl.errors import ModelError
from pdl.text import Attribute, is_number, is_whole


def whole(what: str, value: object, least: int | None = None) -> int:
    """A whole number, of NumPy's types too; `what` says in the message what it is for."""
    if not is_whole(value):
        as_text = f", without quotes: {value}" if isinstance(value, str) and \
            value.strip().isdigit() else ""
        raise ModelError(f"{what} is {value!r}; it has to be a whole number{as_text}")
    if least is not None and value < least:  # type: ignore[operator]
        raise ModelError(f"{what} is {value}; it has to be at least {least}")
    return int(value)  # type: ignore[call-overload]


def attribute(what: str, value: object, example: str) -> Attribute:
    """What a function of this package has returned for a clause, such as pdl.init.zeros()."""
    if not isinstance(value, Attribute):
        raise ModelError(f"{what} is {value!r}; write {example}")
    return value


def real(what: str, value: object) -> float:
    """A number, of NumPy's types too."""
    if not is_number(value):
        raise ModelError(f"{what} is {value!r}; it has to be a number")
    return float(value)  # type: ignore[arg-type]
