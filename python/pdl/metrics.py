# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of metrics."""

from pdl.text import Attribute, attribute


def auc(buckets: int = 16384) -> Attribute:
    """Area under the ROC curve, by a histogram of predictions over their odds."""
    return attribute("auc", buckets=buckets)


def grouped_auc() -> Attribute:
    """Mean area under the ROC curve of groups of samples, such as those of a user."""
    return attribute("grouped_auc")


def log_loss() -> Attribute:
    """Mean log loss of the predictions."""
    return attribute("log_loss")


def copc() -> Attribute:
    """Clicks over predicted clicks."""
    return attribute("copc")


def mean() -> Attribute:
    """Mean of one value a sample, such as a loss; takes no labels."""
    return attribute("mean")


def mae() -> Attribute:
    """Mean absolute error of the predictions."""
    return attribute("mae")


def rmse() -> Attribute:
    """Root of the mean squared error of the predictions."""
    return attribute("rmse")


def accuracy(threshold: float = 0.5) -> Attribute:
    """Share of predictions on the right side of a threshold."""
    return attribute("accuracy", threshold=float(threshold))


def bucket_error(buckets: int = 4096) -> Attribute:
    """Mean relative error of predicted click rates."""
    return attribute("bucket_error", buckets=buckets)


def accuracy_at(k: int) -> Attribute:
    """Share of ranked lists with a relevant item among the first k."""
    return attribute("accuracy_at", k=k)


def recall_at(k: int) -> Attribute:
    """Mean share of a ranked list's relevant items that is among the first k."""
    return attribute("recall_at", k=k)


def ndcg_at(k: int) -> Attribute:
    """Mean normalised discounted cumulative gain of the first k items of ranked lists."""
    return attribute("ndcg_at", k=k)


def mrr() -> Attribute:
    """Mean of 1 / the place of a ranked list's first relevant item."""
    return attribute("mrr")
