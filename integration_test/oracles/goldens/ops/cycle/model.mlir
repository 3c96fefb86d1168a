//===- cycle/model.mlir - Programs that take turns -*- mlir -*-===//
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

module @cycle {
  nn.record @sample {
    nn.field @real : tensor<?x3xf32>
    nn.field @noise : tensor<?x2xf32>
    nn.field @kind : tensor<?x1xi64>
    nn.field @weight : tensor<?x1xf32>
  }
  nn.group @critic rule(@adam) rate(0.125)
  nn.group @generator rule(@momentum) rate(0.25)
  nn.group @kinds rule(@adagrad) rate(0.5)
  nn.group @judged rule(@moving_average) rate(0.5)
  nn.param @c1 : tensor<3x8xf32> in @critic init(#nn.xavier)
  nn.param @c2 : tensor<8x1xf32> in @critic init(#nn.xavier)
  nn.param @g1 : tensor<2x8xf32> in @generator init(#nn.xavier)
  nn.param @g2 : tensor<8x3xf32> in @generator init(#nn.xavier)
  nn.table @kind_of : i64 -> tensor<2xf32> in @kinds init(#nn.zeros)
  nn.param @mean : tensor<1xf32> in @judged init(#nn.zeros)

  nn.func private @generate(%noise: tensor<?x2xf32>, %kind: tensor<?x1xi64>) -> tensor<?x3xf32> {
    %k = nn.lookup @kind_of[%kind] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x2xf32>
    %flat = nn.reshape %k : (tensor<?x1x2xf32>) -> tensor<?x2xf32>
    %z = nn.add %noise, %flat : tensor<?x2xf32>, tensor<?x2xf32>
    %h = nn.linear %z, @g1 act(tanh) : (tensor<?x2xf32>) -> tensor<?x8xf32>
    %x = nn.linear %h, @g2 : (tensor<?x8xf32>) -> tensor<?x3xf32>
    nn.return %x : tensor<?x3xf32>
  }

  nn.func private @judge(%x: tensor<?x3xf32>) -> tensor<?x1xf32> {
    %h = nn.linear %x, @c1 act(tanh) : (tensor<?x3xf32>) -> tensor<?x8xf32>
    %y = nn.linear %h, @c2 : (tensor<?x8xf32>) -> tensor<?x1xf32>
    nn.return %y : tensor<?x1xf32>
  }

  nn.program @train_critic reads(@sample) {
  ^bb0(%real: tensor<?x3xf32>, %noise: tensor<?x2xf32>, %kind: tensor<?x1xi64>, %weight: tensor<?x1xf32>):
    %made = nn.call @generate(%noise, %kind) : (tensor<?x2xf32>, tensor<?x1xi64>) -> tensor<?x3xf32>
    %a = nn.call @judge(%real) : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %b = nn.call @judge(%made) : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %c = nn.neg %a : tensor<?x1xf32>
    %la = nn.softplus %c : tensor<?x1xf32>
    %lb = nn.softplus %b : tensor<?x1xf32>
    %l = nn.add %la, %lb : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %l weight %weight over [@critic] : tensor<?x1xf32>, tensor<?x1xf32>
    nn.accumulate @mean(%b) : tensor<?x1xf32>
  }

  nn.program @train_generator reads(@sample except [@real, @weight]) {
  ^bb0(%noise: tensor<?x2xf32>, %kind: tensor<?x1xi64>):
    %made = nn.call @generate(%noise, %kind) : (tensor<?x2xf32>, tensor<?x1xi64>) -> tensor<?x3xf32>
    %b = nn.call @judge(%made) : (tensor<?x3xf32>) -> tensor<?x1xf32>
    %mean = nn.read @mean : tensor<1xf32>
    %centered = nn.sub %b, %mean : tensor<?x1xf32>, tensor<1xf32>
    %c = nn.neg %centered : tensor<?x1xf32>
    %l = nn.softplus %c : tensor<?x1xf32>
    nn.minimize %l over [@generator, @kinds] : tensor<?x1xf32>
  }

  nn.cycle @train [@train_critic * 2, @train_generator, @train_critic, @train_generator]

  nn.program @predict frozen reads(@sample except [@real, @weight]) {
  ^bb0(%noise: tensor<?x2xf32>, %kind: tensor<?x1xi64>):
    %made = nn.call @generate(%noise, %kind) : (tensor<?x2xf32>, tensor<?x1xi64>) -> tensor<?x3xf32>
    nn.return %made : tensor<?x3xf32>
  }
}
