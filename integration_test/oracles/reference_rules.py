#===- reference_rules.py - Optimizers from their papers ------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Update rules as plain formulas, for dense tensors and for the touched rows of
a table alike. They work on PyTorch tensors of any shape.

`rule_cases.py` compares all but ftrl with torch.optim before it writes anything;
ftrl follows McMahan et al., "Ad Click
Prediction: a View from the Trenches" (2013), algorithm 1.
"""

from dataclasses import dataclass
from typing import Callable

import torch


@dataclass
class Rule:
    hyper: dict
    slots: Callable  # hyper -> {slot: initial value}
    update: Callable  # (value, gradient, slots, rate, step, hyper) -> (value, slots)


def _sgd(value, gradient, slots, rate, step, hyper):
    return value - rate * gradient, {}


def _momentum(value, gradient, slots, rate, step, hyper):
    velocity = hyper["momentum"] * slots["velocity"] + gradient
    return value - rate * velocity, {"velocity": velocity}


def _nesterov(value, gradient, slots, rate, step, hyper):
    velocity = hyper["momentum"] * slots["velocity"] + gradient
    direction = gradient + hyper["momentum"] * velocity
    return value - rate * direction, {"velocity": velocity}


def _adagrad(value, gradient, slots, rate, step, hyper):
    total = slots["accumulator"] + gradient * gradient
    value = value - rate * gradient / (torch.sqrt(total) + hyper["epsilon"])
    return value, {"accumulator": total}


def _adam(value, gradient, slots, rate, step, hyper):
    beta1, beta2 = hyper["beta1"], hyper["beta2"]
    m = beta1 * slots["m"] + (1 - beta1) * gradient
    v = beta2 * slots["v"] + (1 - beta2) * gradient * gradient
    m_unbiased = m / (1 - beta1**step)
    v_unbiased = v / (1 - beta2**step)
    value = value - rate * m_unbiased / (torch.sqrt(v_unbiased) + hyper["epsilon"])
    return value, {"m": m, "v": v}


def _ftrl(value, gradient, slots, rate, step, hyper):
    z, n = slots["z"], slots["n"]
    n_new = n + gradient * gradient
    sigma = (torch.sqrt(n_new) - torch.sqrt(n)) / rate
    z_new = z + gradient - sigma * value
    shrunk = torch.sign(z_new) * hyper["l1"] - z_new
    curvature = (hyper["beta"] + torch.sqrt(n_new)) / rate + hyper["l2"]
    value = torch.where(torch.abs(z_new) <= hyper["l1"],
                        torch.zeros_like(value), shrunk / curvature)
    return value, {"z": z_new, "n": n_new}


RULES = {
    "sgd": Rule({}, lambda hyper: {}, _sgd),
    "momentum": Rule({"momentum": 0.9}, lambda hyper: {"velocity": 0.0}, _momentum),
    "nesterov": Rule({"momentum": 0.9}, lambda hyper: {"velocity": 0.0}, _nesterov),
    "adagrad": Rule({"epsilon": 1e-10}, lambda hyper: {"accumulator": 0.0}, _adagrad),
    "adam": Rule({"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
                 lambda hyper: {"m": 0.0, "v": 0.0}, _adam),
    "ftrl": Rule({"beta": 1.0, "l1": 0.0, "l2": 0.0},
                 lambda hyper: {"z": 0.0, "n": 0.0}, _ftrl),
}
