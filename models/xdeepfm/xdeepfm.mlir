//===- xdeepfm.mlir - xDeepFM on Adult -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two layers of a compressed interaction network over the embeddings, other
// layers, and one weight per feature. Their logits are added. A layer of the
// network makes rows with the width of the embeddings. Each row is a weighted
// sum of products of a row of the previous layer and an embedding.
//
//===----------------------------------------------------------------------===//

module @xdeepfm {
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

  nn.table @weights : i64 -> tensor<1xf32> in @sparse init(#nn.zeros)
  nn.table @embedding : i64 -> tensor<8xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @number_weights : tensor<5x1xf32> in @dense init(#nn.zeros)
  nn.param @bias : tensor<1xf32> in @dense init(#nn.zeros)
  nn.param @interaction_w1 : tensor<64x16xf32> in @dense init(#nn.xavier)
  nn.param @interaction_w2 : tensor<128x16xf32> in @dense init(#nn.xavier)
  nn.param @interaction_w3 : tensor<32x1xf32> in @dense init(#nn.xavier)
  nn.param @w1 : tensor<69x64xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<64x32xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @w3 : tensor<32x1xf32> in @dense init(#nn.xavier)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc

  nn.func private @logit(%numbers: tensor<?x5xf32>, %categories: tensor<?x8xi64>) -> tensor<?x1xf32> {
    %tamed = nn.signed_log1p %numbers : tensor<?x5xf32>
    %x = nn.standardize %tamed mean [3.62, 2.37, 0.73, 0.35, 3.67] deviation [0.35, 0.27, 2.46, 1.59, 0.39] : tensor<?x5xf32>

    // First order: one weight per feature.
    %weights = nn.lookup @weights[%categories] pool(sum) : (tensor<?x8xi64>) -> tensor<?x8x1xf32>
    %categorical = nn.reduce sum %weights axes [1] : tensor<?x8x1xf32>
    %numerical = nn.linear %x, @number_weights, @bias : (tensor<?x5xf32>) -> tensor<?x1xf32>
    %first = nn.add %categorical, %numerical : tensor<?x1xf32>, tensor<?x1xf32>

    // The sum of each row of an interaction is part of the logit.
    %e = nn.lookup @embedding[%categories] pool(sum) : (tensor<?x8xi64>) -> tensor<?x8x8xf32>
    %i1 = nn.compressed_interaction %e, %e, @interaction_w1 : (tensor<?x8x8xf32>, tensor<?x8x8xf32>) -> tensor<?x16x8xf32>
    %i2 = nn.compressed_interaction %e, %i1, @interaction_w2 : (tensor<?x8x8xf32>, tensor<?x16x8xf32>) -> tensor<?x16x8xf32>
    %rows = nn.concat %i1, %i2 axis 1 : tensor<?x16x8xf32>, tensor<?x16x8xf32>
    %sums = nn.reduce sum %rows axes [2] : tensor<?x32x8xf32>
    %crossed = nn.linear %sums, @interaction_w3 : (tensor<?x32xf32>) -> tensor<?x1xf32>

    // Deep part.
    %flat = nn.flatten %e from 1 : tensor<?x8x8xf32>
    %input = nn.concat %flat, %x axis 1 : tensor<?x64xf32>, tensor<?x5xf32>
    %h1 = nn.linear %input, @w1, @b1 act(relu) : (tensor<?x69xf32>) -> tensor<?x64xf32>
    %h2 = nn.linear %h1, @w2, @b2 act(relu) : (tensor<?x64xf32>) -> tensor<?x32xf32>
    %deep = nn.linear %h2, @w3 : (tensor<?x32xf32>) -> tensor<?x1xf32>

    %shallow = nn.add %first, %crossed : tensor<?x1xf32>, tensor<?x1xf32>
    %z = nn.add %shallow, %deep : tensor<?x1xf32>, tensor<?x1xf32>
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
