# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A proxy on this host that corrupts the bytes of connections at random points."""

import random

from proxy import Proxy

KINDS = "flip", "drop", "double"


class CorruptingProxy(Proxy):
    """Listens at an address and forwards to another one. It changes, drops or doubles a few bytes
    `faults` times, each of them `shortest` to `longest` bytes of both directions after the one
    before. Connections stay open."""

    def __init__(self, address, target, seed, faults, shortest, longest):
        self.random = random.Random(seed)
        self.between = shortest, longest
        self.left = faults
        self.seen = 0
        self.next = self.random.randint(shortest, longest)
        super().__init__(address, target)

    def change(self, data, client):
        with self.lock:
            self.seen += len(data)
            if self.left == 0 or self.seen < self.next:
                return data
            self.left -= 1
            self.next = self.seen + self.random.randint(*self.between)
            at = self.random.randrange(len(data))
            kind = self.random.choice(KINDS)
            count = self.random.choice((1, 1, 3, 8, 16, 200))
            if kind == "flip":
                bit = bytes([data[at] ^ 1 << self.random.randrange(8)])
                return data[:at] + bit + data[at + 1:]
            if kind == "drop":
                return data[:at] + data[at + count:]
            return data[:at + count] + data[at:]
