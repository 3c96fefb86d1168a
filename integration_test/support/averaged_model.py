# Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model whose groups keep averages of their values."""

BATCH, STEPS, ROWS = 8, 6, 70
MODEL = f"""module @averaged {{
  nn.record @r {{
    nn.field @x : tensor<?x{ROWS}xf32>
    nn.field @id : tensor<?x1xi64>
    nn.field @label : tensor<?x1xf32>
  }}
  nn.metric @error : #nn.mae
  nn.group @dense rule(@adam) rate(0.05) average(@ema {{decay = 0.75}})
  nn.group @sparse rule(@adagrad) rate(0.25) untouched(lazy)
    average(@model_average {{least = 2.0, most = 4.0, share = 0.5}})
  nn.group @plain rule(@sgd) rate(0.0625)
  nn.param @w : tensor<{ROWS}x2xf32> in @dense init(#nn.truncated_normal<0.0, 0.5>)
  nn.table @t : i64 -> tensor<2xf32> in @sparse init(#nn.truncated_normal<0.0, 0.5>)
  nn.param @v : tensor<2x1xf32> in @plain init(#nn.uniform<-1.0, 1.0>)

  nn.func private @z(%x: tensor<?x{ROWS}xf32>, %id: tensor<?x1xi64>) -> tensor<?x1xf32> {{
    %a = nn.linear %x, @w act(tanh) : (tensor<?x{ROWS}xf32>) -> tensor<?x2xf32>
    %e = nn.lookup @t[%id] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %b = nn.flatten %e from 1 : tensor<?x1x2xf32>
    %s = nn.add %a, %b : tensor<?x2xf32>, tensor<?x2xf32>
    %z = nn.linear %s, @v : (tensor<?x2xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }}
  nn.program @train reads(@r) {{
  ^bb0(%x: tensor<?x{ROWS}xf32>, %id: tensor<?x1xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%x, %id) : (tensor<?x{ROWS}xf32>, tensor<?x1xi64>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %label : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse, @plain] : tensor<?x1xf32>
  }}
  nn.program @evaluate frozen reads(@r) {{
  ^bb0(%x: tensor<?x{ROWS}xf32>, %id: tensor<?x1xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%x, %id) : (tensor<?x{ROWS}xf32>, tensor<?x1xi64>) -> tensor<?x1xf32>
    nn.observe @error(%z, %label) : tensor<?x1xf32>, tensor<?x1xf32>
  }}
  nn.program @predict frozen reads(@r) {{
  ^bb0(%x: tensor<?x{ROWS}xf32>, %id: tensor<?x1xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @z(%x, %id) : (tensor<?x{ROWS}xf32>, tensor<?x1xi64>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }}
}}
"""
