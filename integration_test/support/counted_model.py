# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model that counts how often rows are shown and clicked."""

# The model has bags that are pooled by their mean and counted with all their ids, ids that are
# counted but never looked up, and rows that are not counted.
COUNTED = """
module @counted {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @weight : tensor<?x1xf32>
    nn.field @bags : !nn.ragged<?x2x*xi64>
    nn.field @other : tensor<?x1xi64>
    nn.field @plain : tensor<?x1xi64>
  }
  nn.clip @c : global_norm(0.5)
  nn.group @g rule(@click_adagrad) rate(0.5) clip(@c) untouched(lazy)
  nn.table @t : i64 -> tensor<19xf32> in @g init(#nn.uniform<-0.1, 0.1>)
  nn.func private @score(%bags: !nn.ragged<?x2x*xi64>, %plain: tensor<?x1xi64>) -> tensor<?x1xf32> {
    %e = nn.lookup @t[%bags] pool(mean) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x19xf32>
    %p = nn.lookup @t[%plain] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x19xf32>
    %a = nn.add %e, %p : tensor<?x2x19xf32>, tensor<?x1x19xf32>
    %f = nn.flatten %a from 1 : tensor<?x2x19xf32>
    %z = nn.reduce sum %f axes [1] keep : tensor<?x38xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %weight: tensor<?x1xf32>, %bags: !nn.ragged<?x2x*xi64>, %other: tensor<?x1xi64>, %plain: tensor<?x1xi64>):
    %z = nn.call @score(%bags, %plain) : (!nn.ragged<?x2x*xi64>, tensor<?x1xi64>) -> tensor<?x1xf32>
    %one = nn.constant dense<1.0> : tensor<f32>
    %ones = nn.broadcast %one like %y : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.count @t[%bags] show(%ones) click(%y) : !nn.ragged<?x2x*xi64>, tensor<?x1xf32>
    nn.count @t[%other] click(%y) show(%weight) : tensor<?x1xi64>, tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l weight %weight over [@g] : tensor<?x1xf32>, tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %weight: tensor<?x1xf32>, %bags: !nn.ragged<?x2x*xi64>, %other: tensor<?x1xi64>, %plain: tensor<?x1xi64>):
    %z = nn.call @score(%bags, %plain) : (!nn.ragged<?x2x*xi64>, tensor<?x1xi64>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
}
"""
