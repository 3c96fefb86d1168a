# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Vowpal Wabbit over a file, so many times: prints its progressive log loss."""

import argparse

import vowpalwabbit

parser = argparse.ArgumentParser()
parser.add_argument("path")
parser.add_argument("passes", type=int)
# Of 0.5 (its default), 0.1, 0.05 and 0.02 the one with the least loss on the rows of a line.
parser.add_argument("--rate", type=float, default=0.05)
parser.add_argument("--adaptive", action="store_true",
                    help="neither normalized nor invariant, as its default is too")
parser.add_argument("--lrqfa", help="namespaces whose pairs have factors, and their size")
options = parser.parse_args()
more = f"--lrqfa {options.lrqfa} " if options.lrqfa else ""
more += "--adaptive " if options.adaptive else ""
for _ in range(options.passes):
    # A model each: the text is read and parsed each time, which is what is measured.
    model = vowpalwabbit.Workspace(
        f"--data {options.path} --loss_function logistic --bit_precision 22 "
        f"--learning_rate {options.rate} {more}--quiet")
    model.finish()
print(model.get_sum_loss() / model.get_weighted_examples())
