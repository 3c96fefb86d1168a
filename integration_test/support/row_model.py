# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model whose data have an id of its own in each row, so that the keys of the table show which rows
were trained."""

ROW_MODEL = """
module @rows {
  nn.record @r {
    nn.field @id : tensor<?x1xi64>
    nn.field @y : tensor<?x1xf32>
  }
  nn.group @g rule(@adagrad) rate(0.1)
  nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.uniform<-0.1, 0.1>)
  nn.param @w : tensor<4x1xf32> in @g init(#nn.constant<0.5>)
  nn.program @train reads(@r) {
  ^bb0(%id: tensor<?x1xi64>, %y: tensor<?x1xf32>):
    %e = nn.lookup @t[%id] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x4xf32>
    %f = nn.flatten %e from 1 : tensor<?x1x4xf32>
    %z = nn.linear %f, @w : (tensor<?x4xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
"""
