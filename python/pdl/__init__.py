# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes recommendation models for PDL: Python functions become `.mlir`.

A model declares what it trains, and its programs are Python functions whose arguments
are fields of a sample:

    model = pdl.Model("clicks")
    clicks = model.record("clicks")
    clicks.floats("label", 1)
    clicks.floats("x", 13)
    dense = model.group("dense", rule="adam", rate=1.0e-3)

    @model.function
    def logit(x):
        return pdl.layers.mlp(x, [64, 1], "deep", group=dense)

    @model.program
    def train(label, x):
        pdl.minimize(pdl.sigmoid_cross_entropy(logit(x), label), [dense])

    pdl.compile(model, "out")

The ops of the dialect are functions of this package (`pdl.ops` lists them).
"""

from pdl import decay, hints, init, layers, metrics, ops, scalars
from pdl.attributes import Attribute, attribute, xxh64
from pdl.compiler import compile
from pdl.constants import constant
from pdl.control import cond, scan
from pdl.counts import count
from pdl.errors import CompileError, ModelError, UnknownNameError
from pdl.keys import key
from pdl.model import Model, rule, schedule
from pdl.ops import *  # noqa: F403
from pdl.symbols import Group, Parameter, Record, State, Table
from pdl.types import RaggedType, TensorType
from pdl.values import Value
from pdl.version import VERSION as __version__

__all__ = [
    "Attribute", "CompileError", "Group", "Model", "ModelError", "Parameter", "RaggedType",
    "Record", "State", "Table", "TensorType", "UnknownNameError", "Value", "attribute", "compile",
    "cond", "constant", "count", "decay", "init", "key", "layers", "metrics", "ops", "rule",
    "scalars", "scan", "schedule", "xxh64", *ops.__all__]


def __getattr__(name: str):
    if name.startswith("_"):
        raise AttributeError(f"pdl has no '{name}'")
    raise UnknownNameError(f"pdl has no '{name}'" + hints.for_name(name, __all__))
