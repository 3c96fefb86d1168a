# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers: functions that declare their parameters and return values.

The names of a layer's parameters begin with its `name`, so each layer of a model needs a name of
its own. To share a layer among programs, build it in a `@model.function`, which runs once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from pdl import checks, ops
from pdl import init as initial
from pdl.arguments import COUNT, ELEMENT, INIT, POSITIVE, ROW, Want, checked
from pdl.attributes import Attribute
from pdl.body import assigned, current
from pdl.errors import ModelError
from pdl.symbols import Group
from pdl.values import Operand, Value

# The width of each layer.
_WIDTHS = Want(least=1, example="widths=[64, 1]")


def _columns(x: Operand, layer: str, name: str, *, places: bool = False) -> int:
    """Returns the number of features of x. With `places`, a sample may have several positions."""
    shape = getattr(x, "shape", None)
    fits = shape is not None and shape[:1] == (None,) and (
        len(shape) >= 2 if places else len(shape) == 2)
    if not fits:
        takes = "[batch, ..., features]" if places else "[batch, features]"
        raise ModelError(f"{layer} '{name}' gets {x!r}; it takes {takes}; pdl.flatten and "
                         "pdl.reshape make such shapes")
    return shape[-1]


def _element(x: Operand) -> str | None:
    """Returns the float type of `x`, in which the layer computes and declares parameters."""
    return getattr(getattr(x, "type", None), "element", None)


# The name of an op of one value, or a Python function of a value.
Activation = str | Callable[[Value], Value] | None


def _activated(y: Value, activation: Callable[[Value], Value], name: str) -> Value:
    role = f"`activation` of '{name}'"
    names = [one for one in checks.parameters(role, activation)
             if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD, one.VAR_POSITIONAL)]
    if not names:
        raise ModelError(f"{role} takes no argument; it has to take the value")
    result = activation(y)
    if not isinstance(result, Value):
        raise ModelError(f"{role} returns {result!r}; it has to return a value")
    return result


@checked(title="pdl.layers.dense '{name}'", width=COUNT, weight_init=INIT, bias_init=INIT)
def dense(x: Operand, width: int, name: str, *, group: Group | None,
          activation: Activation = None, bias: bool = True, weight_init: Attribute | None = None,
          bias_init: Attribute | None = None) -> Value:
    """Computes activation(x * weight + bias): [batch, ..., features] to [batch, ..., width], the
    same for each position of a sample.

    Declares `name.weight` (default: xavier) and `name.bias` (default: zeros). `activation` is the
    name of an op, or a function such as `lambda y: pdl.leaky_relu(y, 0.1)`.
    """
    model = current("pdl.layers.dense").model
    rows, element = _columns(x, "dense", name, places=True), _element(x)
    weight = model.param(f"{name}.weight", (rows, width), group=group, element=element,
                         init=weight_init or initial.xavier())
    added = None
    if bias:
        added = model.param(f"{name}.bias", (width,), group=group, element=element,
                            init=bias_init or initial.zeros())
    if callable(activation):
        return assigned(_activated(ops.linear(x, weight, added), activation, name))
    return ops.linear(x, weight, added, activation)


@checked(title="pdl.layers.mlp '{name}'", widths=_WIDTHS)
def mlp(x: Operand, widths: Sequence[int], name: str, *, group: Group | None,
        activation: Activation = "relu", last: Activation = None) -> Value:
    """Applies dense layers of the given widths in sequence. `activation` follows each layer
    except the last, which `last` follows.

    The layers are called `name.1`, `name.2`, ...
    """
    if not widths:
        raise ModelError(f"mlp '{name}' has no widths; give that of each layer, such as [64, 1]")
    for index, width in enumerate(widths, 1):
        x = dense(x, width, f"{name}.{index}", group=group,
                  activation=last if index == len(widths) else activation)
    return assigned(x)


@checked(title="pdl.layers.layer_norm '{name}'", epsilon=POSITIVE)
def layer_norm(x: Operand, name: str, *, group: Group | None,
               epsilon: float | None = None) -> Value:
    """Normalizes the features of each position of a sample, [batch, ..., features]. Then scales
    and shifts them.

    Declares `name.scale` (ones) and `name.shift` (zeros).
    """
    model = current("pdl.layers.layer_norm").model
    features, element = _columns(x, "layer_norm", name, places=True), _element(x)
    scale = model.param(f"{name}.scale", (features,), group=group, element=element,
                        init=initial.constant(1.0))
    shift = model.param(f"{name}.shift", (features,), group=group, element=element,
                        init=initial.zeros())
    return ops.layer_norm(x, scale, shift, epsilon)


@checked(title="pdl.layers.embedding '{name}'", width=ROW, init=INIT, element=ELEMENT)
def embedding(ids: Operand, width: int, name: str, *, group: Group | None,
              pooling: str = "sum", init: Attribute | None = None,
              unknown: Literal["zero"] | None = None, element: str | None = None,
              stored: Literal["bf16", "f16"] | None = None) -> Value:
    """Looks up ids in an embedding table of its own: [batch, slots] ids or bags to [batch, slots,
    width].

    Declares the table `name`. New rows are uniform in [-0.01, 0.01), unless `init` says
    otherwise. `element` is the type of the numbers, f32 or f64 (default: that of the model). With
    `stored="bf16"` or `"f16"`, they are stored in 16 bits. For several lookups in one table, use
    `pdl.lookup`.
    """
    model = current("pdl.layers.embedding").model
    table = model.table(name, width, group=group, unknown=unknown, element=element,
                        stored=stored, init=init or initial.uniform(-0.01, 0.01))
    return ops.lookup(table, ids, pooling)


