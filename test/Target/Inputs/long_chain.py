# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a model that is trained through a chain of tanh.

usage: long_chain.py LENGTH
"""

import sys

WIDTH = 8
BATCH = f"tensor<?x{WIDTH}xf32>"


def model(length):
    yield f"""module @chain {{
  nn.record @samples {{
    nn.field @label : tensor<?x1xf32>
    nn.field @x : {BATCH}
  }}
  nn.group @dense rule(@adam) rate(1.0e-3)
  nn.param @w : tensor<{WIDTH}x1xf32> in @dense init(#nn.xavier)
  nn.param @b : tensor<{WIDTH}xf32> in @dense init(#nn.zeros)
  nn.program @train reads(@samples) {{
  ^bb0(%label: tensor<?x1xf32>, %x: {BATCH}):
    %b = nn.read @b : tensor<{WIDTH}xf32>
    %0 = nn.add %x, %b : {BATCH}, tensor<{WIDTH}xf32>"""
    for i in range(length):
        yield f"    %{i + 1} = nn.tanh %{i} : {BATCH}"
    yield f"""    %z = nn.linear %{length}, @w : ({BATCH}) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    nn.minimize %l over [@dense] : tensor<?x1xf32>
  }}
}}"""


if __name__ == "__main__":
    print("\n".join(model(int(sys.argv[1]))))
