#===- hashing.py - Keys of texts, buckets and crosses --------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Id features of a model, computed with NumPy and the `xxhash` module.

Keys are 64-bit patterns. Their type is int64, as in the dialect."""

import numpy
import xxhash


def hash_text(text, salt):
    """Returns the key of a text: xxh64 of its trimmed bytes with seed `salt`."""
    return numpy.uint64(xxhash.xxh64_intdigest(text.strip().encode(), salt)).astype(
        numpy.int64)


def hash_texts(texts, salt):
    """Returns the key of each of `texts`: int64 [n]."""
    distinct = {text: hash_text(text, salt) for text in set(texts)}
    return numpy.array([distinct[text] for text in texts], dtype=numpy.int64)


def bucketize(values, boundaries):
    """Returns the number of boundaries <= x for each x. NaN belongs to the last bucket."""
    values = numpy.asarray(values, dtype=numpy.float64)
    bounds = numpy.asarray(boundaries, dtype=numpy.float64)
    buckets = numpy.searchsorted(bounds, values, side="right").astype(numpy.int64)
    buckets[numpy.isnan(values)] = len(bounds)
    return buckets


def cross(operands, salt=0):
    """Computes `nn.cross` of id arrays of one shape: xxh64 of the operands' little-endian keys in
    operand order, with seed `salt`."""
    shape = operands[0].shape
    stacked = numpy.stack([operand.reshape(-1) for operand in operands], axis=1)
    stacked = numpy.ascontiguousarray(stacked, dtype="<i8")
    distinct, inverse = numpy.unique(stacked, axis=0, return_inverse=True)
    hashed = numpy.array(
        [xxhash.xxh64_intdigest(row.tobytes(), salt) for row in distinct],
        dtype=numpy.uint64).astype(numpy.int64)
    return hashed[inverse.reshape(-1)].reshape(shape)


def cross_bags(operands, salt=0):
    """Computes `nn.cross` of bags. Each operand and the result is a pair (values, splits). A bag
    has every combination of ids; the ids of the last operand change fastest."""
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
