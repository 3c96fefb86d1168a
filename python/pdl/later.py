# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Behavior of Python operations that objects of this package do not support."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Callable, Mapping
from typing import ClassVar, NoReturn

from pdl import hints
from pdl.errors import ModelError, UnknownNameError
from pdl.source import is_called_by_user
from pdl.text import is_number, is_whole

# Indexed by the way in which an operation is written: the special methods that Python calls for
# it. Python makes the forms in place, such as `+=`, from these.
_SPELLINGS = {
    "`+`": ("__add__", "__radd__", "__pos__"),
    "`-`": ("__sub__", "__rsub__", "__neg__"),
    "`*`": ("__mul__", "__rmul__"),
    "`/`": ("__truediv__", "__rtruediv__"),
    "`%`": ("__mod__", "__rmod__"),
    "`//`": ("__floordiv__", "__rfloordiv__"),
    "divmod()": ("__divmod__", "__rdivmod__"),
    "`**`": ("__pow__", "__rpow__"),
    "`@`": ("__matmul__", "__rmatmul__"),
    "`&`": ("__and__", "__rand__"),
    "`|`": ("__or__", "__ror__"),
    "`^`": ("__xor__", "__rxor__"),
    "`~`": ("__invert__",),
    "`<<`": ("__lshift__", "__rlshift__"),
    "`>>`": ("__rshift__", "__rrshift__"),
    "`<` or `>`": ("__lt__", "__gt__"),
    "`<=` or `>=`": ("__le__", "__ge__"),
    "abs()": ("__abs__",),
    "float()": ("__float__",),
    "int()": ("__int__",),
    "complex()": ("__complex__",),
    "bytes()": ("__bytes__", "__buffer__", "__release_buffer__"),
    "round()": ("__round__",),
    "math.trunc()": ("__trunc__",),
    "math.floor()": ("__floor__",),
    "math.ceil()": ("__ceil__",),
    "an index or a range of Python's": ("__index__",),
    "len()": ("__len__", "__length_hint__"),
    "iteration": ("__iter__", "__next__", "__aiter__", "__anext__"),
    "reversed()": ("__reversed__",),
    "`in`": ("__contains__",),
    "an index": ("__getitem__",),
    "assignment to an index": ("__setitem__", "__delitem__"),
    "`x()`": ("__call__",),
    "`with`": ("__enter__", "__exit__", "__aenter__", "__aexit__"),
    "`await`": ("__await__",),
    "a path": ("__fspath__",),
    "isinstance()": ("__instancecheck__", "__subclasscheck__"),
    "a class": ("__mro_entries__",),
    "a NumPy array": ("__array__",),
}

# Operations that NumPy has, too, indexed by the name of its function.
_OF_NUMPY = {
    "absolute": operator.abs, "add": operator.add, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor, "divide": operator.truediv,
    "equal": operator.eq, "floor": math.floor, "floor_divide": operator.floordiv,
    "greater": operator.gt, "greater_equal": operator.ge, "invert": operator.invert,
    "left_shift": operator.lshift,
    "less": operator.lt, "less_equal": operator.le, "matmul": operator.matmul,
    "multiply": operator.mul, "negative": operator.neg, "not_equal": operator.ne,
    "positive": operator.pos, "power": operator.pow, "remainder": operator.mod,
    "right_shift": operator.rshift, "subtract": operator.sub,
}


def _refusal(spelling: str) -> Callable[..., NoReturn]:
    def refuse(self: Strict, *_: object) -> NoReturn:
        self._refuse(spelling)
    return refuse


def _plain(operand: object) -> object:
    """Converts NumPy scalars and arrays to Python's types."""
    if is_whole(operand):
        return int(operand)  # type: ignore[call-overload]
    if is_number(operand):
        return float(operand)  # type: ignore[arg-type]
    return operand.tolist() if hasattr(operand, "tolist") else operand


class Strict:
    """Base of objects that support only the Python operations of their class. All others raise a
    ModelError that names the op to use.

    Operations that `object` defines stay as they are: `==` and hash() compare identity, and
    bool() is true.
    """

    # Indexed by the way in which an operation is written: what to use instead.
    ADVICE: ClassVar[Mapping[str, str]] = {}
    # What to use instead of all other operations.
    DEFAULT: ClassVar[str]

    def _described(self) -> str:
        """Returns a description of the object, as the beginning of an error message."""
        raise NotImplementedError

    def _refuse(self, spelling: str, kind: str | None = None) -> NoReturn:
        """Raises the error for an operation, or for one of its `kind`, with advice."""
        raise ModelError(f"{self._described()}, so {spelling} cannot use it; "
                         + self.ADVICE.get(kind or spelling, self.DEFAULT))

    def __bool__(self) -> bool:
        # Otherwise Python would call __len__, which raises an error.
        return True

    def __format__(self, specification: str) -> str:
        if specification:
            self._refuse(f"the format {specification!r}", "a format")
        return str(self)

    def __getattr__(self, name: str):
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no '{name}'")
        raise UnknownNameError(f"a {type(self).__name__.lower()} has no '{name}'"
                               + self._hint(name))

    def __setattr__(self, name: str, value: object) -> None:
        if is_called_by_user():
            self._keep(name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._keep(name)

    def _keep(self, name: str) -> NoReturn:
        raise ModelError(f"{self._described()}, so its '{name}' stays as it is; "
                         + self.ADVICE.get("an attribute", self.DEFAULT))

    def _hint(self, name: str) -> str:
        """Returns advice for the use of an attribute that does not exist."""
        near = difflib.get_close_matches(name, [
            one for one in dir(type(self)) if one.islower() and not one.startswith("_")], 1)
        return f"; did you mean '{near[0]}'?" if near else f"; {self.DEFAULT}"

    def __array_ufunc__(self, function, method: str, *operands: object, **named: object):
        operation = _OF_NUMPY.get(function.__name__)
        if operation is None or method != "__call__" or named:
            self._refuse(f"numpy.{function.__name__}", "a NumPy array")
        return operation(*(one if isinstance(one, Strict) else _plain(one)
                           for one in operands))


for _spelling, _methods in _SPELLINGS.items():
    for _method in _methods:
        setattr(Strict, _method, _refusal(_spelling))


class Declared(Strict):
    """A declaration in a model, which computes nothing by itself."""

    ADVICE = {"an attribute": "say it where the model declares it"}

    def _described(self) -> str:
        return f"{self!r} is a declaration"


class KnownLater(Strict):
    """An object whose value is known only when the program runs. Operations that need the value
    earlier raise an error, and so do those that would compare identity."""

    # What the object is, and when its value is known, for messages.
    KNOWN: ClassVar[str]

    def _described(self) -> str:
        return self.KNOWN

    def _hint(self, name: str) -> str:
        from pdl.ops import __all__ as ops
        return hints.for_name(name, ops)

    def __bool__(self) -> NoReturn:  # type: ignore[override]
        self._refuse("bool()")

    def __hash__(self) -> NoReturn:  # type: ignore[override]
        self._refuse("hash()")
