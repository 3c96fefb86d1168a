#===- reference_rules.py - Optimizers from their papers ------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Update rules as plain formulas, for dense tensors and for the touched rows of a table. They work
on PyTorch tensors of any shape.

`rule_cases.py` compares the rules that PyTorch has with torch.optim before it writes anything. The
others follow their papers:

- ftrl: McMahan et al., "Ad Click Prediction: a View from the Trenches" (2013), algorithm 1.
- lion: Chen et al., "Symbolic Discovery of Optimization Algorithms" (2023), algorithm 2.
- proximal_sgd: Duchi and Singer, "Efficient Online and Batch Learning Using Forward Backward
  Splitting" (2009), with l1 and squared l2.
- proximal_adagrad: Duchi et al., "Adaptive Subgradient Methods" (2011), composite mirror descent
  with the same two regularizers.
- rowwise_adagrad: "exact row-wise AdaGrad" of FBGEMM's embedding tables.
- bounded_adagrad: SparseAdaGradSGDRule of PaddlePaddle's tables, without shows.
- click_adagrad: the same with shows (CtrCommonAccessor, show_scale).
- rowwise_lars: You et al., "Large Batch Training of Convolutional Networks" (2017), with rows
  instead of layers.
- rowwise_lamb: You et al., "Large Batch Optimization for Deep Learning" (2020), with rows instead
  of layers.

