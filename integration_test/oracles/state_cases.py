#===- state_cases.py - Golden cases of states and objectives -----*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Cases of states that programs write, of several losses in a program, and of sums over a batch.
"""

import numpy
import torch

from op_cases import Case, write_case
from reference_rules import RULES

WIDTH, BATCH, STEPS = 3, 5, 6
DECAY = 0.75  # of the data's sums

MODEL = """module @states {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x1xf32>
    nn.field @weight : tensor<?x1xf32>
  }
  nn.group @dense rule(@momentum) rate(0.0625)
  nn.group @critic rule(@adam) rate(0.125)
  nn.group @statistics rule(@moving_average) rate(0.125)
  nn.group @data rule(@running_sum {decay = 0.75}) rate(1.0)
  nn.group @calibration rule(@moving_average) rate(0.5)
  nn.group @counter rule(@running_sum) rate(1.0)
  nn.group @stepping rule(@step_counter) rate(1.0)
  nn.param @steps : tensor<1xf32> in @stepping init(#nn.zeros)
  nn.group @turning rule(@cyclic_counter {length = 4.0}) rate(1.0)
  nn.param @turn : tensor<1xf32> in @turning init(#nn.zeros)
  nn.param @scale : tensor<3xf32> in @dense init(#nn.uniform<-1.0, 1.0>)
  nn.param @shift : tensor<3xf32> in @dense init(#nn.zeros)
  nn.param @other : tensor<3x1xf32> in @dense init(#nn.uniform<-1.0, 1.0>)
  nn.param @mean : tensor<3xf32> in @statistics init(#nn.zeros)
  nn.param @variance : tensor<3xf32> in @statistics init(#nn.constant<1.0>)
  nn.param @wide_mean : tensor<2xf32> in @statistics init(#nn.zeros)
  nn.param @wide_variance : tensor<2xf32> in @statistics init(#nn.constant<1.0>)
  nn.param @size : tensor<3xf32> in @data init(#nn.constant<1.0>)
  nn.param @sum : tensor<3xf32> in @data init(#nn.zeros)
  nn.param @squares : tensor<3xf32> in @data init(#nn.constant<1.0>)
  nn.param @predicted : tensor<1xf32> in @calibration init(#nn.constant<1.0>)
  nn.param @clicked : tensor<1xf32> in @calibration init(#nn.constant<1.0>)
  nn.param @seen : tensor<1xf32> in @counter init(#nn.zeros)
  nn.param @critic_w : tensor<3x1xf32> in @critic init(#nn.uniform<-1.0, 1.0>)
  nn.param @mix : tensor<3x8xf32> in @dense init(#nn.uniform<-1.0, 1.0>)

  nn.func private @predicted_of(%x: tensor<?x3xf32>) -> tensor<?x1xf32> {
    %n = nn.batch_norm %x mean @mean variance @variance epsilon 0.001 : tensor<?x3xf32>
    %scale = nn.read @scale : tensor<3xf32>
    %shift = nn.read @shift : tensor<3xf32>
    %scaled = nn.mul %n, %scale : tensor<?x3xf32>, tensor<3xf32>
    %shifted = nn.add %scaled, %shift : tensor<?x3xf32>, tensor<3xf32>
    %d = nn.data_norm %x size @size sum @sum square_sum @squares : tensor<?x3xf32>
    %both = nn.add %shifted, %d : tensor<?x3xf32>, tensor<?x3xf32>
    %h = nn.linear %both, @mix act(tanh) : (tensor<?x3xf32>) -> tensor<?x8xf32>
    %box = nn.reshape %h : (tensor<?x8xf32>) -> tensor<?x4x2xf32>
    %boxes = nn.batch_norm %box mean @wide_mean variance @wide_variance : tensor<?x4x2xf32>
    %flat = nn.reshape %boxes : (tensor<?x4x2xf32>) -> tensor<?x8xf32>
    %squares = nn.mul %flat, %flat : tensor<?x8xf32>, tensor<?x8xf32>
    %more = nn.add %squares, %flat : tensor<?x8xf32>, tensor<?x8xf32>
    %part = nn.slice %more axis 1 offset 1 size 3 : tensor<?x8xf32>
    %z = nn.linear %part, @other : (tensor<?x3xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x1xf32>, %weight: tensor<?x1xf32>):
    %z = nn.call @predicted_of(%x) : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %e = nn.squared_error %z, %target : tensor<?x1xf32>
    %steps = nn.read @steps : tensor<1xf32>
    %two = nn.constant dense<2.0> : tensor<1xf32>
    %late = nn.greater %steps, %two : tensor<1xf32>, tensor<1xf32>
    %l = nn.if %late with(%e, %z) {
    ^bb0(%error: tensor<?x1xf32>, %guess: tensor<?x1xf32>):
      nn.yield %error : tensor<?x1xf32>
    } else {
    ^bb0(%error: tensor<?x1xf32>, %guess: tensor<?x1xf32>):
      %part = nn.constant dense<0.25> : tensor<f32>
      %square = nn.mul %guess, %guess : tensor<?x1xf32>, tensor<?x1xf32>
      %small = nn.mul %square, %part : tensor<?x1xf32>, tensor<f32>
      %sum = nn.add %error, %small : tensor<?x1xf32>, tensor<?x1xf32>
      nn.yield %sum : tensor<?x1xf32>
    } : tensor<1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
    nn.accumulate @steps(%weight) : tensor<?x1xf32>
    nn.accumulate @turn(%weight) : tensor<?x1xf32>
    nn.minimize %l over [@dense] : tensor<?x1xf32>
    %c = nn.linear %x, @critic_w : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %sum = nn.add %c, %z : tensor<?x1xf32>, tensor<?x1xf32>
    %m = nn.squared_error %sum, %target : tensor<?x1xf32>
    nn.minimize %m weight %weight over [@critic] : tensor<?x1xf32>, tensor<?x1xf32>
    nn.accumulate @predicted(%z) weight %weight : tensor<?x1xf32>, tensor<?x1xf32>
    nn.accumulate @clicked(%target) weight %weight : tensor<?x1xf32>, tensor<?x1xf32>
    nn.accumulate @seen(%weight) : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x1xf32>, %weight: tensor<?x1xf32>):
    %z = nn.call @predicted_of(%x) : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %p = nn.read @predicted : tensor<1xf32>
    %c = nn.read @clicked : tensor<1xf32>
    %ratio = nn.div %c, %p : tensor<1xf32>, tensor<1xf32>
    %calibrated = nn.mul %z, %ratio : tensor<?x1xf32>, tensor<1xf32>
    nn.return %z, %calibrated : tensor<?x1xf32>, tensor<?x1xf32>
  }
}
"""

GROUPS = {"dense": ("momentum", 0.0625, ["scale", "shift", "other", "mix"]),
          "critic": ("adam", 0.125, ["critic_w"])}


def batch_norm(x, training, state, name, epsilon):
    """Returns the output. In training, also returns the mean and the uncorrected variance of each
    feature."""
    mean, variance = state[f"{name}mean"], state[f"{name}variance"]
    channels = x.movedim(-1, 1)
    out = torch.nn.functional.batch_norm(channels, mean.clone(), variance.clone(),
                                         training=training, eps=epsilon)
    axes = tuple(range(x.dim() - 1))
    return (out.movedim(1, -1), x.mean(dim=axes).detach(),
            x.var(dim=axes, correction=0).detach())


def forward(x, state, training):
    n, mean, variance = batch_norm(x, training, state, "", 1e-3)
    d = (x - state["sum"] / state["size"]) * (state["size"] / state["squares"]).sqrt()
    h = torch.tanh((n * state["scale"] + state["shift"] + d) @ state["mix"])
    boxes, wide_mean, wide_variance = batch_norm(
        h.reshape(-1, 4, 2), training, state, "wide_", 1e-5)
    flat = boxes.reshape(-1, 8)
    z = ((flat * flat + flat)[:, 1:4]) @ state["other"]
    return z, {"mean": mean, "variance": variance, "wide_mean": wide_mean,
               "wide_variance": wide_variance}


def write_states(folder):
    random = numpy.random.default_rng(11)

    def numbers(shape, low=-2.0, high=2.0):
        return numpy.round(random.uniform(low, high, shape) * 64) / 64

    count = STEPS * BATCH
    data = {"x": numbers((count, WIDTH)), "target": numbers((count, 1)),
            "weight": random.choice([0.5, 1.0, 3.0], (count, 1))}
    # All samples of one step, and some other samples, have weight 0.
    data["weight"][2 * BATCH:3 * BATCH] = 0
    data["weight"][7] = 0
    shapes = {"scale": (3,), "shift": (3,), "other": (3, 1), "mix": (3, 8),
              "critic_w": (3, 1), "mean": (3,), "wide_mean": (2,), "sum": (3,),
              "predicted": (1,), "clicked": (1,), "seen": (1,)}
    positive = {"variance": (3,), "wide_variance": (2,), "size": (3,), "squares": (3,)}
    initial = {name: numbers(shape, -1, 1) for name, shape in shapes.items()}
    initial |= {name: numbers(shape, 1, 3) for name, shape in positive.items()}
    initial["steps"], initial["turn"] = numpy.zeros(1), numpy.array([2.0])
    state = {name: torch.tensor(value) for name, value in initial.items()}
    tensors = {name: torch.tensor(values) for name, values in data.items()}

    expected = {}
    z, _ = forward(tensors["x"], state, training=False)
    expected["output/predicted"] = z.numpy()
    expected["output/calibrated"] = (z * (state["clicked"] / state["predicted"])).numpy()

    slots, steps = {}, {group: 0 for group in GROUPS}
    for rule, _, names in GROUPS.values():
        for name in names:
            slots[name] = {slot: torch.full_like(state[name], first)
                           for slot, first in RULES[rule].slots(RULES[rule].hyper).items()}
    losses = []
    for step in range(STEPS):
        part = slice(step * BATCH, (step + 1) * BATCH)
        x, target, weight = (tensors[name][part] for name in ("x", "target", "weight"))
        old = dict(state)
        trained = [name for _, _, names in GROUPS.values() for name in names]
        leaves = {name: state[name].clone().requires_grad_() for name in trained}
        z, means = forward(x, {**state, **leaves}, training=True)
        penalty = 0.25 * z * z if old["steps"] <= 2 else 0.0
        loss = ((z - target)**2 + penalty).mean()
        losses.append(loss.item())
        loss.backward(inputs=[leaves[name] for name in GROUPS["dense"][2]],
                      retain_graph=True)
        whole = weight.sum()
        updated = ["dense"]
        if whole > 0:
            updated.append("critic")
            second = (((x @ leaves["critic_w"] + z.detach() - target)**2) * weight).sum()
            (second / whole).backward(inputs=[leaves["critic_w"]])
        for group in updated:
            rule, rate, names = GROUPS[group]
            steps[group] += 1
            for name in names:
                state[name], slots[name] = RULES[rule].update(
                    old[name], leaves[name].grad, slots[name], rate, steps[group],
                    RULES[rule].hyper)
        for name, mean in means.items():
            state[name] = old[name] + 0.125 * (mean - old[name])
        center = old["sum"] / old["size"]
        state["size"] = DECAY * old["size"] + BATCH
        state["sum"] = DECAY * old["sum"] + x.sum(dim=0)
        state["squares"] = DECAY * old["squares"] + ((x - center)**2 + 1e-4).sum(dim=0)
        state["steps"] = old["steps"] + 1
        state["turn"] = (old["turn"] + 1) % 4
        state["seen"] = old["seen"] + weight.sum()
        if whole > 0:
            for name, values in (("predicted", z.detach()), ("clicked", target)):
                mean = (values * weight).sum() / whole
                state[name] = old[name] + 0.5 * (mean - old[name])

    expected["loss"] = numpy.array(losses)
    for name, tensor in state.items():
        expected[f"after/{name}"] = tensor.numpy()
        for slot, values in slots.get(name, {}).items():
            expected[f"after/{name}.slot.{slot}"] = values.numpy()
    what = "States that a program writes, and two losses"
    facts = {"what": what, "batch_size": BATCH, "steps": STEPS,
             "outputs": ["predicted", "calibrated"]}
    write_case(folder, "states", what, MODEL, facts,
               {name: values.astype(numpy.float32) for name, values in data.items()},
               {name: values.astype(numpy.float32) for name, values in initial.items()},
               expected)


def batch_sums():
    case = Case("batch_sums", "Sums over the samples of a batch")
    x = case.variable(3)

    def batch_sum(value):
        total = value.tensor.sum(dim=0)
        return case.emit(f"nn.batch_sum %{value.name}", [value], value.shape[1:], total)

    case.check(batch_sum(x), "sum")
    case.check(batch_sum(case.reshape(case.variable(12), 3, 4)), "sum_box")
    # In what each sample gets, too.
    total = batch_sum(case.variable(3))
    part = case.binary("sub", x, total, x.tensor - total.tensor)
    case.check(case.binary("mul", part, part, part.tensor * part.tensor), "centered")
    return case
