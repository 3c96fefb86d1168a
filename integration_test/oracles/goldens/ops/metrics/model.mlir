//===- metrics/model.mlir - All metrics -*- mlir -*-===//
//
// Part of the PDL project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Written by integration_test/oracles/generate_op_goldens.py.
//
//===----------------------------------------------------------------------===//

module @metrics {
  nn.record @sample {
    nn.field @prediction : tensor<?x1xf32>
    nn.field @label : tensor<?x1xf32>
    nn.field @weight : tensor<?x1xf32>
    nn.field @scores : tensor<?x7xf32>
    nn.field @relevance : tensor<?x7xf32>
    nn.field @position : tensor<?x1xf32>
    nn.field @user : tensor<?x1xi64>
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @scale : tensor<1xf32> in @descent init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 4096>
  nn.metric @coarse_auc : #nn.auc<buckets = 96>
  nn.metric @grouped_auc : #nn.grouped_auc
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.metric @mean : #nn.mean
  nn.metric @mae : #nn.mae
  nn.metric @rmse : #nn.rmse
  nn.metric @accuracy : #nn.accuracy<threshold = 0.25>
  nn.metric @bucket_error : #nn.bucket_error<buckets = 64>
  nn.metric @accuracy_at : #nn.accuracy_at<k = 2>
  nn.metric @recall : #nn.recall_at<k = 3>
  nn.metric @ndcg : #nn.ndcg_at<k = 4>
  nn.metric @mrr : #nn.mrr
  nn.metric @top_accuracy : #nn.accuracy_at<k = 1>
  nn.metric @top_mrr : #nn.mrr
  nn.program @train reads(@sample except [@weight, @scores, @relevance, @position, @user]) {
  ^bb0(%p: tensor<?x1xf32>, %y: tensor<?x1xf32>):
    %scale = nn.read @scale : tensor<1xf32>
    %z = nn.mul %p, %scale : tensor<?x1xf32>, tensor<1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@descent] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@sample) {
  ^bb0(%p: tensor<?x1xf32>, %y: tensor<?x1xf32>, %w: tensor<?x1xf32>, %s: tensor<?x7xf32>, %r: tensor<?x7xf32>, %i: tensor<?x1xf32>, %u: tensor<?x1xi64>):
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
    nn.observe @coarse_auc(%p, %y) : tensor<?x1xf32>
    nn.observe @grouped_auc(%p, %y) group %u weight %w : tensor<?x1xf32>
    nn.observe @log_loss(%p, %y) : tensor<?x1xf32>
    nn.observe @copc(%p, %y) : tensor<?x1xf32>
    nn.observe @mean(%p) weight %w : tensor<?x1xf32>
    nn.observe @mae(%p, %y) weight %w : tensor<?x1xf32>
    nn.observe @rmse(%p, %y) weight %w : tensor<?x1xf32>
    nn.observe @accuracy(%p, %y) weight %w : tensor<?x1xf32>
    nn.observe @bucket_error(%p, %y) weight %w : tensor<?x1xf32>
    nn.observe @accuracy_at(%s, %r) weight %w : tensor<?x7xf32>
    nn.observe @recall(%s, %r) weight %w : tensor<?x7xf32>
    nn.observe @ndcg(%s, %r) weight %w : tensor<?x7xf32>
    nn.observe @mrr(%s, %r) weight %w : tensor<?x7xf32>
    nn.observe @top_accuracy(%s, %i) : tensor<?x7xf32>, tensor<?x1xf32>
    nn.observe @top_mrr(%s, %i) : tensor<?x7xf32>, tensor<?x1xf32>
  }
}
