# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random settings for the training of symbols: rules, schedules, regularizers, clips and averages.
"""

import random

import pdl
from pdl.scalars import copysign, maximum, narrow, sqrt, wide

from smith import lives
from smith.recipe import Training

# Simplest settings. Gradients can be read from the result of a step with them.
PLAIN_GROUP = {"rule": "sgd", "rate": 0.125}

# For each rule: rate, hyper-parameters, and whether it trains tables.
RULES = {
    "sgd": (0.125, {}, True), "momentum": (0.03125, {}, True), "nesterov": (0.03125, {}, True),
    "adagrad": (0.0625, {}, True), "adam": (0.03125, {}, True), "adamax": (0.03125, {}, True),
    "adamw": (0.03125, {"weight_decay": 0.125}, True),
    "lion": (0.015625, {"weight_decay": 0.125}, True),
    # At the start, each of these rules divides by the root of nearly zero, so its steps are longer
    # by 1 / epsilon.
    "rmsprop": (0.015625, {"rho": 0.75}, True),
    "rmsprop_centered": (0.015625, {"rho": 0.75, "epsilon": 0.0625}, True),
    "decayed_adagrad": (0.03125, {}, True), "adadelta": (1.0, {}, True),
    "ftrl": (0.0625, {"l1": 0.0078125, "l2": 0.125}, True),
    "proximal_sgd": (0.0625, {"l1": 0.0078125}, True),
    "proximal_adagrad": (0.0625, {"l2": 0.125}, True),
    "rowwise_adagrad": (0.0625, {}, True),
    "bounded_adagrad": (0.0625, {"bound": 0.5}, True),
    "lars": (0.0625, {"coefficient": 0.125}, False), "lamb": (0.03125, {}, False),
    "rowwise_lars": (0.0625, {"coefficient": 0.125}, True),
    "rowwise_lamb": (0.03125, {}, True),
    # Rules of the model itself (see below).
    "own_signed": (0.03125, {"scale": 0.5}, True), "own_directed": (0.03125, {}, True),
    "own_normalized": (0.03125, {}, False),
}
SCHEDULES = {
    "constant": {}, "exponential": {"steps": 3.0}, "warm_up": {"steps": 4.0},
    "natural_exponential": {"steps": 3.0, "staircase": 1.0},
    "inverse_time": {"steps": 3.0}, "polynomial": {"steps": 4.0, "power": 2.0, "cycle": 1.0},
    "piecewise": {"after1": 2.0, "rate1": 0.03125, "after2": 5.0, "rate2": 0.015625},
    "noam": {"width": 16.0, "warm_up": 4.0}, "cosine": {"steps": 6.0, "warm_up": 2.0},
    "cosine_restarts": {"steps": 3.0, "growth": 2.0}, "one_cycle": {"steps": 8.0},
    "own_ramp": {"steps": 4.0},
}
CLIPS = (("global_norm", 0.5), ("norm", 0.25), ("value", 0.0625))
AVERAGES = (("ema", {"decay": 0.75}), ("model_average", {"share": 0.5, "least": 2.0, "most": 3.0}))


def random_group(r):
    """Returns random settings of a group."""
    rule = r.choice(list(RULES))
    rate, hyper, _ = RULES[rule]
    made = {"rule": rule, "rate": rate, "untouched": r.choice(("lazy", "dense"))}
    if hyper and r.random() < 0.7:
        made["hyper"] = hyper
    if r.random() < 0.4:
        made["schedule"] = r.choice(list(SCHEDULES))
    if r.random() < 0.3:
        made["decay"] = r.choice((("l1", 0.0078125), ("l2", 0.015625)))
    if r.random() < 0.3:
        made["clip"] = r.choice(CLIPS)
    if r.random() < 0.25:
        made["average"] = r.choice(AVERAGES)
    # Use a separate generator of random numbers, so that the models of earlier seeds stay the
    # same.
    late = random.Random(repr(made))
    if late.random() < 0.3:
        made["rate_over"] = "pushers"
    if made["untouched"] == "lazy" and late.random() < 0.4:
        made["compensate"] = late.choice((0.03125, 0.5))
    return made


def random_training(seed):
    """Returns random settings for the training of a model."""
    r = random.Random(f"training {seed}")
    form = r.choice(("one", "one", "one", "several", "cycle"))
    crosses = lives.crosses(seed)
    if crosses:
        form = ("several", "cycle")[seed // 16 % 2]
    groups = [PLAIN_GROUP] + [random_group(r) for _ in range(
        r.randint(0 if form == "one" else 1, 2))]
    return Training(groups, form, r.random() < 0.3, form != "cycle" and r.random() < 0.4,
                    lives.random_clauses(r) if lives.has_lives(seed) else (),
                    lives.random_crossings(r) if crosses else ())


def trains_tables(settings):
    return RULES[settings["rule"]][2]


def own_rule(model, name):
    """Returns a rule that the model itself defines, with regions of each kind."""
    if name == "own_signed":
        return model.rule(name, hyper={"scale": 1.0}, slots={"mean": 0.0},
                          once=lambda step, rate, scale: rate * scale,
                          each=lambda value, gradient, mean, rate: (
                              value - copysign(rate, mean + gradient),
                              0.5 * (mean + gradient)))
    squares = {"sum": lambda value, gradient, rate: wide(gradient) * wide(gradient)}
    each = {"each": lambda value, gradient, rate, pace: value - pace * gradient}
    if name == "own_normalized":
        return model.rule(name, **squares, **each, param=lambda width, sum, rate: (
            rate / maximum(narrow(sqrt(sum)), 0.0625)))
    return model.rule(
        name, **squares, row_slots={"touched": 0.0},
        row=lambda width, sum, touched, rate: (
            touched + 1.0, rate / maximum(narrow(sqrt(sum)), 0.0625)),
        each=lambda value, gradient, rate, pace: value - pace * gradient)


def _named(model, known, make, name, hyper):
    """Returns a rule or schedule of the standard library, or one of the model."""
    if not name.startswith("own_"):
        return make(name, **hyper) if hyper else name
    if name not in known:
        known[name] = own_rule(model, name) if make is pdl.rule else model.schedule(
            name, lambda step, rate, steps: rate * step / (step + steps), hyper={"steps": 8.0})
    return known[name](**hyper) if hyper else known[name]


def declare(model, groups, plain):
    """Declares the groups of a model. If `plain` is true, all groups are trained so that a step
    equals a gradient."""
    made, own = [], {}
    for i, settings in enumerate([PLAIN_GROUP] * len(groups) if plain else groups):
        more = {}
        for name in ("untouched", "rate_over"):
            if name in settings:
                more[name] = settings[name]
        if "schedule" in settings:
            name = settings["schedule"]
            more["schedule"] = _named(model, own, pdl.schedule, name, SCHEDULES[name])
        if "decay" in settings:
            kind, number = settings["decay"]
            more["decay"] = [getattr(pdl.decay, kind)(number)]
        if "clip" in settings:
            kind, limit = settings["clip"]
            more["clip"] = model.clip(f"clip{i}", **{kind: limit})
        if "compensate" in settings:
            more["compensate"] = pdl.rule("delay_compensation", strength=settings["compensate"])
        if "average" in settings:
            more["average"] = pdl.rule(settings["average"][0], **settings["average"][1])
        rule = _named(model, own, pdl.rule, settings["rule"], settings.get("hyper"))
        made.append(model.group(f"g{i}", rule=rule, rate=1.0 if plain else settings["rate"],
                                **more))
    return made
