#===- rule_cases.py - Golden cases of optimizers --------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Cases of several steps: rules, schedules, regularizers, clip, weights.

Each group of a case owns a parameter `<group>_p` of 3 elements and a table
`<group>_t` of rows of 3. The loss of a sample is the squared error of
x * parameter + (sum of two rows) against a target, summed over the elements and
the groups. So gradients depend on the values, and an error of one step grows in
the next ones.
"""

import math
from dataclasses import dataclass, field
from typing import Callable

import numpy
import torch

from op_cases import write_case
from reference_rules import RULES

WIDTH = 3
CLIP_NAMES = {"global_norm": "joint", "norm": "each", "value": "elements"}
KEYS = numpy.array([-2**63, -5, 0, 1, 77, 2**63 - 1], dtype=numpy.int64)


@dataclass
class Group:
    """Group. `clauses`: the text after the rate. The other members define the same in Python."""
    rule: str
    rate: float
    hyper: dict = field(default_factory=dict)
    clauses: str = "untouched(lazy)"
    schedule: Callable = lambda step: 1.0  # the factor of the rate
    decay: Callable = lambda value: 0.0 * value
    clip: float = 0.0  # the limit of the case's clip
    dense: bool = False  # untouched(dense)
    average: str = ""  # the rule of the average, which gets the new values
    average_hyper: dict = field(default_factory=dict)
    whole: bool = False  # the rule knows whole parameters: a matrix instead of the table
    counted: bool = False  # the rule takes counts of rows: no parameter, whole sums

    def average_text(self):
        if not self.average:
            return ""
        return f" average(@{self.average}{hyper_text(self.average_hyper)})"

    def average_numbers(self):
        return {**RULES[self.average].hyper, **self.average_hyper}


def number(value):
    """Returns a literal that MLIR parses as a float."""
    text = repr(float(value))
    mantissa, mark, exponent = text.partition("e")
    if mark and "." not in mantissa:
        mantissa += ".0"
    return mantissa + mark + exponent


def hyper_text(hyper):
    if not hyper:
        return ""
    return " {" + ", ".join(f"{name} = {number(value)}"
                            for name, value in hyper.items()) + "}"


def case_text(name, groups, weighted, clip, clip_kind):
    one, wide, ids = "tensor<?x1xf32>", f"tensor<?x{WIDTH}xf32>", "tensor<?x2xi64>"
    rows, vector = f"tensor<?x2x{WIDTH}xf32>", f"tensor<{WIDTH}xf32>"
    square = f"tensor<{WIDTH}x{WIDTH}xf32>"
    fields = [("x", wide), ("target", wide), ("ids", ids)]
    if weighted:
        fields.append(("weight", one))
    if any(facts.counted for facts in groups.values()):
        fields += [("show", one), ("click", one)]
    lines = [f"module @{name} {{", "  nn.record @sample {"]
    lines += [f"    nn.field @{field} : {kind}" for field, kind in fields] + ["  }"]
    if clip:
        lines.append(f"  nn.clip @{CLIP_NAMES[clip_kind]} : {clip_kind}({number(clip)})")
    for group, facts in groups.items():
        lines += [f"  nn.group @{group} rule(@{facts.rule}{hyper_text(facts.hyper)}) "
                  f"rate({number(facts.rate)}) {facts.clauses}".rstrip() +
                  facts.average_text()]
        if not facts.counted:
            lines += [f"  nn.param @{group}_p : {vector} in @{group} init(#nn.zeros)"]
        lines += [f"  nn.param @{group}_m : {square} in @{group} init(#nn.zeros)"
                  if facts.whole else
                  f"  nn.table @{group}_t : i64 -> {vector} in @{group} init(#nn.zeros)"]
    arguments = ", ".join(f"%{field}: {kind}" for field, kind in fields)
    lines += ["  nn.program @train reads(@sample) {", f"  ^bb0({arguments}):"]
    total = None
    for group, facts in groups.items():
        g = f"%{group}"
        if not facts.counted:
            lines += [f"    {g}_p = nn.read @{group}_p : {vector}"]
        lines += [
            f"    {g}_m = nn.read @{group}_m : {square}",
            f"    {g}_sum = nn.matmul %x, {g}_m : {wide}, {square}",
        ] if facts.whole else [
            f"    {g}_rows = nn.lookup @{group}_t[%ids] pool(sum) : ({ids}) -> {rows}",
            f"    {g}_sum = nn.reduce sum {g}_rows axes [1] : {rows}"]
        if facts.counted:
            lines += [
                f"    nn.count @{group}_t[%ids] click(%click) show(%show) : {ids}, {one}"]
        lines += [
            f"    {g}_product = nn.mul %x, %x : {wide}, {wide}" if facts.counted else
            f"    {g}_product = nn.mul %x, {g}_p : {wide}, {vector}",
            f"    {g}_value = nn.add {g}_product, {g}_sum : {wide}, {wide}",
            f"    {g}_error = nn.squared_error {g}_value, %target : {wide}",
            f"    {g}_loss = nn.reduce sum {g}_error axes [1] keep : {wide}"]
        if total is None:
            total = f"{g}_loss"
        else:
            lines.append(f"    {g}_total = nn.add {total}, {g}_loss : "
                         f"{one}, {one}")
            total = f"{g}_total"
    over = ", ".join(f"@{group}" for group in groups)
    clause, kinds = (" weight %weight", f"{one}, {one}") if weighted else ("", one)
    lines += [f"    nn.minimize {total}{clause} over [{over}] : {kinds}", "  }", "}", ""]
    return "\n".join(lines)


def draw_data(random, numbers, groups, steps, batch, weighted):
    """Returns the samples of all steps."""
    data = {"x": numbers((steps * batch, WIDTH)), "target": numbers((steps * batch, WIDTH)),
            # Each step has two keys, so the others stay untouched.
            "ids": numpy.stack([random.choice(KEYS[2 * (s % 3):2 * (s % 3) + 3], 2)
                                for s in range(steps) for _ in range(batch)])}
    if weighted:
        data["weight"] = random.choice([0.0, 0.5, 1.0, 3.0], (steps * batch, 1))
        data["weight"][0] = 0.5
    if any(facts.counted for facts in groups.values()):
        data["show"] = random.choice([0.0, 1.0, 1.0, 3.0], (steps * batch, 1))
        data["click"] = data["show"] * random.choice([0.0, 1.0], (steps * batch, 1))
    return data


def shapes_of(group, facts):
    """Returns the shapes of a group's symbols by name."""
    shapes = {} if facts.counted else {f"{group}_p": (WIDTH,)}
    if facts.whole:
        return shapes | {f"{group}_m": (WIDTH, WIDTH)}
    return shapes | {f"{group}_t": (len(KEYS), WIDTH)}