The last dimension is a row, for which a row slot has one element.
"""

from dataclasses import dataclass
from typing import Callable

import torch


@dataclass
class Rule:
    hyper: dict
    slots: Callable  # hyper -> {slot: initial value}
    update: Callable  # (value, gradient, slots, rate, step, hyper) -> (value, slots)
    row_slots: Callable = lambda hyper: {}  # those of one element a row
    undivided: bool = False  # `gradient` is the sum over the samples, not the mean


def _sgd(value, gradient, slots, rate, step, hyper):
    return value - rate * gradient, {}


def _moving_average(value, mean, slots, rate, step, hyper):
    """Rule of a moving average that a program accumulates. `mean`: the mean of the batch."""
    return value + rate * (mean - value), {}


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


def _rmsprop(value, gradient, slots, rate, step, hyper):
    mean_square = hyper["rho"] * slots["mean_square"] + (1 - hyper["rho"]) * gradient**2
    value = value - rate * gradient / (torch.sqrt(mean_square) + hyper["epsilon"])
    return value, {"mean_square": mean_square}


def _bounded_rmsprop(value, gradient, slots, rate, step, hyper):
    """Rule of models/gan."""
    value, slots = _rmsprop(value, gradient, slots, rate, step, hyper)
    return torch.clamp(value, -hyper["bound"], hyper["bound"]), slots


def _rmsprop_centered(value, gradient, slots, rate, step, hyper):
    mean = hyper["rho"] * slots["mean"] + (1 - hyper["rho"]) * gradient
    mean_square = hyper["rho"] * slots["mean_square"] + (1 - hyper["rho"]) * gradient**2
    deviation = torch.sqrt(mean_square - mean * mean)
    value = value - rate * gradient / (deviation + hyper["epsilon"])
    return value, {"mean": mean, "mean_square": mean_square}


def _decayed_adagrad(value, gradient, slots, rate, step, hyper):
    total = hyper["decay"] * slots["accumulator"] + (1 - hyper["decay"]) * gradient**2
    value = value - rate * gradient / (torch.sqrt(total) + hyper["epsilon"])
    return value, {"accumulator": total}


def _adadelta(value, gradient, slots, rate, step, hyper):
    rho, epsilon = hyper["rho"], hyper["epsilon"]
    mean_square = rho * slots["mean_square"] + (1 - rho) * gradient**2
    direction = (torch.sqrt(slots["mean_change"] + epsilon) /
                 torch.sqrt(mean_square + epsilon) * gradient)
    mean_change = rho * slots["mean_change"] + (1 - rho) * direction**2
    return value - rate * direction, {"mean_square": mean_square,
                                      "mean_change": mean_change}


def _adamax(value, gradient, slots, rate, step, hyper):
    m = hyper["beta1"] * slots["m"] + (1 - hyper["beta1"]) * gradient
    u = torch.maximum(hyper["beta2"] * slots["u"], torch.abs(gradient) + hyper["epsilon"])
    value = value - rate / (1 - hyper["beta1"]**step) * m / u
    return value, {"m": m, "u": u}


def _adamw(value, gradient, slots, rate, step, hyper):
    moved, slots = _adam(value, gradient, slots, rate, step, hyper)
    return moved - rate * hyper["weight_decay"] * value, slots


def _lion(value, gradient, slots, rate, step, hyper):
    mixed = hyper["beta1"] * slots["m"] + (1 - hyper["beta1"]) * gradient
    m = hyper["beta2"] * slots["m"] + (1 - hyper["beta2"]) * gradient
    value = value - rate * (torch.sign(mixed) + hyper["weight_decay"] * value)
    return value, {"m": m}


def _proximal_point(moved, pace, hyper):
    """Returns the minimizer over x of (x - moved)^2 / 2 + pace * (l1 |x| + l2 / 2 x^2)."""
    size = torch.clamp(torch.abs(moved) - pace * hyper["l1"], min=0.0)
    return torch.sign(moved) * size / (1 + pace * hyper["l2"])


def _proximal_sgd(value, gradient, slots, rate, step, hyper):
    return _proximal_point(value - rate * gradient, rate, hyper), {}


def _proximal_adagrad(value, gradient, slots, rate, step, hyper):
    total = slots["accumulator"] + gradient * gradient
    pace = rate / torch.sqrt(total)
    return (_proximal_point(value - pace * gradient, pace, hyper),
            {"accumulator": total})


def _mean_square(gradient):
    return (gradient * gradient).mean(dim=-1, keepdim=True)


def _rowwise_adagrad(value, gradient, slots, rate, step, hyper):
    total = slots["accumulator"] + _mean_square(gradient)
    value = value - rate / (torch.sqrt(total) + hyper["epsilon"]) * gradient
    return value, {"accumulator": total}


def _bounded_adagrad(value, gradient, slots, rate, step, hyper):
    before = slots["accumulator"]
    pace = rate * torch.sqrt(hyper["initial"] / (hyper["initial"] + before))
    value = (value - pace * gradient).clamp(-hyper["bound"], hyper["bound"])
    return value, {"accumulator": before + _mean_square(gradient)}


def _click_adagrad(value, gradient, slots, rate, step, hyper):
    """Rule whose `hyper` also has the shows and clicks of the step."""
    shows = hyper["show"]
    scaled = gradient / torch.where(shows > 0, shows, torch.ones_like(shows))
    value, new = _bounded_adagrad(value, scaled, slots, rate, step, hyper)
    return value, {**new, "show": slots["show"] + shows,
                   "click": slots["click"] + hyper["click"]}


def _norm(rows):
    return torch.linalg.vector_norm(rows, dim=-1, keepdim=True)


def _ratio(value_norm, other_norm, ratio):
    """Returns `ratio`, or 1 if one of the norms is 0."""
    return torch.where((value_norm > 0) & (other_norm > 0), ratio,
                       torch.ones_like(ratio))


def _rowwise_lars(value, gradient, slots, rate, step, hyper, norm=_norm):
    value_norm, gradient_norm = norm(value), norm(gradient)
    decay = hyper["weight_decay"]
    ratio = _ratio(value_norm, gradient_norm, hyper["coefficient"] * value_norm /
                   (gradient_norm + decay * value_norm))
    velocity = (hyper["momentum"] * slots["velocity"] +
                rate * ratio * (gradient + decay * value))
    return value - velocity, {"velocity": velocity}


def _lars(*arguments):
    return _rowwise_lars(*arguments, norm=torch.linalg.vector_norm)


def _rowwise_lamb(value, gradient, slots, rate, step, hyper, norm=_norm):
    moved, slots = _adam(value, gradient, slots, 1.0, step, hyper)
    direction = value - moved + hyper["weight_decay"] * value
    value_norm, direction_norm = norm(value), norm(direction)
    ratio = _ratio(value_norm, direction_norm, value_norm / direction_norm)
    return value - rate * ratio * direction, slots


def _lamb(*arguments):
    return _rowwise_lamb(*arguments, norm=torch.linalg.vector_norm)


def _ema(average, value, slots, rate, step, hyper):
    """Average of the values of a parameter: it starts at zero and is divided by the sum of the
    weights. `average`: the previous average."""
    weight = hyper["decay"] * slots["weight"] + (1 - hyper["decay"])
    total = hyper["decay"] * slots["weight"] * average + (1 - hyper["decay"]) * value
    return total / weight, {"weight": weight}


def _model_average(average, value, slots, rate, step, hyper):
    """Average of the values of a parameter: the mean over a window and over the previous window.
    """
    whole_value = value - slots["lost"]
    total, count = slots["sum"] + whole_value, slots["count"] + 1
    lost = (total - slots["sum"]) - whole_value
    ends = count >= max(hyper["least"], min(hyper["most"], hyper["share"] * step))
    older_sum = torch.where(ends, total, slots["older_sum"])
    older_count = torch.where(ends, count, slots["older_count"])
    total = torch.where(ends, torch.zeros_like(total), total)
    count = torch.where(ends, torch.zeros_like(count), count)
    lost = torch.where(ends, torch.zeros_like(lost), lost)
    return ((total + older_sum) / (count + older_count),
            {"sum": total, "lost": lost, "count": count, "older_sum": older_sum,
             "older_count": older_count})


RULES = {
    "ema": Rule({"decay": 0.999}, lambda hyper: {"weight": 0.0}, _ema),
    "model_average": Rule({"share": 0.15, "least": 10000.0, "most": 10000.0},
                          lambda hyper: {"sum": 0.0, "lost": 0.0, "count": 0.0,
                                         "older_sum": 0.0, "older_count": 0.0}, _model_average),
    "sgd": Rule({}, lambda hyper: {}, _sgd),
    "moving_average": Rule({}, lambda hyper: {}, _moving_average),
    "momentum": Rule({"momentum": 0.9}, lambda hyper: {"velocity": 0.0}, _momentum),
    "nesterov": Rule({"momentum": 0.9}, lambda hyper: {"velocity": 0.0}, _nesterov),
    "adagrad": Rule({"epsilon": 1e-10}, lambda hyper: {"accumulator": 0.0}, _adagrad),
    "adam": Rule({"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
                 lambda hyper: {"m": 0.0, "v": 0.0}, _adam),
    "ftrl": Rule({"beta": 1.0, "l1": 0.0, "l2": 0.0},
                 lambda hyper: {"z": 0.0, "n": 0.0}, _ftrl, undivided=True),
    "rmsprop": Rule({"rho": 0.99, "epsilon": 1e-8},
                    lambda hyper: {"mean_square": 0.0}, _rmsprop),
    "bounded_rmsprop": Rule({"rho": 0.9, "epsilon": 1e-8, "bound": 0.05},
                            lambda hyper: {"mean_square": 0.0}, _bounded_rmsprop),
    "rmsprop_centered": Rule({"rho": 0.99, "epsilon": 1e-8},
                             lambda hyper: {"mean": 0.0, "mean_square": 0.0},
                             _rmsprop_centered),
    "decayed_adagrad": Rule({"decay": 0.95, "epsilon": 1e-6},
                            lambda hyper: {"accumulator": 0.0}, _decayed_adagrad),
    "adadelta": Rule({"rho": 0.9, "epsilon": 1e-6},
                     lambda hyper: {"mean_square": 0.0, "mean_change": 0.0}, _adadelta),
    "adamax": Rule({"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
                   lambda hyper: {"m": 0.0, "u": 0.0}, _adamax),
    "adamw": Rule({"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.01},
                  lambda hyper: {"m": 0.0, "v": 0.0}, _adamw),
    "lion": Rule({"beta1": 0.9, "beta2": 0.99, "weight_decay": 0.0},
                 lambda hyper: {"m": 0.0}, _lion),
    "proximal_sgd": Rule({"l1": 0.0, "l2": 0.0}, lambda hyper: {}, _proximal_sgd),
    "rowwise_adagrad": Rule({"epsilon": 1e-8}, lambda hyper: {}, _rowwise_adagrad,
                            lambda hyper: {"accumulator": 0.0}),
    "bounded_adagrad": Rule({"initial": 3.0, "bound": 10.0}, lambda hyper: {},
                            _bounded_adagrad, lambda hyper: {"accumulator": 0.0}),
    "click_adagrad": Rule({"initial": 3.0, "bound": 10.0}, lambda hyper: {}, _click_adagrad,
                          lambda hyper: {"accumulator": 0.0, "show": 0.0, "click": 0.0},
                          undivided=True),
    "lars": Rule({"momentum": 0.9, "coefficient": 1e-3, "weight_decay": 5e-4},
                 lambda hyper: {"velocity": 0.0}, _lars),
    "lamb": Rule({"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6, "weight_decay": 0.01},
                 lambda hyper: {"m": 0.0, "v": 0.0}, _lamb),
    "rowwise_lars": Rule({"momentum": 0.9, "coefficient": 1e-3, "weight_decay": 5e-4},
                         lambda hyper: {"velocity": 0.0}, _rowwise_lars),
    "rowwise_lamb": Rule({"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6,
                          "weight_decay": 0.01},
                         lambda hyper: {"m": 0.0, "v": 0.0}, _rowwise_lamb),
    "proximal_adagrad": Rule({"l1": 0.0, "l2": 0.0},
                             lambda hyper: {"accumulator": 0.1}, _proximal_adagrad),
}
