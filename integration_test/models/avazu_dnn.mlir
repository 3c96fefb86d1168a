//===- avazu_dnn.mlir - A small click model on Avazu -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// models/ctr_dnn for the 21 columns of ids of Avazu (all except the row's id
// and the hour), with smaller layers. Only for tests.
//
//===----------------------------------------------------------------------===//

module @avazu_dnn {
  nn.record @avazu {
    nn.field @label : tensor<?x1xf32> columns([1])
    nn.field @categories : tensor<?x21xi64> hash(#nn.hash<xxh64, salt = slot>) columns([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23])
  }
  nn.clip @joint : global_norm(10.0)
  nn.group @dense rule(@adam) rate(1.0e-3) decay(#nn.l2<1.0e-6>) clip(@joint)
  nn.group @sparse rule(@adam) rate(1.0e-3) untouched(lazy)
  nn.table @emb : i64 -> tensor<10xf32> in @sparse init(#nn.uniform<-0.01, 0.01>)
  nn.param @w1 : tensor<210x128xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<128xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<128x64xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @w3 : tensor<64x1xf32> in @dense init(#nn.xavier)
  nn.param @b3 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss

  nn.func private @logit(%categories: tensor<?x21xi64>) -> tensor<?x1xf32> {
    %rows = nn.lookup @emb[%categories] pool(sum) : (tensor<?x21xi64>) -> tensor<?x21x10xf32>
    %x = nn.flatten %rows from 1 : tensor<?x21x10xf32>
    %h1 = nn.linear %x, @w1, @b1 act(relu) : (tensor<?x210xf32>) -> tensor<?x128xf32>
    %h2 = nn.linear %h1, @w2, @b2 act(relu) : (tensor<?x128xf32>) -> tensor<?x64xf32>
    %z = nn.linear %h2, @w3, @b3 : (tensor<?x64xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @train reads(@avazu) {
  ^bb0(%label: tensor<?x1xf32>, %categories: tensor<?x21xi64>):
    %z = nn.call @logit(%categories) : (tensor<?x21xi64>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@avazu) {
  ^bb0(%label: tensor<?x1xf32>, %categories: tensor<?x21xi64>):
    %z = nn.call @logit(%categories) : (tensor<?x21xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
  }
}