def first_slots(facts, value):
    """Returns the slots of a symbol before the first step."""
    rule = RULES[facts.rule]
    hyper = {**rule.hyper, **facts.hyper}
    rows = 1 if value.dim() == 1 else value.shape[0]
    slots = {slot: torch.full(value.shape, first, dtype=torch.float64)
             for slot, first in rule.slots(hyper).items()}
    slots |= {slot: torch.full((rows, 1), first, dtype=torch.float64)
              for slot, first in rule.row_slots(hyper).items()}
    if facts.average:
        slots["average"] = value.clone()
        slots |= {f"average_{slot}": torch.full(value.shape, first, dtype=torch.float64)
                  for slot, first in RULES[facts.average].slots(
                      facts.average_numbers()).items()}
    return slots


class Training:
    """The model of a case in PyTorch. Its values and slots change in each step."""

    def __init__(self, groups, numbers, clip_kind):
        self.groups = groups
        self.clip_kind = clip_kind
        self.value, self.slots = {}, {}
        for group, facts in groups.items():
            for symbol, shape in shapes_of(group, facts).items():
                # The lazy rule of FTRL computes its value from z and n, so the initial value
                # follows from them.
                start = numpy.zeros(shape) if facts.rule == "ftrl" else numbers(shape, -1, 1)
                self.value[symbol] = torch.tensor(start)
                self.slots[symbol] = first_slots(facts, self.value[symbol])

    def initial(self):
        """Returns the values in the form of a file of initial values."""
        tensors = {}
        for symbol, tensor in self.value.items():
            if symbol.endswith("_t"):
                tensors[f"{symbol}.keys"] = KEYS
                symbol += ".values"
            tensors[symbol] = tensor.numpy().astype(numpy.float32)
        return tensors

    def step(self, step, data):
        """Runs step number `step`, from 1, on the samples of `data`. Returns its loss."""
        rows = torch.as_tensor(numpy.searchsorted(KEYS, data["ids"]))
        weight = torch.tensor(data["weight"][:, 0] if "weight" in data
                              else numpy.ones(len(rows)))
        leaves = {symbol: tensor.clone().requires_grad_()
                  for symbol, tensor in self.value.items()}
        loss = (self.errors(leaves, rows, data) * weight).sum() / weight.sum()
        loss.backward()
        norm = math.sqrt(sum(leaf.grad.square().sum().item()
                             for symbol, leaf in leaves.items()
                             if self.groups[symbol[:-2]].clip))
        touched = torch.unique(rows)
        counts = self.counts(rows, data)
        for symbol, leaf in leaves.items():
            facts = self.groups[symbol[:-2]]
            lazy = symbol.endswith("_t") and not facts.dense
            index = touched if lazy else slice(None)
            self.update(symbol, index, self.gradient_of(symbol, leaf, index, norm, weight),
                        step, {name: count[index] for name, count in counts.items()})
        return loss.item()

    def errors(self, leaves, rows, data):
        """Returns the error of each sample, summed over the groups."""
        x, target = torch.tensor(data["x"]), torch.tensor(data["target"])
        total = 0.0
        for group, facts in self.groups.items():
            predicted = x * (x if facts.counted else leaves[f"{group}_p"]) + (
                x @ leaves[f"{group}_m"] if facts.whole
                else leaves[f"{group}_t"][rows].sum(dim=1))
            total = total + ((predicted - target)**2).sum(dim=1)
        return total

    @staticmethod
    def counts(rows, data):
        """Returns the shows and clicks of each key, if the case has them."""
        if "show" not in data:
            return {}
        # An id that occurs twice in a sample counts twice.
        return {name: torch.zeros(len(KEYS), 1, dtype=torch.float64).index_add_(
                    0, rows.flatten(), torch.tensor(data[name]).repeat(1, 2).reshape(-1, 1))
                for name in ("show", "click")}

    def gradient_of(self, symbol, leaf, index, norm, weight):
        """Returns the gradient that the rule gets for the rows of `index`. `norm`: norm of all
        clipped gradients."""
        facts = self.groups[symbol[:-2]]
        gradient = leaf.grad[index]
        if facts.clip and self.clip_kind == "value":
            gradient = gradient.clamp(-facts.clip, facts.clip)
        elif facts.clip:
            own = math.sqrt(leaf.grad.square().sum().item())
            size = norm if self.clip_kind == "global_norm" else own
            gradient = gradient * (facts.clip / max(size, facts.clip))
        gradient = gradient + facts.decay(self.value[symbol][index])
        return gradient * weight.sum() if RULES[facts.rule].undivided else gradient

    def update(self, symbol, index, gradient, step, counts):
        """Applies the rule, and the average if there is one, to the rows of `index`."""
        facts = self.groups[symbol[:-2]]
        rule = RULES[facts.rule]
        hyper = {**rule.hyper, **facts.hyper}
        if facts.counted:
            hyper |= counts
        old = self.value[symbol][index]
        old_slots = {slot: state[index] for slot, state in self.slots[symbol].items()}
        # A vector is one row.
        new, new_slots = rule.update(
            old.reshape(-1, WIDTH), gradient.reshape(-1, WIDTH),
            {slot: state.reshape(-1, state.shape[-1]) for slot, state in old_slots.items()},
            facts.rate * facts.schedule(step), step, hyper)
        self.value[symbol][index] = new.reshape(old.shape)
        if facts.average:
            kept, kept_slots = RULES[facts.average].update(
                old_slots["average"], new.reshape(old.shape),
                {slot.removeprefix("average_"): state for slot, state in old_slots.items()},
                facts.rate, step, facts.average_numbers())
            new_slots |= {f"average_{slot}": state for slot, state in kept_slots.items()}
            new_slots["average"] = kept
        for slot, state in new_slots.items():
            self.slots[symbol][slot][index] = state.reshape(old_slots[slot].shape)

    def after(self):
        """Returns the values and slots that are expected in a dump."""
        tensors = {}
        for symbol, tensor in self.value.items():
            if symbol.endswith("_t"):
                tensors[f"after/{symbol}.keys"] = KEYS
                tensors[f"after/{symbol}.values"] = tensor.numpy()
            else:
                tensors[f"after/{symbol}"] = tensor.numpy()
            for slot, state in self.slots[symbol].items():
                if slot.endswith("lost"):
                    continue  # what rounding took
                tensors[f"after/{symbol}.slot.{slot}"] = state.numpy()
        return tensors


