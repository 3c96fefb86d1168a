# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains CTR-DNN or DLRM in TensorFlow, on tensors in memory. Prints samples per second as JSON.

One graph does a whole step. Layers use the kernels of TensorFlow's own optimizers. Rows use those
of Adagrad, or an Adam that updates only the rows of the batch, made of gathers and scatters,
because Keras's Adam updates all rows. The models and the data are those of torch_click.py and
torch_dlrm.py.
"""

import argparse
import json
import os
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy  # noqa: E402
import tensorflow as tf  # noqa: E402

SLOTS, NUMBERS, BATCHES = 26, 13, 16
RATE = {"click": 1e-3, "dlrm": 1e-2}

parser = argparse.ArgumentParser()
parser.add_argument("model", choices=("click", "dlrm"))
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--batch", type=int, default=1000)
options = parser.parse_args()
tf.config.threading.set_intra_op_parallelism_threads(options.threads)
tf.config.threading.set_inter_op_parallelism_threads(1)
random = numpy.random.default_rng(0)
rate = RATE[options.model]


def values(*shape, bound=None):
    bound = bound or (6 / (shape[0] + shape[-1])) ** 0.5
    return tf.Variable(random.uniform(-bound, bound, shape).astype("f4"))


class Layer:
    """A product with a bias, and the state of its rule."""

    def __init__(self, rows, columns):
        self.parts = [values(rows, columns), tf.Variable(tf.zeros(columns))]
        self.kept = [[tf.Variable(tf.zeros_like(part)) for _ in range(2)]
                     for part in self.parts]

    def __call__(self, x):
        return tf.nn.bias_add(tf.matmul(x, self.parts[0]), self.parts[1])


def adam(part, kept, gradient, power1, power2):
    tf.raw_ops.ResourceApplyAdam(
        var=part.handle, m=kept[0].handle, v=kept[1].handle, beta1_power=power1,
        beta2_power=power2, lr=rate, beta1=0.9, beta2=0.999, epsilon=1e-8, grad=gradient)


def adam_of_rows(table, kept, gradient, power1, power2):
    keys, places = tf.unique(gradient.indices)
    summed = tf.math.unsorted_segment_sum(gradient.values, places, tf.size(keys))
    m = 0.9 * tf.gather(kept[0], keys) + 0.1 * summed
    v = 0.999 * tf.gather(kept[1], keys) + 0.001 * tf.square(summed)
    kept[0].scatter_update(tf.IndexedSlices(m, keys))
    kept[1].scatter_update(tf.IndexedSlices(v, keys))
    step = rate * tf.sqrt(1 - power2) / (1 - power1)
    table.scatter_sub(tf.IndexedSlices(step * m / (tf.sqrt(v) + 1e-8), keys))


def adagrad(part, kept, gradient):
    if isinstance(gradient, tf.IndexedSlices):
        tf.raw_ops.ResourceSparseApplyAdagradV2(
            var=part.handle, accum=kept[0].handle, lr=rate, epsilon=1e-10,
            grad=gradient.values, indices=gradient.indices)
    else:
        tf.raw_ops.ResourceApplyAdagradV2(
            var=part.handle, accum=kept[0].handle, lr=rate, epsilon=1e-10, grad=gradient)


if options.model == "click":
    each = 300_000 // SLOTS
    tables = [values(each * SLOTS, 10, bound=0.01)]
    layers = [Layer(10 * SLOTS + NUMBERS, 400), Layer(400, 400), Layer(400, 400), Layer(400, 1)]
else:
    tables = [values(int(10 ** (1 + slot / 5)) + 1, 16, bound=0.01) for slot in range(SLOTS)]
    layers = [Layer(NUMBERS, 64), Layer(64, 16), Layer(16 + 351, 64), Layer(64, 1)]
kept_of_tables = [[tf.Variable(tf.zeros_like(table)) for _ in range(2)] for table in tables]
powers = [tf.Variable(1.0), tf.Variable(1.0)]
low = numpy.stack(numpy.tril_indices(SLOTS + 1, -1), 1) @ [SLOTS + 1, 1]


def make_ids():
    ids = numpy.stack([(10 ** (1 + slot / 5) * random.random(options.batch) ** 4).astype("i4")
                       for slot in range(SLOTS)], 1)
    return ids % each + numpy.arange(SLOTS, dtype="i4") * each if options.model == "click" else ids


def logits(ids, numbers):
    x = tf.math.log1p(numbers)
    if options.model == "click":
        rows = tf.reshape(tf.gather(tables[0], ids), (-1, 10 * SLOTS))
        x = tf.concat([rows, x], 1)
        for layer in layers[:-1]:
            x = tf.nn.relu(layer(x))
        return layers[-1](x)
    first = tf.nn.relu(layers[1](tf.nn.relu(layers[0](x))))
    vectors = tf.stack([first] + [tf.gather(table, ids[:, slot])
                                  for slot, table in enumerate(tables)], 1)
    dots = tf.reshape(tf.matmul(vectors, vectors, transpose_b=True), (-1, (SLOTS + 1) ** 2))
    top = tf.concat([first, tf.gather(dots, low, axis=1)], 1)
    return layers[3](tf.nn.relu(layers[2](top)))


@tf.function
def step(ids, numbers, labels):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
            logits=logits(ids, numbers), labels=labels))
    parts = [part for layer in layers for part in layer.parts]
    kept = [each for layer in layers for each in layer.kept]
    gradients = tape.gradient(loss, tables + parts)
    if options.model == "dlrm":
        for part, own, gradient in zip(tables + parts, kept_of_tables + kept, gradients):
            adagrad(part, own, gradient)
        return loss
    power1, power2 = powers[0].assign(powers[0] * 0.9), powers[1].assign(powers[1] * 0.999)
    adam_of_rows(tables[0], kept_of_tables[0], gradients[0], power1, power2)
    for part, own, gradient in zip(parts, kept, gradients[1:]):
        adam(part, own, gradient, power1, power2)
    return loss


batches = [(tf.constant(make_ids()),
            tf.constant(random.integers(0, 100, (options.batch, NUMBERS)).astype("f4")),
            tf.constant((random.random((options.batch, 1)) < 0.25).astype("f4")))
           for _ in range(BATCHES)]
for batch in batches[:3]:
    step(*batch)
clock = time.process_time if options.threads == 1 else time.perf_counter
steps, start = 0, clock()
while clock() - start < 3:
    step(*batches[steps % BATCHES]).numpy()
    steps += 1
print(json.dumps({"rate": steps * options.batch / (clock() - start)}))
