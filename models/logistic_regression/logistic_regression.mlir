//===- logistic_regression.mlir - Logistic regression on Adult -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One weight per feature. Every feature is an id: a category, a bucket of a
// number, or a hashed cross of them. Salts keep their keys apart in the single
// table.
//
//===----------------------------------------------------------------------===//

module @logistic_regression {
  nn.record @person {
    // age, years of education, capital gain, capital loss, hours a week
    nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
    // workclass, education, marital status, occupation, relationship, race,
    // sex, native country; "?" (not known) is a value like any other
    nn.field @categories : tensor<?x8xi64> hash(#nn.hash<xxh64, salt = slot>) missing("?") columns([1, 3, 5, 6, 7, 8, 9, 13])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
  }

  nn.group @linear rule(@adagrad) rate(1.0e-1)
  nn.table @weights : i64 -> tensor<1xf32> in @linear init(#nn.zeros)
  nn.param @bias : tensor<1xf32> in @linear init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc

  nn.func private @logit(%numbers: tensor<?x5xf32>, %categories: tensor<?x8xi64>) -> tensor<?x1xf32> {
    %age = nn.slice %numbers axis 1 offset 0 size 1 : tensor<?x5xf32>
    %years = nn.slice %numbers axis 1 offset 1 size 1 : tensor<?x5xf32>
    %gain = nn.slice %numbers axis 1 offset 2 size 1 : tensor<?x5xf32>
    %loss = nn.slice %numbers axis 1 offset 3 size 1 : tensor<?x5xf32>
    %hours = nn.slice %numbers axis 1 offset 4 size 1 : tensor<?x5xf32>
    %age_bucket = nn.bucketize %age boundaries [20.0, 23.0, 26.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0] : tensor<?x1xf32>
    %age_id = nn.cross %age_bucket salt(100) : tensor<?x1xi64>
    %years_bucket = nn.bucketize %years boundaries [5.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0] : tensor<?x1xf32>
    %years_id = nn.cross %years_bucket salt(101) : tensor<?x1xi64>
    %gain_bucket = nn.bucketize %gain boundaries [1.0, 3000.0, 4000.0, 5000.0, 6500.0, 7000.0, 10000.0, 14000.0] : tensor<?x1xf32>
    %gain_id = nn.cross %gain_bucket salt(102) : tensor<?x1xi64>
    %loss_bucket = nn.bucketize %loss boundaries [1.0, 1500.0, 1600.0, 1800.0, 1900.0, 2000.0, 2200.0, 2400.0] : tensor<?x1xf32>
    %loss_id = nn.cross %loss_bucket salt(103) : tensor<?x1xi64>
    %hours_bucket = nn.bucketize %hours boundaries [20.0, 30.0, 36.0, 40.0, 41.0, 46.0, 50.0, 56.0, 60.0] : tensor<?x1xf32>
    %hours_id = nn.cross %hours_bucket salt(104) : tensor<?x1xi64>

    %workclass = nn.slice %categories axis 1 offset 0 size 1 : tensor<?x8xi64>
    %education = nn.slice %categories axis 1 offset 1 size 1 : tensor<?x8xi64>
    %marital = nn.slice %categories axis 1 offset 2 size 1 : tensor<?x8xi64>
    %occupation = nn.slice %categories axis 1 offset 3 size 1 : tensor<?x8xi64>
    %relationship = nn.slice %categories axis 1 offset 4 size 1 : tensor<?x8xi64>
    %education_occupation = nn.cross %education, %occupation salt(110) : tensor<?x1xi64>, tensor<?x1xi64>
    %age_education_occupation = nn.cross %age_id, %education, %occupation salt(111) : tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %relationship_age = nn.cross %relationship, %age_id salt(112) : tensor<?x1xi64>, tensor<?x1xi64>
    %marital_education = nn.cross %marital, %education salt(113) : tensor<?x1xi64>, tensor<?x1xi64>
    %occupation_hours = nn.cross %occupation, %hours_id salt(114) : tensor<?x1xi64>, tensor<?x1xi64>
    %workclass_occupation = nn.cross %workclass, %occupation salt(115) : tensor<?x1xi64>, tensor<?x1xi64>

    %ids = nn.concat %categories, %age_id, %years_id, %gain_id, %loss_id, %hours_id, %education_occupation, %age_education_occupation, %relationship_age, %marital_education, %occupation_hours, %workclass_occupation axis 1
      : tensor<?x8xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>

    %w = nn.lookup @weights[%ids] pool(sum) : (tensor<?x19xi64>) -> tensor<?x19x1xf32>
    %sum = nn.reduce sum %w axes [1] : tensor<?x19x1xf32>
    %bias = nn.read @bias : tensor<1xf32>
    %z = nn.add %sum, %bias : tensor<?x1xf32>, tensor<1xf32>
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
    nn.minimize %l over [@linear] : tensor<?x1xf32>
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
