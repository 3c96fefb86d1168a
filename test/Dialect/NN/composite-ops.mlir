// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --nn-lower-model | FileCheck %s --check-prefix=LOWERED

// Ops that others can say, and what they become.

module {
nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @y : tensor<?x4xf32>
}
nn.param @w : tensor<4x4xf32> init(#nn.zeros)
nn.param @v : tensor<4x1xf32> init(#nn.zeros)
nn.param @b : tensor<4xf32> init(#nn.zeros)
nn.param @c : tensor<4x3xf32> init(#nn.zeros)

// CHECK-LABEL: nn.program @softmax
// CHECK: nn.softmax %{{.*}} axis 1 : tensor<?x4xf32>
// LOWERED-LABEL: nn.program @softmax
// LOWERED: %[[M:.*]] = nn.reduce  max %[[X:.*]] axes [1] keep
// LOWERED-NEXT: %[[S:.*]] = nn.stop_gradient %[[M]]
// LOWERED-NEXT: %[[D:.*]] = nn.sub %[[X]], %[[S]]
// LOWERED-NEXT: %[[E:.*]] = nn.exp %[[D]]
// LOWERED-NEXT: %[[SUM:.*]] = nn.reduce  sum %[[E]] axes [1] keep
// LOWERED-NEXT: nn.div %[[E]], %[[SUM]]
nn.program @softmax frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.softmax %x axis 1 : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// CHECK-LABEL: nn.program @log_softmax
// CHECK: nn.log_softmax %{{.*}} axis 1 : tensor<?x4xf32>
// LOWERED-LABEL: nn.program @log_softmax
// LOWERED: nn.reduce  max
// LOWERED-NEXT: nn.stop_gradient
// LOWERED-NEXT: %[[D:.*]] = nn.sub
// LOWERED-NEXT: %[[E:.*]] = nn.exp %[[D]]
// LOWERED-NEXT: %[[SUM:.*]] = nn.reduce  sum %[[E]] axes [1] keep
// LOWERED-NEXT: %[[L:.*]] = nn.log %[[SUM]]
// LOWERED-NEXT: nn.sub %[[D]], %[[L]]
nn.program @log_softmax frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>):
  %0 = nn.log_softmax %x axis 1 : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

}