def write_rule_case(folder, name, what, groups, steps=6, batch=4, weighted=False,
                    clip=0.0, clip_kind="global_norm"):
    random = numpy.random.default_rng(int.from_bytes(name.encode(), "little") % 2**63)

    def numbers(shape, low=-2.0, high=2.0):
        return numpy.round(random.uniform(low, high, shape) * 64) / 64

    data = draw_data(random, numbers, groups, steps, batch, weighted)
    training = Training(groups, numbers, clip_kind)
    initial = training.initial()
    losses = [training.step(number + 1, {array: values[number * batch:(number + 1) * batch]
                                         for array, values in data.items()})
              for number in range(steps)]
    for array in ("x", "target", "weight", "show", "click"):
        if array in data:
            data[array] = data[array].astype(numpy.float32)
    facts = {"what": what, "batch_size": batch, "steps": steps, "outputs": []}
    write_case(folder, name, what, case_text(name, groups, weighted, clip, clip_kind), facts,
               data, initial, {"loss": numpy.array(losses), **training.after()})


def check_against_torch():
    """Compares the formulas with torch.optim, if it has the rule."""
    makers = {
        "sgd": lambda p: torch.optim.SGD([p], lr=0.05),
        "momentum": lambda p: torch.optim.SGD([p], lr=0.05, momentum=0.9),
        "nesterov": lambda p: torch.optim.SGD([p], lr=0.05, momentum=0.9, nesterov=True),
        "adagrad": lambda p: torch.optim.Adagrad([p], lr=0.05, eps=1e-10),
        "adam": lambda p: torch.optim.Adam([p], lr=0.05),
        "adadelta": lambda p: torch.optim.Adadelta([p], lr=0.05),
        "adamax": lambda p: torch.optim.Adamax([p], lr=0.05),
        "adamw": lambda p: torch.optim.AdamW([p], lr=0.05),
        "rmsprop": lambda p: torch.optim.RMSprop([p], lr=0.05),
        "rmsprop_centered": lambda p: torch.optim.RMSprop([p], lr=0.05, centered=True),
        "decayed_adagrad": lambda p: torch.optim.RMSprop([p], lr=0.05, alpha=0.95,
                                                         eps=1e-6),
    }
    torch.manual_seed(0)
    for name, make in makers.items():
        rule = RULES[name]
        ours = torch.randn(7, dtype=torch.float64)
        theirs = ours.clone().requires_grad_()
        optimizer = make(theirs)
        slots = {slot: torch.full((7,), first, dtype=torch.float64)
                 for slot, first in rule.slots(rule.hyper).items()}
        for step in range(1, 20):
            gradient = torch.randn(7, dtype=torch.float64)
            theirs.grad = gradient.clone()
            optimizer.step()
            ours, slots = rule.update(ours, gradient, slots, 0.05, step, rule.hyper)
        if (ours - theirs.detach()).abs().max() > 1e-13:
            raise SystemExit(f"rule {name} differs from torch.optim")


