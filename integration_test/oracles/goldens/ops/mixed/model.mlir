//===- mixed/model.mlir - Parameters, rows, states and losses of f32 and of f64 -*- mlir -*-===//
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

module @mixed {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @d : tensor<?x2xf64>
    nn.field @c : !nn.ragged<?x1x*xi64>
    nn.field @target : tensor<?x1xf64>
    nn.field @weight : tensor<?x1xf32>
  }
  nn.clip @joint : global_norm(0.5)
  nn.group @narrow rule(@adam) rate(0.0625) clip(@joint)
  nn.group @wide rule(@adam) rate(0.0625) clip(@joint)
  nn.group @rows rule(@adagrad) rate(0.0625) clip(@joint)
  nn.group @wide_rows rule(@adagrad) rate(0.0625)
  nn.group @second rule(@momentum) rate(0.0625)
  nn.group @statistics rule(@moving_average) rate(0.125)
  nn.group @levels rule(@moving_average) rate(0.125)
  nn.group @stepping rule(@step_counter) rate(1.0)
  nn.param @w : tensor<3x4xf32> in @narrow init(#nn.uniform<-1.0, 1.0>)
  nn.param @u : tensor<4x4xf64> in @wide init(#nn.uniform<-1.0, 1.0>)
  nn.param @out : tensor<5x1xf64> in @wide init(#nn.uniform<-1.0, 1.0>)
  nn.param @top : tensor<4x1xf64> in @wide init(#nn.uniform<-1.0, 1.0>)
  nn.table @emb : i64 -> tensor<4xf32> in @rows init(#nn.uniform<-1.0, 1.0>)
  nn.table @first : i64 -> tensor<1xf64> in @wide_rows init(#nn.uniform<-1.0, 1.0>)
  nn.param @critic : tensor<3x1xf32> in @second init(#nn.uniform<-1.0, 1.0>)
  nn.param @mean : tensor<3xf64> in @statistics init(#nn.zeros)
  nn.param @variance : tensor<3xf64> in @statistics init(#nn.constant<1.0>)
  nn.param @level : tensor<4xf32> in @levels init(#nn.zeros)
  nn.param @steps : tensor<1xf32> in @stepping init(#nn.zeros)

  nn.func private @hidden_of(%x: tensor<?x3xf32>) -> tensor<?x4xf32> {
    %h = nn.linear %x, @w act(tanh) : (tensor<?x3xf32>) -> tensor<?x4xf32>
    nn.return %h : tensor<?x4xf32>
  }

  nn.func private @logit_of(%x: tensor<?x3xf32>, %d: tensor<?x2xf64>, %c: !nn.ragged<?x1x*xi64>, %h: tensor<?x4xf32>) -> tensor<?x1xf64> {
    %x_wide = nn.cast %x : (tensor<?x3xf32>) -> tensor<?x3xf64>
    %n = nn.batch_norm %x_wide mean @mean variance @variance : tensor<?x3xf64>
    %both = nn.concat %n, %d axis 1 : tensor<?x3xf64>, tensor<?x2xf64>
    %a = nn.linear %both, @out : (tensor<?x5xf64>) -> tensor<?x1xf64>
    %rows = nn.lookup @emb[%c] pool(none) : (!nn.ragged<?x1x*xi64>) -> tensor<?x4xf32>
    %states = nn.scan %rows of %c {
    ^bb0(%row: tensor<?x4xf32>, %before: tensor<?x4xf64>):
      %row_wide = nn.cast %row : (tensor<?x4xf32>) -> tensor<?x4xf64>
      %product = nn.linear %before, @u : (tensor<?x4xf64>) -> tensor<?x4xf64>
      %sum = nn.add %row_wide, %product : tensor<?x4xf64>, tensor<?x4xf64>
      %after = nn.tanh %sum : tensor<?x4xf64>
      nn.yield %after : tensor<?x4xf64>
    } : tensor<?x4xf32>, !nn.ragged<?x1x*xi64>
    %last = nn.segment_last %states of %c : tensor<?x4xf64>, !nn.ragged<?x1x*xi64>
    %flat = nn.reshape %last : (tensor<?x1x4xf64>) -> tensor<?x4xf64>
    %h_wide = nn.cast %h : (tensor<?x4xf32>) -> tensor<?x4xf64>
    %joined = nn.add %h_wide, %flat : tensor<?x4xf64>, tensor<?x4xf64>
    %b = nn.linear %joined, @top : (tensor<?x4xf64>) -> tensor<?x1xf64>
    %f = nn.lookup @first[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x1xf64>
    %e = nn.reshape %f : (tensor<?x1x1xf64>) -> tensor<?x1xf64>
    %ab = nn.add %a, %b : tensor<?x1xf64>, tensor<?x1xf64>
    %z = nn.add %ab, %e : tensor<?x1xf64>, tensor<?x1xf64>
    nn.return %z : tensor<?x1xf64>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %d: tensor<?x2xf64>, %c: !nn.ragged<?x1x*xi64>, %target: tensor<?x1xf64>, %weight: tensor<?x1xf32>):
    %h = nn.call @hidden_of(%x) : (tensor<?x3xf32>) -> tensor<?x4xf32>
    %z = nn.call @logit_of(%x, %d, %c, %h) : (tensor<?x3xf32>, tensor<?x2xf64>, !nn.ragged<?x1x*xi64>, tensor<?x4xf32>) -> tensor<?x1xf64>
    %l = nn.sigmoid_cross_entropy %z, %target : tensor<?x1xf64>
    // For the first steps, counted in f32, the losses, in f64, are increased.
    %steps = nn.read @steps : tensor<1xf32>
    %two = nn.constant dense<2.0> : tensor<1xf32>
    %late = nn.greater %steps, %two : tensor<1xf32>, tensor<1xf32>
    %loss = nn.if %late with(%l, %h) {
    ^bb0(%error: tensor<?x1xf64>, %hidden: tensor<?x4xf32>):
      nn.yield %error : tensor<?x1xf64>
    } else {
    ^bb0(%error: tensor<?x1xf64>, %hidden: tensor<?x4xf32>):
      %squares = nn.mul %hidden, %hidden : tensor<?x4xf32>, tensor<?x4xf32>
      %penalty = nn.reduce sum %squares axes [1] keep : tensor<?x4xf32>
      %penalty_wide = nn.cast %penalty : (tensor<?x1xf32>) -> tensor<?x1xf64>
      %sum = nn.add %error, %penalty_wide : tensor<?x1xf64>, tensor<?x1xf64>
      nn.yield %sum : tensor<?x1xf64>
    } : tensor<1xf32>, tensor<?x1xf64>, tensor<?x4xf32>
    nn.minimize %loss over [@narrow, @wide, @rows, @wide_rows] : tensor<?x1xf64>
    nn.accumulate @steps(%weight) : tensor<?x1xf32>
    nn.accumulate @level(%h) weight %weight : tensor<?x4xf32>, tensor<?x1xf32>
    %guess = nn.linear %x, @critic : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %z_narrow = nn.cast %z : (tensor<?x1xf64>) -> tensor<?x1xf32>
    %target_narrow = nn.cast %target : (tensor<?x1xf64>) -> tensor<?x1xf32>
    %moved = nn.add %guess, %z_narrow : tensor<?x1xf32>, tensor<?x1xf32>
    %m = nn.squared_error %moved, %target_narrow : tensor<?x1xf32>
    nn.minimize %m weight %weight over [@second] : tensor<?x1xf32>, tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %d: tensor<?x2xf64>, %c: !nn.ragged<?x1x*xi64>, %target: tensor<?x1xf64>, %weight: tensor<?x1xf32>):
    %h = nn.call @hidden_of(%x) : (tensor<?x3xf32>) -> tensor<?x4xf32>
    %z = nn.call @logit_of(%x, %d, %c, %h) : (tensor<?x3xf32>, tensor<?x2xf64>, !nn.ragged<?x1x*xi64>, tensor<?x4xf32>) -> tensor<?x1xf64>
    %z_narrow = nn.cast %z : (tensor<?x1xf64>) -> tensor<?x1xf32>
    nn.return %z, %z_narrow, %h : tensor<?x1xf64>, tensor<?x1xf32>, tensor<?x4xf32>
  }
}
