//===- deepfm.mlir - DeepFM on Adult -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A factorization machine and layers read the same vectors. Their logits are
// added.
//
//===----------------------------------------------------------------------===//

module @deepfm {
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
  nn.table @factors : i64 -> tensor<8xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @number_weights : tensor<5x1xf32> in @dense init(#nn.zeros)
  nn.param @number_factors : tensor<5x8xf32> in @dense init(#nn.uniform<-0.05, 0.05>)
  nn.param @bias : tensor<1xf32> in @dense init(#nn.zeros)
  nn.param @w1 : tensor<104x64xf32> in @dense init(#nn.xavier)
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

    // Each feature has a vector. For a category it is a row; for a number it is
    // one vector, multiplied by the number.
    %rows = nn.lookup @factors[%categories] pool(sum) : (tensor<?x8xi64>) -> tensor<?x8x8xf32>
    %number_factors = nn.read @number_factors : tensor<5x8xf32>
    %column = nn.reshape %x : (tensor<?x5xf32>) -> tensor<?x5x1xf32>
    %scaled = nn.mul %column, %number_factors : tensor<?x5x1xf32>, tensor<5x8xf32>
    %vectors = nn.concat %rows, %scaled axis 1 : tensor<?x8x8xf32>, tensor<?x5x8xf32>

    // Second order: the sum of the inner products of all pairs of vectors.
    %second = nn.factorization %vectors : tensor<?x13x8xf32>

    // Deep part: layers over the concatenated vectors.
    %flat = nn.flatten %vectors from 1 : tensor<?x13x8xf32>
    %h1 = nn.linear %flat, @w1, @b1 act(relu) : (tensor<?x104xf32>) -> tensor<?x64xf32>
    %h2 = nn.linear %h1, @w2, @b2 act(relu) : (tensor<?x64xf32>) -> tensor<?x32xf32>
    %deep = nn.linear %h2, @w3 : (tensor<?x32xf32>) -> tensor<?x1xf32>

    %machine = nn.add %first, %second : tensor<?x1xf32>, tensor<?x1xf32>
    %z = nn.add %machine, %deep : tensor<?x1xf32>, tensor<?x1xf32>
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