def check_schedules_against_torch():
    """Compares the factors with torch.optim.lr_scheduler, if it has the schedule."""
    schedulers = torch.optim.lr_scheduler
    makers = [
        (lambda step: polynomial(step, 7.0, power=2.0),
         lambda o: schedulers.PolynomialLR(o, total_iters=7, power=2.0)),
        (lambda step: piecewise(step, [3, 7, 9], [0.5, 0.25, 0.125]),
         lambda o: schedulers.MultiStepLR(o, milestones=[3, 7, 9], gamma=0.5)),
        (lambda step: cosine_restarts(step, 4, 1, 0.25),
         lambda o: schedulers.CosineAnnealingWarmRestarts(o, 4, 1, 0.25)),
        (lambda step: cosine_restarts(step, 3, 3, 0.0),
         lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3, 3)),
        (lambda step: one_cycle(step, 60),
         lambda o: schedulers.OneCycleLR(o, 1.0, total_steps=60, cycle_momentum=False)),
        (lambda step: one_cycle(step, 50, 0.5, 4.0, 8.0),
         lambda o: schedulers.OneCycleLR(o, 1.0, total_steps=50, pct_start=0.5,
                                         div_factor=4.0, final_div_factor=8.0,
                                         cycle_momentum=False)),
    ]
    for ours, make in makers:
        optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
        scheduler = make(optimizer)
        for step in range(1, 50):
            if abs(scheduler.get_last_lr()[0] - ours(step)) > 1e-13:
                raise SystemExit(f"{type(scheduler).__name__} differs at step {step}")
            optimizer.step()
            scheduler.step()


