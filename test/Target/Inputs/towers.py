# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a model of towers of different widths, no two of which share a kernel.

usage: towers.py COUNT
"""

import sys

INPUT = "tensor<?x8xf32>"
SCORE = "tensor<?x1xf32>"


def tower(number, width):
    hidden, bias = f"tensor<?x{width}xf32>", f"tensor<{width}xf32>"
    yield f"""    %b{number} = nn.read @b{number} : {bias}
    %v{number} = nn.read @v{number} : tensor<{width}x1xf32>
    %x{number} = nn.linear %x, @w{number} : ({INPUT}) -> {hidden}
    %a{number} = nn.add %x{number}, %b{number} : {hidden}, {bias}
    %s{number} = nn.sigmoid %a{number} : {hidden}
    %t{number} = nn.tanh %a{number} : {hidden}
    %h{number} = nn.mul %s{number}, %t{number} : {hidden}, {hidden}
    %m{number} = nn.mul %h{number}, %b{number} : {hidden}, {bias}
    %e{number} = nn.exp %m{number} : {hidden}
    %z{number} = nn.matmul %e{number}, %v{number} : {hidden}, tensor<{width}x1xf32>"""


def model(count):
    yield f"""module @towers {{
  nn.record @samples {{
    nn.field @label : {SCORE}
    nn.field @x : {INPUT}
  }}
  nn.group @dense rule(@adam) rate(1.0e-3)"""
    for number in range(count):
        width = 16 + number
        yield f"""  nn.param @w{number} : tensor<8x{width}xf32> in @dense init(#nn.xavier)
  nn.param @b{number} : tensor<{width}xf32> in @dense init(#nn.zeros)
  nn.param @v{number} : tensor<{width}x1xf32> in @dense init(#nn.xavier)"""
    yield f"""  nn.program @train reads(@samples) {{
  ^bb0(%label: {SCORE}, %x: {INPUT}):"""
    score = "%z0"
    for number in range(count):
        yield from tower(number, 16 + number)
        if number:
            yield f"    %o{number} = nn.add {score}, %z{number} : {SCORE}, {SCORE}"
            score = f"%o{number}"
    yield f"""    %l = nn.sigmoid_cross_entropy {score}, %label : {SCORE}
    nn.minimize %l over [@dense] : {SCORE}
    nn.return {score} : {SCORE}
  }}
}}"""


if __name__ == "__main__":
    print("\n".join(model(int(sys.argv[1]))))
