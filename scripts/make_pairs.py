#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes up pairs of words that stand near each other, for the models of words.

  make_pairs.py FILE [--rows N]

Columns, by tabs: word, neighbor. Words are numbers by falling frequency.

What is in it to be found: a word is of one of ten kinds, and six neighbors of ten are
of its kind, the others any words.
"""

import made_up

WORDS = 400
KINDS = 10


def any_word(draw):
    chance = draw.random()
    return int(chance * chance * WORDS)


def pair_line(draw):
    """Of `draw` only random(), whose numbers are the same in all versions of Python."""
    word, neighbor = any_word(draw), any_word(draw)
    if draw.random() < 0.6:
        neighbor += word % KINDS - neighbor % KINDS
    return f"{word}\t{neighbor}\n"


if __name__ == "__main__":
    made_up.main(__doc__, pair_line)
