# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Type rules: they compute the types of the results of ops, or say why operands do not fit.

A rule takes an op's arguments by their names and returns the type of its result, or
raises `Misfit` with a message. Ops whose operands and result have one type need none.
What a rule takes and the op does not have, such as the shape of nn.reshape, becomes an
argument of the op's function in `pdl.ops`. Rules of ops on bags are in `pdl.bag_shapes`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from pdl import require
from pdl.bag_shapes import (gru, lstm, same_bags, segment_pad, segment_positions,
                            segment_reduction, segment_repeat, segment_shift, segment_sizes,
                            segment_softmax, segment_unpad, segment_window)
from pdl.require import Misfit
from pdl.symbols import Dense, Group, Metric, Symbol, Table
from pdl.text import is_whole, sequence
from pdl.types import FLOATS, RaggedType, TensorType, Type
from pdl.values import Value


def same(**arguments: object) -> Type:
    """Returns the type that all operands have."""
    values = [(name, value) for name, value in arguments.items() if isinstance(value, Value)]
    name, first = values[0]
    require.floats(**dict(values))
    for other, value in values[1:]:
        if value.type != first.type:
            raise Misfit(f"`{name}` is {first!r} and `{other}` {value!r}; they need one type: "
                         "pdl.broadcast, pdl.reshape or pdl.slice make one of the other")
    return first.type


def nothing(**arguments: object) -> None:
    """Type rule of an op without results."""


def broadcast_shapes(first: Sequence[int | None],
                     second: Sequence[int | None]) -> tuple[int | None, ...] | None:
    """Returns the shape to which two shapes broadcast, aligned at the last dimension, or None."""
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    result = list(longer)
    offset = len(longer) - len(shorter)
    for index, size in enumerate(shorter, offset):
        if result[index] == size or size == 1:
            continue
        if result[index] != 1 or (size is None and index > 0):
            return None
        result[index] = size
    return tuple(result)


def broadcast(**operands: Value) -> TensorType:
    """Returns the type to which all operands broadcast."""
    require.floats(**operands)
    (name, first), *rest = operands.items()
    type = first.type
    for other, value in rest:
        shape = broadcast_shapes(type.shape, value.type.shape)
        if shape is None:
            raise Misfit(
                f"`{name}` is {first!r} and `{other}` {value!r}, whose shapes do not "
                "broadcast: aligned at the last dimension, sizes are equal or one is 1; "
                "pdl.reshape can add dimensions of 1")
        type = type.with_shape(shape)
    return type


def compared(lhs: Value, rhs: Value) -> TensorType:
    """nn.equal, nn.not_equal."""
    for name, value in (("lhs", lhs), ("rhs", rhs)):
        if not value.type.is_float:
            raise Misfit(f"`{name}` is {value!r}, which holds ids; pdl.accidental_hits(a, b) is 1 "
                         "where b is one of the ids a, and pdl.cast makes numbers of ids")
    return broadcast(lhs=lhs, rhs=rhs)


def broadcast_to(input: Value, shape: Sequence[int | None],
                 like: Value | None = None) -> TensorType:
    """nn.broadcast."""
    for name, value in (("input", input), ("like", like)):
        if value is not None:
            require.tensor(name, value)
    try:
        type = input.type.with_shape(_sizes(shape))
    except Misfit as misfit:
        raise Misfit(f"{misfit}, and a value that has the batch as `like`") from None
    if broadcast_shapes(input.type.shape, type.shape) != type.shape:
        raise Misfit(f"`input` is {input!r}, which does not broadcast to {type}: aligned at the "
                     "last dimension, sizes are equal or the input's is 1")
    knows_batch = any(value is not None and value.shape[:1] == (None,) and
                      (value is like or value.type.rank == type.rank)
                      for value in (input, like))
    if type.shape[:1] == (None,) and not knows_batch:
        raise Misfit(f"how many samples {type} has is not known; give a value that has the "
                     "batch as `like`")
    return type


