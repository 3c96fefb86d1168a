# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model that all experiments on Avazu use."""

import experiment  # noqa: F401  Says where pdl is.
import pdl


def logistic_regression(name, columns, crosses=(), **group):
    """Returns a logistic regression on columns, each hashed with its number, and on crosses of
    them. `group` defines the training."""
    made = pdl.Model(name)
    record = made.record("click")
    record.floats("label", 1, columns=["click"])
    record.ids("values", len(columns), hash=pdl.xxh64(salt="slot"), columns=columns)
    linear = made.group("linear", untouched="lazy", **group)
    weights = made.table("weights", 1, init=pdl.init.zeros(), group=linear)
    bias = made.param("bias", (1,), init=pdl.init.zeros(), group=linear)
    auc = made.metric("auc", pdl.metrics.auc())
    log_loss = made.metric("log_loss", pdl.metrics.log_loss())

    @made.function
    def logit(values):
        ids = [values]
        for salt, cross in enumerate(crosses, 100):
            ids.append(pdl.cross([values[:, place:place + 1] for place in
                                  map(columns.index, cross)], salt))
        if crosses:
            values = pdl.concat(ids, axis=1)
        return pdl.reduce("sum", pdl.lookup(weights, values, "sum"), [1]) + bias

    @made.program
    def train(label, values):
        pdl.minimize(pdl.sigmoid_cross_entropy(logit(values), label), [linear])

    @made.program
    def evaluate(label, values):
        p = pdl.sigmoid(logit(values))
        pdl.observe(auc, p, label)
        pdl.observe(log_loss, p, label)

    return made
