#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates pairs of neighboring words, for word models.

  make_pairs.py FILE [--rows N]

Columns, separated by tabs: word, neighbor. Words are numbers by falling frequency.

A model can learn this: a word has one of ten kinds, and six of ten neighbors have the same kind.
The other neighbors are any words.
"""

import made_up

WORDS = 400
KINDS = 10


def any_word(draw):
    chance = draw.random()
    return int(chance * chance * WORDS)


def pair_line(draw):
    """Uses only random() of `draw`, whose numbers are the same in all versions of Python."""
    word, neighbor = any_word(draw), any_word(draw)
    if draw.random() < 0.6:
        neighbor += word % KINDS - neighbor % KINDS
    return f"{word}\t{neighbor}\n"


if __name__ == "__main__":
    made_up.main(__doc__, pair_line)
