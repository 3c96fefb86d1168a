//===- known_clicks_dnn.mlir - A click model on known clicks -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// models/ctr_dnn for the columns that scripts/make_known_clicks.py writes, with smaller
// layers.
//
//===----------------------------------------------------------------------===//

module @known_clicks_dnn {
  nn.record @clicks {
    nn.field @label : tensor<?x1xf32> columns([0])
    nn.field @numbers : tensor<?x3xf32> columns([1, 2, 3])
    nn.field @categories : tensor<?x8xi64> hash(#nn.hash<xxh64, salt = slot>) columns([4, 5, 6, 7, 8, 9, 10, 11])
  }
  nn.clip @joint : global_norm(10.0)
  nn.group @dense rule(@adam) rate(4.0e-3) decay(#nn.l2<1.0e-6>) clip(@joint)
  nn.group @sparse rule(@adam) rate(4.0e-3) untouched(lazy)
  nn.table @emb : i64 -> tensor<8xf32> in @sparse init(#nn.uniform<-0.01, 0.01>)
  nn.param @w1 : tensor<67x64xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<64x32xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @w3 : tensor<32x1xf32> in @dense init(#nn.xavier)
  nn.param @b3 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss

  nn.func private @logit(%numbers: tensor<?x3xf32>, %categories: tensor<?x8xi64>) -> tensor<?x1xf32> {
    %rows = nn.lookup @emb[%categories] pool(sum) : (tensor<?x8xi64>) -> tensor<?x8x8xf32>
    %embedded = nn.flatten %rows from 1 : tensor<?x8x8xf32>
    %x = nn.concat %embedded, %numbers axis 1 : tensor<?x64xf32>, tensor<?x3xf32>
    %h1 = nn.linear %x, @w1, @b1 act(relu) : (tensor<?x67xf32>) -> tensor<?x64xf32>
    %h2 = nn.linear %h1, @w2, @b2 act(relu) : (tensor<?x64xf32>) -> tensor<?x32xf32>
    %z = nn.linear %h2, @w3, @b3 : (tensor<?x32xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  nn.program @train reads(@clicks) {
  ^bb0(%label: tensor<?x1xf32>, %numbers: tensor<?x3xf32>, %categories: tensor<?x8xi64>):
    %z = nn.call @logit(%numbers, %categories) : (tensor<?x3xf32>, tensor<?x8xi64>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@clicks) {
  ^bb0(%label: tensor<?x1xf32>, %numbers: tensor<?x3xf32>, %categories: tensor<?x8xi64>):
    %z = nn.call @logit(%numbers, %categories) : (tensor<?x3xf32>, tensor<?x8xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
  }
}
