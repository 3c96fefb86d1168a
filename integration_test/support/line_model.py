# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model of one number that tests compute again. Training moves the number to the mean of the data.
"""


def line_model(rate, start):
    """Returns the text of the model. The loss is half of the squared distance, trained by SGD in
    f64."""
    return f"""module @line {{
  nn.record @r {{
    nn.field @y : tensor<?x1xf64>
  }}
  nn.group @g rule(@sgd) rate({rate})
  nn.param @w : tensor<1xf64> in @g init(#nn.constant<{start}>)
  nn.program @train reads(@r) {{
  ^bb0(%y: tensor<?x1xf64>):
    %w = nn.read @w : tensor<1xf64>
    %d = nn.sub %y, %w : tensor<?x1xf64>, tensor<1xf64>
    %s = nn.mul %d, %d : tensor<?x1xf64>, tensor<?x1xf64>
    %half = nn.constant dense<0.5> : tensor<f64>
    %l = nn.mul %s, %half : tensor<?x1xf64>, tensor<f64>
    nn.minimize %l over [@g] : tensor<?x1xf64>
  }}
}}
"""
