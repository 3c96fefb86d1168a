# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers by sample, and their first difference."""

import array
import math
import struct


class Column:
    """`width` numbers of each sample. `data` is an array of C floats or doubles."""

    def __init__(self, width, data):
        self.width = width
        self.data = data

    def of_samples(self, samples):
        """Returns the numbers of some samples, in the order of `samples`."""
        chosen = array.array(self.data.typecode)
        for sample in samples:
            chosen.extend(self.data[sample * self.width:(sample + 1) * self.width])
        return Column(self.width, chosen)

    def part(self, place):
        """Returns one number of each sample."""
        return Column(1, self.data[place::self.width])


def bits_of(number, code):
    kinds = {"f": ("<f", "<I", 8), "d": ("<d", "<Q", 16)}
    number_kind, integer_kind, digits = kinds[code]
    (bits,) = struct.unpack(integer_kind, struct.pack(number_kind, number))
    return f"0x{bits:0{digits}x}"


def text_of(number, code):
    """Returns a number as text with all significant digits, and its bits."""
    return f"{number:.{9 if code == 'f' else 17}g} ({bits_of(number, code)})"


def same(first, second):
    """Returns true if two numbers are equal bit for bit. All NaNs are equal."""
    if math.isnan(first) or math.isnan(second):
        return math.isnan(first) and math.isnan(second)
    return first == second and math.copysign(1, first) == math.copysign(1, second)


class Difference:
    """Difference of two columns: the first `sample` and its `place`, and the number of samples
    that differ."""

    def __init__(self, sample, place, count):
        self.sample, self.place, self.count = sample, place, count


def difference(first, second):
    """Returns the difference of two columns of the same shape; None if they are equal bit for bit.
    """
    if first.data.typecode == second.data.typecode and (
            first.data.tobytes() == second.data.tobytes()):
        return None
    samples, place = [], 0
    for i, (one, other) in enumerate(zip(first.data, second.data)):
        if not same(one, other):
            sample = i // first.width
            if not samples:
                place = i % first.width
            if not samples or samples[-1] != sample:
                samples.append(sample)
    return Difference(samples[0], place, len(samples)) if samples else None
