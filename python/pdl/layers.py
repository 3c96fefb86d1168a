# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers: functions that declare what they train and return values.

A layer's `name` begins the names of its parameters, which a model has once. What several
programs share is built in a `@model.function`, which runs once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pdl import checks, ops
from pdl import init as initial
from pdl.body import assigned, current
from pdl.errors import ModelError
from pdl.symbols import Group
from pdl.text import Attribute
from pdl.values import Operand, Value


def _columns(x: Operand, layer: str, name: str, *, places: bool = False) -> int:
    """The features of x; `places` says whether each sample may have several rows."""
    shape = getattr(x, "shape", None)
    fits = shape is not None and shape[:1] == (None,) and (
        len(shape) >= 2 if places else len(shape) == 2)
    if not fits:
        takes = "[batch, ..., features]" if places else "[batch, features]"
        raise ModelError(f"{layer} '{name}' gets {x!r}; it takes {takes}; pdl.flatten and "
                         "pdl.reshape make such shapes")
    return shape[-1]


def _element(x: Operand) -> str | None:
    """The type of the numbers of `x`, in which a layer computes, and its parameters are."""
    return getattr(getattr(x, "type", None), "element", None)


# The name of an op of one value, or a Python function of a value.
Activation = str | Callable[[Value], Value] | None


def dense(x: Operand, width: int, name: str, *, group: Group | None,
          activation: Activation = None, bias: bool = True, weight_init: Attribute | None = None,
          bias_init: Attribute | None = None) -> Value:
    """activation(x * weight + bias): [batch, ..., features] to [batch, ..., width], the same
    for each place of a sample.

    Declares `name.weight` (xavier, if nothing else is said) and `name.bias` (zeros). An
    `activation` is the name of an op, or a function, `lambda y: pdl.leaky_relu(y, 0.1)`.
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
        return assigned(activation(ops.linear(x, weight, added)))
    return ops.linear(x, weight, added, activation)


def mlp(x: Operand, widths: Sequence[int], name: str, *, group: Group | None,
        activation: Activation = "relu", last: Activation = None) -> Value:
    """Layers of `widths` behind each other, with `activation` behind each but the last,
    which has the activation `last`.

    The layers are `dense` ones of the names `name.1`, `name.2`, ...
    """
    if isinstance(widths, str) or not isinstance(widths, Sequence):
        raise ModelError(f"mlp '{name}' has widths={widths!r}; list that of each layer, such as "
                         "[64, 1]")
    if not widths:
        raise ModelError(f"mlp '{name}' has no widths; give that of each layer, such as [64, 1]")
    for index, width in enumerate(widths, 1):
        x = dense(x, width, f"{name}.{index}", group=group,
                  activation=last if index == len(widths) else activation)
    return assigned(x)


def layer_norm(x: Operand, name: str, *, group: Group | None,
               epsilon: float | None = None) -> Value:
    """Normalises the features of each place of a sample, [batch, ..., features], then scales
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


def embedding(ids: Operand, width: int, name: str, *, group: Group | None,
              pooling: str = "sum", init: Attribute | None = None,
              unknown: str | None = None, element: str | None = None,
              stored: str | None = None) -> Value:
    """Rows of a table of its own: [batch, slots] ids or bags to [batch, slots, width].

    Declares the table `name`, whose rows begin uniform in [-0.01, 0.01) if nothing else is
    said, of the model's numbers or of those that `element` says, f32 or f64, and with
    `stored="bf16"` or `"f16"` held in 16 bits each. Several lookups in one table are
    `pdl.lookup`.
    """
    model = current("pdl.layers.embedding").model
    table = model.table(name, width, group=group, unknown=unknown, element=element,
                        stored=stored, init=init or initial.uniform(-0.01, 0.01))
    return ops.lookup(table, ids, pooling)


def attention(rows: Operand, bags: Operand, query: Operand, widths: Sequence[int], name: str, *,
              group: Group | None, activation: Activation = "sigmoid",
              normalised: bool = True) -> Value:
    """What matters of each bag to a query: [ids, width] rows of bags, and a query of shape
    [batch, slots, width], to [batch, slots, width].

    The local activation of DIN (Zhou et al., 2018): an `mlp` with `widths` and one column
    more says how much each row matters, from the row, the query, their difference and
    their product side by side; the rows of a bag are added with these weights.
    `normalised` makes the weights of a bag add up to 1 (softmax). An empty bag gives zeros.
    """
    asked = ops.segment_repeat(query, bags)
    x = ops.concat([rows, asked, rows - asked, rows * asked], 1)
    score = mlp(x, [*widths, 1], name, group=group, activation=activation)
    weight = ops.segment_softmax(score, bags) if normalised else score
    weighted = rows * weight
    return ops.segment_sum(weighted, bags)


def gru(rows: Operand, bags: Operand, width: int, name: str, *, group: Group | None,
        from_end: bool = False, init: Operand | None = None) -> Value:
    """Gated recurrent units over the rows of bags: [ids, features] to [ids, width], the
    state behind each row.

    They begin with zeros, or with `init`, [batch, slots, width].

    Declares what multiplies inputs and states, `name.input.weight`, `name.weight`
    (xavier), `name.input.bias` and `name.bias` (zeros). `pdl.segment_last` is the state
    behind all rows of a bag; with `from_end`, where rows come from the last to the first,
    `pdl.segment_first`.
    """
    return _recurrent(ops.gru, 3, rows, bags, width, name, group, from_end,
                      None if init is None else [init])


def lstm(rows: Operand, bags: Operand, width: int, name: str, *, group: Group | None,
         from_end: bool = False, init: Sequence[Operand] | None = None) -> Value:
    """Long short-term memory over the rows of bags, otherwise as `gru`; `init` has the first
    state and the first cell."""
    return _recurrent(ops.lstm, 4, rows, bags, width, name, group, from_end, init)


def _recurrent(op: Callable[..., Value], gates: int, rows: Operand, bags: Operand, width: int,
               name: str, group: Group | None, from_end: bool,
               init: Sequence[Operand] | None) -> Value:
    model = current(f"pdl.layers.{op.__name__}").model
    width = checks.whole(f"the width of {op.__name__} '{name}'", width, 1)
    inputs = dense(rows, gates * width, f"{name}.input", group=group)
    element = inputs.type.element
    weight = model.param(f"{name}.weight", (width, gates * width), group=group, element=element,
                         init=initial.xavier())
    bias = model.param(f"{name}.bias", (gates * width,), group=group, element=element,
                       init=initial.zeros())
    return op(inputs, bags, weight, bias, from_end=from_end, init=init)


def cross(x: Operand, layers: int, name: str, *, group: Group | None, version: int = 2,
          rank: int | None = None) -> Value:
    """Cross layers of a deep and cross network: [batch, features] to the same.

    Layer by layer, beginning with y = x:

    - version 2 (Wang et al., 2021): y = x * (y * weight + bias) + y with a square weight, or
      with `rank` the product of two weights, [features, rank] and [rank, features];
    - version 1 (Wang et al., 2017): y = x * (y * weight) + bias + y with a weight of one
      column.

    Declares `name.1.weight` and `name.1.bias` and so on, with `rank` `name.1.down` and
    `name.1.up` for the weight.
    """
    layers = checks.whole(f"layers of cross '{name}'", layers)
    if layers < 1:
        raise ModelError(f"cross '{name}' has {layers} layers; it needs one at least")
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
