# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables whose keys are added and removed: admission, expiry, and vectors that are added later.
Numbers are small, so that keys wait, get rows and lose them within the few steps of a check."""

import random

import pdl

# Clauses of tables. Clauses that need counts are only drawn for tables whose rule counts.
CLAUSES = ("admit", "shrink", "widen")
# Clauses of tables that a step looks up without an update: each clause by itself, and clauses that
# admit every key. Those of the second list are for tables whose rule counts.
CROSSED = {
    "counted": {"admit_count": 3}, "every": {"admit_count": 1}, "drawn": {"admit_probability": 0.5},
    "all": {"admit_probability": 1.0}, "shrinks": {"shrink_every": 2, "shrink_unseen": 1},
    "both": {"admit_count": 1, "shrink_every": 1, "shrink_unseen": 2},
}
CROSSED_BY_SCORE = {
    "scored": {"admit_score": 1.5, "score": {"show": 0.25}},
    "decays": {"shrink_every": 1, "shrink_unseen": 2, "shrink_decay": 0.5, "shrink_least": 0.25,
               "score": {"show": 0.125, "click": 1.0}},
    "widens": {"widen_from": 1, "widen_score": 1.0, "score": {"show": 0.25}},
}
WEIGHTS = ({"show": 0.25}, {"show": 0.125, "click": 1.0}, {"click": 0.75, "show": 0.0})


def has_lives(seed):
    """Every fourth seed has tables with such clauses. Models of other seeds stayed the same when
    these clauses were added."""
    return seed % 4 == 3


def crosses(seed):
    """Every sixteenth seed has tables that are looked up by programs or losses that do not train
    them."""
    return seed % 16 == 11


def random_crossings(r):
    """Returns the tables of such a seed: the name of an entry of CROSSED, whether the loss that
    trains the table also looks it up, and the number of its group."""
    names = r.sample([*CROSSED, *CROSSED, *CROSSED_BY_SCORE], 4)
    return tuple((name, name in CROSSED and r.random() < 0.5, r.randrange(3)) for name in names)


def random_clauses(r):
    """Returns the clauses that tables of a model may have."""
    return tuple(r.sample(CLAUSES, r.randint(1, len(CLAUSES))))


def life_of(clauses, number, width, counts):
    """Returns arguments of `pdl.Model.table` for the table of step `number`."""
    r = random.Random(f"life {number} {width}")
    made = {}
    if "admit" in clauses and r.random() < 0.7:
        kind = r.choice(("count", "count", "probability", *["score"] * 3 * counts))
        made[f"admit_{kind}"] = {"count": r.choice((1, 2, 6, 15, 40)),
                                 "probability": r.choice((0.25, 0.5, 1.0)),
                                 "score": r.choice((0.5, 1.5, 4.0))}[kind]
    if "shrink" in clauses and r.random() < 0.7:
        made["shrink_every"], made["shrink_unseen"] = r.randint(1, 3), r.randint(1, 2)
        if counts and r.random() < 0.7:
            made["shrink_decay"] = r.choice((0.5, 0.75, 1.0))
            made["shrink_least"] = r.choice((0.25, 1.0))
    if ("widen" in clauses and counts and width > 1 and "admit_probability" not in made
            and r.random() < 0.7):
        made["widen_from"] = r.randint(1, width - 1)
        made["widen_score"] = made.get("admit_score", 0.5) + r.choice((0.0, 1.0, 3.0))
        if r.random() < 0.5:
            made["widen_init"] = pdl.init.uniform(-0.25, 0.25)
    if {"admit_score", "shrink_decay", "widen_score"} & set(made):
        made["score"] = r.choice(WEIGHTS)
    return made
