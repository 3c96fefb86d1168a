# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of a program or a function, and their arithmetic."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

from pdl.arguments import check, checked
from pdl.errors import ModelError
from pdl.later import KnownLater
from pdl.text import is_whole
from pdl.types import Type

if TYPE_CHECKING:
    from pdl.body import Body


def _operations():
    """Returns the module of the ops. Imported late, because it uses this module."""
    from pdl import ops
    return ops


class Arithmetic(KnownLater):
    """Base of values, parameters and states, which have arithmetic operators.

    If the other operand is a number, it becomes a constant. Shapes broadcast as in NumPy. `==`
    and `!=` are ops too, so use `is` to test whether two objects are the same.
    """

    KNOWN = "a value is known when the program runs, not while the model is written"
    DEFAULT = "pdl.ops lists what computes with values"
    ADVICE = {
        "bool()": "Python cannot branch on it, join it with `and`, `or` and `not`, or find it "
                  "in a list; use pdl.select or pdl.cond, pdl.equal with each of a list, or of "
                  "masks pdl.min (and), pdl.max (or) and 1 - a (not)",
        "`%`": "x - n * pdl.floor(x / n) is the remainder of numbers, and "
               'pdl.id_arithmetic("remainder", ids, n) that of ids by a whole number',
        "`//`": "pdl.floor(x / n) rounds the quotient of numbers down, and "
                'pdl.id_arithmetic("quotient", ids, n) divides ids by a whole number',
        "divmod()": "pdl.floor(x / n) rounds the quotient of numbers down; pdl.id_arithmetic "
                    "divides ids",
        "`**`": "pdl.pow has a number as exponent, x ** 3; pdl.exp(y * pdl.log(x)) is a power "
                "of positive values, and pdl.exp(x * math.log(b)) one of a positive number b",
        "`&`": "pdl.min(a, b) is 1 where both masks are 1",
        "`|`": "pdl.max(a, b) is 1 where one of two masks is 1",
        "`^`": "pdl.not_equal(a, b) is 1 where one of two masks is 1, and the other 0",
        "`~`": "1 - a is 1 where a mask is 0",
        "`<<`": 'pdl.id_arithmetic("multiply", ids, n) multiplies ids by a power of 2',
        "`>>`": 'pdl.id_arithmetic("quotient", ids, n) divides ids by a power of 2',
        "float()": "pdl.cast makes numbers of ids; return the value from a frozen program, and "
                   "`predict` writes it",
        "int()": "pdl.floor rounds down, and pdl.cast makes ids of numbers; return the value "
                 "from a frozen program, and `predict` writes it",
        "round()": "pdl.floor(x + 0.5) rounds to the nearest",
        "math.trunc()": "pdl.sign(x) * pdl.floor(abs(x)) cuts off the fraction",
        "math.ceil()": "-pdl.floor(-x) rounds up",
        "an index or a range of Python's":
            "pdl.gather takes the entries that a value names, pdl.lookup the rows of a table, "
            "and pdl.one_hot makes a mask of it",
        "len()": "x.shape has the sizes, with None for the batch; pdl.segment_sizes counts the "
                 "ids of bags",
        "iteration": "x.shape has the sizes; pdl.reduce adds up an axis, x[:, 2:3] is the "
                     "column at 2, and pdl.scan goes from row to row of bags",
        "reversed()": "pdl.take(x, axis, positions) orders the entries of an axis, and "
                      "pdl.segment_reverse the rows of bags",
        "`in`": "pdl.equal(x, y) is 1 where two are equal, and pdl.max joins several of them; "
                "pdl.accidental_hits finds an id among others",
        "assignment to an index": "values do not change: pdl.select chooses between two, and "
                                  "pdl.concat joins parts",
        "an attribute": "values do not change: an op gives another one, and x.named(name) says "
                        "what it is called",
        "a format": "return the value from a frozen program, and `predict` writes it",
        "`x()`": "only what @model.function has made is called",
        "hash()": "sets and the keys of dicts would compare identity: use id(x) or x.name as a "
                  "key, and pdl.equal to compare what values hold",
        "a NumPy array": "call the function of pdl that does the same, such as pdl.exp",
    }

    def __add__(self, other: Operand) -> Value:
        return _of_ids("add", self, other, lambda: _operations().add(self, other))

    def __radd__(self, other: Operand) -> Value:
        return _of_ids("add", self, other, lambda: _operations().add(other, self))

    def __sub__(self, other: Operand) -> Value:
        return _of_ids("add", self, -other if is_whole(other) else other,
                       lambda: _operations().sub(self, other))

    def __rsub__(self, other: Operand) -> Value:
        return _operations().sub(other, self)

    def __mul__(self, other: Operand) -> Value:
        return _of_ids("multiply", self, other, lambda: _operations().mul(self, other))

    def __rmul__(self, other: Operand) -> Value:
        return _of_ids("multiply", self, other, lambda: _operations().mul(other, self))

    def __truediv__(self, other: Operand) -> Value:
        return _operations().div(self, other)

    def __rtruediv__(self, other: Operand) -> Value:
        return _operations().div(other, self)

    def __floordiv__(self, other: Operand) -> Value:
        return _of_ids("quotient", self, other, functools.partial(super().__floordiv__, other))

    def __mod__(self, other: Operand) -> Value:
        return _of_ids("remainder", self, other, functools.partial(super().__mod__, other))

    def __matmul__(self, other: Operand) -> Value:
        return _operations().matmul(self, other)

    def __rmatmul__(self, other: Operand) -> Value:
        return _operations().matmul(other, self)

    def __eq__(self, other: Operand) -> Value:  # type: ignore[override]
        return _operations().equal(self, other)

    def __ne__(self, other: Operand) -> Value:  # type: ignore[override]
        return _operations().not_equal(self, other)

    # Python removes the hash of a class that defines __eq__, so set it again.
    __hash__ = KnownLater.__hash__

    def __gt__(self, other: Operand) -> Value:
        return _operations().greater(self, other)

    def __lt__(self, other: Operand) -> Value:
        return _operations().greater(other, self)

    def __ge__(self, other: Operand) -> Value:
        return _operations().greater_equal(self, other)

    def __le__(self, other: Operand) -> Value:
        return _operations().less_equal(self, other)

    def __pow__(self, exponent: float, modulus: object = None) -> Value:
        if modulus is not None or isinstance(exponent, Arithmetic):
            return super().__pow__(exponent)
        # A product is faster than a power, and is also rounded once.
        if exponent == 2:
            return _operations().mul(self, self)
        return _operations().pow(self, exponent)

    def __neg__(self) -> Value:
        return _operations().neg(self)

    def __pos__(self) -> Arithmetic:
        return self

    def __abs__(self) -> Value:
        return _operations().abs(self)

    def __floor__(self) -> Value:
        return _operations().floor(self)

    def __getitem__(self, ranges: slice | tuple[slice, ...]) -> Value:
        """`x[:, 2:5]`: a slice along one or more axes."""
        return _ranges(self, ranges)


