#===- ctr_dnn.py - CTR-DNN on Criteo, as Python -*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""The classic click model: 26 slots of hashed ids in one table, 13 counts, and
three layers of 400. `python3 ctr_dnn.py` prints ctr_dnn.mlir, in other words."""

import pdl

model = pdl.Model("ctr_dnn", description=__doc__)

criteo = model.record("criteo")
criteo.floats("label", 1)
criteo.floats("numbers", 13, missing=0.0)
criteo.bags("categories", 26, hash=pdl.xxh64(salt="slot"))

joint = model.clip("joint", global_norm=10.0)
dense = model.group("dense", rule="adam", rate=1.0e-3, decay=pdl.decay.l2(1.0e-6), clip=joint)
sparse = model.group("sparse", rule="adam", rate=1.0e-3, untouched="lazy")

emb = model.table("emb", 10, group=sparse, init=pdl.init.uniform(-0.01, 0.01))
auc = model.metric("auc", pdl.metrics.auc())
log_loss = model.metric("log_loss", pdl.metrics.log_loss())
copc = model.metric("copc", pdl.metrics.copc())


@model.function
def logit(numbers, categories):
    rows = pdl.lookup(emb, categories, "sum")
    embedded = pdl.flatten(rows, 1)
    tamed = pdl.signed_log1p(numbers)
    x = pdl.concat([embedded, tamed], axis=1)
    for layer, width in enumerate((400, 400, 400, 1), 1):
        w = model.param(f"w{layer}", (x.shape[1], width), group=dense, init=pdl.init.xavier())
        b = model.param(f"b{layer}", (width,), group=dense, init=pdl.init.zeros())
        x = pdl.linear(x, w, b, "relu" if width > 1 else None)
    return x


def observe(p, label):
    for metric in (auc, log_loss, copc):
        pdl.observe(metric, p, label)


@model.program
def train(label, numbers, categories):
    z = logit(numbers, categories)
    loss = pdl.sigmoid_cross_entropy(z, label)
    p = pdl.sigmoid(z)
    observe(p, label)
    pdl.minimize(loss, [dense, sparse])


@model.program
def evaluate(label, numbers, categories):
    p = pdl.sigmoid(logit(numbers, categories))
    observe(p, label)


@model.program
def predict(numbers, categories):
    return pdl.sigmoid(logit(numbers, categories))


if __name__ == "__main__":
    print(model, end="")
