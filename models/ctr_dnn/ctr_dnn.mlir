//===- ctr_dnn.mlir - CTR-DNN on Criteo -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The classic click model: 26 slots of hashed ids in one table, 13 counts, and
// three layers of 400.
//
//===----------------------------------------------------------------------===//

module @ctr_dnn {
  nn.record @criteo {
    nn.field @label : tensor<?x1xf32>
    nn.field @numbers : tensor<?x13xf32> missing(0.0)
    nn.field @categories : !nn.ragged<?x26x*xi64> hash(#nn.hash<xxh64, salt = slot>)
  }

  nn.clip @joint : global_norm(10.0)
  nn.group @dense rule(@adam) rate(1.0e-3) decay(#nn.l2<1.0e-6>) clip(@joint)
  nn.group @sparse rule(@adam) rate(1.0e-3) untouched(lazy)

  nn.table @emb : i64 -> tensor<10xf32> in @sparse init(#nn.uniform<-0.01, 0.01>)
  nn.param @w1 : tensor<273x400xf32> in @dense init(#nn.xavier)
  nn.param @b1 : tensor<400xf32> in @dense init(#nn.zeros)
  nn.param @w2 : tensor<400x400xf32> in @dense init(#nn.xavier)
  nn.param @b2 : tensor<400xf32> in @dense init(#nn.zeros)
  nn.param @w3 : tensor<400x400xf32> in @dense init(#nn.xavier)
  nn.param @b3 : tensor<400xf32> in @dense init(#nn.zeros)
  nn.param @w4 : tensor<400x1xf32> in @dense init(#nn.xavier)
  nn.param @b4 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc

  nn.func private @logit(%numbers: tensor<?x13xf32>, %categories: !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32> {
    %rows = nn.lookup @emb[%categories] pool(sum) : (!nn.ragged<?x26x*xi64>) -> tensor<?x26x10xf32>
    %embedded = nn.flatten %rows from 1 : tensor<?x26x10xf32>
    %tamed = nn.signed_log1p %numbers : tensor<?x13xf32>
    %x = nn.concat %embedded, %tamed axis 1 : tensor<?x260xf32>, tensor<?x13xf32>
    %h1 = nn.linear %x, @w1, @b1 act(relu) : (tensor<?x273xf32>) -> tensor<?x400xf32>
    %h2 = nn.linear %h1, @w2, @b2 act(relu) : (tensor<?x400xf32>) -> tensor<?x400xf32>
    %h3 = nn.linear %h2, @w3, @b3 act(relu) : (tensor<?x400xf32>) -> tensor<?x400xf32>
    %z = nn.linear %h3, @w4, @b4 : (tensor<?x400xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }

  nn.program @train reads(@criteo) {
  ^bb0(%label: tensor<?x1xf32>, %numbers: tensor<?x13xf32>, %categories: !nn.ragged<?x26x*xi64>):
    %z = nn.call @logit(%numbers, %categories) : (tensor<?x13xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
    nn.observe @copc(%p, %label) : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }

  nn.program @evaluate frozen reads(@criteo) {
  ^bb0(%label: tensor<?x1xf32>, %numbers: tensor<?x13xf32>, %categories: !nn.ragged<?x26x*xi64>):
    %z = nn.call @logit(%numbers, %categories) : (tensor<?x13xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
    nn.observe @copc(%p, %label) : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@criteo except @label) {
  ^bb0(%numbers: tensor<?x13xf32>, %categories: !nn.ragged<?x26x*xi64>):
    %z = nn.call @logit(%numbers, %categories) : (tensor<?x13xf32>, !nn.ragged<?x26x*xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.return %p : tensor<?x1xf32>
  }
}
