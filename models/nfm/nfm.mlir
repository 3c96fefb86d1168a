//===- nfm.mlir - Neural factorization machine on Adult -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The element-wise products of all pairs of vectors are added up to one vector,
// which is the input of layers, with batch norm before and between them.
//
//===----------------------------------------------------------------------===//

module @nfm {
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
  // Means and variances of batch norm: the sum of a tenth of those of the
  // batch, and nine tenths of the previous ones.
  nn.group @seen rule(@moving_average) rate(0.1)

  nn.table @weights : i64 -> tensor<1xf32> in @sparse init(#nn.zeros)
  nn.table @factors : i64 -> tensor<8xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @number_weights : tensor<5x1xf32> in @dense init(#nn.zeros)
  nn.param @number_factors : tensor<5x8xf32> in @dense init(#nn.uniform<-0.05, 0.05>)
  nn.param @bias : tensor<1xf32> in @dense init(#nn.zeros)
  nn.param @w1 : tensor<8x64xf32> in @dense init(#nn.xavier)
  nn.param @w2 : tensor<64x32xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @w3 : tensor<32x1xf32> in @dense init(#nn.xavier)
  nn.param @pairs_mean : tensor<8xf32> in @seen init(#nn.zeros)
  nn.param @pairs_variance : tensor<8xf32> in @seen init(#nn.constant<1.0>)
  nn.param @pairs_scale : tensor<8xf32> in @dense init(#nn.constant<1.0>)
  nn.param @pairs_shift : tensor<8xf32> in @dense init(#nn.zeros)
  nn.param @hidden_mean : tensor<64xf32> in @seen init(#nn.zeros)
  nn.param @hidden_variance : tensor<64xf32> in @seen init(#nn.constant<1.0>)
  nn.param @hidden_scale : tensor<64xf32> in @dense init(#nn.constant<1.0>)
  nn.param @hidden_shift : tensor<64xf32> in @dense init(#nn.zeros)
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

    // Second order: the sum over all pairs is half of the difference of the
    // square of the sum and the sum of the squares.
    %sum = nn.reduce sum %vectors axes [1] : tensor<?x13x8xf32>
    %square_of_sum = nn.mul %sum, %sum : tensor<?x8xf32>, tensor<?x8xf32>
    %squares = nn.mul %vectors, %vectors : tensor<?x13x8xf32>, tensor<?x13x8xf32>
    %sum_of_squares = nn.reduce sum %squares axes [1] : tensor<?x13x8xf32>
    %twice = nn.sub %square_of_sum, %sum_of_squares : tensor<?x8xf32>, tensor<?x8xf32>
    %half = nn.constant dense<0.5> : tensor<1xf32>
    %pairs = nn.mul %twice, %half : tensor<?x8xf32>, tensor<1xf32>

    %p1 = nn.batch_norm %pairs mean @pairs_mean variance @pairs_variance : tensor<?x8xf32>
    %pairs_scale = nn.read @pairs_scale : tensor<8xf32>
    %p2 = nn.mul %p1, %pairs_scale : tensor<?x8xf32>, tensor<8xf32>
    %pairs_shift = nn.read @pairs_shift : tensor<8xf32>
    %p3 = nn.add %p2, %pairs_shift : tensor<?x8xf32>, tensor<8xf32>

    // Deep part: a layer before batch norm needs no bias.
    %l1 = nn.linear %p3, @w1 : (tensor<?x8xf32>) -> tensor<?x64xf32>
    %n1 = nn.batch_norm %l1 mean @hidden_mean variance @hidden_variance : tensor<?x64xf32>
    %hidden_scale = nn.read @hidden_scale : tensor<64xf32>
    %n2 = nn.mul %n1, %hidden_scale : tensor<?x64xf32>, tensor<64xf32>
    %hidden_shift = nn.read @hidden_shift : tensor<64xf32>
    %n3 = nn.add %n2, %hidden_shift : tensor<?x64xf32>, tensor<64xf32>
    %h1 = nn.relu %n3 : tensor<?x64xf32>
    %h2 = nn.linear %h1, @w2, @b2 act(relu) : (tensor<?x64xf32>) -> tensor<?x32xf32>
    %deep = nn.linear %h2, @w3 : (tensor<?x32xf32>) -> tensor<?x1xf32>

    %z = nn.add %first, %deep : tensor<?x1xf32>, tensor<?x1xf32>
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
