# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Requirements of type rules on operands. A violation raises `Misfit`."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pdl.symbols import Dense, Symbol
from pdl.types import RaggedType, TensorType, Type
from pdl.values import Value


class Misfit(Exception):
    """An operand does not fit. The message says why, and what would fit."""


def floats(**operands: Value | None) -> None:
    """Raises Misfit if an operand holds ids."""
    for name, value in operands.items():
        if value is not None and not value.type.is_float:
            raise Misfit(f"`{name}` is {value!r}, which holds ids; pdl.cast makes numbers of "
                         "ids, pdl.lookup rows of a table, and pdl.id_arithmetic computes with "
                         "ids")


def tensor(name: str, value: Value) -> TensorType:
    """Returns the type of an operand. Raises Misfit if the operand is bags."""
    if isinstance(value.type, RaggedType):
        raise Misfit(f"`{name}` is {value!r}; bags of ids go into pdl.lookup and pdl.cross "
                     "only")
    return value.type


def axis(type: TensorType, axis: int, name: str = "axis") -> int:
    """Returns the size of an axis. Raises Misfit if it is the batch, or does not exist."""
    if not 0 <= axis < type.rank:
        raise Misfit(f"`{name}` is {axis}, and {type} has the axes 0 to {type.rank - 1}")
    if type.shape[axis] is None:
        raise Misfit(f"`{name}` is {axis}, the batch of {type}, whose samples stay apart; "
                     "name an axis after it")
    return type.shape[axis]


# Ops with an operand that only gives a number of rows.
_MAY_MIX_FLOATS = ("broadcast", "segment_repeat", "segment_unpad")


def one_float_type(op: str, arguments: Mapping[str, object]) -> None:
    """Raises Misfit if operands of an op have both float types, f32 and f64."""
    if op in _MAY_MIX_FLOATS:
        return
    values = [(name, one) for name, given in arguments.items()
              for one in (given if isinstance(given, (list, tuple)) else [given])
              if isinstance(one, Value) and isinstance(one.type, TensorType)
              and one.type.is_float]
    for name, value in values[1:]:
        first, other = values[0]
        if value.type.element != other.type.element:
            raise Misfit(
                f"`{first}` is {other!r} and `{name}` {value!r}, whose numbers are of two "
                f"types; pdl.cast(..., {other.type.element!r}) makes one of the other")


def dense(name: str, symbol: Symbol, rank: int) -> None:
    """Raises Misfit if the symbol is not a parameter or state of that rank."""
    if not isinstance(symbol, Dense) or symbol.type.rank != rank:
        raise Misfit(f"`{name}` is {symbol!r}; it has to be a parameter or state with {rank} "
                     "dimension" + "s" * (rank > 1))


def one_element(value: Value, dense: Dense) -> None:
    """Raises Misfit if the numbers of a value and of a symbol have different types."""
    if value.type.element != dense.type.element:
        raise Misfit(f"{value!r} and {dense!r} have different element types; declare both "
                     f"with one, or give pdl.cast(..., {dense.type.element!r}) of the value")


def ids(name: str, value: Value) -> Type:
    """Returns the type of an operand. Raises Misfit if it does not hold ids."""
    if value.type.is_float:
        raise Misfit(f"`{name}` is {value!r}, which holds numbers; pdl.bucketize and pdl.cast "
                     "make ids of them")
    return value.type


def positive(name: str, value: float | None) -> None:
    """Raises Misfit if a number is not above 0, or not finite."""
    if value is not None and not 0 < value < math.inf:
        raise Misfit(f"`{name}` is {value}; it has to be above 0")


def rank(name: str, value: Value, rank: int, expected: str) -> TensorType:
    """Returns the type of an operand. Raises Misfit unless it has this rank. `expected`: the form
    that the message names."""
    floats(**{name: value})
    if value.type.rank != rank:
        raise Misfit(f"`{name}` is {value!r}; it has to be {expected}")
    return value.type


def bags(name: str, value: Value) -> RaggedType:
    """Returns the type of an operand. Raises Misfit if it is not bags."""
    if not isinstance(value.type, RaggedType):
        raise Misfit(f"`{name}` is {value!r}; it has to be bags of ids, as record.bags "
                     "declares them")
    return value.type
