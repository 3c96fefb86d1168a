# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Advice for names that other packages have, but not this one."""

from collections.abc import Sequence

from pdl.text import did_you_mean

_CONVOLUTION = ("no convolution; for short fixed windows of rows there is "
                "pdl.segment_window and pdl.linear")
_POOLING = 'no pooling of pixels; pdl.reduce("max", x, axes=[1]) reduces a whole axis'

# Indexed by name: what to write instead of it.
_INSTEAD = {
    "amax": 'pdl.reduce("max", x, axes=[1])',
    "argmax": "pdl.top_k(x, 1)",
    "argsort": "pdl.top_k(x, count)",
    "bce_with_logits": "pdl.sigmoid_cross_entropy(logits, labels)",
    "binary_cross_entropy": "pdl.log_loss(predictions, labels)",
    "binary_cross_entropy_with_logits": "pdl.sigmoid_cross_entropy(logits, labels)",
    "bmm": "pdl.matmul(a, b)",
    "cat": "pdl.concat([a, b], axis=1)",
    "ceil": "-pdl.floor(-x)",
    "clip": "pdl.clamp(x, lower, upper)",
    "cross_entropy": "pdl.softmax_cross_entropy(logits, pdl.one_hot(labels, classes))",
    "cumsum": "pdl.cumulative_sum(x)",
    "dense": "pdl.layers.dense(x, width, name, group=...)",
    "detach": "pdl.stop_gradient(x)",
    "einsum": "pdl.matmul(a, b), with pdl.reshape and pdl.transpose",
    "embedding": "pdl.layers.embedding(ids, width, name, group=...)",
    "expand": "pdl.broadcast(x, shape, like=y)",
    "eye": "pdl.constant of lists in lists",
    "full": "pdl.constant(number, shape)",
    "full_like": "pdl.broadcast(number, x.shape, like=x)",
    "huber": "pdl.huber_loss(predictions, labels)",
    "l1_loss": "abs(predictions - labels)",
    "leakyrelu": "pdl.leaky_relu(x)",
    "logical_and": "pdl.min(a, b) of two masks",
    "logical_not": "1 - a of a mask",
    "logical_or": "pdl.max(a, b) of two masks",
    "margin_ranking_loss": "pdl.relu(margin - y * (a - b))",
    "masked_fill": "pdl.select(mask, number, x)",
    "maximum": "pdl.max(a, b)",
    "mean": 'pdl.reduce("mean", x, axes=[1])',
    "minimum": "pdl.min(a, b)",
    "mlp": "pdl.layers.mlp(x, widths, name, group=...)",
    "mse_loss": "pdl.squared_error(predictions, labels)",
    "normalize": "pdl.l2_normalize(x)",
    "ones": "pdl.constant(1.0, shape)",
    "ones_like": "pdl.broadcast(1.0, x.shape, like=x)",
    "permute": "pdl.transpose(x, permutation)",
    "round": "pdl.floor(x + 0.5)",
    "silu": "pdl.swish(x)",
    "smooth_l1_loss": "pdl.huber_loss(predictions, labels)",
    "split": "ranges such as x[:, 0:2] and x[:, 2:4]",
    "square": "x ** 2",
    "squeeze": "pdl.reshape(x, shape)",
    "stack": "pdl.concat of pdl.reshape(..., (None, 1, width)), axis=1",
    "std": "pdl.sqrt of the mean of squares",
    "sum": 'pdl.reduce("sum", x, axes=[1])',
    "tensor": "pdl.constant(numbers)",
    "topk": "pdl.top_k(x, count)",
    "unsqueeze": "pdl.reshape(x, shape)",
    "view": "pdl.reshape(x, shape)",
    "where": "pdl.select(condition, yes, no)",
    "zeros": "pdl.constant(0.0, shape)",
    "zeros_like": "pdl.broadcast(0.0, x.shape, like=x)",
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "convolution"), _CONVOLUTION),
    **dict.fromkeys(("avg_pool1d", "avg_pool2d", "max_pool1d", "max_pool2d"), _POOLING),
}


def for_name(name: str, known: Sequence[str]) -> str:
    """Returns the end of the error message for an unknown `name`, with a suggestion from `known`.
    """
    instead = _INSTEAD.get(name.lower())
    if instead is None:
        return did_you_mean(name, sorted(known))
    return f"; {'there is ' if instead.startswith('no ') else 'write '}{instead}"


# Indexed by the name of an argument in other packages: its name here.
_ARGUMENTS = {
    "activation_fn": "activation", "default": "missing", "delimiter": "separator",
    "dim": "axis", "dims": "axes", "dtype": "element", "embedding_dim": "width",
    "initializer": "init", "kernel_initializer": "weight_init", "l2": "decay",
    "learning_rate": "rate", "lr": "rate", "lr_scheduler": "schedule", "optimizer": "rule",
    "out_features": "width", "output_dim": "width", "regularizer": "decay",
    "scheduler": "schedule", "size": "shape", "units": "width", "use_bias": "bias",
    "weight_decay": "decay",
}

# Indexed by function and argument: what to write instead.
_ARGUMENTS_OF = {
    ("record.floats", "separator"): "record.float_bags declares cells of several numbers",
    ("record.ids", "separator"): "record.bags declares cells of several ids",
    ("record.ids", "missing_element"): "record.bags declares cells of several ids",
    ("model.table", "rate"): "the group of the table has it, as in model.group(..., rate=1.0e-3)",
    ("model.param", "rate"): "the group of the parameter has it, as in "
                             "model.group(..., rate=1.0e-3)",
    ("model.state", "group"): "a state is not trained; model.param has a group",
    ("model.table", "rows"): "a table gets a row for each key that it sees, and needs no size",
    ("model.table", "shape"): "`width` is the number of columns of a row",
    ("pdl.layers.embedding", "rows"): "a table gets a row for each key that it sees, and needs "
                                      "no size",
}

# Indexed by argument: what to write if it is missing.
_MISSING = {
    "group": "group=model.group(...) trains what it declares, and group=None leaves it as it is",
    "init": "write init=pdl.init.zeros() or another one of pdl.init",
    "rate": "write the learning rate, such as rate=1.0e-3",
    "rule": 'write the optimizer, such as rule="adam"',
    "name": "write a text that no other declaration of the model has",
}

# Indexed by class: a correct argument of that class.
MADE_BY = {
    "Clip": "what model.clip has returned",
    "Group": "what model.group has returned, or None",
    "Metric": "what model.metric has returned",
    "Model": "what pdl.Model has returned",
    "Table": "what model.table has returned",
}


def for_argument(function: str, name: str, known: Sequence[str]) -> str:
    """Returns the end of the error message for a function that has no argument `name`."""
    special = _ARGUMENTS_OF.get((function, name))
    if special is not None:
        return f"; {special}"
    instead = _ARGUMENTS.get(name.lower())
    if instead in known:
        return f"; write {instead}=..."
    return did_you_mean(name, known)


def for_missing(name: str) -> str:
    """Returns the end of the error message for a call without the argument `name`."""
    return f"; {_MISSING[name]}" if name in _MISSING else ""
