//===- dcn_v2.mlir - Deep & Cross, version 2, on Adult -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cross layers with a full matrix each, followed by layers with relu.
//
//===----------------------------------------------------------------------===//

module @dcn_v2 {
  nn.record @person {
    // age, years of education, capital gain, capital loss, hours a week
    nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
    // workclass, education, marital status, occupation, relationship, race,
    // sex, native country; "?" (not known) is a value like any other
    nn.field @categories : tensor<?x8xi64> hash(#nn.hash<xxh64, salt = slot>) missing("?") columns([1, 3, 5, 6, 7, 8, 9, 13])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
  }

  nn.group @dense rule(@adam) rate(3.0e-3)
  nn.group @sparse rule(@adam) rate(3.0e-3) untouched(lazy)

  nn.table @embedding : i64 -> tensor<4xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @cross_w1 : tensor<37x37xf32> in @dense init(#nn.xavier)
  nn.param @cross_b1 : tensor<37xf32> in @dense init(#nn.zeros)
  nn.param @cross_w2 : tensor<37x37xf32> in @dense init(#nn.xavier)
  nn.param @cross_b2 : tensor<37xf32> in @dense init(#nn.zeros)
  nn.param @w1 : tensor<37x64xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<64x32xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @w3 : tensor<32x1xf32> in @dense init(#nn.xavier)
  nn.param @b3 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc

  nn.func private @logit(%numbers: tensor<?x5xf32>, %categories: tensor<?x8xi64>) -> tensor<?x1xf32> {
    %tamed = nn.signed_log1p %numbers : tensor<?x5xf32>
    %x = nn.standardize %tamed mean [3.62, 2.37, 0.73, 0.35, 3.67] deviation [0.35, 0.27, 2.46, 1.59, 0.39] : tensor<?x5xf32>
    %rows = nn.lookup @embedding[%categories] pool(sum) : (tensor<?x8xi64>) -> tensor<?x8x4xf32>
    %embedded = nn.flatten %rows from 1 : tensor<?x8x4xf32>
    %x0 = nn.concat %embedded, %x axis 1 : tensor<?x32xf32>, tensor<?x5xf32>

    // Cross: x_{l+1} = x_0 * (W x_l + b) + x_l, the product element by element.
    %x1 = nn.cross_layer %x0, %x0, @cross_w1, @cross_b1 : tensor<?x37xf32>
    %x2 = nn.cross_layer %x0, %x1, @cross_w2, @cross_b2 : tensor<?x37xf32>

    // The deep part, after the last cross.
    %h1 = nn.linear %x2, @w1, @b1 act(relu) : (tensor<?x37xf32>) -> tensor<?x64xf32>
    %h2 = nn.linear %h1, @w2, @b2 act(relu) : (tensor<?x64xf32>) -> tensor<?x32xf32>
    %z = nn.linear %h2, @w3, @b3 : (tensor<?x32xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }

  nn.program @train reads(@person) {
  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x8xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @logit(%numbers, %categories) : (tensor<?x5xf32>, tensor<?x8xi64>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
    nn.observe @copc(%p, %label) : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }

  nn.program @evaluate frozen reads(@person) {
  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x8xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @logit(%numbers, %categories) : (tensor<?x5xf32>, tensor<?x8xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
    nn.observe @copc(%p, %label) : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@person except @label) {
  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x8xi64>):
    %z = nn.call @logit(%numbers, %categories) : (tensor<?x5xf32>, tensor<?x8xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.return %p : tensor<?x1xf32>
  }
}
