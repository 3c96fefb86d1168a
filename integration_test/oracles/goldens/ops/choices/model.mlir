//===- choices/model.mlir - Bodies that run, and bodies that do not -*- mlir -*-===//
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

module @choices {
  nn.record @sample {
    nn.field @x1_field : tensor<?x3xf32>
    nn.field @weight1 : tensor<?x3xf32>
    nn.field @x6_field : tensor<?x3xf32>
    nn.field @weight2 : tensor<?x3xf32>
    nn.field @x11_field : tensor<?x3xf32>
    nn.field @x13_field : tensor<?x3xf32>
    nn.field @weight3 : tensor<?x3xf32>
    nn.field @weight4 : tensor<?x3xf32>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.state @steps : tensor<1xf32> init(#nn.zeros)
  nn.param @w : tensor<3x3xf32> in @descent init(#nn.zeros)
  nn.param @unused : tensor<3x3xf32> in @descent init(#nn.zeros)
  nn.param @m : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x1_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x6_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x11_shift : tensor<3xf32> in @descent init(#nn.zeros)
  nn.param @x13_shift : tensor<3xf32> in @descent init(#nn.zeros)

  nn.func private @compute(%x1_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x6_field: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x11_field: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %weight4: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) {
    %steps = nn.read @steps : tensor<1xf32>
    %m = nn.read @m : tensor<3xf32>
    %x1_shift = nn.read @x1_shift : tensor<3xf32>
    %v2 = nn.add %x1_field, %x1_shift : tensor<?x3xf32>, tensor<3xf32>
    %v3 = nn.constant dense<4.0> : tensor<1xf32>
    %v4 = nn.greater %steps, %v3 : tensor<1xf32>, tensor<1xf32>
    %v5 = nn.if %v4 with(%v2, %m) {
    ^bb0(%x: tensor<?x3xf32>, %s: tensor<3xf32>):
      %a = nn.linear %x, @w act(tanh) : (tensor<?x3xf32>) -> tensor<?x3xf32>
      %b = nn.mul %a, %x : tensor<?x3xf32>, tensor<?x3xf32>
      nn.yield %b : tensor<?x3xf32>
    } else {
    ^bb0(%x: tensor<?x3xf32>, %s: tensor<3xf32>):
      %a = nn.mul %x, %s : tensor<?x3xf32>, tensor<3xf32>
      %b = nn.linear %a, @unused : (tensor<?x3xf32>) -> tensor<?x3xf32>
      nn.yield %b : tensor<?x3xf32>
    } : tensor<1xf32>, tensor<?x3xf32>, tensor<3xf32>
    %x6_shift = nn.read @x6_shift : tensor<3xf32>
    %v7 = nn.add %x6_field, %x6_shift : tensor<?x3xf32>, tensor<3xf32>
    %v8 = nn.constant dense<5.0> : tensor<1xf32>
    %v9 = nn.greater %steps, %v8 : tensor<1xf32>, tensor<1xf32>
    %v10 = nn.if %v9 with(%v7, %m) {
    ^bb0(%x: tensor<?x3xf32>, %s: tensor<3xf32>):
      %a = nn.linear %x, @unused act(tanh) : (tensor<?x3xf32>) -> tensor<?x3xf32>
      %b = nn.mul %a, %x : tensor<?x3xf32>, tensor<?x3xf32>
      nn.yield %b : tensor<?x3xf32>
    } else {
    ^bb0(%x: tensor<?x3xf32>, %s: tensor<3xf32>):
      %a = nn.mul %x, %s : tensor<?x3xf32>, tensor<3xf32>
      %b = nn.linear %a, @w : (tensor<?x3xf32>) -> tensor<?x3xf32>
      nn.yield %b : tensor<?x3xf32>
    } : tensor<1xf32>, tensor<?x3xf32>, tensor<3xf32>
    %x11_shift = nn.read @x11_shift : tensor<3xf32>
    %v12 = nn.add %x11_field, %x11_shift : tensor<?x3xf32>, tensor<3xf32>
    %x13_shift = nn.read @x13_shift : tensor<3xf32>
    %v14 = nn.add %x13_field, %x13_shift : tensor<?x3xf32>, tensor<3xf32>
    %v15 = nn.constant dense<5.0> : tensor<1xf32>
    %v16 = nn.less_equal %steps, %v15 : tensor<1xf32>, tensor<1xf32>
    %v17:3 = nn.if %v16 with(%steps, %v12, %v14, %m) {
    ^bb0(%c: tensor<1xf32>, %x: tensor<?x3xf32>, %y: tensor<?x3xf32>, %s: tensor<3xf32>):
      %in = nn.if %c with(%y) {
      ^bb0(%q: tensor<?x3xf32>):
        %r = nn.exp %q : tensor<?x3xf32>
        nn.yield %r : tensor<?x3xf32>
      } else {
      ^bb0(%q: tensor<?x3xf32>):
        %r = nn.linear %q, @w : (tensor<?x3xf32>) -> tensor<?x3xf32>
        nn.yield %r : tensor<?x3xf32>
      } : tensor<1xf32>, tensor<?x3xf32>
      %z = nn.add %in, %x : tensor<?x3xf32>, tensor<?x3xf32>
      %d = nn.mul %s, %s : tensor<3xf32>, tensor<3xf32>
      nn.yield %z, %d, %y : tensor<?x3xf32>, tensor<3xf32>, tensor<?x3xf32>
    } else {
    ^bb0(%c: tensor<1xf32>, %x: tensor<?x3xf32>, %y: tensor<?x3xf32>, %s: tensor<3xf32>):
      nn.yield %x, %s, %x : tensor<?x3xf32>, tensor<3xf32>, tensor<?x3xf32>
    } : tensor<1xf32>, tensor<1xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<3xf32>
    %v18 = nn.slice %x1_field axis 1 offset 0 size 1 : tensor<?x3xf32>
    %v19 = nn.broadcast %v17#1 like %v18 : (tensor<3xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
    nn.return %v5, %v10, %v17#0, %v19 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
  }

  nn.program @train reads(@sample) {
  ^bb0(%x1_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x6_field: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x11_field: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %weight4: tensor<?x3xf32>):
    %r:4 = nn.call @compute(%x1_field, %weight1, %x6_field, %weight2, %x11_field, %x13_field, %weight3, %weight4) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
    %product0 = nn.mul %r#0, %weight1 : tensor<?x3xf32>, tensor<?x3xf32>
    %term0 = nn.reduce sum %product0 axes [1] keep : tensor<?x3xf32>
    %product1 = nn.mul %r#1, %weight2 : tensor<?x3xf32>, tensor<?x3xf32>
    %term1 = nn.reduce sum %product1 axes [1] keep : tensor<?x3xf32>
    %total1 = nn.add %term0, %term1 : tensor<?x1xf32>, tensor<?x1xf32>
    %product2 = nn.mul %r#2, %weight3 : tensor<?x3xf32>, tensor<?x3xf32>
    %term2 = nn.reduce sum %product2 axes [1] keep : tensor<?x3xf32>
    %total2 = nn.add %total1, %term2 : tensor<?x1xf32>, tensor<?x1xf32>
    %product3 = nn.mul %r#3, %weight4 : tensor<?x3xf32>, tensor<?x3xf32>
    %term3 = nn.reduce sum %product3 axes [1] keep : tensor<?x3xf32>
    %total3 = nn.add %total2, %term3 : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %total3 over [@descent] : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@sample) {
  ^bb0(%x1_field: tensor<?x3xf32>, %weight1: tensor<?x3xf32>, %x6_field: tensor<?x3xf32>, %weight2: tensor<?x3xf32>, %x11_field: tensor<?x3xf32>, %x13_field: tensor<?x3xf32>, %weight3: tensor<?x3xf32>, %weight4: tensor<?x3xf32>):
    %r:4 = nn.call @compute(%x1_field, %weight1, %x6_field, %weight2, %x11_field, %x13_field, %weight3, %weight4) : (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>)
    nn.return %r#0, %r#1, %r#2, %r#3 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xf32>
  }
}