def _of_ids(kind: str, ids: Arithmetic, other: Operand, otherwise: Callable[[], Value]) -> Value:
    """Returns nn.id_arithmetic if the operands are ids and a whole number, else `otherwise()`."""
    if not ids.type.is_float and is_whole(other):
        return _operations().id_arithmetic(kind, ids, other)
    return otherwise()


class Value(Arithmetic):
    """The result of an op, or an argument: a tensor or bags, of a known type.

    A value belongs to the function or program whose Python function created it. To use it in
    another one, pass it as an argument.
    """

    def __init__(self, body: Body, name: str | None, type: Type, origin: str):
        self.body = body
        self.name = name
        self.type = type
        # Name of the value in messages, as long as it has no other name.
        self.origin = origin

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Returns the sizes of the dimensions. None is the batch size."""
        return self.type.shape

    @checked(title="value.named")
    def named(self, name: str) -> Value:
        """Names the value `%name` in the text, or similarly if that name is in use. Returns the
        value."""
        self.body.rename(self, name)
        return self

    def __str__(self) -> str:
        # A value that the user has not named gets a name only when the text is written.
        return f"%{self.name}" if self.name else repr(self)

    def __repr__(self) -> str:
        return f"%{self.name} : {self.type}" if self.name else f"{self.origin} : {self.type}"


Operand = Arithmetic | int | float


def _ranges(operand: Arithmetic, ranges: slice | tuple[slice, ...]) -> Value:
    parts = ranges if isinstance(ranges, tuple) else (ranges,)
    shape = operand.type.shape
    bounds = [bound for part in parts for bound in
              ((part.start, part.stop, part.step) if isinstance(part, slice) else (part,))]
    if any(isinstance(bound, Arithmetic) for bound in bounds):
        raise ModelError(
            "an index or the bound of a range is a value, which is known when the program "
            "runs, not while the model is written; pdl.gather takes the entries that a value "
            "names, pdl.take those of fixed positions, and pdl.select chooses by a mask")
    if not all(isinstance(part, slice) for part in parts):
        raise ModelError("an index of values is a range, which keeps its axis; write "
                         "x[:, 3:4] for the column at 3")
    if len(parts) > len(shape):
        raise ModelError(f"{operand!r} has {len(shape)} axes, and {len(parts)} ranges "
                         "are given; write one for each axis, `:` for all of it")
    cut = None
    for axis, (part, size) in enumerate(zip(parts, shape)):
        if part.start is None and part.stop is None and part.step is None:
            continue
        if size is None:
            raise ModelError(f"axis 0 of {operand!r} is the batch, which cannot be cut; "
                             "write `:` for it")
        for bound in (part.start, part.stop, part.step):
            if bound is not None:
                check("a bound of a range", bound, int)
        low, high, step = part.indices(size)
        if step != 1:
            raise ModelError("a range has no step; take the parts and join them with "
                             "pdl.concat")
        if any(bound > size for bound in (part.start, part.stop) if bound is not None) or \
                low >= high:
            raise ModelError(f"the range {part.start}:{part.stop} of axis {axis} is empty "
                             f"or leaves it; it has the indices 0 to {size - 1}")
        cut = _operations().slice(cut if cut is not None else operand, axis, low, high - low)
    if cut is None:
        raise ModelError("x[:] cuts nothing off; use x itself")
    return cut
