#!/usr/bin/env python3
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a model with many slots and layers, as large advertisers have them, to measure the
compiler.

  bench/large_model.py [--slots 1000] [--layers 200] [--form fields] [--wider LAYER] > large.mlir

The rows of all slots are concatenated and passed to towers of ten layers with different widths. The
scores of the towers are added. `--form` selects how slots are written:

  field    one field and one lookup of all slots
  fields   a field and a lookup for each slot, one table
  tables   a field, a lookup and a table for each slot
  chain    as field; the layers are one chain of equal widths

`--wider N` makes layer N wider by eight columns, `--tanh N` gives it another activation. The result
is a model with one changed layer. `--clip KIND` clips all gradients, by one norm or by a norm of
each parameter and table.
"""

import argparse
import sys

DIMENSION = 8
DEPTH = 10
FORMS = ["field", "fields", "tables", "chain"]
SCORE = "tensor<?x1xf32>"


def matrix(width):
    return f"tensor<?x{width}xf32>"


class Layer:
    def __init__(self, number, inputs, source, outputs, activation):
        self.number, self.inputs, self.source = number, inputs, source
        self.outputs, self.activation = outputs, activation

    def symbols(self):
        yield (f"  nn.param @w{self.number} : tensor<{self.inputs}x{self.outputs}xf32> in @dense "
               "init(#nn.xavier)")
        yield f"  nn.param @b{self.number} : tensor<{self.outputs}xf32> in @dense init(#nn.zeros)"

    def code(self):
        act = f" act({self.activation})" if self.activation else ""
        yield (f"    %h{self.number} = nn.linear {self.source}, @w{self.number}, @b{self.number}"
               f"{act} : ({matrix(self.inputs)}) -> {matrix(self.outputs)}")


def layers_of(options):
    """Returns the layers in order. The last layer of each tower has one column."""
    depth = options.layers if options.form == "chain" else DEPTH
    layers = []
    inputs, source = options.slots * DIMENSION, "%x"
    for number in range(options.layers):
        tower, place = divmod(number, depth)
        if place == 0:
            inputs, source = options.slots * DIMENSION, "%x"
        is_last = place == depth - 1 or number == options.layers - 1
        width = 64 if options.form == "chain" else 32 + 4 * ((7 * tower + 3 * place) % 29)
        if number == options.wider:
            width += 8
        activation = "tanh" if number == options.tanh else "relu"
        layer = Layer(number, inputs, source, 1 if is_last else width,
                      None if is_last else activation)
        layers.append(layer)
        inputs, source = layer.outputs, f"%h{number}"
    return layers


def fields_of(options):
    """Returns name and type of each field of ids."""
    if options.form in ("field", "chain"):
        return [("slots", f"!nn.ragged<?x{options.slots}x*xi64>")]
    return [(f"slot{i}", "!nn.ragged<?x1x*xi64>") for i in range(options.slots)]


def lookups_of(options, fields):
    if len(fields) == 1:
        name, kind = fields[0]
        rows = f"tensor<?x{options.slots}x{DIMENSION}xf32>"
        yield f"    %rows = nn.lookup @table[%{name}] pool(sum) : ({kind}) -> {rows}"
        yield f"    %x = nn.flatten %rows from 1 : {rows}"
        return
    row = f"tensor<?x1x{DIMENSION}xf32>"
    for i, (name, kind) in enumerate(fields):
        table = f"table{i}" if options.form == "tables" else "table"
        yield f"    %rows{i} = nn.lookup @{table}[%{name}] pool(sum) : ({kind}) -> {row}"
        yield f"    %r{i} = nn.flatten %rows{i} from 1 : {row}"
    values = ", ".join(f"%r{i}" for i in range(len(fields)))
    kinds = ", ".join([matrix(DIMENSION)] * len(fields))
    yield f"    %x = nn.concat {values} axis 1 : {kinds}"


def program(name, fields, trains):
    arguments = ", ".join(f"%{field}: {kind}" for field, kind in fields)
    passed = ", ".join(f"%{field}" for field, _ in fields)
    kinds = ", ".join(kind for _, kind in fields)
    label = f"%label: {SCORE}, " if trains else ""
    yield (f"  nn.program @{name} reads(@sample) {{" if trains else
           f"  nn.program @{name} frozen reads(@sample except @label) {{")
    yield f"  ^bb0({label}{arguments}):"
    yield f"    %z = nn.call @logit({passed}) : ({kinds}) -> {SCORE}"
    yield f"    %p = nn.sigmoid %z : {SCORE}"
    if trains:
        yield f"    %l = nn.sigmoid_cross_entropy %z, %label : {SCORE}"
        yield f"    nn.observe @auc(%p, %label) : {SCORE}"
        yield f"    nn.minimize %l over [@dense, @sparse] : {SCORE}"
    else:
        yield f"    nn.return %p : {SCORE}"
    yield "  }"


def model(options):
    fields, layers = fields_of(options), layers_of(options)
    yield "module @large {"
    yield f"  nn.record @sample {{\n    nn.field @label : {SCORE}"
    for name, kind in fields:
        salt = ", salt = slot" if len(fields) == 1 else ""
        yield f"    nn.field @{name} : {kind} hash(#nn.hash<xxh64{salt}>)"
    yield "  }"
    clip = ""
    if options.clip:
        yield f"  nn.clip @clip : {options.clip}(1.0)"
        clip = " clip(@clip)"
    yield f"  nn.group @dense rule(@adam) rate(1.0e-3){clip}"
    yield f"  nn.group @sparse rule(@adam) rate(1.0e-3){clip} untouched(lazy)"
    tables = range(options.slots) if options.form == "tables" else [""]
    for i in tables:
        yield (f"  nn.table @table{i} : i64 -> tensor<{DIMENSION}xf32> in @sparse "
               "init(#nn.uniform<-0.01, 0.01>)")
    for layer in layers:
        yield from layer.symbols()
    yield "  nn.metric @auc : #nn.auc<buckets = 16384>"
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in fields)
    yield f"  nn.func private @logit({arguments}) -> {SCORE} {{"
    yield from lookups_of(options, fields)
    score = None
    for layer in layers:
        yield from layer.code()
        if layer.activation:
            continue
        if score:
            yield f"    %s{layer.number} = nn.add {score}, %h{layer.number} : {SCORE}, {SCORE}"
        score = f"%s{layer.number}" if score else f"%h{layer.number}"
    yield f"    nn.return {score} : {SCORE}\n  }}"
    yield from program("train", fields, trains=True)
    yield from program("predict", fields, trains=False)
    yield "}"


def text(slots=1000, layers=200, form="fields", wider=None, tanh=None, clip=None):
    """Returns the text of the model. The arguments are those of the command line."""
    return "\n".join(model(argparse.Namespace(
        slots=slots, layers=layers, form=form, wider=wider, tanh=tanh, clip=clip))) + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slots", type=int, default=1000)
    parser.add_argument("--layers", type=int, default=200)
    parser.add_argument("--form", choices=FORMS, default="fields")
    parser.add_argument("--wider", type=int, metavar="LAYER")
    parser.add_argument("--tanh", type=int, metavar="LAYER")
    parser.add_argument("--clip", choices=["global_norm", "norm"], metavar="KIND")
    options = parser.parse_args()
    sys.stdout.write(text(**vars(options)))


if __name__ == "__main__":
    main()