@checked(title="pdl.layers.attention '{name}'", widths=_WIDTHS)
def attention(rows: Operand, bags: Operand, query: Operand, widths: Sequence[int], name: str, *,
              group: Group | None, activation: Activation = "sigmoid",
              normalized: bool = True) -> Value:
    """Computes the weighted sum of the rows of each bag for a query. `rows` are [ids, width]; the
    query and the result are [batch, slots, width].

    This is the local activation of DIN (Zhou et al., 2018). An `mlp` with `widths`, and one more
    column, computes the weight of each row. Its input is the concatenation of row, query, their
    difference and their product. With `normalized`, the weights of a bag add up to 1 (softmax).
    An empty bag gives zeros.
    """
    asked = ops.segment_repeat(query, bags)
    x = ops.concat([rows, asked, rows - asked, rows * asked], 1)
    score = mlp(x, [*widths, 1], name, group=group, activation=activation)
    weight = ops.segment_softmax(score, bags) if normalized else score
    weighted = rows * weight
    return ops.segment_sum(weighted, bags)


@checked(title="pdl.layers.gru '{name}'", width=COUNT)
def gru(rows: Operand, bags: Operand, width: int, name: str, *, group: Group | None,
        from_end: bool = False, init: Operand | None = None) -> Value:
    """Gated recurrent units over the rows of bags: [ids, features] to [ids, width], the state
    after each row.

    The first state is zero, or `init`, [batch, slots, width].

    Declares the weights of inputs and states, `name.input.weight` and `name.weight` (xavier), and
    `name.input.bias` and `name.bias` (zeros). `pdl.segment_last` returns the state after all rows
    of a bag. With `from_end`, rows are processed from the last to the first; then use
    `pdl.segment_first`.
    """
    return _recurrent(ops.gru, 3, rows, bags, width, name, group, from_end,
                      None if init is None else [init])


@checked(title="pdl.layers.lstm '{name}'", width=COUNT)
def lstm(rows: Operand, bags: Operand, width: int, name: str, *, group: Group | None,
         from_end: bool = False, init: Sequence[Operand] | None = None) -> Value:
    """Long short-term memory over the rows of bags, otherwise like `gru`. `init` has the first
    state and the first cell."""
    return _recurrent(ops.lstm, 4, rows, bags, width, name, group, from_end, init)


def _recurrent(op: Callable[..., Value], gates: int, rows: Operand, bags: Operand, width: int,
               name: str, group: Group | None, from_end: bool,
               init: Sequence[Operand] | None) -> Value:
    model = current(f"pdl.layers.{op.__name__}").model
    inputs = dense(rows, gates * width, f"{name}.input", group=group)
    element = inputs.type.element
    weight = model.param(f"{name}.weight", (width, gates * width), group=group, element=element,
                         init=initial.xavier())
    bias = model.param(f"{name}.bias", (gates * width,), group=group, element=element,
                       init=initial.zeros())
    return op(inputs, bags, weight, bias, from_end=from_end, init=init)


@checked(title="pdl.layers.cross '{name}'", layers=Want(least=1, most=1000), rank=COUNT)
def cross(x: Operand, layers: int, name: str, *, group: Group | None, version: int = 2,
          rank: int | None = None) -> Value:
    """Cross layers of a deep and cross network: [batch, features] to the same shape.

    Starts with y = x. Each layer computes the next y:

    - version 2 (Wang et al., 2021): y = x * (y * weight + bias) + y with a square weight. With
      `rank`, the weight is the product of two matrices, [features, rank] and [rank, features].
    - version 1 (Wang et al., 2017): y = x * (y * weight) + bias + y with a weight of one column.

    Declares `name.1.weight`, `name.1.bias` and so on. With `rank`, `name.1.down` and `name.1.up`
    replace the weight.
    """
    if version not in (1, 2):
        raise ModelError(f"cross '{name}' is of version {version}; there are 1 and 2")
    if rank is not None and version == 1:
        raise ModelError(f"cross '{name}' has rank={rank}, which version 2 has only")
    model = current("pdl.layers.cross").model
    width, element = _columns(x, "cross", name), _element(x)
    y = x
    for layer in range(1, layers + 1):
        bias = model.param(f"{name}.{layer}.bias", (width,), group=group, element=element,
                           init=initial.zeros())
        if version == 1:
            weight = model.param(f"{name}.{layer}.weight", (width, 1), group=group, element=element,
                                 init=initial.xavier())
            y = ops.cross_layer(x, y, weight, bias, vector=True)
        elif rank is None:
            weight = model.param(f"{name}.{layer}.weight", (width, width),
                                 group=group, element=element,
                                 init=initial.xavier())
            y = ops.cross_layer(x, y, weight, bias)
        else:
            down = model.param(f"{name}.{layer}.down", (width, rank), group=group, element=element,
                               init=initial.xavier())
            up = model.param(f"{name}.{layer}.up", (rank, width), group=group, element=element,
                             init=initial.xavier())
            y = x * ops.linear(ops.linear(y, down), up, bias) + y
    return assigned(y)
