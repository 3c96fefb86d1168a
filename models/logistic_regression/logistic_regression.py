#===- logistic_regression.py - Logistic regression on Adult, as Python -*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""One weight a feature. Every feature is an id: a category, a bucket of a number,
or a hashed cross of those; salts keep their keys apart in the one table.
`python3 logistic_regression.py` prints logistic_regression.mlir, in other words."""

import pdl

model = pdl.Model("logistic_regression", description=__doc__)

NUMBERS = ["age", "years", "gain", "loss", "hours"]
CATEGORIES = ["workclass", "education", "marital", "occupation", "relationship", "race",
              "sex", "country"]
BOUNDARIES = {
    "age": [20, 23, 26, 30, 35, 40, 45, 50, 55, 60, 65],
    "years": [5, 8, 9, 10, 11, 12, 13, 14, 15],
    "gain": [1, 3000, 4000, 5000, 6500, 7000, 10000, 14000],
    "loss": [1, 1500, 1600, 1800, 1900, 2000, 2200, 2400],
    "hours": [20, 30, 36, 40, 41, 46, 50, 56, 60],
}
CROSSES = [("education", "occupation"), ("age", "education", "occupation"),
           ("relationship", "age"), ("marital", "education"), ("occupation", "hours"),
           ("workclass", "occupation")]

person = model.record("person")
person.floats("numbers", 5, columns=[0, 4, 10, 11, 12])
# "?" (not known) is a value like any other.
person.ids("categories", 8, hash=pdl.xxh64(salt="slot"), missing="?",
           columns=[1, 3, 5, 6, 7, 8, 9, 13])
person.floats("label", 1, values={"<=50K": 0.0, ">50K": 1.0}, columns=[14])

linear = model.group("linear", rule="adagrad", rate=1.0e-1)
weights = model.table("weights", 1, group=linear, init=pdl.init.zeros())
bias = model.param("bias", (1,), group=linear, init=pdl.init.zeros())
auc = model.metric("auc", pdl.metrics.auc())
log_loss = model.metric("log_loss", pdl.metrics.log_loss())
copc = model.metric("copc", pdl.metrics.copc())


@model.function
def logit(numbers, categories):
    features = {name: numbers[:, index:index + 1].named(name)
                for index, name in enumerate(NUMBERS)}
    for index, name in enumerate(NUMBERS):
        bucket = pdl.bucketize(features[name], BOUNDARIES[name]).named(f"{name}_bucket")
        features[name] = pdl.cross([bucket], salt=100 + index).named(f"{name}_id")
    parts = [categories, *features.values()]

    # Race, sex and country are in no cross.
    for index, name in enumerate(CATEGORIES[:5]):
        features[name] = categories[:, index:index + 1].named(name)
    for index, names in enumerate(CROSSES):
        crossed = pdl.cross([features[name] for name in names], salt=110 + index)
        parts.append(crossed.named("_".join(names)))

    ids = pdl.concat(parts, axis=1)
    w = pdl.lookup(weights, ids, "sum")
    z = pdl.reduce("sum", w, axes=[1]) + bias
    return z


def observe(p, label):
    for metric in (auc, log_loss, copc):
        pdl.observe(metric, p, label)


@model.program
def train(numbers, categories, label):
    z = logit(numbers, categories)
    loss = pdl.sigmoid_cross_entropy(z, label)
    p = pdl.sigmoid(z)
    observe(p, label)
    pdl.minimize(loss, [linear])


@model.program
def evaluate(numbers, categories, label):
    p = pdl.sigmoid(logit(numbers, categories))
    observe(p, label)


@model.program
def predict(numbers, categories):
    return pdl.sigmoid(logit(numbers, categories))


if __name__ == "__main__":
    print(model, end="")
