//===- metrics/model.mlir - AUC, log loss, COPC -*- mlir -*-===//
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
  }
  nn.group @descent rule(@sgd) rate(1.0)
  nn.param @scale : tensor<1xf32> in @descent init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 4096>
  nn.metric @coarse_auc : #nn.auc<buckets = 4>
  nn.metric @log_loss : #nn.log_loss
  nn.metric @copc : #nn.copc
  nn.program @train reads(@sample) {
  ^bb0(%p: tensor<?x1xf32>, %y: tensor<?x1xf32>):
    %scale = nn.read @scale : tensor<1xf32>
    %z = nn.mul %p, %scale : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@descent] : tensor<?x1xf32>
  }
  nn.program @evaluate frozen reads(@sample) {
  ^bb0(%p: tensor<?x1xf32>, %y: tensor<?x1xf32>):
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
    nn.observe @coarse_auc(%p, %y) : tensor<?x1xf32>
    nn.observe @log_loss(%p, %y) : tensor<?x1xf32>
    nn.observe @copc(%p, %y) : tensor<?x1xf32>
  }
}
