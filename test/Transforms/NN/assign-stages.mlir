// RUN: pdl-opt %s --nn-assign-stages | FileCheck %s

module attributes {nn.phase = "fused"} {

nn.record @r {
  nn.field @x : tensor<?x2xf32>
  nn.field @bags : !nn.ragged<?x1x*xi64>
}
nn.group @g rule(@sgd) rate(1.0)
nn.table @emb : i64 -> tensor<4xf32> in @g init(#nn.zeros)
nn.rule @sgd hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %gradient : f32
}

// CHECK-LABEL: nn.program @train
nn.program @train reads(@r) {
^bb0(%x: tensor<?x2xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
  // Stage prepare computes everything from which ids are made, also ops on
  // floats.
  // CHECK: nn.standardize {{.*}}stage = #nn.stage<prepare>
  %s = nn.standardize %x mean [1.0, 2.0] deviation [3.0, 4.0] : tensor<?x2xf32>
  // CHECK: nn.bucketize {{.*}}stage = #nn.stage<prepare>
  %b = nn.bucketize %s boundaries [0.0, 1.0] : tensor<?x2xf32>
  // CHECK: nn.reshape {{.*}}stage = #nn.stage<prepare>
  %flat = nn.reshape %b : (tensor<?x2xi64>) -> tensor<?xi64>
  // CHECK: nn.unique {{.*}}stage = #nn.stage<prepare>
  %keys, %inverse, %key_splits, %occurrences = nn.unique %flat
  // CHECK: nn.pull {{.*}}stage = #nn.stage<prepare>
  %rows = nn.pull @emb[%keys] : tensor<?x4xf32>
  // A cross of bags requests memory, which can fail. So it is in prepare even
  // if it is unused.
  // CHECK: nn.cross_bags{{.*}}stage = #nn.stage<prepare>
  %c, %cs = nn.cross_bags (%ids bags(%splits), %ids bags(%splits))
  // CHECK: nn.pool {{.*}}stage = #nn.stage<compute>
  %e = nn.pool %rows[%inverse, %key_splits, %occurrences] of (%flat sum)
    : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: nn.reduce {{.*}}stage = #nn.stage<compute>
  %l = nn.reduce sum %x axes [1] keep : tensor<?x2xf32>
  // CHECK: nn.loss_sum {{.*}}stage = #nn.stage<compute>
  %sum, %weight = nn.loss_sum %l : tensor<?x1xf32>
  // CHECK: nn.pool_gradient{{.*}}stage = #nn.stage<compute>
  %g = nn.pool_gradient [%inverse, %key_splits, %occurrences] of (%flat sum from %e)
    : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: nn.once
  // CHECK: stage = #nn.stage<apply>
  %scalar = nn.once @g weight(%weight) -> (weight) {
  ^bb0(%step: f64, %total: f64, %norm: f64):
    nn.yield %total : f64
  } : tensor<f32>
  // CHECK: nn.update
  // CHECK: stage = #nn.stage<apply>
  nn.update @emb keys(%keys) gradient(%g) scalars(%scalar) {
  ^bb0(%value: f32, %gradient: f32, %total: f32):
    nn.yield %gradient : f32
  } : tensor<?x4xf32>, tensor<f32>
}
}