def check_averages_against_torch():
    """Compares the averages with torch.optim.swa_utils: a mean of all values, and an average with
    decay. The latter starts at the first value in PyTorch and at zero here."""
    decay, steps = 0.75, 9
    values = torch.randn(steps, 5, dtype=torch.float64, generator=torch.manual_seed(3))
    utils = torch.optim.swa_utils
    for name, hyper, function in [
            ("ema", {"decay": decay}, utils.get_ema_multi_avg_fn(decay)),
            ("model_average", {"share": 1.0, "least": 100.0, "most": 100.0},
             None)]:
        model = torch.nn.Linear(5, 1, bias=False, dtype=torch.float64)
        theirs = utils.AveragedModel(model, multi_avg_fn=function)
        ours = torch.zeros(5, dtype=torch.float64)
        slots = {slot: torch.full((5,), first, dtype=torch.float64)
                 for slot, first in RULES[name].slots(hyper).items()}
        for step in range(steps):
            model.weight.data[:] = values[step]
            theirs.update_parameters(model)
            ours, slots = RULES[name].update(ours, values[step], slots, 0.0, step + 1, hyper)
        wanted = theirs.module.weight.data[0]
        if name == "ema":
            # Subtract the excess weight of the first value.
            wanted = (wanted - decay**steps * values[0]) / (1 - decay**steps)
        if (ours - wanted).abs().max() > 1e-13:
            raise SystemExit(f"average {name} differs from torch.optim.swa_utils")


def write_rule_cases(folder):
    check_against_torch()
    check_averages_against_torch()
    check_schedules_against_torch()
    write_rules(folder)
    write_clauses(folder)


