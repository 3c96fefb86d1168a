// RUN: pdl-opt %s --nn-lower-model --nn-autodiff | FileCheck %s

// The gradient of a condition is a condition on the same value. Its bodies
// repeat the values that they need. A tensor that only the other body reads has
// a gradient of zeros.

nn.record @r {
  nn.field @x : tensor<?x3xf32>
}
nn.group @g rule(@sgd) rate(0.1)
nn.state @late : tensor<1xf32> init(#nn.zeros)
nn.param @u : tensor<3x1xf32> in @g init(#nn.zeros)
nn.param @v : tensor<3x1xf32> in @g init(#nn.zeros)

// CHECK: %[[C:.*]] = nn.read @late
// CHECK: %[[U:.*]] = nn.read @u
// CHECK: %[[V:.*]] = nn.read @v
// Values that bodies read are their arguments.
// CHECK: %[[L:.*]] = nn.if %[[C]] with(%[[X:.*]], %[[U]], %[[V]]) {
// CHECK: } else {
// CHECK: } : tensor<1xf32>, tensor<?x3xf32>, tensor<3x1xf32>, tensor<3x1xf32>
// The field needs no gradient.
// CHECK: %[[G:.*]]:2 = nn.if %[[C]] with(%[[X]], %[[U]], %[[V]], %{{.*}}) {
// CHECK: ^bb0(%[[ROWS:.*]]: tensor<?x3xf32>, %[[A:.*]]: tensor<3x1xf32>, %{{.*}}: tensor<3x1xf32>, %[[GIVEN:.*]]: tensor<?x1xf32>):
// CHECK-NEXT: %[[P:.*]] = nn.matmul %[[ROWS]], %[[A]]
// CHECK-NEXT: %[[T:.*]] = nn.tanh %[[P]]
// CHECK: %[[D:.*]] = nn.mul %[[GIVEN]]
// CHECK: %[[DU:.*]] = nn.matmul %[[ROWS]] transposed, %[[D]]
// CHECK: %[[ZEROS:.*]] = nn.broadcast %{{.*}} : (tensor<f32>) -> tensor<3x1xf32>
// CHECK: nn.yield %[[DU]], %[[ZEROS]] : tensor<3x1xf32>, tensor<3x1xf32>
// CHECK: } else {
// CHECK-NOT: nn.tanh
// CHECK: %[[DV:.*]] = nn.matmul %{{.*}} transposed, %{{.*}}
// CHECK: nn.yield %{{.*}}, %[[DV]] : tensor<3x1xf32>, tensor<3x1xf32>
// CHECK: nn.apply_gradients %{{.*}} {@u = %[[G]]#0 : tensor<3x1xf32>, @v = %[[G]]#1 : tensor<3x1xf32>} over @g
nn.program @train reads(@r) {
^bb0(%x: tensor<?x3xf32>):
  %c = nn.read @late : tensor<1xf32>
  %l = nn.if %c with(%x) {
  ^bb0(%rows: tensor<?x3xf32>):
    %0 = nn.linear %rows, @u act(tanh) : (tensor<?x3xf32>) -> tensor<?x1xf32>
    nn.yield %0 : tensor<?x1xf32>
  } else {
  ^bb0(%rows: tensor<?x3xf32>):
    %0 = nn.linear %rows, @v : (tensor<?x3xf32>) -> tensor<?x1xf32>
    nn.yield %0 : tensor<?x1xf32>
  } : tensor<1xf32>, tensor<?x3xf32>
  nn.minimize %l over [@g] : tensor<?x1xf32>
}
