#===- control_cases.py - Cases of choices ----------------------*- python -*-===#
#
# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===------------------------------------------------------------------------===#
"""Golden cases of `nn.if`. Either branch is executed, depending on states and comparisons."""

import numpy
import torch

from op_cases import Case, Value, tensor_type


def choices():
    case = Case("choices", "Bodies that run, and bodies that do not")
    width = 3
    steps = case.parameter("steps", numpy.array([5.0]), group=None)
    w = case.declare("w", case.numbers((width, width), -1, 1))
    # Only bodies that are not executed read this parameter.
    case.declare("unused", case.numbers((width, width), -1, 1))
    m = case.parameter("m", case.numbers((width,), -1, 1))

    def condition(op, number):
        limit = case.emit(f"nn.constant dense<{number}.0>", [], (1,), None,
                          functional=False)
        return case.binary(op, steps, limit, None)

    rows, static = tensor_type((-1, width)), tensor_type((width,))

    def choose(asked, inputs, names, bodies, types, tensors):
        """Adds an `nn.if`. `bodies`: lines of both branches, whose arguments are %`names`."""
        arguments = ", ".join(f"%{name}: {value.type}"
                              for name, value in zip(names, inputs))
        case.count += 1
        name = f"v{case.count}"
        count = f":{len(types)}" if len(types) > 1 else ""
        given = ", ".join(f"%{value.name}" for value in inputs)
        case.body.append(f"%{name}{count} = nn.if %{asked.name} with({given}) {{")
        for number, body in enumerate(bodies):
            if number:
                case.body.append("} else {")
            case.body += [f"^bb0({arguments}):", *("  " + line for line in body)]
        operands = ", ".join(value.type for value in (asked, *inputs))
        case.body.append(f"}} : {operands}")
        results = []
        for number, (type_, tensor) in enumerate(zip(types, tensors)):
            part = name + (f"#{number}" if count else "")
            results.append(Value(part, (-1, width) if type_ == rows else (width,), tensor))
        return results

    for label, op, number, taken in [("late", "greater", 4, True),
                                     ("early", "greater", 5, False)]:
        x = case.variable(width)
        body = [f"%a = nn.linear %x, @{'w' if taken else 'unused'} act(tanh) : ({rows}) -> {rows}",
                f"%b = nn.mul %a, %x : {rows}, {rows}",
                f"nn.yield %b : {rows}"]
        other = [f"%a = nn.mul %x, %s : {rows}, {static}",
                 f"%b = nn.linear %a, @{'unused' if taken else 'w'} : ({rows}) -> {rows}",
                 f"nn.yield %b : {rows}"]
        value = (torch.tanh(x.tensor @ w) * x.tensor if taken
                 else (x.tensor * m.tensor) @ w)
        [result] = choose(condition(op, number), [x, m], ["x", "s"], [body, other], [rows],
                          [value])
        case.check(result, label)

    # The results are of both kinds, and nothing uses the last one. One choice is inside another.
    x, y = case.variable(width), case.variable(width)
    inner = [f"%in = nn.if %c with(%y) {{",
             f"^bb0(%q: {rows}):",
             f"  %r = nn.exp %q : {rows}",
             f"  nn.yield %r : {rows}",
             "} else {",
             f"^bb0(%q: {rows}):",
             f"  %r = nn.linear %q, @w : ({rows}) -> {rows}",
             f"  nn.yield %r : {rows}",
             f"}} : tensor<1xf32>, {rows}",
             f"%z = nn.add %in, %x : {rows}, {rows}",
             f"%d = nn.mul %s, %s : {static}, {static}",
             f"nn.yield %z, %d, %y : {rows}, {static}, {rows}"]
    other = [f"nn.yield %x, %s, %x : {rows}, {static}, {rows}"]
    results = choose(condition("less_equal", 5), [steps, x, y, m], ["c", "x", "y", "s"],
                     [inner, other], [rows, static, rows],
                     [torch.exp(y.tensor) + x.tensor, m.tensor * m.tensor, y.tensor])
    case.check(results[0], "nested")
    case.check(results[1], "static")
    return case
