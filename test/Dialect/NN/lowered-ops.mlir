// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

module attributes {nn.phase = "fused"} {
  nn.record @r {
    nn.field @x : tensor<?x4xf32>
    nn.field @c : !nn.ragged<?x2x*xi64>
    nn.field @k : tensor<?x2xi64>
  }
  nn.clip @joint : global_norm(1.0)
  nn.group @g rule(@sgd) rate(0.1) clip(@joint)
  nn.table @t : i64 -> tensor<3xf32> in @g init(#nn.zeros)
  nn.param @w : tensor<4x3xf32> in @g init(#nn.xavier)
  nn.param @b : tensor<3xf32> in @g init(#nn.zeros)

  // CHECK:      nn.fingerprint state {
  // CHECK-NEXT:   "shape of @b" = "f32 [3]",
  // CHECK-NEXT:   "shape of @w" = "f32 [4, 3]"
  // CHECK-NEXT: } optimizer {} training {
  // CHECK-NEXT:   "say \22this\22" = "a\\b"
  // CHECK-NEXT: }
  nn.fingerprint state {"shape of @w" = "f32 [4, 3]", "shape of @b" = "f32 [3]"} optimizer {}
    training {"say \"this\"" = "a\\b"}

  // CHECK-LABEL: nn.program @train
  nn.program @train reads(@r) {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x4xf32>, %[[IDS:.*]]: tensor<?xi64>, %[[SPLITS:.*]]: tensor<?xi32>, %{{.*}}: tensor<?x2xi64>):
  ^bb0(%x: tensor<?x4xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>, %k: tensor<?x2xi64>):
    %w = nn.read @w : tensor<4x3xf32>
    %b = nn.read @b : tensor<3xf32>
    %flat = nn.reshape %k : (tensor<?x2xi64>) -> tensor<?xi64>
    // CHECK: nn.single_bags
    %single = nn.single_bags %flat
    // CHECK: nn.cross_bags (%{{.*}} bags(%{{.*}}), %{{.*}} bags(%{{.*}})) salt(3)
    %crossed, %crossed_splits = nn.cross_bags (%ids bags(%splits), %flat bags(%single)) salt(3)
    // CHECK: nn.unique %[[IDS]], %{{.*}}
    %keys, %inverse, %key_splits, %occurrences = nn.unique %ids, %flat
    // CHECK: nn.pull @t[%{{.*}}] : tensor<?x3xf32>
    %rows = nn.pull @t[%keys] : tensor<?x3xf32>
    // CHECK: nn.pool %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] of (%{{.*}} bags(%{{.*}}) sum, %{{.*}} mean) : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
    %p:2 = nn.pool %rows[%inverse, %key_splits, %occurrences] of (%ids bags(%splits) sum, %flat mean)
      : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
    // CHECK: nn.gemm %{{.*}}, %{{.*}} bias(%{{.*}}) post [bias, relu] : (tensor<?x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    %h = nn.gemm %x, %w bias(%b) post [bias, relu] : (tensor<?x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    // CHECK: nn.relu_gradient
    %d = nn.relu_gradient %h, %h : tensor<?x3xf32>
    // CHECK: nn.matmul %{{.*}} transposed, %{{.*}} : tensor<?x4xf32>, tensor<?x3xf32>
    %gw = nn.matmul %x transposed, %d : tensor<?x4xf32>, tensor<?x3xf32>
    // CHECK: nn.gemm %{{.*}}, %{{.*}} transposed mask(%{{.*}}) post [relu_gradient]
    %gx = nn.gemm %d, %w transposed mask(%x) post [relu_gradient] : (tensor<?x3xf32>, tensor<4x3xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    // CHECK: nn.pad %{{.*}} axis 1 low 1 high 2 : tensor<?x4xf32>
    %pad = nn.pad %gx axis 1 low 1 high 2 : tensor<?x4xf32>
    // CHECK: nn.pool_gradient[%{{.*}}, %{{.*}}, %{{.*}}] of (%{{.*}} bags(%{{.*}}) sum from %{{.*}}, %{{.*}} mean) : (tensor<?x3xf32>) -> tensor<?x3xf32>
    %gt = nn.pool_gradient [%inverse, %key_splits, %occurrences] of (%ids bags(%splits) sum from %p#0, %flat mean)
      : (tensor<?x3xf32>) -> tensor<?x3xf32>
    %column = nn.slice %x axis 1 offset 0 size 1 : tensor<?x4xf32>
    // CHECK: nn.loss_sum %{{.*}} weight %{{.*}} : tensor<?x1xf32>, tensor<?x1xf32>
    %sum, %weight = nn.loss_sum %column weight %column : tensor<?x1xf32>, tensor<?x1xf32>
    // CHECK: nn.squared_norm {@w = %{{.*}} : tensor<4x3xf32>, @t[%{{.*}}] = %{{.*}} : tensor<?x3xf32>} weight(%{{.*}})
    %norm = nn.squared_norm {@w = %gw : tensor<4x3xf32>, @t[%keys] = %gt : tensor<?x3xf32>} weight(%weight)
    // CHECK: nn.once @g weight(%{{.*}}) norm(%{{.*}}) -> (weight, clip_factor, "rate") {
    %s:3 = nn.once @g weight(%weight) norm(%norm) -> (weight, clip_factor, "rate") {
    ^bb0(%step: f64, %total: f64, %squared: f64):
      %rate = arith.constant 1.0e-01 : f64
      nn.yield %total, %squared, %rate : f64, f64, f64
    } : tensor<f32>, tensor<f32>, tensor<f32>
    // CHECK: nn.update @t keys(%{{.*}}) gradient(%{{.*}}) scalars(%{{.*}}, %{{.*}}) {
    nn.update @t keys(%keys) gradient(%gt) scalars(%s#0, %s#2) {
    ^bb0(%value: f32, %gradient: f32, %total: f32, %rate: f32):
      %0 = arith.divf %gradient, %total : f32
      %1 = arith.mulf %rate, %0 : f32
      %2 = arith.subf %value, %1 : f32
      nn.yield %2 : f32
    } : tensor<?x3xf32>, tensor<f32>, tensor<f32>
  }
}
