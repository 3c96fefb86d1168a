//===- esmm.mlir - Entire-space multi-task model on Adult -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Predicts two events, such as a click and a conversion. The second one can
// only follow the first. The rate of the second among samples with the first is
// learned from all samples, as a factor of the rate of both events. It is never
// learned from the few samples with the first event alone.
//
//===----------------------------------------------------------------------===//

module @esmm {
  nn.record @person {
    // age, years of education, capital gain, capital loss, hours a week
    nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
    // workclass, education, occupation, race, sex, native country; "?" (not
    // known) is a value like any other. Marital status and relationship are
    // left out, because they determine the click.
    nn.field @categories : tensor<?x6xi64> hash(#nn.hash<xxh64, salt = slot>) missing("?") columns([1, 3, 6, 8, 9, 13])
    // Adult has no clicks. The click is to live with a spouse, and the
    // conversion is to earn more than 50K as well.
    nn.field @click : tensor<?x1xf32> values({
      "Married-civ-spouse" = 1.0, "Married-AF-spouse" = 1.0, "Married-spouse-absent" = 0.0,
      "Never-married" = 0.0, "Divorced" = 0.0, "Separated" = 0.0, "Widowed" = 0.0}) columns([5])
    nn.field @conversion : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
  }

  nn.group @dense rule(@adam) rate(3.0e-3)
  nn.group @sparse rule(@adam) rate(3.0e-3) untouched(lazy)

  // Both towers read these rows.
  nn.table @embedding : i64 -> tensor<8xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  nn.param @ctr_w1 : tensor<53x32xf32> in @dense init(#nn.xavier)
  nn.param @ctr_b1 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @ctr_w2 : tensor<32x16xf32> in @dense init(#nn.xavier)
  nn.param @ctr_b2 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @ctr_w3 : tensor<16x1xf32> in @dense init(#nn.xavier)
  nn.param @ctr_b3 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.param @cvr_w1 : tensor<53x32xf32> in @dense init(#nn.xavier)
  nn.param @cvr_b1 : tensor<32xf32> in @dense init(#nn.zeros)
  nn.param @cvr_w2 : tensor<32x16xf32> in @dense init(#nn.xavier)
  nn.param @cvr_b2 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @cvr_w3 : tensor<16x1xf32> in @dense init(#nn.xavier)
  nn.param @cvr_b3 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @ctr_auc : #nn.auc<buckets = 16384>
  nn.metric @cvr_auc : #nn.auc<buckets = 16384>
  nn.metric @ctcvr_auc : #nn.auc<buckets = 16384>

  nn.func private @logits(%numbers: tensor<?x5xf32>, %categories: tensor<?x6xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
    %tamed = nn.signed_log1p %numbers : tensor<?x5xf32>
    %x = nn.standardize %tamed mean [3.62, 2.37, 0.73, 0.35, 3.67] deviation [0.35, 0.27, 2.46, 1.59, 0.39] : tensor<?x5xf32>
    %rows = nn.lookup @embedding[%categories] pool(sum) : (tensor<?x6xi64>) -> tensor<?x6x8xf32>
    %embedded = nn.flatten %rows from 1 : tensor<?x6x8xf32>
    %input = nn.concat %embedded, %x axis 1 : tensor<?x48xf32>, tensor<?x5xf32>

    %ctr_h1 = nn.linear %input, @ctr_w1, @ctr_b1 act(relu) : (tensor<?x53xf32>) -> tensor<?x32xf32>
    %ctr_h2 = nn.linear %ctr_h1, @ctr_w2, @ctr_b2 act(relu) : (tensor<?x32xf32>) -> tensor<?x16xf32>
    %ctr_z = nn.linear %ctr_h2, @ctr_w3, @ctr_b3 : (tensor<?x16xf32>) -> tensor<?x1xf32>

    %cvr_h1 = nn.linear %input, @cvr_w1, @cvr_b1 act(relu) : (tensor<?x53xf32>) -> tensor<?x32xf32>
    %cvr_h2 = nn.linear %cvr_h1, @cvr_w2, @cvr_b2 act(relu) : (tensor<?x32xf32>) -> tensor<?x16xf32>
    %cvr_z = nn.linear %cvr_h2, @cvr_w3, @cvr_b3 : (tensor<?x16xf32>) -> tensor<?x1xf32>
    nn.return %ctr_z, %cvr_z : tensor<?x1xf32>, tensor<?x1xf32>
  }

  // -(y log p + (1 - y) log(1 - p)), with p bounded away from 0 and 1.
  nn.func private @log_loss(%probability: tensor<?x1xf32>, %label: tensor<?x1xf32>) -> tensor<?x1xf32> {
    %lowest = nn.constant dense<1.0e-7> : tensor<1xf32>
    %highest = nn.constant dense<0.9999999> : tensor<1xf32>
    %one = nn.constant dense<1.0> : tensor<1xf32>
    %above = nn.max %probability, %lowest : tensor<?x1xf32>, tensor<1xf32>
    %p = nn.min %above, %highest : tensor<?x1xf32>, tensor<1xf32>
    %log_p = nn.log %p : tensor<?x1xf32>
    %hit = nn.mul %label, %log_p : tensor<?x1xf32>, tensor<?x1xf32>
    %minus_p = nn.neg %p : tensor<?x1xf32>
    %log_rest = nn.log1p %minus_p : tensor<?x1xf32>
    %no_label = nn.sub %one, %label : tensor<1xf32>, tensor<?x1xf32>
    %miss = nn.mul %no_label, %log_rest : tensor<?x1xf32>, tensor<?x1xf32>
    %likelihood = nn.add %hit, %miss : tensor<?x1xf32>, tensor<?x1xf32>
    %l = nn.neg %likelihood : tensor<?x1xf32>
    nn.return %l : tensor<?x1xf32>
  }

  nn.program @train reads(@person) {
  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x6xi64>, %click: tensor<?x1xf32>, %conversion: tensor<?x1xf32>):
    %z:2 = nn.call @logits(%numbers, %categories) : (tensor<?x5xf32>, tensor<?x6xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
    %ctr = nn.sigmoid %z#0 : tensor<?x1xf32>
    %cvr = nn.sigmoid %z#1 : tensor<?x1xf32>
    %ctcvr = nn.mul %ctr, %cvr : tensor<?x1xf32>, tensor<?x1xf32>
    %both = nn.mul %click, %conversion : tensor<?x1xf32>, tensor<?x1xf32>
    %ctr_loss = nn.sigmoid_cross_entropy %z#0, %click : tensor<?x1xf32>
    %ctcvr_loss = nn.call @log_loss(%ctcvr, %both) : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.add %ctr_loss, %ctcvr_loss : tensor<?x1xf32>, tensor<?x1xf32>
    nn.observe @ctr_auc(%ctr, %click) : tensor<?x1xf32>
    nn.observe @cvr_auc(%cvr, %conversion) weight %click : tensor<?x1xf32>
    nn.observe @ctcvr_auc(%ctcvr, %both) : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }

  nn.program @evaluate frozen reads(@person) {
  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x6xi64>, %click: tensor<?x1xf32>, %conversion: tensor<?x1xf32>):
    %z:2 = nn.call @logits(%numbers, %categories) : (tensor<?x5xf32>, tensor<?x6xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
    %ctr = nn.sigmoid %z#0 : tensor<?x1xf32>
    %cvr = nn.sigmoid %z#1 : tensor<?x1xf32>
    %ctcvr = nn.mul %ctr, %cvr : tensor<?x1xf32>, tensor<?x1xf32>
    %both = nn.mul %click, %conversion : tensor<?x1xf32>, tensor<?x1xf32>
    nn.observe @ctr_auc(%ctr, %click) : tensor<?x1xf32>
    nn.observe @cvr_auc(%cvr, %conversion) weight %click : tensor<?x1xf32>
    nn.observe @ctcvr_auc(%ctcvr, %both) : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@person except [@click, @conversion]) {
  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x6xi64>):
    %z:2 = nn.call @logits(%numbers, %categories) : (tensor<?x5xf32>, tensor<?x6xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
    %ctr = nn.sigmoid %z#0 : tensor<?x1xf32>
    %cvr = nn.sigmoid %z#1 : tensor<?x1xf32>
    %ctcvr = nn.mul %ctr, %cvr : tensor<?x1xf32>, tensor<?x1xf32>
    nn.return %ctr, %cvr, %ctcvr : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  }
}
