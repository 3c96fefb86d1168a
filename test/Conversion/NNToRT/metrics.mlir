// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Metrics.

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @y : tensor<?x1xf32>
  nn.field @u : tensor<?x1xi64>
  nn.field @i : tensor<?x2xi64>
  nn.field @c : !nn.ragged<?x2x*xi64>
}
nn.metric @auc : #nn.auc<buckets = 64>
nn.metric @gauc : #nn.grouped_auc
nn.metric @loss : #nn.log_loss
nn.metric @copc : #nn.copc
nn.metric @mean : #nn.mean
nn.metric @ndcg : #nn.ndcg_at<k = 2>
nn.metric @accuracy : #nn.accuracy<threshold = 0.25>
nn.param @m : tensor<4x8xf32> init(#nn.zeros)
nn.param @b : tensor<8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// CHECK-LABEL: func.func @metrics_compute
// CHECK:         rt.observe #nn.auc<buckets = 64>
// CHECK:         rt.observe #nn.log_loss
// CHECK:         rt.observe #nn.copc %[[Y:.*]] labels(%[[Y]] : memref<?x1xf32>) into
// CHECK:         rt.observe #nn.mean %[[Y]] weights(%{{.*}} : memref<?xf32>) into
// CHECK:         rt.observe #nn.accuracy<threshold = 2.500000e-01>
// CHECK:         rt.observe #nn.ndcg_at<k = 2> %[[X:.*]] labels(%[[X]] : memref<?x4xf32>) into
// CHECK:         rt.observe #nn.ndcg_at<k = 2> %[[X]] labels(%[[Y]] : memref<?x1xf32>) weights(%{{.*}} : memref<?xf32>) into
nn.program @metrics frozen reads(@r except [@u, @i, @c]) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>):
  nn.observe @auc(%y, %y) : tensor<?x1xf32>
  nn.observe @loss(%y, %y) : tensor<?x1xf32>
  nn.observe @copc(%y, %y) : tensor<?x1xf32>
  nn.observe @mean(%y) weight %y : tensor<?x1xf32>
  nn.observe @accuracy(%y, %y) : tensor<?x1xf32>
  nn.observe @ndcg(%x, %x) : tensor<?x4xf32>
  nn.observe @ndcg(%x, %y) weight %y : tensor<?x4xf32>, tensor<?x1xf32>
}

// The worker keeps the samples of metric 1.
// CHECK-LABEL: func.func @groups_compute
// CHECK:         %[[WORKER:.*]] = rt.pointer worker[0] of
// CHECK:         rt.observe_groups 1 %[[WORKER]], %[[P:.*]] labels(%[[P]]) groups(%{{.*}}) into
// CHECK:         rt.observe_groups 1 %[[WORKER]], %[[P]] labels(%[[P]]) groups(%{{.*}}) weights(%[[P]] : memref<?xf32>) into
// CHECK: rt.program @groups frozen reads(@r [@y, @u]) outputs ["ctr", "cvr"] widths [1, 1] types [f32, f32] grouped prepare
nn.program @groups frozen reads(@r except [@x, @i, @c]) {
^bb0(%y: tensor<?x1xf32>, %u: tensor<?x1xi64>):
  nn.observe @gauc(%y, %y) group %u : tensor<?x1xf32>
  nn.observe @gauc(%y, %y) group %u weight %y : tensor<?x1xf32>
  nn.return %y as "ctr", %y as "cvr" : tensor<?x1xf32>, tensor<?x1xf32>
}

}
