// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Metrics.

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @y : tensor<?x1xf32>
  nn.field @i : tensor<?x2xi64>
  nn.field @c : !nn.ragged<?x2x*xi64>
}
nn.metric @auc : #nn.auc<buckets = 64>
nn.metric @loss : #nn.log_loss
nn.metric @copc : #nn.copc
nn.metric @mean : #nn.mean
nn.param @m : tensor<4x8xf32> init(#nn.zeros)
nn.param @b : tensor<8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// CHECK-LABEL: func.func @metrics_compute
// CHECK:         rt.observe auc
// CHECK:         rt.observe log_loss
// CHECK:         rt.observe copc buckets 0 %[[Y:.*]] labels(%[[Y]] : memref<?xf32>) into
// CHECK:         rt.observe mean buckets 0 %[[Y]] weights(%[[Y]] : memref<?xf32>) into
nn.program @metrics frozen reads(@r except [@x, @i, @c]) {
^bb0(%y: tensor<?x1xf32>):
  nn.observe @auc(%y, %y) : tensor<?x1xf32>
  nn.observe @loss(%y, %y) : tensor<?x1xf32>
  nn.observe @copc(%y, %y) : tensor<?x1xf32>
  nn.observe @mean(%y) weight %y : tensor<?x1xf32>
}

}
