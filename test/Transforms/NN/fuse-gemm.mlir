// RUN: pdl-opt %s --nn-fuse-gemm | FileCheck %s
// RUN: pdl-opt %s --nn-fuse-gemm="post-ops=false" | FileCheck %s --check-prefix=APART

// Products become nn.gemm here too, but the ops after them stay. The matrix of
// a scan is transposed once, as before.
// APART-LABEL: nn.program @predict
// APART-COUNT-4: nn.gemm {{.*}} post [] :
// APART-NOT: post [{{[a-z]}}
// APART-LABEL: nn.program @rows
// APART: nn.transpose


module attributes {nn.phase = "gradient"} {
  nn.record @r {
    nn.field @x : tensor<?x4xf32>
    nn.field @m : tensor<?x3xf32>
  }
  nn.record @bags {
    nn.field @c : !nn.ragged<?x1x*xi64>
  }
  nn.table @t : i64 -> tensor<3xf32> init(#nn.zeros)
  nn.state @u : tensor<3x3xf32> init(#nn.zeros)
  nn.param @w : tensor<4x3xf32> init(#nn.xavier)
  nn.param @b : tensor<3xf32> init(#nn.zeros)

  // CHECK-LABEL: nn.program @predict
  // CHECK: ^bb0(%[[X:.*]]: tensor<?x4xf32>, %[[M:.*]]: tensor<?x3xf32>):
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %m: tensor<?x3xf32>):
    // CHECK: %[[W:.*]] = nn.read @w
    %w = nn.read @w : tensor<4x3xf32>
    // CHECK: %[[B:.*]] = nn.read @b
    %b = nn.read @b : tensor<3xf32>
    // CHECK: %[[H:.*]] = nn.gemm %[[X]], %[[W]] bias(%[[B]]) post [bias, relu]
    %0 = nn.matmul %x, %w : tensor<?x4xf32>, tensor<4x3xf32>
    %1 = nn.add %0, %b : tensor<?x3xf32>, tensor<3xf32>
    %2 = nn.relu %1 : tensor<?x3xf32>
    // The gradient of a relu is a mask of the product that computes its
    // cotangent.
    // CHECK: %[[G:.*]] = nn.gemm %[[X]], %[[W]] mask(%[[H]]) post [relu_gradient]
    %3 = nn.matmul %x, %w : tensor<?x4xf32>, tensor<4x3xf32>
    %4 = nn.relu_gradient %3, %2 : tensor<?x3xf32>
    // A product that other ops read keeps its own value. The sum of two
    // products is not a bias.
    // CHECK: %[[P:.*]] = nn.gemm %[[X]], %[[W]] post [] :
    // CHECK: %[[R:.*]] = nn.relu %[[P]]
    // CHECK: nn.add %[[P]], %[[R]]
    %5 = nn.matmul %x, %w : tensor<?x4xf32>, tensor<4x3xf32>
    %6 = nn.relu %5 : tensor<?x3xf32>
    %7 = nn.add %5, %6 : tensor<?x3xf32>, tensor<?x3xf32>
    // CHECK: %[[Q:.*]] = nn.gemm %[[X]], %[[W]] post [relu] :
    %8 = nn.matmul %x, %w : tensor<?x4xf32>, tensor<4x3xf32>
    %9 = nn.relu %8 : tensor<?x3xf32>
    %10 = nn.add %9, %b : tensor<?x3xf32>, tensor<3xf32>
    %11 = nn.add %4, %7 : tensor<?x3xf32>, tensor<?x3xf32>
    %12 = nn.add %10, %11 : tensor<?x3xf32>, tensor<?x3xf32>
    nn.return %12 : tensor<?x3xf32>
  }

  // The product of a single row of a scan is not fused. The matrix is
  // transposed once for all rows.
  // CHECK-LABEL: nn.program @rows
  // CHECK: %[[W:.*]] = nn.read @u
  // CHECK: %[[T:.*]] = nn.transpose %[[W]] permutation [1, 0] : tensor<3x3xf32>
  // CHECK: nn.scan %{{.*}} of %{{.*}} with(%[[W]], %[[T]])
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?x3xf32>, %[[BEFORE:.*]]: tensor<?x3xf32>, %{{.*}}: tensor<3x3xf32>, %[[ONCE:.*]]: tensor<3x3xf32>):
  // CHECK-NEXT: nn.matmul %[[BEFORE]], %[[ONCE]] : tensor<?x3xf32>, tensor<3x3xf32>
  nn.program @rows frozen reads(@bags) {
  ^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
    %u = nn.read @u : tensor<3x3xf32>
    %k, %i, %ks, %o = nn.unique %c
    %p = nn.pull @t[%k] : tensor<?x3xf32>
    %x = nn.pool %p[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
    %h = nn.scan %x of %s with(%u) {
    ^bb0(%row: tensor<?x3xf32>, %before: tensor<?x3xf32>, %shared: tensor<3x3xf32>):
      %0 = nn.matmul %before, %shared transposed : tensor<?x3xf32>, tensor<3x3xf32>
      %1 = nn.add %row, %0 : tensor<?x3xf32>, tensor<?x3xf32>
      nn.yield %1 : tensor<?x3xf32>
    } : tensor<?x3xf32>, tensor<?xi32>, tensor<3x3xf32>
    %q = nn.segment_sum %h of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x1x3xf32>
    nn.return %q : tensor<?x1x3xf32>
  }

  // The runtime's products do not support gelu, so it stays an op.
  // CHECK-LABEL: nn.program @activations
  nn.program @activations frozen reads(@r except [@m]) {
  ^bb0(%x: tensor<?x4xf32>):
    %w = nn.read @w : tensor<4x3xf32>
    %b = nn.read @b : tensor<3xf32>
    // CHECK: %[[S:.*]] = nn.gemm {{.*}} post [bias] :
    // CHECK-NEXT: nn.gelu %[[S]]
    %0 = nn.matmul %x, %w : tensor<?x4xf32>, tensor<4x3xf32>
    %1 = nn.add %0, %b : tensor<?x3xf32>, tensor<3xf32>
    %2 = nn.gelu %1 : tensor<?x3xf32>
    nn.return %2 : tensor<?x3xf32>
  }
}
