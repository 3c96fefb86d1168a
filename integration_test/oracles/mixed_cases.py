#===- mixed_cases.py - Golden cases that mix f64 and f32 -----*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Cases of models that compute with f32 and with f64. PyTorch computes everything in f64; the
tolerance covers the difference."""

import numpy
import torch

from op_cases import write_case
from reference_rules import RULES

MODEL = """module @mixed {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @d : tensor<?x2xf64>
    nn.field @c : !nn.ragged<?x1x*xi64>
    nn.field @target : tensor<?x1xf64>
    nn.field @weight : tensor<?x1xf32>
  }
  nn.clip @joint : global_norm(0.5)
  nn.group @narrow rule(@adam) rate(0.0625) clip(@joint)
  nn.group @wide rule(@adam) rate(0.0625) clip(@joint)
  nn.group @rows rule(@adagrad) rate(0.0625) clip(@joint)
  nn.group @wide_rows rule(@adagrad) rate(0.0625)
  nn.group @second rule(@momentum) rate(0.0625)
  nn.group @statistics rule(@moving_average) rate(0.125)
  nn.group @levels rule(@moving_average) rate(0.125)
  nn.group @stepping rule(@step_counter) rate(1.0)
  nn.param @w : tensor<3x4xf32> in @narrow init(#nn.uniform<-1.0, 1.0>)
  nn.param @u : tensor<4x4xf64> in @wide init(#nn.uniform<-1.0, 1.0>)
  nn.param @out : tensor<5x1xf64> in @wide init(#nn.uniform<-1.0, 1.0>)
  nn.param @top : tensor<4x1xf64> in @wide init(#nn.uniform<-1.0, 1.0>)
  nn.table @emb : i64 -> tensor<4xf32> in @rows init(#nn.uniform<-1.0, 1.0>)
  nn.table @first : i64 -> tensor<1xf64> in @wide_rows init(#nn.uniform<-1.0, 1.0>)
  nn.param @critic : tensor<3x1xf32> in @second init(#nn.uniform<-1.0, 1.0>)
  nn.param @mean : tensor<3xf64> in @statistics init(#nn.zeros)
  nn.param @variance : tensor<3xf64> in @statistics init(#nn.constant<1.0>)
  nn.param @level : tensor<4xf32> in @levels init(#nn.zeros)
  nn.param @steps : tensor<1xf32> in @stepping init(#nn.zeros)

  nn.func private @hidden_of(%x: tensor<?x3xf32>) -> tensor<?x4xf32> {
    %h = nn.linear %x, @w act(tanh) : (tensor<?x3xf32>) -> tensor<?x4xf32>
    nn.return %h : tensor<?x4xf32>
  }

  nn.func private @logit_of(%x: tensor<?x3xf32>, %d: tensor<?x2xf64>, %c: !nn.ragged<?x1x*xi64>, %h: tensor<?x4xf32>) -> tensor<?x1xf64> {
    %x_wide = nn.cast %x : (tensor<?x3xf32>) -> tensor<?x3xf64>
    %n = nn.batch_norm %x_wide mean @mean variance @variance : tensor<?x3xf64>
    %both = nn.concat %n, %d axis 1 : tensor<?x3xf64>, tensor<?x2xf64>
    %a = nn.linear %both, @out : (tensor<?x5xf64>) -> tensor<?x1xf64>
    %rows = nn.lookup @emb[%c] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x4xf32>
    %states = nn.scan %rows of %c {
    ^bb0(%row: tensor<?x4xf32>, %before: tensor<?x4xf64>):
      %row_wide = nn.cast %row : (tensor<?x4xf32>) -> tensor<?x4xf64>
      %product = nn.linear %before, @u : (tensor<?x4xf64>) -> tensor<?x4xf64>
      %sum = nn.add %row_wide, %product : tensor<?x4xf64>, tensor<?x4xf64>
      %after = nn.tanh %sum : tensor<?x4xf64>
      nn.yield %after : tensor<?x4xf64>
    } : tensor<?x4xf32>, !nn.ragged<?x1x*xi64>
    %last = nn.segment_last %states of %c : tensor<?x4xf64>, !nn.ragged<?x1x*xi64>
    %flat = nn.reshape %last : (tensor<?x1x4xf64>) -> tensor<?x4xf64>
    %h_wide = nn.cast %h : (tensor<?x4xf32>) -> tensor<?x4xf64>
    %joined = nn.add %h_wide, %flat : tensor<?x4xf64>, tensor<?x4xf64>
    %b = nn.linear %joined, @top : (tensor<?x4xf64>) -> tensor<?x1xf64>
    %f = nn.lookup @first[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf64>
    %e = nn.reshape %f : (tensor<?x1x1xf64>) -> tensor<?x1xf64>
    %ab = nn.add %a, %b : tensor<?x1xf64>, tensor<?x1xf64>
    %z = nn.add %ab, %e : tensor<?x1xf64>, tensor<?x1xf64>
    nn.return %z : tensor<?x1xf64>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %d: tensor<?x2xf64>, %c: !nn.ragged<?x1x*xi64>, %target: tensor<?x1xf64>, %weight: tensor<?x1xf32>):
    %h = nn.call @hidden_of(%x) : (tensor<?x3xf32>) -> tensor<?x4xf32>
    %z = nn.call @logit_of(%x, %d, %c, %h) : (tensor<?x3xf32>, tensor<?x2xf64>, !nn.ragged<?x1x*xi64>, tensor<?x4xf32>) -> tensor<?x1xf64>
    %l = nn.sigmoid_cross_entropy %z, %target : tensor<?x1xf64>
    // For the first steps, counted in f32, the losses, in f64, are increased.
    %steps = nn.read @steps : tensor<1xf32>
    %two = nn.constant dense<2.0> : tensor<1xf32>
    %late = nn.greater %steps, %two : tensor<1xf32>, tensor<1xf32>
    %loss = nn.if %late with(%l, %h) {
    ^bb0(%error: tensor<?x1xf64>, %hidden: tensor<?x4xf32>):
      nn.yield %error : tensor<?x1xf64>
    } else {
    ^bb0(%error: tensor<?x1xf64>, %hidden: tensor<?x4xf32>):
      %squares = nn.mul %hidden, %hidden : tensor<?x4xf32>, tensor<?x4xf32>
      %penalty = nn.reduce sum %squares axes [1] keep : tensor<?x4xf32>
      %penalty_wide = nn.cast %penalty : (tensor<?x1xf32>) -> tensor<?x1xf64>
      %sum = nn.add %error, %penalty_wide : tensor<?x1xf64>, tensor<?x1xf64>
      nn.yield %sum : tensor<?x1xf64>
    } : tensor<1xf32>, tensor<?x1xf64>, tensor<?x4xf32>
    nn.minimize %loss over [@narrow, @wide, @rows, @wide_rows] : tensor<?x1xf64>
    nn.accumulate @steps(%weight) : tensor<?x1xf32>
    nn.accumulate @level(%h) weight %weight : tensor<?x4xf32>, tensor<?x1xf32>
    %guess = nn.linear %x, @critic : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %z_narrow = nn.cast %z : (tensor<?x1xf64>) -> tensor<?x1xf32>
    %target_narrow = nn.cast %target : (tensor<?x1xf64>) -> tensor<?x1xf32>
    %moved = nn.add %guess, %z_narrow : tensor<?x1xf32>, tensor<?x1xf32>
    %m = nn.squared_error %moved, %target_narrow : tensor<?x1xf32>
    nn.minimize %m weight %weight over [@second] : tensor<?x1xf32>, tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %d: tensor<?x2xf64>, %c: !nn.ragged<?x1x*xi64>, %target: tensor<?x1xf64>, %weight: tensor<?x1xf32>):
    %h = nn.call @hidden_of(%x) : (tensor<?x3xf32>) -> tensor<?x4xf32>
    %z = nn.call @logit_of(%x, %d, %c, %h) : (tensor<?x3xf32>, tensor<?x2xf64>, !nn.ragged<?x1x*xi64>, tensor<?x4xf32>) -> tensor<?x1xf64>
    %z_narrow = nn.cast %z : (tensor<?x1xf64>) -> tensor<?x1xf32>
    nn.return %z, %z_narrow, %h : tensor<?x1xf64>, tensor<?x1xf32>, tensor<?x4xf32>
  }
}
"""

BATCH, STEPS = 5, 6
KEYS = [-7, 0, 3, 2**62]
CLIPPED = ("w", "u", "out", "top", "emb")
GROUPS = {"narrow": ("adam", ["w"]), "wide": ("adam", ["u", "out", "top"]),
          "rows": ("adagrad", ["emb"]), "wide_rows": ("adagrad", ["first"]),
          "second": ("momentum", ["critic"])}
SHAPES = {"w": (3, 4), "u": (4, 4), "out": (5, 1), "top": (4, 1), "emb": (len(KEYS), 4),
          "first": (len(KEYS), 1), "critic": (3, 1), "mean": (3,), "level": (4,)}
WIDE = ("u", "out", "top", "first", "mean", "variance", "d", "target")
TABLES = ("emb", "first")


def of_type(name, values):
    return numpy.asarray(values).astype(numpy.float64 if name in WIDE else numpy.float32)


def named(arrays, prefix=""):
    """Returns tensors by their names in files. The rows of a table follow its keys."""
    result = {}
    for name, values in arrays.items():
        if name in TABLES:
            result[f"{prefix}{name}.keys"] = numpy.array(KEYS, dtype=numpy.int64)
            result[f"{prefix}{name}.values"] = values
        else:
            result[prefix + name] = values
    return result


def forward(state, x, d, bags, training):
    """Returns the hidden layer, the logits, and the mean and variance of the inputs."""
    n = torch.nn.functional.batch_norm(x, state["mean"].clone(), state["variance"].clone(),
                                       training=training)
    h = torch.tanh(x @ state["w"])
    last, linear = [], []
    for bag in bags:
        after = torch.zeros(1, 4, dtype=torch.float64)
        for row in bag:
            after = torch.tanh(state["emb"][row] + after @ state["u"])
        last.append(after[0])
        linear.append(state["first"][bag].sum(dim=0))
    z = (torch.cat([n, d], dim=1) @ state["out"]
         + (h + torch.stack(last)) @ state["top"] + torch.stack(linear))
    return h, z, x.mean(dim=0), x.var(dim=0, correction=0)


def write_training(folder):
    random = numpy.random.default_rng(23)

    def numbers(shape, low=-2.0, high=2.0):
        return numpy.round(random.uniform(low, high, shape) * 64) / 64

    count = STEPS * BATCH
    data = {"x": numbers((count, 3)), "d": numbers((count, 2)),
            "target": random.choice([0.0, 1.0], (count, 1)),
            "weight": random.choice([0.5, 1.0, 3.0], (count, 1))}
    sizes = random.integers(0, 4, count)
    sizes[0] = 0
    bags = [random.integers(0, len(KEYS), size).tolist() for size in sizes]
    initial = {name: numbers(shape, -1, 1) for name, shape in SHAPES.items()}
    initial |= {"variance": numbers((3,), 1, 3), "steps": numpy.zeros(1)}
    state = {name: torch.tensor(value) for name, value in initial.items()}
    tensors = {name: torch.tensor(values) for name, values in data.items()}

    expected = {}
    h, z, _, _ = forward(state, tensors["x"], tensors["d"], bags, training=False)
    for label, value in (("logit", z), ("narrow_logit", z), ("hidden", h)):
        expected[f"output/{label}"] = value.numpy()

    slots = {name: {slot: torch.full_like(state[name], first)
                    for slot, first in RULES[rule].slots(RULES[rule].hyper).items()}
             for rule, names in GROUPS.values() for name in names}
    losses = []
    for step in range(1, STEPS + 1):
        part = slice((step - 1) * BATCH, step * BATCH)
        x, d, target, weight = (tensors[name][part] for name in ("x", "d", "target", "weight"))
        old = dict(state)
        leaves = {name: state[name].clone().requires_grad_()
                  for _, names in GROUPS.values() for name in names}
        h, z, mean, variance = forward({**state, **leaves}, x, d, bags[part], training=True)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            z, target, reduction="none")
        if old["steps"] <= 2:
            loss = loss + (h * h).sum(dim=1, keepdim=True)
        losses.append(loss.mean().item())
        main = [name for name in leaves if name != "critic"]
        loss.mean().backward(inputs=[leaves[name] for name in main])
        second = (((x @ leaves["critic"] + z.detach() - target)**2) * weight).sum()
        (second / weight.sum()).backward(inputs=[leaves["critic"]])
        norm = sum((leaves[name].grad**2).sum() for name in CLIPPED).sqrt()
        for rule, names in GROUPS.values():
            for name in names:
                factor = 0.5 / max(norm.item(), 0.5) if name in CLIPPED else 1.0
                state[name], slots[name] = RULES[rule].update(
                    old[name], leaves[name].grad * factor, slots[name], 0.0625, step,
                    RULES[rule].hyper)
        levels = (h.detach() * weight).sum(dim=0) / weight.sum()
        for name, value in (("mean", mean), ("variance", variance), ("level", levels)):
            state[name] = old[name] + 0.125 * (value - old[name])
        state["steps"] = old["steps"] + 1

    expected["loss"] = numpy.array(losses)
    expected |= named({name: tensor.numpy() for name, tensor in state.items()}, "after/")
    for name, values in slots.items():
        for slot, tensor in values.items():
            expected[f"after/{name}.slot.{slot}"] = tensor.numpy()
    what = "Parameters, rows, states and losses of f32 and of f64"
    facts = {"what": what, "batch_size": BATCH, "steps": STEPS,
             "outputs": ["logit", "narrow_logit", "hidden"]}
    ids = [KEYS[row] for bag in bags for row in bag]
    write_case(folder, "mixed", what, MODEL, facts,
               {name: of_type(name, values) for name, values in data.items()}
               | {"c.values": numpy.array(ids, dtype=numpy.int64),
                  "c.splits": numpy.concatenate([[0], numpy.cumsum(sizes)]).astype(numpy.int32)},
               named({name: of_type(name, values) for name, values in initial.items()}),
               expected)


SLOPES = """module @mixed_slopes {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @c : !nn.ragged<?x1x*xi64>
  }
  nn.group @narrow rule(@sgd) rate(1.0)
  nn.group @wide rule(@sgd) rate(1.0)
  nn.param @shift : tensor<3xf32> in @narrow init(#nn.zeros)
  nn.table @rows : i64 -> tensor<3xf32> in @narrow init(#nn.zeros)
  nn.param @move : tensor<3xf64> in @wide init(#nn.zeros)
  nn.param @w : tensor<3x1xf64> in @wide init(#nn.zeros)

  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>):
    // Nothing here is rounded to f32, so that differences are slopes.
    %move = nn.read @move : tensor<3xf64>
    %move_narrow = nn.cast %move : (tensor<3xf64>) -> tensor<3xf32>
    %shift = nn.read @shift : tensor<3xf32>
    %a = nn.add %x, %shift : tensor<?x3xf32>, tensor<3xf32>
    %b = nn.sub %a, %move_narrow : tensor<?x3xf32>, tensor<3xf32>
    %e = nn.lookup @rows[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x3xf32>
    %f = nn.reshape %e : (tensor<?x1x3xf32>) -> tensor<?x3xf32>
    %g = nn.add %b, %f : tensor<?x3xf32>, tensor<?x3xf32>
    // All later ops compute in f64.
    %wide = nn.cast %g : (tensor<?x3xf32>) -> tensor<?x3xf64>
    %h = nn.tanh %wide : tensor<?x3xf64>
    %m = nn.mul %h, %move : tensor<?x3xf64>, tensor<3xf64>
    %z = nn.linear %m, @w : (tensor<?x3xf64>) -> tensor<?x1xf64>
    %l = nn.softplus %z : tensor<?x1xf64>
    nn.minimize %l over [@narrow, @wide] : tensor<?x1xf64>
  }
}
"""


def write_slopes(folder):
    random = numpy.random.default_rng(29)

    def numbers(shape):
        return numpy.round(random.uniform(-1, 1, shape) * 64) / 64

    sizes = [0, 2, 1, 3]
    bags = [random.integers(0, len(KEYS), size).tolist() for size in sizes]
    x = numbers((len(sizes), 3))
    initial = {"shift": numbers(3), "rows": numbers((len(KEYS), 3)), "move": numbers(3),
               "w": numbers((3, 1))}
    leaves = {name: torch.tensor(value, requires_grad=True)
              for name, value in initial.items()}
    pooled = torch.stack([leaves["rows"][bag].sum(dim=0) for bag in bags])
    g = torch.tensor(x) + leaves["shift"] - leaves["move"] + pooled
    loss = torch.nn.functional.softplus(
        (torch.tanh(g) * leaves["move"]) @ leaves["w"]).mean()
    loss.backward()
    after = {name: (leaf - leaf.grad).detach().numpy() for name, leaf in leaves.items()}
    keys = numpy.array(KEYS, dtype=numpy.int64)

    def files(arrays, prefix=""):
        return {f"{prefix}{name}{'.values' if name == 'rows' else ''}": values
                for name, values in arrays.items()} | {f"{prefix}rows.keys": keys}

    what = "Gradients from f64 to f32 and back"
    facts = {"what": what, "batch_size": len(sizes), "steps": 1, "outputs": [],
             "as_written": True}
    narrow = ("shift", "rows")
    write_case(folder, "mixed_slopes", what, SLOPES, facts,
               {"x": x.astype(numpy.float32),
                "c.values": numpy.array([KEYS[row] for bag in bags for row in bag],
                                        dtype=numpy.int64),
                "c.splits": numpy.cumsum([0, *sizes]).astype(numpy.int32)},
               files({name: values.astype(numpy.float32 if name in narrow
                                          else numpy.float64)
                      for name, values in initial.items()}),
               files(after, "after/") | {"loss": numpy.array([loss.item()])})


def write_mixed(folder):
    write_training(folder)
    write_slopes(folder)