def write_rules(folder):
    """Writes the cases of all optimizer rules."""
    write_rule_case(folder, "rules", "Every rule, on a parameter and on rows", {
        "by_sgd": Group("sgd", 0.0625),
        "by_momentum": Group("momentum", 0.03125),
        "by_momentum_half": Group("momentum", 0.03125, {"momentum": 0.5}),
        "by_nesterov": Group("nesterov", 0.03125),
        "by_adagrad": Group("adagrad", 0.25),
        "by_adagrad_soft": Group("adagrad", 0.25, {"epsilon": 0.25}),
        "by_adam": Group("adam", 0.125),
        "by_adam_other": Group("adam", 0.125, {"beta1": 0.75, "beta2": 0.99,
                                            "epsilon": 1e-4}),
        "by_ftrl": Group("ftrl", 0.5),
        "by_ftrl_sparse": Group("ftrl", 0.5, {"beta": 0.5, "l1": 8.0, "l2": 0.25}),
    })
    write_rule_case(folder, "rules_that_scale", "A rate for each element", {
        "by_rmsprop": Group("rmsprop", 0.03125),
        "by_rmsprop_short": Group("rmsprop", 0.0625, {"rho": 0.75, "epsilon": 0.25}),
        "by_rmsprop_centered": Group("rmsprop_centered", 0.03125),
        "by_rmsprop_centered_short": Group("rmsprop_centered", 0.0625,
                                           {"rho": 0.75, "epsilon": 0.5}),
        "by_decayed_adagrad": Group("decayed_adagrad", 0.0625),
        "by_decayed_adagrad_short": Group("decayed_adagrad", 0.0625,
                                          {"decay": 0.5, "epsilon": 0.25}),
        "by_adadelta": Group("adadelta", 1.0),
        "by_adadelta_large": Group("adadelta", 0.5, {"rho": 0.75, "epsilon": 0.0625}),
        "by_adamax": Group("adamax", 0.0625),
        "by_adamax_other": Group("adamax", 0.125, {"beta1": 0.5, "beta2": 0.75,
                                                  "epsilon": 0.25}),
    })
    write_rule_case(folder, "rules_that_shrink", "Weight decay and proximal steps", {
        "by_adamw": Group("adamw", 0.125),
        "by_adamw_other": Group("adamw", 0.125, {"beta1": 0.75, "beta2": 0.99,
                                                "epsilon": 1e-4, "weight_decay": 0.5}),
        "by_both_decays": Group("adamw", 0.125, {"weight_decay": 0.25},
                                clauses="decay(#nn.l2<0.5>) untouched(lazy)",
                                decay=lambda value: 0.5 * value),
        "by_lion": Group("lion", 0.0625),
        "by_lion_other": Group("lion", 0.0625, {"beta1": 0.5, "beta2": 0.75,
                                               "weight_decay": 0.25}),
        "by_proximal_sgd": Group("proximal_sgd", 0.0625, clauses=""),
        "by_proximal_sgd_sparse": Group("proximal_sgd", 0.0625, {"l1": 1.5, "l2": 0.5}),
        "by_proximal_adagrad": Group("proximal_adagrad", 0.25, clauses=""),
        "by_proximal_adagrad_sparse": Group("proximal_adagrad", 0.25,
                                            {"l1": 0.5, "l2": 0.25}),
    })
    write_rule_case(folder, "rules_of_rows", "Rules that reduce over a row", {
        "by_rowwise_adagrad": Group("rowwise_adagrad", 0.25, clauses=""),
        "by_rowwise_adagrad_soft": Group("rowwise_adagrad", 0.25, {"epsilon": 0.25}),
        "decayed": Group("rowwise_adagrad", 0.125,
                         clauses="decay(#nn.l2<0.25>) untouched(lazy)",
                         decay=lambda value: 0.25 * value),
        "by_bounded_adagrad": Group("bounded_adagrad", 0.0625),
        "by_bounded_adagrad_tight": Group("bounded_adagrad", 0.0625,
                                          {"initial": 0.5, "bound": 0.75}),
        "by_rowwise_lars": Group("rowwise_lars", 32.0),
        "by_rowwise_lars_other": Group("rowwise_lars", 0.25, {
            "momentum": 0.5, "coefficient": 0.125, "weight_decay": 0.25}),
        "by_rowwise_lamb": Group("rowwise_lamb", 0.0625),
        "by_rowwise_lamb_other": Group("rowwise_lamb", 0.0625, {
            "beta1": 0.75, "beta2": 0.99, "epsilon": 1e-4, "weight_decay": 0.25}),
        "rowwise_lamb_dense": Group("rowwise_lamb", 0.0625, clauses="untouched(dense)",
                                    dense=True),
        "bounded_dense": Group("bounded_adagrad", 0.0625, {"bound": 0.5},
                               clauses="untouched(dense)", dense=True),
    })
    write_rule_case(folder, "rules_of_counts", "Rules that are told of shows and clicks", {
        "by_click_adagrad": Group("click_adagrad", 0.0625, counted=True),
        "by_click_adagrad_tight": Group("click_adagrad", 0.25, {
            "initial": 0.5, "bound": 0.75}, counted=True),
        "click_dense": Group("click_adagrad", 0.0625, {"bound": 0.5},
                             clauses="untouched(dense)", dense=True, counted=True),
        "sgd_beside": Group("sgd", 0.0625),
    }, weighted=True)
    write_rule_case(folder, "rules_of_parameters", "Rules that reduce over a parameter", {
        "by_lars": Group("lars", 32.0, clauses="", whole=True),
        "by_lars_other": Group("lars", 0.25, {
            "momentum": 0.5, "coefficient": 0.125, "weight_decay": 0.25}, clauses="",
            whole=True),
        "by_lamb": Group("lamb", 0.0625, clauses="", whole=True),
        "by_lamb_decayed": Group("lamb", 0.0625, {
            "beta1": 0.75, "beta2": 0.99, "epsilon": 1e-4, "weight_decay": 0.25},
            clauses="decay(#nn.l2<0.25>)", decay=lambda value: 0.25 * value, whole=True),
        "by_lamb_on_average": Group("lamb", 0.0625, clauses="", whole=True, average="ema",
                                    average_hyper={"decay": 0.5}),
        "sgd_beside": Group("sgd", 0.0625),
    })
    write_rule_case(folder, "rules_of_rows_clipped", "The same under a clip, with weights", {
        "by_rowwise_adagrad": Group("rowwise_adagrad", 0.25, clauses="clip(@elements)",
                                    clip=0.75),
        "by_rowwise_lamb": Group("rowwise_lamb", 0.0625,
                                 clauses="clip(@elements) untouched(lazy)", clip=0.75),
    }, weighted=True, clip=0.75, clip_kind="value")
    write_rule_case(folder, "untouched_dense", "Rows without gradient are updated too", {
        "by_momentum": Group("momentum", 0.03125, clauses="untouched(dense)", dense=True),
        "by_adam": Group("adam", 0.125, clauses="untouched(dense)", dense=True),
        "decayed": Group("sgd", 0.0625, clauses="decay(#nn.l2<0.5>) untouched(dense)",
                         decay=lambda value: 0.5 * value, dense=True),
    })
    write_rule_case(folder, "untouched_dense_more", "The same with other rules", {
        f"by_{rule}": Group(rule, rate, hyper, clauses="untouched(dense)", dense=True)
        for rule, rate, hyper in [
            ("rmsprop", 0.03125, {}), ("rmsprop_centered", 0.03125, {}),
            ("decayed_adagrad", 0.0625, {}), ("adadelta", 1.0, {}),
            ("adamax", 0.0625, {}), ("adamw", 0.125, {"weight_decay": 0.25}),
            ("lion", 0.0625, {"weight_decay": 0.25}),
            ("proximal_sgd", 0.0625, {"l1": 1.0, "l2": 0.5}),
            ("proximal_adagrad", 0.25, {"l1": 0.25, "l2": 0.25})]})


