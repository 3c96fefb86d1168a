# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Python's operations that need a number while the model is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, NoReturn

from pdl.errors import ModelError

# Special methods that Python calls for an operation, by how the operation is written.
_SPELLINGS = {
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
    "bool()": ("__bool__",),
    "float()": ("__float__",),
    "int()": ("__int__",),
    "complex()": ("__complex__",),
    "round()": ("__round__",),
    "math.trunc()": ("__trunc__",),
    "math.floor()": ("__floor__",),
    "math.ceil()": ("__ceil__",),
    "an index or a range of Python's": ("__index__",),
    "len()": ("__len__",),
    "iteration": ("__iter__",),
    "reversed()": ("__reversed__",),
    "`in`": ("__contains__",),
    "an index": ("__getitem__",),
    "assignment to an index": ("__setitem__", "__delitem__"),
    "hash()": ("__hash__",),
    "a NumPy array": ("__array__",),
}


def _refusal(spelling: str) -> Callable[..., NoReturn]:
    def refuse(self: KnownLater, *_: object) -> NoReturn:
        raise ModelError(f"{self.KNOWN}, so {spelling} cannot use it; "
                         + self.ADVICE.get(spelling, self.DEFAULT))
    return refuse


class KnownLater:
    """What is known only when the program runs. Python's own operations that would need it
    now, or would compare identity instead, raise a ModelError that names what to use.

    Subclasses define the operations that they have.
    """

    # What it is and when it is known.
    KNOWN: ClassVar[str]
    # What to use instead, by the operation's spelling.
    ADVICE: ClassVar[Mapping[str, str]]
    # What to use instead of all other operations.
    DEFAULT: ClassVar[str]

    # NumPy scalars and arrays leave the operation to the other operand.
    __array_ufunc__ = None


for _spelling, _methods in _SPELLINGS.items():
    for _method in _methods:
        setattr(KnownLater, _method, _refusal(_spelling))
