# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What to write for names that other packages have and this one has not."""

from collections.abc import Sequence

from pdl.text import did_you_mean

_CONVOLUTION = ("no convolution; for short fixed windows of rows there is "
                "pdl.segment_window and pdl.linear")
_POOLING = 'no pooling of pixels; pdl.reduce("max", x, axes=[1]) reduces a whole axis'

# By name: what to write instead.
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
    "normalize": "pdl.l2_normalise(x)",
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
    """What stands after a message that there is no `name`, of the names that there are."""
    instead = _INSTEAD.get(name.lower())
    if instead is None:
        return did_you_mean(name, sorted(known))
    return f"; {'there is ' if instead.startswith('no ') else 'write '}{instead}"
