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

import argparse
import random

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


def write_texts(path, count):
    """`count` lines, the same ones each time."""
    draw = random.Random(1)
    with open(path, "w") as file:
        file.writelines(text_line(draw) for _ in range(count))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--rows", type=int, default=20000)
    arguments = parser.parse_args()
    write_texts(arguments.file, arguments.rows)


if __name__ == "__main__":
    main()
