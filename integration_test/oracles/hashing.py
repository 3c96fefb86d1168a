#===- hashing.py - Keys of texts, buckets and crosses --------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""The id features of a model, computed with NumPy and the `xxhash` module.

Keys are 64-bit patterns; they are kept as int64, as the dialect types them.
"""

import numpy
import xxhash


def hash_text(text, salt):
    """The key of a text: xxh64 of its trimmed bytes, seeded with `salt`."""
    return numpy.uint64(xxhash.xxh64_intdigest(text.strip().encode(), salt)).astype(
        numpy.int64)


def hash_texts(texts, salt):
    """int64 [n]: the key of each of `texts`."""
    distinct = {text: hash_text(text, salt) for text in set(texts)}
    return numpy.array([distinct[text] for text in texts], dtype=numpy.int64)


def bucketize(values, boundaries):
    """The number of boundaries <= x; NaN gets the last bucket."""
    values = numpy.asarray(values, dtype=numpy.float64)
    bounds = numpy.asarray(boundaries, dtype=numpy.float64)
    buckets = numpy.searchsorted(bounds, values, side="right").astype(numpy.int64)
    buckets[numpy.isnan(values)] = len(bounds)
    return buckets


def cross(operands, salt=0):
    """`nn.cross` of id arrays of one shape: xxh64, seeded with `salt`, of the
    operands' little-endian keys in operand order."""
    shape = operands[0].shape
    stacked = numpy.stack([operand.reshape(-1) for operand in operands], axis=1)
    stacked = numpy.ascontiguousarray(stacked, dtype="<i8")
    distinct, inverse = numpy.unique(stacked, axis=0, return_inverse=True)
    hashed = numpy.array(
        [xxhash.xxh64_intdigest(row.tobytes(), salt) for row in distinct],
        dtype=numpy.uint64).astype(numpy.int64)
    return hashed[inverse.reshape(-1)].reshape(shape)


def cross_bags(operands, salt=0):
    """`nn.cross` of bags. Each operand is (values, splits); the result is too.
    A bag holds every combination, the last operand fastest."""
    bags = len(operands[0][1]) - 1
    values, splits = [], [0]
    for bag in range(bags):
        combinations = [()]
        for operand_values, operand_splits in operands:
            ids = operand_values[operand_splits[bag]:operand_splits[bag + 1]]
            combinations = [head + (key,) for head in combinations for key in ids]
        for combination in combinations:
            data = numpy.array(combination, dtype="<i8").tobytes()
            values.append(xxhash.xxh64_intdigest(data, salt))
        splits.append(len(values))
    keys = numpy.array(values, dtype=numpy.uint64).astype(numpy.int64)
    return keys, numpy.array(splits, dtype=numpy.int32)
