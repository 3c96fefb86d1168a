#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes up texts with tags, for the models of texts.

  make_texts.py FILE [--rows N]

Columns, by tabs: words, tag, other tag. Words and tags are numbers.

What is in it to be found: a fifth of the words are of the tag, and followed by a word
that belongs to them; the others are any words.
"""

import made_up

WORDS = 400
TAGS = 10
SHORTEST, LONGEST = 3, 16


def text_line(draw):
    """Of `draw` only random(), whose numbers are the same in all versions of Python."""
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
