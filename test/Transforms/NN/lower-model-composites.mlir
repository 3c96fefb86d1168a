// RUN: pdl-opt %s --nn-lower-model | FileCheck %s

// Composite ops are replaced by others, which may be composite too. Ragged
// values become ids and splits.

module {
nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @c : !nn.ragged<?x2x*xi64>
  nn.field @d : !nn.ragged<?x2x*xi64>
}
nn.table @t : i64 -> tensor<3xf32> init(#nn.zeros)
nn.param @w : tensor<3x5xf32> init(#nn.zeros)
nn.param @b : tensor<5xf32> init(#nn.zeros)

// CHECK-LABEL: nn.program @softmax
// CHECK: %[[M:.*]] = nn.reduce  max %[[X:.*]] axes [1] keep
// CHECK: %[[S:.*]] = nn.stop_gradient %[[M]]
// CHECK: %[[D:.*]] = nn.sub %[[X]], %[[S]]
// CHECK: %[[E:.*]] = nn.exp %[[D]]
// CHECK: %[[SUM:.*]] = nn.reduce  sum %[[E]] axes [1] keep
// CHECK: nn.div %[[E]], %[[SUM]]
nn.program @softmax frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.softmax %x axis 1 : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// A composite op that consists of a composite op.
// CHECK-LABEL: nn.program @entropy
// CHECK-NOT: softmax
// CHECK: nn.log %
// CHECK: nn.neg
nn.program @entropy frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.softmax_cross_entropy %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %0 : tensor<?x1xf32>
}

// The bias and the activation follow the matrix product.
// CHECK-LABEL: nn.program @rows
// CHECK-SAME: frozen
// CHECK-NEXT: ^bb0(%[[C:.*]]: tensor<?xi64>, %[[CS:.*]]: tensor<?xi32>, %[[DI:.*]]: tensor<?xi64>, %[[DS:.*]]: tensor<?xi32>):
// CHECK: %[[W:.*]] = nn.read @w
// CHECK: %[[B:.*]] = nn.read @b
// CHECK: nn.check_bags %[[DS]], %[[CS]]
// CHECK: %[[H:.*]] = nn.pool %{{.*}} of (%[[DI]] sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
// CHECK: %[[P:.*]] = nn.matmul %[[H]], %[[W]]
// CHECK: %[[A:.*]] = nn.add %[[P]], %[[B]]
// CHECK: %[[R:.*]] = nn.relu %[[A]]
// CHECK: nn.segment_sum %[[R]] of %[[CS]] : (tensor<?x5xf32>, tensor<?xi32>) -> tensor<?x2x5xf32>
// CHECK: nn.segment_positions %[[CS]] like %[[C]] from_end
nn.program @rows frozen reads(@r except [@x]) {
^bb0(%c: !nn.ragged<?x2x*xi64>, %d: !nn.ragged<?x2x*xi64>):
  %same = nn.same_bags %d like %c : !nn.ragged<?x2x*xi64>
  %h = nn.lookup @t[%same] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
  %r = nn.linear %h, @w, @b act(relu) : (tensor<?x3xf32>) -> tensor<?x5xf32>
  %s = nn.segment_sum %r of %c : (tensor<?x5xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x5xf32>
  %p = nn.segment_positions %c from_end : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
  %q = nn.segment_max %p of %c : (tensor<?x1xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x1xf32>
  %o = nn.add %s, %q : tensor<?x2x5xf32>, tensor<?x2x1xf32>
  nn.return %o : tensor<?x2x5xf32>
}

// CHECK-LABEL: nn.program @products
// CHECK: nn.batch_matmul %[[X:.*]], %[[X]] transposed : tensor<?x2x2xf32>, tensor<?x2x2xf32>
nn.program @products frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.reshape %x : (tensor<?x4xf32>) -> tensor<?x2x2xf32>
  %1 = nn.matmul %0, %0 transposed : tensor<?x2x2xf32>, tensor<?x2x2xf32>
  nn.return %1 : tensor<?x2x2xf32>
}
}
