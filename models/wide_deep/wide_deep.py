#===- wide_deep.py - Wide & Deep on Adult, as Python -*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""A wide part that memorizes (one weight per feature and cross, Adagrad) and a deep part that
generalizes (embeddings and three layers, Adam). Their logits are added. `python3 wide_deep.py`
prints wide_deep.mlir, in other words."""

import pdl

model = pdl.Model("wide_deep", description=__doc__)

person = model.record("person")
# Age, years of education, capital gain, capital loss, hours a week.
person.floats("numbers", 5, columns=[0, 4, 10, 11, 12])
# Workclass, education, marital status, occupation, relationship, race, sex, native
# country; "?" (not known) is a value like any other.
person.ids("categories", 8, hash=pdl.xxh64(salt="slot"), missing="?",
           columns=[1, 3, 5, 6, 7, 8, 9, 13])
person.floats("label", 1, values={"<=50K": 0.0, ">50K": 1.0}, columns=[14])

wide = model.group("wide", rule="adagrad", rate=5.0e-2)
deep = model.group("deep", rule="adam", rate=1.0e-3, untouched="lazy")

wide_weights = model.table("wide_weights", 1, group=wide, init=pdl.init.zeros())
embedding = model.table("embedding", 8, group=deep, init=pdl.init.uniform(-0.05, 0.05))
auc = model.metric("auc", pdl.metrics.auc())
log_loss = model.metric("log_loss", pdl.metrics.log_loss())
copc = model.metric("copc", pdl.metrics.copc())


def layer(x, number, width, activation=None):
    """A layer of the names that the text has: @w1, @b1 and so on."""
    w = model.param(f"w{number}", (x.shape[1], width), group=deep, init=pdl.init.xavier())
    b = model.param(f"b{number}", (width,), group=deep, init=pdl.init.zeros())
    return pdl.linear(x, w, b, activation)


@model.function
def logit(numbers, categories):
    age = numbers[:, 0:1]
    gain = numbers[:, 2:3]
    loss = numbers[:, 3:4]
    hours = numbers[:, 4:5]
    age_bucket = pdl.bucketize(age, [18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    age_id = pdl.cross([age_bucket], salt=100)
    gain_bucket = pdl.bucketize(gain, [1, 3000, 4000, 5000, 6500, 7000, 10000, 14000])
    gain_id = pdl.cross([gain_bucket], salt=101)
    loss_bucket = pdl.bucketize(loss, [1, 1500, 1600, 1800, 1900, 2000, 2200, 2400])
    loss_id = pdl.cross([loss_bucket], salt=102)
    hours_bucket = pdl.bucketize(hours, [20, 30, 36, 40, 41, 46, 50, 56, 60])
    hours_id = pdl.cross([hours_bucket], salt=103)

    # Categories and buckets feed both parts; the crosses, the wide one only.
    ids = pdl.concat([categories, age_id, gain_id, loss_id, hours_id], axis=1)
    education = categories[:, 1:2]
    occupation = categories[:, 3:4]
    country = categories[:, 7:8]
    education_occupation = pdl.cross([education, occupation], salt=110)
    age_education_occupation = pdl.cross([age_id, education, occupation], salt=111)
    country_occupation = pdl.cross([country, occupation], salt=112)
    wide_ids = pdl.concat([ids, education_occupation, age_education_occupation,
                           country_occupation], axis=1)
    weights = pdl.lookup(wide_weights, wide_ids, "sum")
    wide_part = pdl.reduce("sum", weights, axes=[1])

    rows = pdl.lookup(embedding, ids, "sum")
    embedded = pdl.flatten(rows, 1)
    plain = numbers[:, 0:2]
    capital = numbers[:, 2:4]
    tamed = pdl.signed_log1p(capital)
    raw = pdl.concat([plain, tamed, hours], axis=1)
    standard = pdl.standardize(raw, mean=[38.6, 10.1, 0.73, 0.36, 40.4],
                               deviation=[13.6, 2.57, 2.5, 1.6, 12.3])
    x = pdl.concat([embedded, standard], axis=1)
    h1 = layer(x, 1, 100, "relu")
    h2 = layer(h1, 2, 50, "relu")
    deep_part = layer(h2, 3, 1)
    z = deep_part + wide_part
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
    pdl.minimize(loss, [wide, deep])


@model.program
def evaluate(numbers, categories, label):
    p = pdl.sigmoid(logit(numbers, categories))
    observe(p, label)


@model.program
def predict(numbers, categories):
    return pdl.sigmoid(logit(numbers, categories))


if __name__ == "__main__":
    print(model, end="")