def write_clauses(folder):
    """Writes the cases of averages, regularizers, clips, weights and schedules."""
    write_rule_case(folder, "averages", "Averages of the steps", {
        "by_ema": Group("sgd", 0.0625, average="ema"),
        "by_ema_short": Group("adam", 0.125, average="ema", average_hyper={"decay": 0.5}),
        "by_ema_of_all": Group("momentum", 0.03125, clauses="untouched(dense)", dense=True,
                               average="ema", average_hyper={"decay": 0.75}),
        "by_ema_of_rows": Group("rowwise_lamb", 0.0625, average="ema",
                                average_hyper={"decay": 0.5}),
        "by_mean": Group("sgd", 0.0625, average="model_average"),
        "by_mean_of_windows": Group("adam", 0.125, average="model_average",
                                    average_hyper={"share": 0.5, "least": 2.0, "most": 3.0}),
    }, steps=12)
    write_rule_case(folder, "decay", "L1, L2, and both", {
        "by_l2": Group("sgd", 0.0625, clauses="decay(#nn.l2<0.25>) untouched(lazy)",
                    decay=lambda value: 0.25 * value),
        "by_l1": Group("sgd", 0.0625, clauses="decay(#nn.l1<0.125>) untouched(lazy)",
                    decay=lambda value: 0.125 * torch.sign(value)),
        "by_both": Group("momentum", 0.0625,
                      clauses="decay(#nn.l2<0.25>, #nn.l1<0.125>) untouched(lazy)",
                      decay=lambda value: 0.25 * value + 0.125 * torch.sign(value)),
    })
    write_rule_case(folder, "clip", "Joint clip by global norm of two groups of three", {
        "first": Group("sgd", 0.0625, clauses="clip(@joint) untouched(lazy)", clip=6.0),
        "second": Group("adam", 0.0625,
                     clauses="decay(#nn.l2<0.25>) clip(@joint) untouched(lazy)",
                     decay=lambda value: 0.25 * value, clip=6.0),
        "free": Group("sgd", 0.0625),
    }, steps=9, clip=6.0)
    write_rule_case(folder, "clip_norm", "Clip of each symbol by its own norm", {
        "first": Group("sgd", 0.0625, clauses="clip(@each) untouched(lazy)", clip=2.5),
        "second": Group("adam", 0.0625,
                     clauses="decay(#nn.l2<0.25>) clip(@each) untouched(lazy)",
                     decay=lambda value: 0.25 * value, clip=2.5),
        "moving": Group("momentum", 0.0625, clauses="clip(@each) untouched(dense)",
                     clip=2.5, dense=True),
        "free": Group("sgd", 0.0625),
    }, steps=9, clip=2.5, clip_kind="norm")
    write_rule_case(folder, "clip_value", "Clip of each element", {
        "first": Group("sgd", 0.0625, clauses="clip(@elements)", clip=0.75),
        "second": Group("adam", 0.0625,
                     clauses="decay(#nn.l2<0.25>) clip(@elements) untouched(lazy)",
                     decay=lambda value: 0.25 * value, clip=0.75),
        "free": Group("sgd", 0.0625),
    }, steps=9, clip=0.75, clip_kind="value")
    write_rule_case(folder, "weights", "Weighted samples", {
        "by_sgd": Group("sgd", 0.0625), "by_adam": Group("adam", 0.0625)}, weighted=True)
    write_rule_case(folder, "schedules", "Every schedule", {
        f"by_{name}": Group("sgd", 0.0625, clauses=f"schedule(@{schedule}{hyper_text(hyper)})",
                    schedule=factor)
        for name, schedule, hyper, factor in SCHEDULES}, steps=10)
    write_rule_case(folder, "schedules_that_fall", "Decays and boundaries", {
        f"by_{name}": Group("sgd", 0.0625, clauses=f"schedule(@{schedule}{hyper_text(hyper)})",
                    schedule=factor)
        for name, schedule, hyper, factor in FALLING_SCHEDULES}, steps=10)
    write_rule_case(folder, "schedules_that_rise", "Warm-ups, cycles and restarts", {
        f"by_{name}": Group("sgd", 0.0625, clauses=f"schedule(@{schedule}{hyper_text(hyper)})",
                    schedule=factor)
        for name, schedule, hyper, factor in RISING_SCHEDULES}, steps=14)


def cosine(step, steps, floor=0.0, warm_up=0.0):
    """`floor`: a share of the base rate here, but a rate in the model."""
    share = 0.5 * (1 + math.cos(math.pi * min(1.0, max(0.0, step - 1 - warm_up) / steps)))
    return min(1.0, step / max(1.0, warm_up)) * (floor + (1 - floor) * share)


def polynomial(step, steps, floor=0.0, power=1.0, cycle=False):
    """`floor`: a share of the base rate here, but a rate in the model."""
    done, span = step - 1, steps
    if cycle:
        span = steps * max(1, math.ceil(done / steps))
    else:
        done = min(done, steps)
    return floor + (1 - floor) * (1 - done / span)**power


