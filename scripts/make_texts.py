#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates texts with tags, for text models.

  make_texts.py FILE [--rows N]

Columns, separated by tabs: words, tag, other tag. Words and tags are numbers.

A model can learn this: a fifth of the words belong to the tag, and each of these is followed by a
word that belongs to it. The others are any words.
"""

import made_up

WORDS = 400
TAGS = 10
SHORTEST, LONGEST = 3, 16


def text_line(draw):
    """Uses only random() of `draw`, whose numbers are the same in all versions of Python."""
    def below(count):
        return int(draw.random() * count)

    tag, count, words = below(TAGS), SHORTEST + below(LONGEST - SHORTEST + 1), []
    while len(words) < count:
        if draw.random() < 0.2:
            word = tag + TAGS * below(WORDS // TAGS)
            words += [word, (3 * word + 1) % WORDS]
        else:
            words.append(below(WORDS))
    other = (tag + 1 + below(TAGS - 1)) % TAGS
    return f"{' '.join(map(str, words[:count]))}\t{tag}\t{other}\n"


if __name__ == "__main__":
    made_up.main(__doc__, text_line)
