//===- states/model.mlir - States that a program writes, and two losses -*- mlir -*-===//
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

module @states {
  nn.record @sample {
    nn.field @x : tensor<?x3xf32>
    nn.field @target : tensor<?x1xf32>
    nn.field @weight : tensor<?x1xf32>
  }
  nn.group @dense rule(@momentum) rate(0.0625)
  nn.group @critic rule(@adam) rate(0.125)
  nn.group @statistics rule(@moving_average) rate(0.125)
  nn.group @data rule(@running_sum {decay = 0.75}) rate(1.0)
  nn.group @calibration rule(@moving_average) rate(0.5)
  nn.group @counter rule(@running_sum) rate(1.0)
  nn.group @stepping rule(@step_counter) rate(1.0)
  nn.param @steps : tensor<1xf32> in @stepping init(#nn.zeros)
  nn.group @turning rule(@cyclic_counter {length = 4.0}) rate(1.0)
  nn.param @turn : tensor<1xf32> in @turning init(#nn.zeros)
  nn.param @scale : tensor<3xf32> in @dense init(#nn.uniform<-1.0, 1.0>)
  nn.param @shift : tensor<3xf32> in @dense init(#nn.zeros)
  nn.param @other : tensor<3x1xf32> in @dense init(#nn.uniform<-1.0, 1.0>)
  nn.param @mean : tensor<3xf32> in @statistics init(#nn.zeros)
  nn.param @variance : tensor<3xf32> in @statistics init(#nn.constant<1.0>)
  nn.param @wide_mean : tensor<2xf32> in @statistics init(#nn.zeros)
  nn.param @wide_variance : tensor<2xf32> in @statistics init(#nn.constant<1.0>)
  nn.param @size : tensor<3xf32> in @data init(#nn.constant<1.0>)
  nn.param @sum : tensor<3xf32> in @data init(#nn.zeros)
  nn.param @squares : tensor<3xf32> in @data init(#nn.constant<1.0>)
  nn.param @predicted : tensor<1xf32> in @calibration init(#nn.constant<1.0>)
  nn.param @clicked : tensor<1xf32> in @calibration init(#nn.constant<1.0>)
  nn.param @seen : tensor<1xf32> in @counter init(#nn.zeros)
  nn.param @critic_w : tensor<3x1xf32> in @critic init(#nn.uniform<-1.0, 1.0>)
  nn.param @mix : tensor<3x8xf32> in @dense init(#nn.uniform<-1.0, 1.0>)

  nn.func private @predicted_of(%x: tensor<?x3xf32>) -> tensor<?x1xf32> {
    %n = nn.batch_norm %x mean @mean variance @variance epsilon 0.001 : tensor<?x3xf32>
    %scale = nn.read @scale : tensor<3xf32>
    %shift = nn.read @shift : tensor<3xf32>
    %scaled = nn.mul %n, %scale : tensor<?x3xf32>, tensor<3xf32>
    %shifted = nn.add %scaled, %shift : tensor<?x3xf32>, tensor<3xf32>
    %d = nn.data_norm %x size @size sum @sum square_sum @squares : tensor<?x3xf32>
    %both = nn.add %shifted, %d : tensor<?x3xf32>, tensor<?x3xf32>
    %h = nn.linear %both, @mix act(tanh) : (tensor<?x3xf32>) -> tensor<?x8xf32>
    %box = nn.reshape %h : (tensor<?x8xf32>) -> tensor<?x4x2xf32>
    %boxes = nn.batch_norm %box mean @wide_mean variance @wide_variance : tensor<?x4x2xf32>
    %flat = nn.reshape %boxes : (tensor<?x4x2xf32>) -> tensor<?x8xf32>
    %squares = nn.mul %flat, %flat : tensor<?x8xf32>, tensor<?x8xf32>
    %more = nn.add %squares, %flat : tensor<?x8xf32>, tensor<?x8xf32>
    %part = nn.slice %more axis 1 offset 1 size 3 : tensor<?x8xf32>
    %z = nn.linear %part, @other : (tensor<?x3xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x1xf32>, %weight: tensor<?x1xf32>):
    %z = nn.call @predicted_of(%x) : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %e = nn.squared_error %z, %target : tensor<?x1xf32>
    %steps = nn.read @steps : tensor<1xf32>
    %two = nn.constant dense<2.0> : tensor<1xf32>
    %late = nn.greater %steps, %two : tensor<1xf32>, tensor<1xf32>
    %l = nn.if %late with(%e, %z) {
    ^bb0(%error: tensor<?x1xf32>, %guess: tensor<?x1xf32>):
      nn.yield %error : tensor<?x1xf32>
    } else {
    ^bb0(%error: tensor<?x1xf32>, %guess: tensor<?x1xf32>):
      %part = nn.constant dense<0.25> : tensor<f32>
      %square = nn.mul %guess, %guess : tensor<?x1xf32>, tensor<?x1xf32>
      %small = nn.mul %square, %part : tensor<?x1xf32>, tensor<f32>
      %sum = nn.add %error, %small : tensor<?x1xf32>, tensor<?x1xf32>
      nn.yield %sum : tensor<?x1xf32>
    } : tensor<1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
    nn.accumulate @steps(%weight) : tensor<?x1xf32>
    nn.accumulate @turn(%weight) : tensor<?x1xf32>
    nn.minimize %l over [@dense] : tensor<?x1xf32>
    %c = nn.linear %x, @critic_w : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %sum = nn.add %c, %z : tensor<?x1xf32>, tensor<?x1xf32>
    %m = nn.squared_error %sum, %target : tensor<?x1xf32>
    nn.minimize %m weight %weight over [@critic] : tensor<?x1xf32>, tensor<?x1xf32>
    nn.accumulate @predicted(%z) weight %weight : tensor<?x1xf32>, tensor<?x1xf32>
    nn.accumulate @clicked(%target) weight %weight : tensor<?x1xf32>, tensor<?x1xf32>
    nn.accumulate @seen(%weight) : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x: tensor<?x3xf32>, %target: tensor<?x1xf32>, %weight: tensor<?x1xf32>):
    %z = nn.call @predicted_of(%x) : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %p = nn.read @predicted : tensor<1xf32>
    %c = nn.read @clicked : tensor<1xf32>
    %ratio = nn.div %c, %p : tensor<1xf32>, tensor<1xf32>
    %calibrated = nn.mul %z, %ratio : tensor<?x1xf32>, tensor<1xf32>
    nn.return %z, %calibrated : tensor<?x1xf32>, tensor<?x1xf32>
  }
}