def linear(input: Value, weight: Symbol, bias: Symbol | None = None,
           activation: str | None = None) -> TensorType:
    """nn.linear."""
    require.floats(input=input)
    require.dense("weight", weight, 2)
    type = input.type
    if type.rank < 2:
        raise Misfit(f"`input` is {input!r}; it has to be [batch, ..., features]")
    rows, columns = weight.shape
    if type.shape[-1] != rows:
        raise Misfit(f"`input` is {input!r} with {type.shape[-1]} features, and `weight` "
                     f"{weight!r} has {rows} rows; declare it with shape "
                     f"({type.shape[-1]}, {columns})")
    require.one_element(input, weight)
    if bias is not None:
        require.dense("bias", bias, 1)
        if bias.shape != (columns,):
            raise Misfit(f"`bias` is {bias!r}, and `weight` {weight!r} has {columns} columns; "
                         f"declare the bias with shape ({columns},)")
        require.one_element(input, bias)
    return type.with_shape([*type.shape[:-1], columns])


def lookup(table: Symbol, ids: Value, pooling: str,
           weights: Value | None = None) -> TensorType:
    """nn.lookup."""
    if not isinstance(table, Table):
        raise Misfit(f"`table` is {table!r}; it has to be what model.table has returned")
    if ids.type.is_float:
        raise Misfit(f"`ids` is {ids!r}, which holds numbers; pdl.bucketize makes ids of them")
    if len(ids.shape) != 2 or ids.shape[0] is not None:
        raise Misfit(f"`ids` is {ids!r}; ids are [batch, slots]")
    if weights is not None:
        require.bags("ids", ids)
        expected = table.row.with_shape([None, 1])
        if pooling == "none" or weights.type != expected:
            raise Misfit(f"`weights` is {weights!r}; it has to be {expected}, one number for "
                         "each id, of bags that are pooled")
    if pooling == "none":
        require.bags("ids", ids)
        return table.row.with_shape([None, *table.row.shape])
    return table.row.with_shape([*ids.shape, *table.row.shape])


def read(symbol: Symbol) -> TensorType:
    """nn.read."""
    if not isinstance(symbol, Dense):
        raise Misfit(f"`symbol` is {symbol!r}; it has to be a parameter or a state")
    return symbol.type


def matmul(lhs: Value, rhs: Value, transpose_lhs: bool = False,
           transpose_rhs: bool = False) -> TensorType:
    """nn.matmul."""
    require.floats(lhs=lhs, rhs=rhs)
    if lhs.type.rank < 2 or rhs.type.rank < 2:
        raise Misfit(f"`lhs` is {lhs!r} and `rhs` {rhs!r}; both need two dimensions at least, "
                     "as pdl.reshape can give them")
    before, left, right = lhs.shape[:-2], list(lhs.shape[-2:]), list(rhs.shape[-2:])
    if rhs.shape[:-2] != before and (rhs.type.rank > 2 or transpose_lhs):
        raise Misfit(f"`lhs` is {lhs!r} and `rhs` {rhs!r}, whose dimensions before the last two "
                     "differ; reshape one of them, or give one matrix as `rhs`")
    if transpose_lhs:
        left.reverse()
    if transpose_rhs:
        right.reverse()
    if left[1] is None or right[0] is None:
        raise Misfit(f"`lhs` is {lhs!r} and `rhs` {rhs!r}; their product would add over the "
                     "samples of the batch, which stay apart")
    if left[1] != right[0]:
        raise Misfit(f"`lhs` is {lhs!r} and `rhs` {rhs!r}; after transposition the left one "
                     f"has {left[1]} columns and the right one {right[0]} rows, which have to "
                     "be equal")
    if right[1] is None:
        raise Misfit(f"`rhs` is {rhs!r}; with the batch as columns it would compare all "
                     "samples with each other, which stay apart")
    return lhs.type.with_shape([*before, left[0], right[1]])


def concat(inputs: Sequence[Value], axis: int) -> TensorType:
    """nn.concat."""
    if not inputs:
        raise Misfit("`inputs` is empty; give one value at least")
    types = [require.tensor("inputs", value) for value in inputs]
    first = types[0]
    require.axis(first, axis)
    if axis == 0:
        raise Misfit("`axis` is 0; values are joined along an axis after the first")
    numbers = [value for value in inputs if value.type.is_float]
    ids = [value for value in inputs if not value.type.is_float]
    if numbers and ids:
        raise Misfit(f"`inputs` has numbers, {numbers[0]!r}, and ids, {ids[0]!r}; join them apart, "
                     "or make numbers of ids with pdl.cast")
    for value, type in zip(inputs, types):
        fits = type.rank == first.rank and all(
            index == axis or one == other
            for index, (one, other) in enumerate(zip(type.shape, first.shape)))
        if not fits:
            raise Misfit(f"{value!r} does not fit to {inputs[0]!r} along axis {axis}: rank "
                         "and all other sizes have to be equal; pdl.flatten and pdl.reshape "
                         "can make them so")
    return first.with_shape(
        sum(type.shape[axis] for type in types) if index == axis else size
        for index, size in enumerate(first.shape))


