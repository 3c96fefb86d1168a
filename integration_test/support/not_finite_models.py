# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small model, and optimizer rules that make its numbers infinite or NaN."""

MODEL = """
module @tiny {{
  nn.record @sample {{
    nn.field @label : tensor<?x1xf32>
    nn.field @weight : tensor<?x1xf32>
    nn.field @x : tensor<?x2xf32>
    nn.field @id : tensor<?x1xi64>
  }}
  {rules}
  nn.group @wide {group}
  nn.group @deep {deep}
  nn.param @w : tensor<2x1xf32> in @wide init(#nn.constant<{start}>)
  nn.table @emb : i64 -> tensor<3xf32> in @deep init(#nn.constant<{row}>)

  nn.program @train reads(@sample) {{
  ^bb0(%y: tensor<?x1xf32>, %weight: tensor<?x1xf32>, %x: tensor<?x2xf32>,
       %id: tensor<?x1xi64>):
    %w = nn.read @w : tensor<2x1xf32>
    %h = nn.matmul %x, %w : tensor<?x2xf32>, tensor<2x1xf32>
    %r = nn.lookup @emb[%id] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x3xf32>
    %s = nn.reduce sum %r axes [2] : tensor<?x1x3xf32>
    %z = nn.add %h, %s : tensor<?x1xf32>, tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l weight %weight over [@wide, @deep] : tensor<?x1xf32>, tensor<?x1xf32>
  }}
}}
"""

# This rule divides by the learning rate, which a schedule decreases to 0.
DIVIDES = """
  nn.rule @divides hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    %pull = arith.divf %gradient, %rate : f32
    %new = arith.subf %value, %pull : f32
    nn.yield %new : f32
  }
"""
# The number of this rule is infinite from the third step on.
GROWS = """
  nn.rule @grows hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    %two = arith.constant 2.0 : f64
    %one = arith.constant 1.0 : f64
    %zero = arith.constant 0.0 : f64
    %over = arith.cmpf ogt, %step, %two : f64
    %divisor = arith.select %over, %zero, %one : f64
    %size = arith.divf %rate, %divisor : f64
    nn.yield %size : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %size: f32):
    %change = arith.mulf %gradient, %size : f32
    %new = arith.subf %value, %change : f32
    nn.yield %new : f32
  }
"""
# The second value under this rule exceeds the range of f32.
SCALES = """
  nn.rule @scales hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    %large = arith.constant 1.0e+30 : f32
    %new = arith.mulf %value, %large : f32
    nn.yield %new : f32
  }
"""
# The fourth value under this rule is infinite, whatever the gradient is.
COUNTS = """
  nn.rule @counts hyper() slots(count = 0.0) once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %count: f32, %rate: f32):
    %one = arith.constant 1.0 : f32
    %three = arith.constant 3.0 : f32
    %zero = arith.constant 0.0 : f32
    %left = arith.subf %three, %count : f32
    %share = arith.divf %one, %left : f32
    %change = arith.mulf %rate, %share : f32
    %new = arith.subf %value, %change : f32
    %next = arith.addf %count, %one : f32
    nn.yield %new, %next : f32, f32
  }
"""


def text(**changes):
    parts = {"rules": "", "group": "rule(@sgd) rate(0.1)",
             "deep": "rule(@sgd) rate(0.1)", "start": "0.5", "row": "0.0"}
    parts.update(changes)
    return MODEL.format(**parts)


def rows(count, weight=1.0):
    return [(i % 2, weight, 0.25 * (i % 5), -0.5 + 0.125 * (i % 7), i % 4)
            for i in range(count)]