def piecewise(step, boundaries, factors):
    """Returns 1, then factors[i] after boundaries[i] updates."""
    return [1.0, *factors][sum(step - 1 >= boundary for boundary in boundaries)]


def cosine_restarts(step, steps, growth=1, floor=0.0):
    """`floor`: a share of the base rate here, but a rate in the model."""
    position, length = step - 1, steps
    while position >= length:
        position, length = position - length, length * growth
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * position / length))


def one_cycle(step, steps, rising=0.3, divisor=25.0, final_divisor=1e4):
    done, peak = min(step - 1, steps - 1), rising * steps - 1
    low, lowest = 1 / divisor, 1 / divisor / final_divisor
    if done <= peak:
        return 1 + (low - 1) * 0.5 * (1 + math.cos(math.pi * done / peak))
    progress = (done - peak) / (steps - 1 - peak)
    return lowest + (1 - lowest) * 0.5 * (1 + math.cos(math.pi * progress))


FALLING_SCHEDULES = [
    ("natural", "natural_exponential", {"decay": 0.5, "steps": 4.0},
     lambda step: math.exp(-0.5 * (step - 1) / 4.0)),
    ("natural_stairs", "natural_exponential",
     {"decay": 0.5, "steps": 3.0, "staircase": 1.0},
     lambda step: math.exp(-0.5 * ((step - 1) // 3))),
    ("inverse", "inverse_time", {"decay": 0.5, "steps": 4.0},
     lambda step: 1 / (1 + 0.5 * (step - 1) / 4.0)),
    ("inverse_stairs", "inverse_time", {"decay": 0.5, "steps": 3.0, "staircase": 1.0},
     lambda step: 1 / (1 + 0.5 * ((step - 1) // 3))),
    ("polynomial", "polynomial", {"steps": 7.0}, lambda step: polynomial(step, 7.0)),
    ("polynomial_all", "polynomial", {"steps": 6.0, "floor": 0.015625, "power": 2.5},
     lambda step: polynomial(step, 6.0, 0.25, 2.5)),
    ("piecewise", "piecewise", {"after1": 3.0, "rate1": 0.03125},
     lambda step: piecewise(step, [3], [0.5])),
    ("piecewise_all", "piecewise",
     {"after1": 1.0, "rate1": 0.09375, "after2": 4.0, "rate2": 0.03125,
      "after3": 6.0, "rate3": 0.0, "after4": 8.0, "rate4": 0.0625},
     lambda step: piecewise(step, [1, 4, 6, 8], [1.5, 0.5, 0.0, 1.0])),
]
RISING_SCHEDULES = [
    ("noam", "noam", {"width": 4.0, "warm_up": 5.0},
     lambda step: 4.0**-0.5 * min(step**-0.5, step * 5.0**-1.5)),
    ("polynomial_cycle", "polynomial",
     {"steps": 4.0, "floor": 0.015625, "power": 2.0, "cycle": 1.0},
     lambda step: polynomial(step, 4.0, 0.25, 2.0, True)),
    ("restarts", "cosine_restarts", {"steps": 5.0, "floor": 0.015625},
     lambda step: cosine_restarts(step, 5, 1, 0.25)),
    ("growing_restarts", "cosine_restarts", {"steps": 1.0, "growth": 3.0},
     lambda step: cosine_restarts(step, 1, 3)),
    ("one_cycle", "one_cycle", {"steps": 12.0}, lambda step: one_cycle(step, 12)),
    ("one_cycle_all", "one_cycle",
     {"steps": 13.0, "rising": 0.5, "divisor": 4.0, "final_divisor": 8.0},
     lambda step: one_cycle(step, 13, 0.5, 4.0, 8.0)),
]
SCHEDULES = [
    ("constant", "constant", {}, lambda step: 1.0),
    ("exponential", "exponential", {"decay": 0.5, "steps": 4.0},
     lambda step: 0.5**((step - 1) / 4.0)),
    ("stairs", "exponential", {"decay": 0.5, "steps": 3.0, "staircase": 1.0},
     lambda step: 0.5**((step - 1) // 3)),
    ("warm_up", "warm_up", {"steps": 5.0}, lambda step: min(1.0, step / 5.0)),
    ("cosine", "cosine", {"steps": 8.0}, lambda step: cosine(step, 8.0)),
    ("cosine_all", "cosine", {"steps": 5.0, "floor": 0.015625, "warm_up": 3.0},
     lambda step: cosine(step, 5.0, 0.25, 3.0)),
]
