#===- draws.py - The random numbers of samples -------------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Random draws of include/pdlabi/draws.h in Python. The default seed and epoch are 0."""

import math

import numpy
import xxhash

MASK = 0xffffffff


def philox(counter, key):
    """Computes Philox4x32-10 of four words, with a key of 64 bits."""
    c0, c1, c2, c3 = counter
    k0, k1 = key & MASK, key >> 32
    for _ in range(10):
        low, high = 0xd2511f53 * c0, 0xcd9e8d57 * c2
        c0, c1, c2, c3 = (high >> 32) ^ c1 ^ k0, high & MASK, (low >> 32) ^ c3 ^ k1, low & MASK
        k0, k1 = (k0 + 0x9e3779b9) & MASK, (k1 + 0xbb67ae85) & MASK
    return c0, c1, c2, c3


def words(op, program, ordinal, sample, count, seed=0, epoch=0):
    """Returns the first `count` words that an op draws for a sample."""
    stream = xxhash.xxh64_intdigest(f"{program}/{op}/{ordinal}".encode(), seed=0) & MASK
    first = philox((epoch & MASK, epoch >> 32, 0, 1), seed)
    key = first[0] | first[1] << 32
    drawn = []
    for block in range((count + 3) // 4):
        drawn += philox((sample & MASK, sample >> 32, block, stream), key)
    return drawn[:count]


def kept(rate, program, ordinal, sample, count, **more):
    """Returns which elements of a sample are kept by nn.dropout."""
    threshold = int(rate * 2**32)
    return numpy.array([word >= threshold for word in
                        words("dropout", program, ordinal, sample, count, **more)])


def weights(counts, power):
    """Returns the weight of each id if ids are drawn by counts."""
    return numpy.where(numpy.array(counts) > 0, numpy.power(1.0 * numpy.array(counts), power), 0)


def ids(kind, first, behind, program, ordinal, sample, count, counts=(), power=1, **more):
    """Returns the ids that nn.sample draws for a sample. `counts` and `power` are used if kind is
    "counts"."""
    drawn, size, result = words("sample", program, ordinal, sample, 2 * count, **more), \
        behind - first, []
    sums = numpy.cumsum(weights(counts, power))
    for low, high in zip(drawn[::2], drawn[1::2]):
        bits = low | high << 32
        if kind == "uniform":
            number = bits * size >> 64
        elif kind == "counts":
            number = numpy.searchsorted(sums, (bits >> 11) * 2.0**-53 * sums[-1], "right")
        else:
            number = min(int((size + 1.0) ** ((bits >> 11) * 2.0**-53)) - 1, size - 1)
        result.append(first + number)
    return result


def log_probability(kind, first, behind, values, counts=(), power=1):
    size = behind - first
    if kind == "counts":
        all_weights = weights(counts, power)
        return numpy.log(all_weights[values - first] / all_weights.sum())
    if kind == "uniform":
        return numpy.full(values.shape, -math.log(size))
    return numpy.log(numpy.log1p(1 / (values - first + 1.0)) / math.log(size + 1.0))
