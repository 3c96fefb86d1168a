//===- mixed_slopes/model.mlir - Gradients from f64 to f32 and back -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written by integration_test/oracles/generate_op_goldens.py.
//
//===----------------------------------------------------------------------===//

module @mixed_slopes {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @c : !nn.ragged<?x1x*xi64>
  }
  nn.group @narrow rule(@sgd) rate(1.0)
  nn.group @wide rule(@sgd) rate(1.0)
  nn.param @shift : tensor<3xf32> in @narrow init(#nn.zeros)
  nn.table @rows : i64 -> tensor<3xf32> in @narrow init(#nn.zeros)
  nn.param @move : tensor<3xf64> in @wide init(#nn.zeros)
  nn.param @w : tensor<3x1xf64> in @wide init(#nn.zeros)

  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>):
    // Nothing here is rounded to f32, so that differences are slopes.
    %move = nn.read @move : tensor<3xf64>
    %move_narrow = nn.cast %move : (tensor<3xf64>) -> tensor<3xf32>
    %shift = nn.read @shift : tensor<3xf32>
    %a = nn.add %x, %shift : tensor<?x3xf32>, tensor<3xf32>
    %b = nn.sub %a, %move_narrow : tensor<?x3xf32>, tensor<3xf32>
    %e = nn.lookup @rows[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x3xf32>
    %f = nn.reshape %e : (tensor<?x1x3xf32>) -> tensor<?x3xf32>
    %g = nn.add %b, %f : tensor<?x3xf32>, tensor<?x3xf32>
    // All later ops compute in f64.
    %wide = nn.cast %g : (tensor<?x3xf32>) -> tensor<?x3xf64>
    %h = nn.tanh %wide : tensor<?x3xf64>
    %m = nn.mul %h, %move : tensor<?x3xf64>, tensor<3xf64>
    %z = nn.linear %m, @w : (tensor<?x3xf64>) -> tensor<?x1xf64>
    %l = nn.softplus %z : tensor<?x1xf64>
    nn.minimize %l over [@narrow, @wide] : tensor<?x1xf64>
  }
}
