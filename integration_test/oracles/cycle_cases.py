#===- cycle_cases.py - A case of programs that take turns ------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Generator for samples of several kinds, and a critic, trained in turns: two programs with their
own optimizers and weights, and a state that one of them accumulates."""

import numpy
import torch

from op_cases import write_case
from reference_rules import RULES

BATCH, STEPS = 6, 9
# Program that runs in each step of the cycle.
TURNS = ["critic", "critic", "generator", "critic", "generator"]

MODEL = """module @cycle {
  nn.record @sample {
    nn.field @real : tensor<?x3xf32>
    nn.field @noise : tensor<?x2xf32>
    nn.field @kind : tensor<?x1xi64>
    nn.field @weight : tensor<?x1xf32>
  }
  nn.group @critic rule(@adam) rate(0.125)
  nn.group @generator rule(@momentum) rate(0.25)
  nn.group @kinds rule(@adagrad) rate(0.5)
  nn.group @judged rule(@moving_average) rate(0.5)
  nn.param @c1 : tensor<3x8xf32> in @critic init(#nn.xavier)
  nn.param @c2 : tensor<8x1xf32> in @critic init(#nn.xavier)
  nn.param @g1 : tensor<2x8xf32> in @generator init(#nn.xavier)
  nn.param @g2 : tensor<8x3xf32> in @generator init(#nn.xavier)
  nn.table @kind_of : i64 -> tensor<2xf32> in @kinds init(#nn.zeros)
  nn.param @mean : tensor<1xf32> in @judged init(#nn.zeros)

  nn.func private @generate(%noise: tensor<?x2xf32>, %kind: tensor<?x1xi64>) -> tensor<?x3xf32> {
    %k = nn.lookup @kind_of[%kind] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %flat = nn.reshape %k : (tensor<?x1x2xf32>) -> tensor<?x2xf32>
    %z = nn.add %noise, %flat : tensor<?x2xf32>, tensor<?x2xf32>
    %h = nn.linear %z, @g1 act(tanh) : (tensor<?x2xf32>) -> tensor<?x8xf32>
    %x = nn.linear %h, @g2 : (tensor<?x8xf32>) -> tensor<?x3xf32>
    nn.return %x : tensor<?x3xf32>
  }

  nn.func private @judge(%x: tensor<?x3xf32>) -> tensor<?x1xf32> {
    %h = nn.linear %x, @c1 act(tanh) : (tensor<?x3xf32>) -> tensor<?x8xf32>
    %y = nn.linear %h, @c2 : (tensor<?x8xf32>) -> tensor<?x1xf32>
    nn.return %y : tensor<?x1xf32>
  }

  nn.program @train_critic reads(@sample) {
  ^bb0(%real: tensor<?x3xf32>, %noise: tensor<?x2xf32>, %kind: tensor<?x1xi64>, %weight: tensor<?x1xf32>):
    %made = nn.call @generate(%noise, %kind) : (tensor<?x2xf32>, tensor<?x1xi64>) -> tensor<?x3xf32>
    %a = nn.call @judge(%real) : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %b = nn.call @judge(%made) : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %c = nn.neg %a : tensor<?x1xf32>
    %la = nn.softplus %c : tensor<?x1xf32>
    %lb = nn.softplus %b : tensor<?x1xf32>
    %l = nn.add %la, %lb : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %l weight %weight over [@critic] : tensor<?x1xf32>, tensor<?x1xf32>
    nn.accumulate @mean(%b) : tensor<?x1xf32>
  }

  nn.program @train_generator reads(@sample except [@real, @weight]) {
  ^bb0(%noise: tensor<?x2xf32>, %kind: tensor<?x1xi64>):
    %made = nn.call @generate(%noise, %kind) : (tensor<?x2xf32>, tensor<?x1xi64>) -> tensor<?x3xf32>
    %b = nn.call @judge(%made) : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %mean = nn.read @mean : tensor<1xf32>
    %centered = nn.sub %b, %mean : tensor<?x1xf32>, tensor<1xf32>
    %c = nn.neg %centered : tensor<?x1xf32>
    %l = nn.softplus %c : tensor<?x1xf32>
    nn.minimize %l over [@generator, @kinds] : tensor<?x1xf32>
  }

  nn.cycle @train [@train_critic * 2, @train_generator, @train_critic, @train_generator]

  nn.program @predict frozen reads(@sample except [@real, @weight]) {
  ^bb0(%noise: tensor<?x2xf32>, %kind: tensor<?x1xi64>):
    %made = nn.call @generate(%noise, %kind) : (tensor<?x2xf32>, tensor<?x1xi64>) -> tensor<?x3xf32>
    nn.return %made : tensor<?x3xf32>
  }
}
"""

GROUPS = {"critic": ("adam", 0.125, ["c1", "c2"]),
          "generator": ("momentum", 0.25, ["g1", "g2"]),
          "kinds": ("adagrad", 0.5, ["rows"])}
TRAINED_BY = {"critic": ["critic"], "generator": ["generator", "kinds"]}


def generate(state, noise, rows):
    return torch.tanh((noise + state["rows"][rows]) @ state["g1"]) @ state["g2"]


def judge(state, x):
    return torch.tanh(x @ state["c1"]) @ state["c2"]


def write_cycle(folder):
    random = numpy.random.default_rng(11)

    def numbers(shape, low=-1.0, high=1.0):
        return numpy.round(random.uniform(low, high, shape) * 64) / 64

    count, keys = STEPS * BATCH, numpy.array([-3, 5, 9], dtype=numpy.int64)
    kinds = random.integers(0, len(keys), (count, 1))
    # Every step has all kinds, so each row is updated in each step, whether updates are lazy or
    # not.
    kinds[::BATCH, 0], kinds[1::BATCH, 0], kinds[2::BATCH, 0] = 0, 1, 2
    data = {"real": numbers((count, 3)), "noise": numbers((count, 2)), "kind": keys[kinds],
            "weight": random.choice([0.5, 1.0, 3.0], (count, 1))}
    initial = {"c1": numbers((3, 8)), "c2": numbers((8, 1)), "g1": numbers((2, 8)),
               "g2": numbers((8, 3)), "rows": numbers((3, 2)), "mean": numpy.zeros(1)}
    state = {name: torch.tensor(value) for name, value in initial.items()}
    slots, steps = {}, {group: 0 for group in GROUPS}
    for rule, _, names in GROUPS.values():
        for name in names:
            slots[name] = {slot: torch.full_like(state[name], first)
                           for slot, first in RULES[rule].slots(RULES[rule].hyper).items()}
    noise, weight = torch.tensor(data["noise"]), torch.tensor(data["weight"])
    real, rows = torch.tensor(data["real"]), torch.tensor(kinds[:, 0])
    expected = {"output/made": generate(state, noise, rows).numpy()}
    losses = []
    for step in range(STEPS):
        part = slice(step * BATCH, (step + 1) * BATCH)
        now = TURNS[step % len(TURNS)]
        trained = [name for group in TRAINED_BY[now] for name in GROUPS[group][2]]
        leaves = {name: state[name].clone().requires_grad_() for name in trained}
        seen = {**state, **leaves}
        judged = judge(seen, generate(seen, noise[part], rows[part]))
        if now == "critic":
            each = (torch.nn.functional.softplus(-judge(seen, real[part])) +
                    torch.nn.functional.softplus(judged))
            loss = (each * weight[part]).sum() / weight[part].sum()
            losses.append(loss.item())
        else:
            loss = torch.nn.functional.softplus(state["mean"] - judged).mean()
            losses.append(float("nan"))  # not that of the first program
        loss.backward()
        for group in TRAINED_BY[now]:
            rule, rate, names = GROUPS[group]
            steps[group] += 1
            for name in names:
                state[name], slots[name] = RULES[rule].update(
                    state[name], leaves[name].grad, slots[name], rate, steps[group],
                    RULES[rule].hyper)
        if now == "critic":
            state["mean"] = state["mean"] + 0.5 * (judged.detach().mean() - state["mean"])
    expected["loss"] = numpy.array(losses)
    state["train.turn"] = torch.tensor([float(STEPS % len(TURNS))])
    for name, tensor in state.items():
        prefix = "after/kind_of" if name == "rows" else f"after/{name}"
        expected[prefix + (".values" if name == "rows" else "")] = tensor.numpy()
        for slot, values in slots.get(name, {}).items():
            expected[f"{prefix}.slot.{slot}"] = values.numpy()
    expected["after/kind_of.keys"] = keys
    given = {name: values.astype(numpy.float32) for name, values in initial.items()}
    given["kind_of.values"] = given.pop("rows")
    given["kind_of.keys"] = keys
    given["train.turn"] = numpy.zeros(1, dtype=numpy.float32)
    what = "Programs that take turns"
    facts = {"what": what, "batch_size": BATCH, "steps": STEPS, "outputs": ["made"],
             "takes_turns": True}
    write_case(folder, "cycle", what, MODEL, facts,
               {name: values if values.dtype == numpy.int64 else values.astype(numpy.float32)
                for name, values in data.items()}, given, expected)
