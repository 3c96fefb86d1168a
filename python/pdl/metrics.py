# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kinds of metrics."""

from pdl.text import Attribute, attribute


def auc(buckets: int = 4096) -> Attribute:
    """Area under the ROC curve, by a histogram of predictions."""
    return attribute("auc", buckets=buckets)


def log_loss() -> Attribute:
    """Mean log loss of the predictions."""
    return attribute("log_loss")


def copc() -> Attribute:
    """Clicks over predicted clicks."""
    return attribute("copc")


def mean() -> Attribute:
    """Mean of one value a sample, such as a loss; takes no labels."""
    return attribute("mean")
