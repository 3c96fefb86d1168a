//===- dlrm.mlir - DLRM on Criteo -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers go through a network of their own to a vector as wide as the embeddings;
// the dot products of all pairs of these 27 vectors, beside the first, feed the last
// network.
//
// Naumov et al., Deep Learning Recommendation Model for Personalization and
// Recommendation Systems, 2019.
//
//===----------------------------------------------------------------------===//

module @dlrm {
  nn.record @criteo {
    nn.field @label : tensor<?x1xf32>
    nn.field @numbers : tensor<?x13xf32> missing(0.0)
    nn.field @categories : !nn.ragged<?x26x*xi64> hash(#nn.hash<xxh64, salt = slot>)
  }

  nn.group @dense rule(@adagrad) rate(0.02)
  nn.group @sparse rule(@adagrad) rate(0.02)

  nn.table @emb : i64 -> tensor<16xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @bottom_w1 : tensor<13x64xf32> in @dense init(#nn.xavier)
  nn.param @bottom_b1 : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @bottom_w2 : tensor<64x32xf32> in @dense init(#nn.xavier)
  nn.param @bottom_b2 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @bottom_w3 : tensor<32x16xf32> in @dense init(#nn.xavier)
  nn.param @bottom_b3 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @top_w1 : tensor<367x128xf32> in @dense init(#nn.xavier)
  nn.param @top_b1 : tensor<128xf32> in @dense init(#nn.zeros)
  nn.param @top_w2 : tensor<128x64xf32> in @dense init(#nn.xavier)
  nn.param @top_b2 : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @top_w3 : tensor<64x1xf32> in @dense init(#nn.xavier)
  nn.param @top_b3 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 4096>
  nn.metric @log_loss : #nn.log_loss

  nn.func private @logit(%numbers: tensor<?x13xf32>, %categories: !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32> {
    %tamed = nn.signed_log1p %numbers : tensor<?x13xf32>
    %bottom_1 = nn.linear %tamed, @bottom_w1, @bottom_b1 act(relu) : (tensor<?x13xf32>) -> tensor<?x64xf32>
    %bottom_2 = nn.linear %bottom_1, @bottom_w2, @bottom_b2 act(relu) : (tensor<?x64xf32>) -> tensor<?x32xf32>
    %bottom_3 = nn.linear %bottom_2, @bottom_w3, @bottom_b3 act(relu) : (tensor<?x32xf32>) -> tensor<?x16xf32>
    %first = nn.reshape %bottom_3 : (tensor<?x16xf32>) -> tensor<?x1x16xf32>
    %rows = nn.lookup @emb[%categories] pool(sum) : (!nn.ragged<?x26x*xi64>) -> tensor<?x26x16xf32>
    %all = nn.concat %first, %rows axis 1 : (tensor<?x1x16xf32>, tensor<?x26x16xf32>) -> tensor<?x27x16xf32>
    %dots = nn.pairwise_dots %all : (tensor<?x27x16xf32>) -> tensor<?x351xf32>
    %x = nn.concat %bottom_3, %dots axis 1 : (tensor<?x16xf32>, tensor<?x351xf32>) -> tensor<?x367xf32>
    %top_1 = nn.linear %x, @top_w1, @top_b1 act(relu) : (tensor<?x367xf32>) -> tensor<?x128xf32>
    %top_2 = nn.linear %top_1, @top_w2, @top_b2 act(relu) : (tensor<?x128xf32>) -> tensor<?x64xf32>
    %top_3 = nn.linear %top_2, @top_w3, @top_b3 : (tensor<?x64xf32>) -> tensor<?x1xf32>
    nn.return %top_3 : tensor<?x1xf32>
  }

  nn.program @train reads(@criteo) {
  ^bb0(%label: tensor<?x1xf32>, %numbers: tensor<?x13xf32>, %categories: !nn.ragged<?x26x*xi64>):
    %z = nn.call @logit(%numbers, %categories) : (tensor<?x13xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }

  nn.program @evaluate frozen reads(@criteo) {
  ^bb0(%label: tensor<?x1xf32>, %numbers: tensor<?x13xf32>, %categories: !nn.ragged<?x26x*xi64>):
    %z = nn.call @logit(%numbers, %categories) : (tensor<?x13xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@criteo except @label) {
  ^bb0(%numbers: tensor<?x13xf32>, %categories: !nn.ragged<?x26x*xi64>):
    %z = nn.call @logit(%numbers, %categories) : (tensor<?x13xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.return %p : tensor<?x1xf32>
  }
}
