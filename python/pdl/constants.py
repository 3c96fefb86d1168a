# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Constant tensors."""

from __future__ import annotations

from collections.abc import Sequence

from pdl import checks
from pdl.body import current
from pdl.errors import ModelError
from pdl.text import is_number, number
from pdl.types import TensorType
from pdl.values import Value

Numbers = float | Sequence["Numbers"]


def constant(numbers: Numbers, shape: Sequence[int] | None = None,
             element: str | None = None) -> Value:
    """A tensor of fixed numbers: a number, or lists in lists; with `shape` one number for
    all elements. Larger tensors are `model.state`.

    With `element="i64"` they are ids, whole numbers of 64 bits with or without a sign, which
    `pdl.broadcast` repeats for each sample: those of a catalogue, say.
    """
    body = current("pdl.constant")
    # Of NumPy's arrays the lists.
    numbers = getattr(numbers, "tolist", lambda: numbers)()
    found = _shape(numbers)
    if shape is not None and found:
        raise ModelError(f"numbers of shape {found}, and shape={tuple(shape)}; the shape is for "
                         "one number that all elements have")
    type = TensorType(found if shape is None else tuple(shape), element or body.model.element)
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
    """A 64-bit id, as the signed integer of its bits."""
    value = checks.whole("an id of a constant", given)
    if not -2**63 <= value < 2**64:
        raise ModelError(f"an id of a constant is {value}; ids have 64 bits")
    return str(value - 2**64 if value >= 2**63 else value)


def _text(numbers: Numbers, element: str) -> str:
    if is_number(numbers):
        return _id(numbers) if element == "i64" else number(numbers, element)
    return f"[{', '.join(_text(one, element) for one in numbers)}]"
