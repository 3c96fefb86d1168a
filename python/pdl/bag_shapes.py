# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The types of results of ops on bags; see pdl.shapes."""

from __future__ import annotations

from collections.abc import Sequence

from pdl import require
from pdl.require import Misfit
from pdl.symbols import Symbol
from pdl.text import is_whole
from pdl.types import RaggedType, TensorType
from pdl.values import Value


def same_bags(input: Value, like: Value) -> RaggedType:
    """nn.same_bags."""
    type = require.bags("input", input)
    if type.width != require.bags("like", like).width:
        raise Misfit(f"`input` is {input!r} and `like` {like!r}; they need as many slots")
    return type


def _rows(name: str, value: Value) -> TensorType:
    require.floats(**{name: value})
    if value.type.rank < 2 or value.shape[0] is not None:
        raise Misfit(f"`{name}` is {value!r}; it has to be the rows of bags, [ids, ...], as "
                     'pdl.lookup(table, bags, "none") gives them')
    return value.type


def _of_bags(name: str, value: Value, bags: Value, rank: int) -> TensorType:
    slots = require.bags("bags", bags).width
    require.floats(**{name: value})
    if value.type.rank < rank or value.shape[:2] != (None, slots):
        raise Misfit(f"`{name}` is {value!r}, and `bags` {bags!r}; it has to be "
                     f"[batch, {slots}, {'length, ' * (rank > 3)}...]")
    return value.type


def segment_reduction(rows: Value, bags: Value) -> TensorType:
    """nn.segment_sum and its like: [ids, ...] to [batch, slots, ...]."""
    type = _rows("rows", rows)
    return type.with_shape([None, require.bags("bags", bags).width, *type.shape[1:]])


def segment_softmax(rows: Value, bags: Value) -> TensorType:
    """nn.segment_softmax, nn.segment_reverse."""
    require.bags("bags", bags)
    return _rows("rows", rows)


def segment_shift(rows: Value, bags: Value, by: int) -> TensorType:
    """nn.segment_shift."""
    return segment_softmax(rows, bags)


def first_state(value: Value, bags: Value) -> TensorType:
    """Returns the type of a state whose initial value is `value`, with one row for each bag."""
    slots = require.bags("bags", bags).width
    require.floats(init=value)
    if value.type.rank < 3 or value.shape[:2] != (None, slots):
        raise Misfit(f"`init` has {value!r}; it has to be [batch, {slots}, ...], one for each of "
                     "the bags: pdl.segment_last gives such, and pdl.reshape and "
                     "pdl.broadcast(..., like=...) make others so")
    return value.type.with_shape([None, *value.shape[2:]])


def _cell(rows: Value, bags: Value, weight: Symbol, bias: Symbol | None,
          init: Sequence[Value] | None, gates: int, states: int) -> TensorType:
    type = segment_softmax(rows, bags)
    require.dense("weight", weight, 2)
    if type.rank != 2 or type.shape[1] % gates:
        raise Misfit(f"`rows` is {rows!r}; it has to be [ids, {gates} n], with the gates side "
                     "by side, as pdl.linear makes them")
    width = type.shape[1] // gates
    if weight.shape != (width, gates * width):
        raise Misfit(f"`rows` is {rows!r}, and `weight` {weight!r}; declare it with shape "
                     f"({width}, {gates * width})")
    require.one_element(rows, weight)
    if bias is not None:
        require.dense("bias", bias, 1)
        if bias.shape != (gates * width,):
            raise Misfit(f"`rows` is {rows!r}, and `bias` {bias!r}; declare it with shape "
                         f"({gates * width},)")
        require.one_element(rows, bias)
    result = type.with_shape([None, width])
    if init and len(init) != states:
        raise Misfit(f"`init` has {len(init)} values; there {'are' if states > 1 else 'is'} "
                     f"{states} to begin with")
    for value in init or ():
        if first_state(value, bags) != result:
            raise Misfit(f"`init` has {value!r} for a state {result}; they need as many columns")
    return result


def gru(rows: Value, bags: Value, weight: Symbol, bias: Symbol | None = None,
        from_end: bool = False, init: Sequence[Value] | None = None) -> TensorType:
    """nn.gru."""
    return _cell(rows, bags, weight, bias, init, gates=3, states=1)


def lstm(rows: Value, bags: Value, weight: Symbol, bias: Symbol | None = None,
         from_end: bool = False, init: Sequence[Value] | None = None) -> TensorType:
    """nn.lstm."""
    return _cell(rows, bags, weight, bias, init, gates=4, states=2)


def segment_sizes(bags: Value) -> TensorType:
    """nn.segment_sizes."""
    return TensorType((None, require.bags("bags", bags).width, 1), bags.body.model.element)


def segment_positions(bags: Value, like: Value | None = None,
                      from_end: bool = False) -> TensorType:
    """nn.segment_positions."""
    require.bags("bags", bags)
    return TensorType((None, 1), bags.body.model.element)


def segment_repeat(input: Value, bags: Value, like: Value | None = None) -> TensorType:
    """nn.segment_repeat."""
    type = _of_bags("input", input, bags, 3)
    return type.with_shape([None, *type.shape[2:]])


def segment_pad(rows: Value, bags: Value, length: int, from_end: bool = False) -> TensorType:
    """nn.segment_pad."""
    type = _rows("rows", rows)
    if not is_whole(length) or not 1 <= length < 2**63:
        raise Misfit(f"`length` is {length!r}; it is how many rows each bag is given, 1 at least")
    return type.with_shape([None, require.bags("bags", bags).width, length, *type.shape[1:]])


def segment_unpad(input: Value, bags: Value, like: Value | None = None,
                  from_end: bool = False) -> TensorType:
    """nn.segment_unpad."""
    type = _of_bags("input", input, bags, 4)
    return type.with_shape([None, *type.shape[3:]])


def segment_window(rows: Value, bags: Value, first: int, last: int) -> TensorType:
    """nn.segment_window."""
    require.bags("bags", bags)
    type = _rows("rows", rows)
    if type.rank != 2:
        raise Misfit(f"`rows` is {rows!r}; it has to be [ids, width]")
    if last - first >= 1024:
        raise Misfit(f"`first` is {first} and `last` {last}; a window has at most 1024 rows")
    if first > last:
        raise Misfit(f"`first` is {first} and `last` {last}; the first row is the first one")
    return type.with_shape([None, type.shape[1] * (last - first + 1)])
