# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of metrics."""

from pdl.arguments import Want, checked
from pdl.attributes import Attribute, of_family

_FAMILY = "metric"
# Limits of include/pdlabi/metrics.h.
_BUCKETS = Want(least=2, most=2**24)
_LENGTH = Want(least=1, most=2**24)


@checked(buckets=_BUCKETS)
def auc(buckets: int = 16384) -> Attribute:
    """Area under the ROC curve, by a histogram of predictions over their odds."""
    return of_family(_FAMILY, "auc", buckets=buckets)


@checked
def grouped_auc() -> Attribute:
    """Mean area under the ROC curve of groups of samples, such as those of a user."""
    return of_family(_FAMILY, "grouped_auc")


@checked
def log_loss() -> Attribute:
    """Mean log loss of the predictions."""
    return of_family(_FAMILY, "log_loss")


@checked
def copc() -> Attribute:
    """Clicks over predicted clicks."""
    return of_family(_FAMILY, "copc")


@checked
def mean() -> Attribute:
    """Mean of one value a sample, such as a loss; takes no labels."""
    return of_family(_FAMILY, "mean")


@checked
def mae() -> Attribute:
    """Mean absolute error of the predictions."""
    return of_family(_FAMILY, "mae")


@checked
def rmse() -> Attribute:
    """Root of the mean squared error of the predictions."""
    return of_family(_FAMILY, "rmse")


@checked
def accuracy(threshold: float = 0.5) -> Attribute:
    """Share of predictions on the right side of a threshold."""
    return of_family(_FAMILY, "accuracy", threshold=threshold)


@checked(buckets=_BUCKETS)
def bucket_error(buckets: int = 4096) -> Attribute:
    """Mean relative error of predicted click rates."""
    return of_family(_FAMILY, "bucket_error", buckets=buckets)


@checked(k=_LENGTH)
def accuracy_at(k: int) -> Attribute:
    """Share of ranked lists with a relevant item among the first k."""
    return of_family(_FAMILY, "accuracy_at", k=k)


@checked(k=_LENGTH)
def recall_at(k: int) -> Attribute:
    """Mean share of a ranked list's relevant items that is among the first k."""
    return of_family(_FAMILY, "recall_at", k=k)


@checked(k=_LENGTH)
def ndcg_at(k: int) -> Attribute:
    """Mean normalized discounted cumulative gain of the first k items of ranked lists."""
    return of_family(_FAMILY, "ndcg_at", k=k)


@checked
def mrr() -> Attribute:
    """Mean of 1 / the place of a ranked list's first relevant item."""
    return of_family(_FAMILY, "mrr")
