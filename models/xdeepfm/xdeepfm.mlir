//===- xdeepfm.mlir - xDeepFM on Criteo -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two layers of a compressed interaction network over the embeddings, a deep part and
// a linear part; their logits are added.
//
// Lian et al., xDeepFM: Combining Explicit and Implicit Feature Interactions for
// Recommender Systems, KDD 2018.
//
//===----------------------------------------------------------------------===//

module @xdeepfm {
  nn.record @criteo {
    nn.field @label : tensor<?x1xf32>
    nn.field @numbers : tensor<?x13xf32> missing(0.0)
    nn.field @categories : !nn.ragged<?x26x*xi64> hash(#nn.hash<xxh64, salt = slot>)
  }

  nn.group @dense rule(@adam) rate(1.0e-3)
  nn.group @sparse rule(@adagrad) rate(0.05)

  nn.table @emb : i64 -> tensor<10xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.table @linear : i64 -> tensor<1xf32> in @sparse init(#nn.zeros)
  nn.param @cin_w1 : tensor<676x16xf32> in @dense init(#nn.xavier)
  nn.param @cin_w2 : tensor<416x16xf32> in @dense init(#nn.xavier)
  nn.param @cin_out_w : tensor<32x1xf32> in @dense init(#nn.xavier)
  nn.param @deep_w1 : tensor<273x128xf32> in @dense init(#nn.xavier)
  nn.param @deep_b1 : tensor<128xf32> in @dense init(#nn.zeros)
  nn.param @deep_w2 : tensor<128x64xf32> in @dense init(#nn.xavier)
  nn.param @deep_b2 : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @deep_w3 : tensor<64x1xf32> in @dense init(#nn.xavier)
  nn.param @deep_b3 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 4096>
  nn.metric @log_loss : #nn.log_loss

  nn.func private @logit(%numbers: tensor<?x13xf32>, %categories: !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32> {
    %e = nn.lookup @emb[%categories] pool(sum) : (!nn.ragged<?x26x*xi64>) -> tensor<?x26x10xf32>
    %c1 = nn.compressed_interaction %e, %e, @cin_w1 : (tensor<?x26x10xf32>, tensor<?x26x10xf32>) -> tensor<?x16x10xf32>
    %c2 = nn.compressed_interaction %e, %c1, @cin_w2 : (tensor<?x26x10xf32>, tensor<?x16x10xf32>) -> tensor<?x16x10xf32>
    %s1 = nn.reduce sum %c1 axes [2] : (tensor<?x16x10xf32>) -> tensor<?x16xf32>
    %s2 = nn.reduce sum %c2 axes [2] : (tensor<?x16x10xf32>) -> tensor<?x16xf32>
    %s = nn.concat %s1, %s2 axis 1 : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x32xf32>
    %crossed = nn.linear %s, @cin_out_w : (tensor<?x32xf32>) -> tensor<?x1xf32>

    %embedded = nn.flatten %e from 1 : (tensor<?x26x10xf32>) -> tensor<?x260xf32>
    %tamed = nn.signed_log1p %numbers : tensor<?x13xf32>
    %x = nn.concat %embedded, %tamed axis 1 : (tensor<?x260xf32>, tensor<?x13xf32>) -> tensor<?x273xf32>
    %deep_1 = nn.linear %x, @deep_w1, @deep_b1 act(relu) : (tensor<?x273xf32>) -> tensor<?x128xf32>
    %deep_2 = nn.linear %deep_1, @deep_w2, @deep_b2 act(relu) : (tensor<?x128xf32>) -> tensor<?x64xf32>
    %deep_3 = nn.linear %deep_2, @deep_w3, @deep_b3 : (tensor<?x64xf32>) -> tensor<?x1xf32>

    %first = nn.lookup @linear[%categories] pool(sum) : (!nn.ragged<?x26x*xi64>) -> tensor<?x26x1xf32>
    %ones = nn.reduce sum %first axes [1] : (tensor<?x26x1xf32>) -> tensor<?x1xf32>
    %two = nn.add %deep_3, %crossed : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    %z = nn.add %two, %ones : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
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
