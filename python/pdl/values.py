# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of a program or a function, and their arithmetic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pdl.errors import ModelError
from pdl.types import Type

if TYPE_CHECKING:
    from pdl.body import Body


def _operations():
    """The ops, which are made of values."""
    from pdl import ops
    return ops


class Arithmetic:
    """What may stand as an operand by itself: values, parameters and states.

    A number beside it becomes a constant; shapes broadcast as in NumPy.
    """

    def __add__(self, other: Operand) -> Value:
        return _operations().add(self, other)

    def __radd__(self, other: Operand) -> Value:
        return _operations().add(other, self)

    def __sub__(self, other: Operand) -> Value:
        return _operations().sub(self, other)

    def __rsub__(self, other: Operand) -> Value:
        return _operations().sub(other, self)

    def __mul__(self, other: Operand) -> Value:
        return _operations().mul(self, other)

    def __rmul__(self, other: Operand) -> Value:
        return _operations().mul(other, self)

    def __truediv__(self, other: Operand) -> Value:
        return _operations().div(self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return _operations().div(other, self)

    def __matmul__(self, other: Operand) -> Value:
        return _operations().matmul(self, other)

    def __rmatmul__(self, other: Operand) -> Value:
        return _operations().matmul(other, self)

    def __gt__(self, other: Operand) -> Value:
        return _operations().greater(self, other)

    def __lt__(self, other: Operand) -> Value:
        return _operations().greater(other, self)

    def __ge__(self, other: Operand) -> Value:
        return _operations().greater_equal(self, other)

    def __le__(self, other: Operand) -> Value:
        return _operations().less_equal(self, other)

    def __pow__(self, exponent: float) -> Value:
        # A product is faster than a power, and has one rounding as well.
        if exponent == 2:
            return _operations().mul(self, self)
        return _operations().pow(self, exponent)

    def __neg__(self) -> Value:
        return _operations().neg(self)

    def __abs__(self) -> Value:
        return _operations().abs(self)

    def __bool__(self) -> bool:
        raise ModelError(
            "a value is known when the program runs, not while the model is written, "
            "so that Python cannot branch on it; pdl.select chooses for each sample, and "
            "pdl.cond for a step")

    # Else Python would ask for x[0], x[1], ... without end.
    __iter__ = None

    def __getitem__(self, ranges: slice | tuple[slice, ...]) -> Value:
        """`x[:, 2:5]`: a range of one axis or more."""
        return _ranges(self, ranges)


class Value(Arithmetic):
    """What an op gives, or an argument: a tensor or bags, of a known type.

    Values are made by ops and belong to the function or program whose Python
    function runs; another one gets them as arguments.
    """

    def __init__(self, body: Body, name: str | None, type: Type, origin: str):
        self.body = body
        self.name = name
        self.type = type
        # What messages call it as long as it has no name.
        self.origin = origin

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes of the dimensions; None is the batch."""
        return self.type.shape

    def named(self, name: str) -> Value:
        """The same value, called `%name` in the text, or like that if there is one."""
        self.body.rename(self, name)
        return self

    def __str__(self) -> str:
        return f"%{self.name}"

    def __repr__(self) -> str:
        return f"%{self.name} : {self.type}" if self.name else f"{self.origin} : {self.type}"


Operand = Arithmetic | int | float


def _ranges(operand: Arithmetic, ranges: slice | tuple[slice, ...]) -> Value:
    parts = ranges if isinstance(ranges, tuple) else (ranges,)
    shape = operand.type.shape
    if not all(isinstance(part, slice) for part in parts):
        raise ModelError("an index of values is a range, which keeps its axis; write "
                         "x[:, 3:4] for the column at 3")
    if len(parts) > len(shape):
        raise ModelError(f"{operand!r} has {len(shape)} axes, and {len(parts)} ranges "
                         "are given; write one for each axis, `:` for all of it")
    cut = None
    for axis, (part, size) in enumerate(zip(parts, shape)):
        if part == slice(None):
            continue
        if size is None:
            raise ModelError(f"axis 0 of {operand!r} is the batch, which cannot be cut; "
                             "write `:` for it")
        low, high, step = part.indices(size)
        if step != 1:
            raise ModelError("a range has no step; take the parts and join them with "
                             "pdl.concat")
        bounds = [bound for bound in (part.start, part.stop) if bound is not None]
        if any(bound > size for bound in bounds) or low >= high:
            raise ModelError(f"the range {part.start}:{part.stop} of axis {axis} is empty "
                             f"or leaves it; it has the indices 0 to {size - 1}")
        cut = _operations().slice(cut if cut is not None else operand, axis, low, high - low)
    if cut is None:
        raise ModelError("x[:] cuts nothing off; use x itself")
    return cut