def slice(input: Value, axis: int, offset: int, size: int) -> TensorType:
    """nn.slice."""
    type = require.tensor("input", input)
    extent = require.axis(type, axis)
    if offset < 0 or size < 1 or offset + size > extent:
        raise Misfit(f"the range {offset} to {offset + size} leaves axis {axis} of {input!r}, "
                     f"which has the indices 0 to {extent - 1}")
    return type.with_shape([*type.shape[:axis], size, *type.shape[axis + 1:]])


def take(input: Value, axis: int, positions: Sequence[int]) -> TensorType:
    """nn.take."""
    type = require.tensor("input", input)
    extent = require.axis(type, axis)
    if not positions or not all(-1 <= one < extent for one in positions):
        raise Misfit(f"`positions` is {sequence(positions)}; it lists one index at least, of "
                     f"those from 0 to {extent - 1} that axis {axis} of {input!r} has, or -1 "
                     "for zeros")
    return type.with_shape([*type.shape[:axis], len(positions), *type.shape[axis + 1:]])


def transpose(input: Value, permutation: Sequence[int]) -> TensorType:
    """nn.transpose."""
    type = require.tensor("input", input)
    if sorted(permutation) != list(range(type.rank)):
        raise Misfit(f"`permutation` is {sequence(permutation)}; it names each of the axes 0 to "
                     f"{type.rank - 1} of {input!r} once")
    if type.shape[0] is None and permutation[0] != 0:
        raise Misfit(f"`permutation` is {sequence(permutation)}; the batch of {input!r} stays "
                     "the first axis, 0")
    return type.with_shape(type.shape[axis] for axis in permutation)


def pad(input: Value, axis: int, low: int, high: int) -> TensorType:
    """nn.pad."""
    require.floats(input=input)
    extent = require.axis(input.type, axis)
    if low < 0 or high < 0:
        raise Misfit(f"`low` is {low} and `high` {high}; they count zeros, and are not below 0")
    shape = list(input.shape)
    shape[axis] = extent + low + high
    return input.type.with_shape(shape)


def _elements(shape: Sequence[int | None]) -> int:
    return math.prod(size for size in shape if size is not None)


def _sizes(shape: Sequence[int | None]) -> tuple[int | None, ...]:
    """Returns the sizes of a shape that a user gives."""
    if isinstance(shape, (str, Value)) or not isinstance(shape, Sequence):
        raise Misfit(f"`shape` is {shape!r}, which is no shape; give one such as (None, 4), with "
                     "None for the batch")
    for size in shape:
        if size is not None and not is_whole(size):
            raise Misfit(f"`shape` is {shape!r}; a size is a whole number, or None for the batch")
        if size is not None and size >= 2**63:
            raise Misfit(f"`shape` is {shape!r}; a size is below 2**63")
    return tuple(None if size is None else int(size) for size in shape)


