# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constant tensors."""

from __future__ import annotations

from collections.abc import Sequence

from pdl.arguments import COUNT, ELEMENT_OR_ID, ID, check, checked
from pdl.body import current
from pdl.errors import ModelError
from pdl.text import is_number, number
from pdl.types import TensorType
from pdl.values import Value

Numbers = float | Sequence["Numbers"]


@checked(own=("numbers",), shape=COUNT, element=ELEMENT_OR_ID)
def constant(numbers: Numbers, shape: Sequence[int] | None = None,
             element: str | None = None) -> Value:
    """Returns a tensor of fixed numbers: one number, or nested lists. With `shape`, one number
    fills all elements. For larger tensors, use `model.state`.

    With `element="i64"`, the numbers are ids: 64-bit integers, signed or unsigned. For example,
    `pdl.broadcast` repeats the ids of a catalog for each sample.
    """
    body = current("pdl.constant")
    # NumPy arrays are converted to lists.
    numbers = getattr(numbers, "tolist", lambda: numbers)()
    found = _shape(numbers)
    if shape is not None and found:
        raise ModelError(f"numbers of shape {found}, and shape={tuple(shape)}; the shape is for "
                         "one number that all elements have")
    if shape is not None:
        found = tuple(shape)
    type = TensorType(found, element or body.model.element)
    return body.emit([f"nn.constant dense<{_text(numbers, type.element)}> : {type}"], [type])[0]


def _shape(numbers: Numbers) -> tuple[int, ...]:
    if is_number(numbers):
        return ()
    if isinstance(numbers, str) or not isinstance(numbers, Sequence) or not numbers:
        raise ModelError(f"{numbers!r} is no number and no list of numbers")
    shapes = {_shape(one) for one in numbers}
    if len(shapes) > 1:
        raise ModelError("the lists of a constant have different lengths; a tensor needs "
                         "equal ones")
    return (len(numbers), *shapes.pop())


def _id(given: float) -> str:
    """Returns a 64-bit id as the signed integer with the same bits."""
    value = check("an id of a constant", given, int, ID)
    return str(value - 2**64 if value >= 2**63 else value)


def _text(numbers: Numbers, element: str) -> str:
    if is_number(numbers):
        return _id(numbers) if element == "i64" else number(numbers, element)
    return f"[{', '.join(_text(one, element) for one in numbers)}]"
