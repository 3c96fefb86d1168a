//===- ffm.mlir - Field-aware factorization machine on Adult -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One weight per feature, and an inner product for each pair of features. A
// feature has one vector for each field of its partners.
//
//===----------------------------------------------------------------------===//

module @ffm {
  nn.record @person {
    // All columns except one, including numbers: these are whole numbers, so
    // their texts are categories like others. "?" (not known) is a value too.
    nn.field @features : tensor<?x12xi64> hash(#nn.hash<xxh64, salt = slot>) missing("?") columns([0, 1, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13])
    // The 28 pairs of age, workclass, education, marital status, occupation,
    // relationship, capital gain and hours a week: first one column of each
    // pair, then the other. A text is hashed with its slot. So a feature has
    // another key, and another vector, for each field of its partners.
    nn.field @pairs : tensor<?x56xi64> hash(#nn.hash<xxh64, salt = slot>) missing("?") columns([
      0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 3,
      3, 3, 3, 3, 5, 5, 5, 5, 6, 6, 6, 7, 7, 10,
      1, 3, 5, 6, 7, 10, 12, 3, 5, 6, 7, 10, 12, 5,
      6, 7, 10, 12, 6, 7, 10, 12, 7, 10, 12, 10, 12, 12])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
  }

  nn.group @first rule(@adagrad) rate(5.0e-2)
  nn.group @second rule(@adagrad) rate(5.0e-2) decay(#nn.l2<2.0e-5>) untouched(lazy)

  nn.table @weights : i64 -> tensor<1xf32> in @first init(#nn.zeros)
  nn.table @factors : i64 -> tensor<4xf32> in @second init(#nn.uniform<-0.1, 0.1>)
  nn.param @bias : tensor<1xf32> in @first init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc

  nn.func private @logit(%features: tensor<?x12xi64>, %pairs: tensor<?x56xi64>) -> tensor<?x1xf32> {
    %weights = nn.lookup @weights[%features] pool(sum) : (tensor<?x12xi64>) -> tensor<?x12x1xf32>
    %sum = nn.reduce sum %weights axes [1] : tensor<?x12x1xf32>
    %bias = nn.read @bias : tensor<1xf32>
    %first = nn.add %sum, %bias : tensor<?x1xf32>, tensor<1xf32>

    // Slot p of the first half is paired with slot p of the second half.
    %factors = nn.lookup @factors[%pairs] pool(sum) : (tensor<?x56xi64>) -> tensor<?x56x4xf32>
    %one = nn.slice %factors axis 1 offset 0 size 28 : tensor<?x56x4xf32>
    %other = nn.slice %factors axis 1 offset 28 size 28 : tensor<?x56x4xf32>
    %products = nn.mul %one, %other : tensor<?x28x4xf32>, tensor<?x28x4xf32>
    %flat = nn.flatten %products from 1 : tensor<?x28x4xf32>
    %second = nn.reduce sum %flat axes [1] keep : tensor<?x112xf32>

    %z = nn.add %first, %second : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }

  nn.program @train reads(@person) {
  ^bb0(%features: tensor<?x12xi64>, %pairs: tensor<?x56xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @logit(%features, %pairs) : (tensor<?x12xi64>, tensor<?x56xi64>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
    nn.observe @copc(%p, %label) : tensor<?x1xf32>
    nn.minimize %l over [@first, @second] : tensor<?x1xf32>
  }

  nn.program @evaluate frozen reads(@person) {
  ^bb0(%features: tensor<?x12xi64>, %pairs: tensor<?x56xi64>, %label: tensor<?x1xf32>):
    %z = nn.call @logit(%features, %pairs) : (tensor<?x12xi64>, tensor<?x56xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %label) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %label) : tensor<?x1xf32>
    nn.observe @copc(%p, %label) : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@person except @label) {
  ^bb0(%features: tensor<?x12xi64>, %pairs: tensor<?x56xi64>):
    %z = nn.call @logit(%features, %pairs) : (tensor<?x12xi64>, tensor<?x56xi64>) -> tensor<?x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.return %p : tensor<?x1xf32>
  }
}
