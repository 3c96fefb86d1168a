# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of a training whose replicas have parts of a batch with a training of one replica
that has the whole batch. The results are sums in different orders, so they differ by rounding,
which is below 1e-12 in f64."""

import programs  # Finds the oracles.
import tensorfile

assert programs


def compare(test, several, one):
    """Compares the results `several` and `one`. Each is a pair of a dump and the text of
    --log-losses."""
    (dump, losses), (one_dump, one_losses) = several, one
    losses = [float(line) for line in losses.split()]
    one_losses = [float(line) for line in one_losses.split()]
    test.assertEqual(len(losses), len(one_losses))
    test.assertGreaterEqual(len(losses), 20)
    for step, (got, want) in enumerate(zip(losses, one_losses)):
        test.assertLess(abs(got - want), 1e-12 * abs(want), f"step {step}")
    got, want = tensorfile.read(dump), tensorfile.read(one_dump)
    test.assertEqual(got.keys(), want.keys())
    for tensor in want:
        test.assertEqual(got[tensor].shape, want[tensor].shape)
        # Compare with the largest value of the tensor, because the terms of single elements may
        # cancel.
        largest = max(map(abs, want[tensor].data), default=0)
        worst = max((abs(a - b) for a, b in
                     zip(got[tensor].data, want[tensor].data)), default=0)
        test.assertLessEqual(worst, 1e-12 * largest, tensor)
