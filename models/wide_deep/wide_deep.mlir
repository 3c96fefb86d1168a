//===- wide_deep.mlir - Wide & Deep on Adult -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A wide part that memorizes (one weight per feature and cross, Adagrad) and a
// deep part that generalizes (embeddings and three layers, Adam). Their logits
// are added.
//
//===----------------------------------------------------------------------===//

module @wide_deep {
  nn.record @person {
    // age, years of education, capital gain, capital loss, hours a week
    nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
    // workclass, education, marital status, occupation, relationship, race,
    // sex, native country; "?" (not known) is a value like any other
    nn.field @categories : tensor<?x8xi64> hash(#nn.hash<xxh64, salt = slot>) missing("?") columns([1, 3, 5, 6, 7, 8, 9, 13])
    nn.field @label : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
  }

  nn.group @wide rule(@adagrad) rate(5.0e-2)
  nn.group @deep rule(@adam) rate(1.0e-3) untouched(lazy)

  nn.table @wide_weights : i64 -> tensor<1xf32> in @wide init(#nn.zeros)
  nn.table @embedding : i64 -> tensor<8xf32> in @deep init(#nn.uniform<-0.05, 0.05>)
  nn.param @w1 : tensor<101x100xf32> in @deep init(#nn.xavier)
  nn.param @b1 : tensor<100xf32> in @deep init(#nn.zeros)
  nn.param @w2 : tensor<100x50xf32> in @deep init(#nn.xavier)
  nn.param @b2 : tensor<50xf32> in @deep init(#nn.zeros)
  nn.param @w3 : tensor<50x1xf32> in @deep init(#nn.xavier)
  nn.param @b3 : tensor<1xf32> in @deep init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16384>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc

  nn.func private @logit(%numbers: tensor<?x5xf32>, %categories: tensor<?x8xi64>) -> tensor<?x1xf32> {
    %age = nn.slice %numbers axis 1 offset 0 size 1 : tensor<?x5xf32>
    %gain = nn.slice %numbers axis 1 offset 2 size 1 : tensor<?x5xf32>
    %loss = nn.slice %numbers axis 1 offset 3 size 1 : tensor<?x5xf32>
    %hours = nn.slice %numbers axis 1 offset 4 size 1 : tensor<?x5xf32>
    %age_bucket = nn.bucketize %age boundaries [18.0, 25.0, 30.0, 35.0, 40.0, 45.0, 50.0, 55.0, 60.0, 65.0] : tensor<?x1xf32>
    %age_id = nn.cross %age_bucket salt(100) : tensor<?x1xi64>
    %gain_bucket = nn.bucketize %gain boundaries [1.0, 3000.0, 4000.0, 5000.0, 6500.0, 7000.0, 10000.0, 14000.0] : tensor<?x1xf32>
    %gain_id = nn.cross %gain_bucket salt(101) : tensor<?x1xi64>
    %loss_bucket = nn.bucketize %loss boundaries [1.0, 1500.0, 1600.0, 1800.0, 1900.0, 2000.0, 2200.0, 2400.0] : tensor<?x1xf32>
    %loss_id = nn.cross %loss_bucket salt(102) : tensor<?x1xi64>
    %hours_bucket = nn.bucketize %hours boundaries [20.0, 30.0, 36.0, 40.0, 41.0, 46.0, 50.0, 56.0, 60.0] : tensor<?x1xf32>
    %hours_id = nn.cross %hours_bucket salt(103) : tensor<?x1xi64>

    // Both parts read categories and buckets. Only the wide part reads crosses.
    %ids = nn.concat %categories, %age_id, %gain_id, %loss_id, %hours_id axis 1
      : tensor<?x8xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %education = nn.slice %categories axis 1 offset 1 size 1 : tensor<?x8xi64>
    %occupation = nn.slice %categories axis 1 offset 3 size 1 : tensor<?x8xi64>
    %country = nn.slice %categories axis 1 offset 7 size 1 : tensor<?x8xi64>
    %education_occupation = nn.cross %education, %occupation salt(110) : tensor<?x1xi64>, tensor<?x1xi64>
    %age_education_occupation = nn.cross %age_id, %education, %occupation salt(111) : tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %country_occupation = nn.cross %country, %occupation salt(112) : tensor<?x1xi64>, tensor<?x1xi64>
    %wide_ids = nn.concat %ids, %education_occupation, %age_education_occupation, %country_occupation axis 1
      : tensor<?x12xi64>, tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xi64>
    %weights = nn.lookup @wide_weights[%wide_ids] pool(sum) : (tensor<?x15xi64>) -> tensor<?x15x1xf32>
    %wide = nn.reduce sum %weights axes [1] : tensor<?x15x1xf32>

    %rows = nn.lookup @embedding[%ids] pool(sum) : (tensor<?x12xi64>) -> tensor<?x12x8xf32>
    %embedded = nn.flatten %rows from 1 : tensor<?x12x8xf32>
    %plain = nn.slice %numbers axis 1 offset 0 size 2 : tensor<?x5xf32>
    %capital = nn.slice %numbers axis 1 offset 2 size 2 : tensor<?x5xf32>
    %tamed = nn.signed_log1p %capital : tensor<?x2xf32>
    %raw = nn.concat %plain, %tamed, %hours axis 1 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x1xf32>
    %standard = nn.standardize %raw mean [38.6, 10.1, 0.73, 0.36, 40.4] deviation [13.6, 2.57, 2.5, 1.6, 12.3] : tensor<?x5xf32>
    %x = nn.concat %embedded, %standard axis 1 : tensor<?x96xf32>, tensor<?x5xf32>
    %h1 = nn.linear %x, @w1, @b1 act(relu) : (tensor<?x101xf32>) -> tensor<?x100xf32>
    %h2 = nn.linear %h1, @w2, @b2 act(relu) : (tensor<?x100xf32>) -> tensor<?x50xf32>
    %deep = nn.linear %h2, @w3, @b3 : (tensor<?x50xf32>) -> tensor<?x1xf32>
    %z = nn.add %deep, %wide : tensor<?x1xf32>, tensor<?x1xf32>
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
    nn.minimize %l over [@wide, @deep] : tensor<?x1xf32>
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
