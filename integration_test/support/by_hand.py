# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model whose values the tests compute again in plain Python. Its data are those of Adult."""

BY_HAND = """module @by_hand {
  nn.record @person {
    nn.field @numbers : tensor<?x5xf32> columns([0, 2, 10, 11, 12])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
  }
  nn.group @all rule(@sgd) rate(RATE) CLAUSES
  nn.param @w : tensor<5x1xf32> in @all init(#nn.zeros)
  nn.param @scale : tensor<5xf32> init(#nn.constant<0.001>)
  nn.program @train reads(@person) {
  ^bb0(%numbers: tensor<?x5xf32>, %label: tensor<?x1xf32>):
    %s = nn.read @scale : tensor<5xf32>
    %n = nn.mul %numbers, %s : tensor<?x5xf32>, tensor<5xf32>
    %t = nn.signed_log1p %n : tensor<?x5xf32>
    %z = nn.linear %t, @w : (tensor<?x5xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    nn.minimize %l over [@all] : tensor<?x1xf32>
  }
}
"""


def by_hand(rate, clauses):
    """Returns the model with the given learning rate and further clauses of its group."""
    return BY_HAND.replace("RATE", str(rate)).replace("CLAUSES", clauses)
