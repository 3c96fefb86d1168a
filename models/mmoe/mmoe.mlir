//===- mmoe.mlir - Multi-gate mixture of experts on Adult -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two tasks, income and marital status, share four experts. Each task has a
// gate, which computes weights of the experts for each sample, and a tower of
// its own.
//
//===----------------------------------------------------------------------===//

module @mmoe {
  nn.record @person {
    // age, years of education, capital gain, capital loss, hours a week
    nn.field @numbers : tensor<?x5xf32> columns([0, 4, 10, 11, 12])
    // workclass, education, occupation, race, sex, native country; "?" (not
    // known) is a value like any other. Marital status and relationship are
    // left out, because they determine the second label.
    nn.field @categories : tensor<?x6xi64> hash(#nn.hash<xxh64, salt = slot>) missing("?") columns([1, 3, 6, 8, 9, 13])
    nn.field @income : tensor<?x1xf32> values({"<=50K" = 0.0, ">50K" = 1.0}) columns([14])
    nn.field @single : tensor<?x1xf32> values({
      "Never-married" = 1.0, "Married-civ-spouse" = 0.0, "Married-AF-spouse" = 0.0, "Married-spouse-absent" = 0.0,
      "Divorced" = 0.0, "Separated" = 0.0, "Widowed" = 0.0}) columns([5])
  }

  nn.group @dense rule(@adam) rate(3.0e-3)
  nn.group @sparse rule(@adam) rate(3.0e-3) untouched(lazy)

  nn.table @embedding : i64 -> tensor<8xf32> in @sparse init(#nn.uniform<-0.05, 0.05>)
  // Four experts with 16 columns each, in one matrix.
  nn.param @experts_w : tensor<53x64xf32> in @dense init(#nn.xavier)
  nn.param @experts_b : tensor<64xf32> in @dense init(#nn.zeros)
  nn.param @income_gate_w : tensor<53x4xf32> in @dense init(#nn.xavier)
  nn.param @income_gate_b : tensor<4xf32> in @dense init(#nn.zeros)
  nn.param @income_w1 : tensor<16x16xf32> in @dense init(#nn.xavier)
  nn.param @income_b1 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @income_w2 : tensor<16x1xf32> in @dense init(#nn.xavier)
  nn.param @income_b2 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.param @single_gate_w : tensor<53x4xf32> in @dense init(#nn.xavier)
  nn.param @single_gate_b : tensor<4xf32> in @dense init(#nn.zeros)
  nn.param @single_w1 : tensor<16x16xf32> in @dense init(#nn.xavier)
  nn.param @single_b1 : tensor<16xf32> in @dense init(#nn.zeros)
  nn.param @single_w2 : tensor<16x1xf32> in @dense init(#nn.xavier)
  nn.param @single_b2 : tensor<1xf32> in @dense init(#nn.zeros)
  nn.metric @income_auc : #nn.auc<buckets = 16384>
  nn.metric @single_auc : #nn.auc<buckets = 16384>
  nn.metric @income_log_loss : #nn.log_loss
  nn.metric @single_log_loss : #nn.log_loss

  // A task: the outputs of the experts, weighted by the softmax of the task's
  // gate, and the task's tower.
  nn.func private @task(%experts: tensor<?x4x16xf32>, %input: tensor<?x53xf32>)
      with(@gate_w: tensor<53x4xf32>, @gate_b: tensor<4xf32>, @w1: tensor<16x16xf32>, @b1: tensor<16xf32>,
           @w2: tensor<16x1xf32>, @b2: tensor<1xf32>) -> tensor<?x1xf32> {
    %gate = nn.linear %input, @gate_w, @gate_b : (tensor<?x53xf32>) -> tensor<?x4xf32>
    %softmax = nn.softmax %gate axis 1 : tensor<?x4xf32>
    %column = nn.reshape %softmax : (tensor<?x4xf32>) -> tensor<?x4x1xf32>
    %weighed = nn.mul %experts, %column : tensor<?x4x16xf32>, tensor<?x4x1xf32>
    %mixture = nn.reduce sum %weighed axes [1] : tensor<?x4x16xf32>
    %h = nn.linear %mixture, @w1, @b1 act(relu) : (tensor<?x16xf32>) -> tensor<?x16xf32>
    %z = nn.linear %h, @w2, @b2 : (tensor<?x16xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }

  nn.func private @logits(%numbers: tensor<?x5xf32>, %categories: tensor<?x6xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
    %tamed = nn.signed_log1p %numbers : tensor<?x5xf32>
    %x = nn.standardize %tamed mean [3.62, 2.37, 0.73, 0.35, 3.67] deviation [0.35, 0.27, 2.46, 1.59, 0.39] : tensor<?x5xf32>
    %rows = nn.lookup @embedding[%categories] pool(sum) : (tensor<?x6xi64>) -> tensor<?x6x8xf32>
    %embedded = nn.flatten %rows from 1 : tensor<?x6x8xf32>
    %input = nn.concat %embedded, %x axis 1 : tensor<?x48xf32>, tensor<?x5xf32>
    %h = nn.linear %input, @experts_w, @experts_b act(relu) : (tensor<?x53xf32>) -> tensor<?x64xf32>
    %experts = nn.reshape %h : (tensor<?x64xf32>) -> tensor<?x4x16xf32>

    %income_z = nn.call @task(%experts, %input)
      with(@income_gate_w, @income_gate_b, @income_w1, @income_b1, @income_w2, @income_b2)
      : (tensor<?x4x16xf32>, tensor<?x53xf32>) -> tensor<?x1xf32>
    %single_z = nn.call @task(%experts, %input)
      with(@single_gate_w, @single_gate_b, @single_w1, @single_b1, @single_w2, @single_b2)
      : (tensor<?x4x16xf32>, tensor<?x53xf32>) -> tensor<?x1xf32>
    nn.return %income_z, %single_z : tensor<?x1xf32>, tensor<?x1xf32>
  }

  nn.program @train reads(@person) {
  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x6xi64>, %income: tensor<?x1xf32>, %single: tensor<?x1xf32>):
    %z:2 = nn.call @logits(%numbers, %categories) : (tensor<?x5xf32>, tensor<?x6xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
    %income_loss = nn.sigmoid_cross_entropy %z#0, %income : tensor<?x1xf32>
    %single_loss = nn.sigmoid_cross_entropy %z#1, %single : tensor<?x1xf32>
    %l = nn.add %income_loss, %single_loss : tensor<?x1xf32>, tensor<?x1xf32>
    %p0 = nn.sigmoid %z#0 : tensor<?x1xf32>
    %p1 = nn.sigmoid %z#1 : tensor<?x1xf32>
    nn.observe @income_auc(%p0, %income) : tensor<?x1xf32>
    nn.observe @income_log_loss(%p0, %income) : tensor<?x1xf32>
    nn.observe @single_auc(%p1, %single) : tensor<?x1xf32>
    nn.observe @single_log_loss(%p1, %single) : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }

  nn.program @evaluate frozen reads(@person) {
  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x6xi64>, %income: tensor<?x1xf32>, %single: tensor<?x1xf32>):
    %z:2 = nn.call @logits(%numbers, %categories) : (tensor<?x5xf32>, tensor<?x6xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
    %p0 = nn.sigmoid %z#0 : tensor<?x1xf32>
    %p1 = nn.sigmoid %z#1 : tensor<?x1xf32>
    nn.observe @income_auc(%p0, %income) : tensor<?x1xf32>
    nn.observe @income_log_loss(%p0, %income) : tensor<?x1xf32>
    nn.observe @single_auc(%p1, %single) : tensor<?x1xf32>
    nn.observe @single_log_loss(%p1, %single) : tensor<?x1xf32>
  }

  nn.program @predict frozen reads(@person except [@income, @single]) {
  ^bb0(%numbers: tensor<?x5xf32>, %categories: tensor<?x6xi64>):
    %z:2 = nn.call @logits(%numbers, %categories) : (tensor<?x5xf32>, tensor<?x6xi64>) -> (tensor<?x1xf32>, tensor<?x1xf32>)
    %p0 = nn.sigmoid %z#0 : tensor<?x1xf32>
    %p1 = nn.sigmoid %z#1 : tensor<?x1xf32>
    nn.return %p0 as "income", %p1 as "single" : tensor<?x1xf32>, tensor<?x1xf32>
  }
}
