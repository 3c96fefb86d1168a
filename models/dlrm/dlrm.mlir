//===- dlrm.mlir - DLRM on Adult -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers make a vector of the numbers, with the size of the embeddings. The
// inner products of all pairs of vectors, and the first vector again, are the
// input of more layers.
//
//===----------------------------------------------------------------------===//

module @dlrm {
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

  nn.table @embedding : i64 -> tensor<8xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @bottom_w1 : tensor<5x32xf32> in @dense init(#nn.xavier)
  nn.param @bottom_b1 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @bottom_w2 : tensor<32x8xf32> in @dense init(#nn.xavier)
  nn.param @bottom_b2 : tensor<8xf32> in @dense init(#nn.zeros)
  nn.param @top_w1 : tensor<44x64xf32> in @dense init(#nn.xavier)
  nn.param @top_b1 : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @top_w2 : tensor<64x32xf32> in @dense init(#nn.xavier)
  nn.param @top_b2 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @top_w3 : tensor<32x1xf32> in @dense init(#nn.xavier)
  nn.param @top_b3 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc

  nn.func private @logit(%numbers: tensor<?x5xf32>, %categories: tensor<?x8xi64>) -> tensor<?x1xf32> {
    %tamed = nn.signed_log1p %numbers : tensor<?x5xf32>
    %x = nn.standardize %tamed mean [3.62, 2.37, 0.73, 0.35, 3.67] deviation [0.35, 0.27, 2.46, 1.59, 0.39] : tensor<?x5xf32>
    %d1 = nn.linear %x, @bottom_w1, @bottom_b1 act(relu) : (tensor<?x5xf32>) -> tensor<?x32xf32>
    %dense = nn.linear %d1, @bottom_w2, @bottom_b2 act(relu) : (tensor<?x32xf32>) -> tensor<?x8xf32>

    %rows = nn.lookup @embedding[%categories] pool(sum) : (tensor<?x8xi64>) -> tensor<?x8x8xf32>
    %one = nn.reshape %dense : (tensor<?x8xf32>) -> tensor<?x1x8xf32>
    %vectors = nn.concat %one, %rows axis 1 : tensor<?x1x8xf32>, tensor<?x8x8xf32>

    // The inner product of each vector with each earlier one.
    %dots = nn.pairwise_dots %vectors : tensor<?x9x8xf32>
    %x0 = nn.concat %dense, %dots axis 1 : tensor<?x8xf32>, tensor<?x36xf32>

    %h1 = nn.linear %x0, @top_w1, @top_b1 act(relu) : (tensor<?x44xf32>) -> tensor<?x64xf32>
    %h2 = nn.linear %h1, @top_w2, @top_b2 act(relu) : (tensor<?x64xf32>) -> tensor<?x32xf32>
    %z = nn.linear %h2, @top_w3, @top_b3 : (tensor<?x32xf32>) -> tensor<?x1xf32>
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
