#===- reference_turns.py - Reference models that take turns -*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Models of models/*.mlir whose programs take turns, as reference_models.py states
others."""

import numpy
import torch

import draws
from reference_models import Group, Model, Symbol

MEAN = torch.tensor([3.62, 2.37, 0.73, 0.35, 3.67], dtype=torch.float64)
DEVIATION = torch.tensor([0.35, 0.27, 2.46, 1.59, 0.39], dtype=torch.float64)


def _layers(name, widths):
    symbols = {}
    for n, shape in enumerate(zip(widths, widths[1:]), 1):
        symbols[f"{name}_w{n}"] = Symbol(shape, name, ("xavier",))
        symbols[f"{name}_b{n}"] = Symbol(shape[1:], name, ("zeros",))
    return symbols


class Adversarial(Model):
    """models/gan."""
    name = "gan"
    data = "adult"
    batch_size = 256
    epochs = 20
    NOISE = 8
    TURNS = ("critic", "critic", "generator")
    symbols = {**_layers("critic", [6, 64, 64, 1]), **_layers("generator", [9, 64, 64, 5])}
    groups = {name: Group("adam", 1e-3, {"beta1": 0.5}) for name in ("critic", "generator")}

    def ids(self, fields):
        return {}

    def add_draws(self, fields):
        """The noise of each row in the first epoch, by the program that draws it."""
        rows = len(fields["label"])
        for program in ("train_critic", "train_generator", "evaluate"):
            drawn = [draws.ids("uniform", -1024, 1025, program, 0, row, self.NOISE)
                     for row in range(rows)]
            fields[f"noise of {program}"] = numpy.array(drawn, dtype=numpy.float64) / 1024

    def trained_groups(self, step):
        return [self.TURNS[step % len(self.TURNS)]]

    def generate(self, fields, program, p):
        x = torch.cat([fields[f"noise of {program}"], fields["label"]], dim=1)
        x = torch.relu(x @ p["generator_w1"] + p["generator_b1"])
        x = torch.relu(x @ p["generator_w2"] + p["generator_b2"])
        return x @ p["generator_w3"] + p["generator_b3"]

    def judge(self, numbers, fields, p):
        x = torch.cat([numbers, fields["label"]], dim=1)
        for n in (1, 2):
            x = torch.nn.functional.leaky_relu(
                x @ p[f"critic_w{n}"] + p[f"critic_b{n}"], 0.2)
        return x @ p["critic_w3"] + p["critic_b3"]

    def compare(self, fields, program, p):
        numbers = fields["numbers"]
        tamed = torch.sign(numbers) * torch.log1p(numbers.abs())
        real = (tamed - MEAN.to(tamed.dtype)) / DEVIATION.to(tamed.dtype)
        return (self.judge(real, fields, p),
                self.judge(self.generate(fields, program, p), fields, p))

    def losses(self, fields, pooled, parameters):
        softplus = torch.nn.functional.softplus
        if self.trained_groups(self.step) == ["generator"]:
            made = self.generate(fields, "train_generator", parameters)
            return softplus(-self.judge(made, fields, parameters), threshold=1e3)
        real, made = self.compare(fields, "train_critic", parameters)
        return softplus(-real, threshold=1e3) + softplus(made, threshold=1e3)

    def predictions(self, fields, pooled, parameters):
        real, made = self.compare(fields, "evaluate", parameters)
        return {"AUC": (torch.sigmoid(torch.cat([real, made])),
                        torch.cat([torch.ones_like(real), torch.zeros_like(made)]), None)}


MODELS = {Adversarial.name: Adversarial}