def _rest(shape: tuple[int | None, ...], elements: int) -> tuple[int | None, ...]:
    """Returns a shape in which the size -1 is replaced so that the number of elements fits."""
    others = _elements([size for size in shape if size != -1])
    if shape.count(-1) != 1 or shape[0] == -1 or others < 1 or elements % others:
        return shape
    return tuple(elements // others if size == -1 else size for size in shape)


def reshape(input: Value, shape: Sequence[int | None]) -> TensorType:
    """nn.reshape."""
    before = require.tensor("input", input)
    type = before.with_shape(_rest(_sizes(shape), _elements(before.shape)))
    if any(size is None for size in type.shape[1:]):
        raise Misfit(f"`shape` is {tuple(shape)}; None is the batch, and stands first only")
    if (before.shape[:1] == (None,)) != (type.shape[:1] == (None,)):
        raise Misfit(f"`input` is {input!r} and `shape` {tuple(shape)}; the batch, None, stays "
                     "the first dimension")
    if _elements(before.shape) != _elements(type.shape):
        raise Misfit(f"`input` is {input!r} with {_elements(before.shape)} elements a sample, "
                     f"and `shape` {tuple(shape)} has {_elements(type.shape)}; they have to be "
                     "equal")
    return type


def flatten(input: Value, from_: int) -> TensorType:
    """nn.flatten."""
    type = require.tensor("input", input)
    if not 0 < from_ < type.rank:
        raise Misfit(f"`from` is {from_}, and {input!r} has the axes 1 to {type.rank - 1} "
                     "after the first")
    return type.with_shape([*type.shape[:from_], _elements(type.shape[from_:])])


def reduce(kind: str, input: Value, axes: Sequence[int], keep: bool = False,
           mixing: bool = False) -> TensorType:
    """nn.reduce."""
    require.floats(input=input)
    if mixing:
        raise Misfit("`mixing` is what the compiler makes of pdl.batch_sum; write that")
    if not axes or len(axes) != len(set(axes)):
        raise Misfit(f"`axes` is {sequence(axes)}; it lists one axis at least, each once")
    for axis in axes:
        require.axis(input.type, axis, "axes")
    return input.type.with_shape(
        1 if index in axes else size for index, size in enumerate(input.shape)
        if keep or index not in axes)


def bucketize(input: Value, boundaries: Sequence[float]) -> TensorType:
    """nn.bucketize."""
    require.floats(input=input)
    if not all(math.isfinite(one) for one in boundaries) or any(
            low >= high for low, high in zip(boundaries, boundaries[1:])):
        raise Misfit(f"`boundaries` is {sequence(boundaries)}; they are finite, and each is "
                     "above the one before")
    return TensorType(input.shape, "i64")


def id_arithmetic(kind: str, input: Value, number: int) -> Type:
    """nn.id_arithmetic."""
    if kind in ("quotient", "remainder") and number <= 0:
        raise Misfit(f"`number` is {number}; what ids are divided by is above 0")
    return require.ids("input", input)


def cast(input: Value, element: str | None = None) -> TensorType:
    """nn.cast."""
    if element not in (None, "i64", *FLOATS):
        raise Misfit(f"`element` is {element!r}; values hold ids, i64, or numbers, f32 or f64")
    if isinstance(input.type, RaggedType):
        own = input.type.element if input.type.is_float else input.body.model.element
        if element == "i64":
            raise Misfit(f"`input` is {input!r}, whose rows are numbers; give f32 or f64 as "
                         "`element`")
        return TensorType((None, 1), element or own)
    if element == input.type.element:
        raise Misfit(f"`input` is {input!r}, which holds {element} as it is; leave the cast out")
    return TensorType(input.shape, element or ("i64" if input.type.is_float
                                               else input.body.model.element))


def cross(inputs: Sequence[Value], salt: int | None = None) -> Type:
    """nn.cross."""
    if not inputs:
        raise Misfit("`inputs` is empty; give one value at least")
    for value in inputs:
        if value.type.is_float:
            raise Misfit(f"{value!r} holds numbers; pdl.bucketize makes ids of them")
        if value.shape != inputs[0].shape or len(value.shape) != 2:
            raise Misfit(f"{value!r} does not fit to {inputs[0]!r}; all have the same slots, "
                         "[batch, slots], so cut them with ranges such as x[:, 0:1]")
    ragged = [value.type for value in inputs if isinstance(value.type, RaggedType)]
    return ragged[0] if ragged else inputs[0].type


def standardize(input: Value, mean: Sequence[float], deviation: Sequence[float]) -> TensorType:
    """nn.standardize."""
    require.floats(input=input)
    width = input.shape[-1] if input.shape else None
    if width is None:
        raise Misfit(f"`input` is {input!r}, which has no columns")
    if len(mean) != width or len(deviation) != width:
        raise Misfit(f"`input` is {input!r}, and there are {len(mean)} means and "
                     f"{len(deviation)} deviations; give {width} of each")
    if not all(one > 0 for one in deviation):
        raise Misfit(f"`deviation` is {sequence(deviation)}; deviations are above 0")
    return input.type


def layer_norm(input: Value, scale: Value | None = None, shift: Value | None = None,
               epsilon: float | None = None) -> TensorType:
    """nn.layer_norm."""
    require.floats(input=input, scale=scale, shift=shift)
    if input.type.rank < 2:
        raise Misfit(f"`input` is {input!r}; it has to be [batch, ..., features]")
    vector = input.type.with_shape(input.shape[-1:])
    for name, value in (("scale", scale), ("shift", shift)):
        if value is not None and value.type != vector:
            raise Misfit(f"`{name}` is {value!r}; it has to be {vector}, one number a feature")
    require.positive("epsilon", epsilon)
    return input.type


def batch_sum(input: Value) -> TensorType:
    """nn.batch_sum."""
    require.floats(input=input)
    if input.type.rank < 2 or input.shape[0] is not None:
        raise Misfit(f"`input` is {input!r}; it has to be [batch, features, ...]")
    return input.type.with_shape(input.shape[1:])


def _states(type: TensorType, shape: Sequence[int | None], **states: Symbol) -> None:
    """Raises Misfit unless ops may accumulate numbers of this shape into the states."""
    expected = type.with_shape(shape)
    for name, state in states.items():
        if not isinstance(state, Dense) or state.type != expected:
            raise Misfit(f"`{name}` is {state!r}; it has to be a parameter of a group whose rule "
                         f"says what becomes of sums, such as moving_average, of type {expected}")


def batch_norm(input: Value, mean: Symbol, variance: Symbol,
               epsilon: float | None = None) -> TensorType:
    """nn.batch_norm."""
    require.floats(input=input)
    if input.type.rank < 2 or input.shape[0] is not None:
        raise Misfit(f"`input` is {input!r}; it has to be [batch, ..., features]")
    _states(input.type, input.shape[-1:], mean=mean, variance=variance)
    require.positive("epsilon", epsilon)
    return input.type


def data_norm(input: Value, size: Symbol, sum: Symbol, square_sum: Symbol,
              epsilon: float | None = None) -> TensorType:
    """nn.data_norm."""
    require.floats(input=input)
    if input.type.rank != 2 or input.shape[0] is not None:
        raise Misfit(f"`input` is {input!r}; it has to be [batch, features]")
    _states(input.type, input.shape[-1:], size=size, sum=sum, square_sum=square_sum)
    require.positive("epsilon", epsilon)
    return input.type


def l2_normalize(input: Value, epsilon: float | None = None) -> TensorType:
    """nn.l2_normalize."""
    require.floats(input=input)
    if input.type.rank < 2:
        raise Misfit(f"`input` is {input!r}; it has to be [batch, ..., features]")
    require.positive("epsilon", epsilon)
    return input.type


def softmax(input: Value, axis: int) -> TensorType:
    """nn.softmax, nn.log_softmax."""
    require.floats(input=input)
    require.axis(input.type, axis)
    return input.type


def cosine_similarity(lhs: Value, rhs: Value, epsilon: float | None = None) -> TensorType:
    """nn.cosine_similarity."""
    type = same(lhs=lhs, rhs=rhs)
    if type.rank < 2:
        raise Misfit(f"`lhs` is {lhs!r}; it has to be [batch, ..., features]")
    require.positive("epsilon", epsilon)
    return type.with_shape([*type.shape[:-1], 1])


def factorization(input: Value) -> TensorType:
    """nn.factorization."""
    type = require.rank("input", input, 3, "[batch, fields, width], as pdl.lookup gives it")
    return type.with_shape([type.shape[0], 1])


def pairwise_dots(input: Value, self: bool = False) -> TensorType:
    """nn.pairwise_dots."""
    type = require.rank("input", input, 3, "[batch, fields, width], as pdl.lookup gives it")
    fields = type.shape[1]
    if fields < 2:
        raise Misfit(f"`input` is {input!r}; pairs need two fields at least")
    return type.with_shape([type.shape[0], fields * (fields - 1) // 2 + fields * self])


def _of_shape(name: str, symbol: Symbol, shape: tuple[int, ...], value: Value) -> None:
    require.dense(name, symbol, len(shape))
    if symbol.shape != shape:
        raise Misfit(f"`{name}` is {symbol!r}; declare it with shape {shape}")
    require.one_element(value, symbol)


def cross_layer(first: Value, input: Value, weight: Symbol, bias: Symbol,
                vector: bool = False) -> TensorType:
    """nn.cross_layer."""
    type = same(first=first, input=input)
    require.rank("input", input, 2, "[batch, features]")
    width = type.shape[1]
    _of_shape("weight", weight, (width, 1 if vector else width), input)
    _of_shape("bias", bias, (width,), input)
    return type


def compressed_interaction(first: Value, input: Value, weight: Symbol) -> TensorType:
    """nn.compressed_interaction."""
    fields = require.rank("first", first, 3, "[batch, fields, width]")
    rows = require.rank("input", input, 3, "[batch, rows, width]")
    if fields.shape[2] != rows.shape[2]:
        raise Misfit(f"`first` is {first!r} and `input` {input!r}; they need rows of one width")
    require.dense("weight", weight, 2)
    _of_shape("weight", weight, (fields.shape[1] * rows.shape[1], weight.shape[1]), input)
    return rows.with_shape([rows.shape[0], weight.shape[1], rows.shape[2]])


def one_hot(input: Value, classes: int) -> TensorType:
    """nn.one_hot."""
    type = require.rank("input", input, 2, "[batch, 1]")
    if type.shape[1] != 1:
        raise Misfit(f"`input` is {input!r}; it has to be [batch, 1], a class a sample")
    if classes < 2:
        raise Misfit(f"`classes` is {classes}; it has to be at least 2")
    return type.with_shape([type.shape[0], classes])


def gather(input: Value, index: Value) -> TensorType:
    """nn.gather."""
    require.floats(input=input)
    type = require.tensor("input", input)
    if len(type.shape) not in (2, 3) or len(index.shape) != 2 or index.type.is_float:
        raise Misfit(f"`input` is {input!r} and `index` {index!r}; they need to be "
                     "[batch, entries] or [batch, entries, width], and places [batch, taken]")
    return type.with_shape([type.shape[0], index.shape[1], *type.shape[2:]])


def top_k(input: Value, count: int) -> TensorType:
    """nn.top_k."""
    require.floats(input=input)
    type = require.tensor("input", input)
    if len(type.shape) < 2 or not 1 <= count <= (type.shape[-1] or 0):
        raise Misfit(f"`input` is {input!r}; of its last dimension {count} numbers cannot be "
                     "the largest")
    return TensorType((*type.shape[:-1], count), "i64")


def cumulative_sum(input: Value, exclusive: bool = False, reversed: bool = False) -> TensorType:
    """nn.cumulative_sum."""
    require.floats(input=input)
    type = require.tensor("input", input)
    if len(type.shape) < 2 or not 1 <= (type.shape[-1] or 0) <= 1024:
        raise Misfit(f"`input` is {input!r}; it has to have rank 2 or more, and a last "
                     "dimension of at most 1024")
    return type


def softmax_cross_entropy(logits: Value, labels: Value) -> TensorType:
    """nn.softmax_cross_entropy."""
    if len(logits.shape) == 2 and logits.shape != (None, 1) and labels.shape == (None, 1):
        number = labels if labels.type.is_float else f"pdl.cast({labels})"
        raise Misfit(f"`labels` is {labels!r}, a class a sample; pdl.one_hot({number}, "
                     f"{logits.shape[-1]}) makes a row of ones and zeros of it")
    same(logits=logits, labels=labels)
    type = require.rank("logits", logits, 2, "[batch, classes]")
    return type.with_shape([type.shape[0], 1])


def cvm(input: Value) -> TensorType:
    """nn.cvm."""
    require.floats(input=input)
    if input.type.rank < 2 or input.shape[-1] < 2:
        raise Misfit(f"`input` is {input!r}; its rows have to begin with a show and a click, "
                     "[batch, ..., 2 or more]")
    return input.type


def _column(name: str, value: Value) -> None:
    if value.shape != (None, 1) or not value.type.is_float:
        raise Misfit(f"`{name}` is {value!r}; it has to be one number a sample, "
                     "tensor<?x1x...>: pdl.reduce adds up the others")


def observe(metric: Symbol, predictions: Value, labels: Value | None = None,
            group: Value | None = None, weights: Value | None = None) -> None:
    """nn.observe."""
    if not isinstance(metric, Metric):
        raise Misfit(f"`metric` is {metric!r}; it has to be what model.metric has returned")
    require.floats(predictions=predictions, labels=labels)
    type = predictions.type
    if type.rank != 2 or type.shape[0] is not None:
        raise Misfit(f"`predictions` is {predictions!r}; it has to be one number a sample, "
                     "[batch, 1], or, of a metric of ranked lists, the scores of one list")
    if labels is not None and labels.type not in (type, type.with_shape((None, 1))):
        raise Misfit(f"`predictions` is {predictions!r} and `labels` {labels!r}; they need one "
                     "type, or, of a metric of ranked lists, one position a sample as label")
    if weights is not None:
        _column("weights", weights)
    if group is not None and str(group.type) != "tensor<?x1xi64>":
        raise Misfit(f"`group` is {group!r}; it has to be one id a sample, tensor<?x1xi64>; "
                     "weights are given by their name, weights=...")


def accumulate(state: Symbol, values: Value, weights: Value | None = None) -> None:
    """nn.accumulate."""
    require.floats(values=values)
    if values.type.rank < 2 or values.shape[0] is not None:
        raise Misfit(f"`values` is {values!r}; it has to be [batch, ...]")
    _states(values.type, values.shape[1:], state=state)
    if weights is not None:
        _column("weights", weights)


def minimize(losses: Value, groups: Sequence[Symbol], weights: Value | None = None) -> None:
    """nn.minimize."""
    _column("losses", losses)
    if weights is not None:
        _column("weights", weights)
    for group in groups:
        if not isinstance(group, Group):
            raise Misfit(f"`groups` has {group!r}; it lists what model.group has returned")
    if not groups or len(set(groups)) != len(groups):
        raise Misfit("`groups` lists one group at least, each once")


def rotate(input: Value, by: int) -> TensorType:
    """nn.rotate."""
    type = require.tensor("input", input)
    if type.shape[:1] != (None,):
        raise Misfit(f"`input` is {input!r}, which has no batch to rotate")
    return type


def _scores(users: Value, items: Value) -> TensorType:
    type = same(users=users, items=items)
    if type.rank != 2 or type.shape[0] is not None:
        raise Misfit(f"`users` is {users!r}; it has to be [batch, width], a vector a sample")
    return type


def in_batch_softmax(users: Value, items: Value, correction: Value | None = None,
                     ids: Value | None = None) -> TensorType:
    """nn.in_batch_softmax."""
    type = _scores(users, items)
    if correction is not None:
        _column("correction", correction)
    if ids is not None and (ids.type.is_float or require.tensor("ids", ids).shape != (None, 1)):
        raise Misfit(f"`ids` is {ids!r}; it has to be one id a sample, [batch, 1]")
    return type.with_shape((None, 1))


def dropout(input: Value, rate: float, bags: Value | None = None,
            stream: int | None = None) -> TensorType:
    """nn.dropout."""
    require.floats(input=input)
    if input.shape[:1] != (None,):
        raise Misfit(f"`input` is {input!r}, which has no batch: what is drawn is of samples")
    if bags is not None:
        require.bags("bags", bags)
    if not 0 <= rate < 1:
        raise Misfit(f"`rate` is {rate}; it is a probability, from 0 to below 1")
    return input.type


def _id_range(first: int, behind: int, distribution: str, counts: Sequence[int] | None,
              power: float | None) -> None:
    if first >= behind:
        raise Misfit(f"`first` is {first} and `behind` {behind}, between which there is no id")
    if (distribution == "counts") != (counts is not None) or (counts is None) != (power is None):
        raise Misfit(f"`distribution` is {distribution!r}; \"counts\", and nothing else, has "
                     "`counts` and `power`")
    if counts is not None and len(counts) != behind - first:
        raise Misfit(f"`counts` has {len(counts)} numbers for {behind - first} ids; it has to "
                     "have one for each")


def sample(count: int, first: int, behind: int, distribution: str,
           counts: Sequence[int] | None = None, power: float | None = None,
           stream: int | None = None) -> TensorType:
    """nn.sample."""
    if not 1 <= count <= 65536:
        raise Misfit(f"`count` is {count}; it has to be from 1 to 65536")
    _id_range(first, behind, distribution, counts, power)
    return TensorType((None, count), "i64")


def log_probability(ids: Value, first: int, behind: int, distribution: str,
                    counts: Sequence[int] | None = None,
                    power: float | None = None) -> TensorType:
    """nn.log_probability."""
    type = require.tensor("ids", ids)
    if type.is_float:
        raise Misfit(f"`ids` is {ids!r}, which holds numbers")
    _id_range(first, behind, distribution, counts, power)
    return TensorType(type.shape, ids.body.model.element)


def accidental_hits(own: Value, drawn: Value) -> TensorType:
    """nn.accidental_hits."""
    for name, value in (("own", own), ("drawn", drawn)):
        type = require.tensor(name, value)
        if type.is_float or type.rank != 2 or type.shape[0] is not None:
            raise Misfit(f"`{name}` is {value!r}; it has to be ids, [batch, count]")
    return TensorType(drawn.shape, drawn.body.model.element)


def negative_sampling(own: Value, drawn: Value, hits: Value | None = None) -> TensorType:
    """nn.negative_sampling."""
    _column("own", own)
    type = require.rank("drawn", drawn, 2, "[batch, count], a logit for each id that was drawn")
    if hits is not None and hits.type != type:
        raise Misfit(f"`hits` is {hits!r} and `drawn` {drawn!r}; they need one type")
    return own.type


def corrected_loss(own: Value, drawn: Value, own_correction: Value, drawn_correction: Value,
                   hits: Value | None = None) -> TensorType:
    """nn.sampled_softmax, nn.nce_loss."""
    for name, value, like in (("own_correction", own_correction, own),
                              ("drawn_correction", drawn_correction, drawn)):
        if value.type != like.type:
            raise Misfit(f"`{name}` is {value!r}, and corrects {like!r}; they need one type")
    return negative_sampling(own, drawn, hits)


# The result of ops that are not listed here has the type of their operands.
RULES: dict[str, Callable] = {
    "accumulate": accumulate,
    "accidental_hits": accidental_hits,
    "add": broadcast,
    "batch_norm": batch_norm,
    "batch_sum": batch_sum,
    "broadcast": broadcast_to,
    "bucketize": bucketize,
    "cast": cast,
    "compressed_interaction": compressed_interaction,
    "concat": concat,
    "cosine_similarity": cosine_similarity,
    "cross": cross,
    "cross_layer": cross_layer,
    "cvm": cvm,
    "data_norm": data_norm,
    "div": broadcast,
    "dropout": dropout,
    "equal": compared,
    "factorization": factorization,
    "flatten": flatten,
    "greater": broadcast,
    "greater_equal": broadcast,
    "gru": gru,
    "id_arithmetic": id_arithmetic,
    "in_batch_softmax": in_batch_softmax,
    "l2_normalize": l2_normalize,
    "layer_norm": layer_norm,
    "less": broadcast,
    "less_equal": broadcast,
    "linear": linear,
    "log_probability": log_probability,
    "log_softmax": softmax,
    "lookup": lookup,
    "lstm": lstm,
    "matmul": matmul,
    "max": broadcast,
    "min": broadcast,
    "minimize": minimize,
    "mul": broadcast,
    "nce_loss": corrected_loss,
    "negative_sampling": negative_sampling,
    "not_equal": compared,
    "observe": observe,
    "pad": pad,
    "pairwise_dots": pairwise_dots,
    "read": read,
    "reduce": reduce,
    "reshape": reshape,
    "rotate": rotate,
    "same_bags": same_bags,
    "sample": sample,
    "sampled_softmax": corrected_loss,
    "segment_first": segment_reduction,
    "segment_last": segment_reduction,
    "segment_max": segment_reduction,
    "segment_mean": segment_reduction,
    "segment_pad": segment_pad,
    "segment_positions": segment_positions,
    "segment_repeat": segment_repeat,
    "segment_reverse": segment_softmax,
    "segment_shift": segment_shift,
    "segment_sizes": segment_sizes,
    "segment_softmax": segment_softmax,
    "segment_sqrtn": segment_reduction,
    "segment_sum": segment_reduction,
    "segment_unpad": segment_unpad,
    "segment_window": segment_window,
    "select": broadcast,
    "gather": gather,
    "top_k": top_k,
    "cumulative_sum": cumulative_sum,
    "one_hot": one_hot,
    "slice": slice,
    "softmax": softmax,
    "softmax_cross_entropy": softmax_cross_entropy,
    "standardize": standardize,
    "sub": broadcast,
    "take": take,
    "transpose": transpose,
}
