# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a model that is trained through a chain of layers, each with a parameter
of its own.

usage: many_parameters.py LENGTH
"""

import sys

WIDTH = 4
BATCH = f"tensor<?x{WIDTH}xf32>"


def model(length):
    yield f"""module @layers {{
  nn.record @samples {{
    nn.field @label : tensor<?x1xf32>
    nn.field @x : {BATCH}
  }}
  nn.group @dense rule(@adam) rate(1.0e-3)"""
    for i in range(length):
        yield (f"  nn.param @w{i} : tensor<{WIDTH}x{WIDTH}xf32> in @dense "
               "init(#nn.xavier)")
    yield f"""  nn.param @w : tensor<{WIDTH}x1xf32> in @dense init(#nn.xavier)
  nn.program @train reads(@samples) {{
  ^bb0(%label: tensor<?x1xf32>, %0: {BATCH}):"""
    for i in range(length):
        yield f"    %{i + 1} = nn.linear %{i}, @w{i} act(tanh) : ({BATCH}) -> {BATCH}"
    yield f"""    %z = nn.linear %{length}, @w : ({BATCH}) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    nn.minimize %l over [@dense] : tensor<?x1xf32>
  }}
}}"""


if __name__ == "__main__":
    print("\n".join(model(int(sys.argv[1]))))
