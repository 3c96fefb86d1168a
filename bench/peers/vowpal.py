# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains Vowpal Wabbit on a file several times. Prints its progressive log loss."""

import argparse

import vowpalwabbit

parser = argparse.ArgumentParser()
parser.add_argument("path")
parser.add_argument("passes", type=int)
# Of 0.5 (the default), 0.1, 0.05 and 0.02, the learning rate with the smallest loss on the rows of
# the comparison.
parser.add_argument("--rate", type=float, default=0.05)
parser.add_argument("--adaptive", action="store_true",
                    help="neither normalized nor invariant, as its default is too")
parser.add_argument("--lrqfa", help="namespaces whose pairs have factors, and their size")
options = parser.parse_args()
more = f"--lrqfa {options.lrqfa} " if options.lrqfa else ""
more += "--adaptive " if options.adaptive else ""
for _ in range(options.passes):
    # Each pass creates a model, so that the text is read and parsed each time. This is measured.
    model = vowpalwabbit.Workspace(
        f"--data {options.path} --loss_function logistic --bit_precision 22 "
        f"--learning_rate {options.rate} {more}--quiet")
    model.finish()
print(model.get_sum_loss() / model.get_weighted_examples())
