# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models that bench/gpu.py measures, with their samples and initial values. Reads from a model's
text what a peer must know. Both sides read samples and values from the same files."""

import re

from . import click
from .contest import SOURCE

NAMES = ("ctr_dnn", "dlrm")
# Number of ids of the smallest slot. Each following slot has more, up to the number of the command
# line.
FEWEST_IDS = 10


class Work:
    """One model. Its samples have `slots` ids of one table, and `numbers`."""

    def __init__(self, name, most_ids):
        self.name = name
        # CTR-DNN without its clip and its decay, as in bench/peers.
        self.text = (click.model() if name == "ctr_dnn" else
                     (SOURCE / f"models/{name}/{name}.mlir").read_text())
        field = re.search(r"nn.field @categories : (?:!nn.ragged<\?x(\d+)x\*xi64>|"
                          r"tensor<\?x(\d+)xi64>)", self.text)
        self.is_ragged = field[1] is not None
        self.slots = int(field[1] or field[2])
        self.numbers = int(re.search(r"nn.field @numbers : tensor<\?x(\d+)xf32>", self.text)[1])
        table = re.search(r"nn.table @(\w+) : i64 -> tensor<(\d+)xf32> .*"
                          r"init\(#nn.uniform<([-.0-9]+), ([-.0-9]+)>\)", self.text)
        self.table, self.width = table[1], int(table[2])
        self.low, self.high = float(table[3]), float(table[4])
        self.rate = float(re.search(r"@sparse rule\(@adam\) rate\(([-.e0-9]+)\)", self.text)[1])
        # Shapes and initial values of the parameters, by name.
        self.parameters = {
            symbol: (tuple(map(int, shape.rstrip("x").split("x"))), init)
            for symbol, shape, init in re.findall(
                r"nn.param @(\w+) : tensor<([0-9x]+)xf32> in @dense init\(#nn.(\w+)\)", self.text)}
        each = (most_ids / FEWEST_IDS) ** (1 / (self.slots - 1))
        self.sizes = [round(FEWEST_IDS * each ** slot) for slot in range(self.slots)]

    def products(self, batch):
        """Returns (rows, columns, summed, count of equal ones) of each product of a step: forward,
        of the gradient of the input if there is one, and of the gradient of the weight."""
        found = []
        for weight, summed, columns in re.findall(
                r"nn.linear %\w+, @(\w+), .*: \(tensor<\?x(\d+)xf32>\) -> tensor<\?x(\d+)xf32>",
                self.text):
            summed, columns = int(summed), int(columns)
            found += [(batch, columns, summed, 1), (summed, columns, batch, 1)]
            # The first layer of DLRM reads only numbers, whose gradient is not needed.
            if weight != "bottom_w1":
                found.append((batch, summed, columns, 1))
        for vectors, width in re.findall(r"nn.pairwise_dots %\w+ : tensor<\?x(\d+)x(\d+)xf32>",
                                         self.text):
            vectors, width = int(vectors), int(width)
            found += [(vectors, vectors, width, batch), (vectors, width, vectors, batch)]
        return found

    def write_samples(self, path, rows):
        """Writes ids, which are as skewed in each slot as those of bench/handwritten, numbers and
        labels."""
        import numpy
        from experiment import write_tensors
        draw = numpy.random.default_rng(7)
        ids = numpy.empty((rows, self.slots), numpy.int64)
        before = 0
        for slot, size in enumerate(self.sizes):
            ids[:, slot] = before + (size * draw.random(rows) ** 4).astype(numpy.int64)
            before += size
        fields = {"label": (draw.random((rows, 1)) < 0.25).astype(numpy.float32),
                  "numbers": draw.integers(100, size=(rows, self.numbers)).astype(numpy.float32)}
        if self.is_ragged:
            fields["categories.values"] = ids.ravel()
            fields["categories.splits"] = numpy.arange(ids.size + 1, dtype=numpy.int32)
        else:
            fields["categories"] = ids
        write_tensors(path, fields)

    def write_start(self, path):
        """Writes all initial values. The key of a row is its position in the table."""
        import numpy
        from experiment import write_tensors
        draw = numpy.random.default_rng(8)

        def uniform(low, high, shape):
            return draw.uniform(low, high, shape).astype(numpy.float32)

        count = sum(self.sizes)
        values = {f"{self.table}.keys": numpy.arange(count, dtype=numpy.int64),
                  f"{self.table}.values": uniform(self.low, self.high, (count, self.width))}
        for symbol, (shape, init) in self.parameters.items():
            reach = (6 / sum(shape)) ** 0.5 if init == "xavier" else 0
            values[symbol] = uniform(-reach, reach, shape)
        write_tensors(path, values)
