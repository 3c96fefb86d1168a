#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates histories of viewed items, for sequence models.

  make_histories.py FILE [--rows N]

Columns, separated by tabs: label, item, category, items, categories, next, next's category, other,
other's category. `items` are the viewed items of a user, `next` is the next one, and `other` is any
item. `item` is one of these two, and the label says which: 1 for next.

A model can learn this: half of all items follow from the previous one, and most others are in the
user's two favorite categories.
"""

import made_up

ITEMS = 300
CATEGORIES = 12
LONGEST = 14


def category(item):
    return item % CATEGORIES


def follow(draw, favorites, last):
    """Returns the item after `last`. Uses only random() of `draw`, whose numbers are the same in
    all versions of Python."""
    chance = draw.random()
    if chance < 0.5 and last is not None:
        return (7 * last + 3) % ITEMS
    item = int(draw.random() * ITEMS)
    if chance < 0.9:
        favorite = favorites[int(draw.random() * len(favorites))]
        item += favorite - category(item)
    return item % ITEMS


def history_line(draw):
    favorites = [int(draw.random() * CATEGORIES) for _ in range(2)]
    items = [follow(draw, favorites, None)]
    for _ in range(int(draw.random() * (LONGEST + 1))):
        items.append(follow(draw, favorites, items[-1]))
    *items, following = items
    other = int(draw.random() * ITEMS)
    label = int(draw.random() < 0.5)
    item = following if label else other
    cells = [label, item, category(item), " ".join(map(str, items)),
             " ".join(str(category(one)) for one in items),
             following, category(following), other, category(other)]
    return "\t".join(map(str, cells)) + "\n"


if __name__ == "__main__":
    made_up.main(__doc__, history_line)
