// RUN: pdl-opt %s --nn-link-std --nn-lower-model --nn-autodiff --nn-expand-updates --cse \
// RUN:   --nn-gate-turns | FileCheck %s

// Ops that only one loss needs, forward and backward, are moved into a
// condition if the samples of this loss may have no weight. Ops that the other
// loss also needs, and lookups, stay.

nn.record @r {
  nn.field @x : tensor<?x3xf32>
  nn.field @c : !nn.ragged<?x1x*xi64>
  nn.field @d : !nn.ragged<?x2x*xi64>
}
nn.group @a rule(@sgd) rate(0.1)
nn.group @b rule(@sgd) rate(0.1)
nn.state @now : tensor<1xf32> init(#nn.zeros)
nn.param @w : tensor<3x1xf32> in @a init(#nn.zeros)
nn.param @v : tensor<3x1xf32> in @b init(#nn.zeros)
nn.param @u : tensor<1xf32> in @b init(#nn.zeros)
nn.table @t : i64 -> tensor<3xf32> in @a init(#nn.zeros)

// CHECK-LABEL: nn.program @train
// CHECK: ^bb0(%[[X:.*]]: tensor<?x3xf32>,
// CHECK-DAG: %[[NOW:.*]] = nn.read @now
// CHECK-DAG: %[[W:.*]] = nn.read @w
// CHECK-DAG: %[[P:.*]] = nn.pool
// The size is that of a value from before the condition.
// CHECK: nn.broadcast %[[NOW]] like %[[X]]
// CHECK: %[[G:.*]]:3 = nn.if %[[NOW]] with(
// CHECK: nn.matmul
// CHECK: nn.matmul %{{.*}} transposed
// CHECK: nn.yield
// CHECK: } else {
// CHECK-NOT: nn.matmul
// CHECK: nn.yield
// CHECK: } :
// The gradient of rows belongs to a lookup.
// CHECK: nn.pool_gradient{{.*}} from %[[G]]
// CHECK: nn.loss_sum %[[G]]#
// CHECK: nn.update @w gradient(%[[G]]#
// The samples of the first loss always have weight, so its product stays
// outside.
nn.program @train reads(@r except @d) {
^bb0(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>):
  %now = nn.read @now : tensor<1xf32>
  %z = nn.linear %x, @v : (tensor<?x3xf32>) -> tensor<?x1xf32>
  %l = nn.tanh %z : tensor<?x1xf32>
  nn.minimize %l over @b : tensor<?x1xf32>
  %e = nn.lookup @t[%c] pool(sum) : (!nn.ragged<?x1x*xi64>) -> tensor<?x1x3xf32>
  %f = nn.reshape %e : (tensor<?x1x3xf32>) -> tensor<?x3xf32>
  %y = nn.add %x, %f : tensor<?x3xf32>, tensor<?x3xf32>
  %h = nn.linear %y, @w act(sigmoid) : (tensor<?x3xf32>) -> tensor<?x1xf32>
  %m = nn.mul %h, %h : tensor<?x1xf32>, tensor<?x1xf32>
  %weight = nn.broadcast %now like %m : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %m weight %weight over @a : tensor<?x1xf32>, tensor<?x1xf32>
}
// Even cheap ops are moved, because a value without weight may be infinite.
// CHECK-LABEL: nn.program @cheap
// CHECK: nn.if
// CHECK: nn.mul
nn.program @cheap reads(@r except @d) {
^bb0(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>):
  %now = nn.read @now : tensor<1xf32>
  %u = nn.read @u : tensor<1xf32>
  %first = nn.slice %x axis 1 offset 0 size 1 : tensor<?x3xf32>
  %l = nn.mul %first, %u : tensor<?x1xf32>, tensor<1xf32>
  %weight = nn.broadcast %now like %l : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %l weight %weight over @b : tensor<?x1xf32>, tensor<?x1xf32>
}

// The condition may come after all values that depend on it.
// CHECK-LABEL: nn.program @late
// CHECK: %[[LATE:.*]] = nn.greater
// CHECK: %[[H:.*]] = nn.if %[[LATE]]
// CHECK: nn.matmul
// CHECK: nn.observe @m(%[[H]])
nn.metric @m : #nn.mean
nn.program @late reads(@r except @d) {
^bb0(%x: tensor<?x3xf32>, %c: !nn.ragged<?x1x*xi64>):
  %z = nn.linear %x, @v : (tensor<?x3xf32>) -> tensor<?x1xf32>
  nn.minimize %z over @b : tensor<?x1xf32>
  %h = nn.linear %x, @w act(sigmoid) : (tensor<?x3xf32>) -> tensor<?x1xf32>
  %now = nn.read @now : tensor<1xf32>
  %two = nn.constant dense<2.0> : tensor<1xf32>
  %late = nn.greater %now, %two : tensor<1xf32>, tensor<1xf32>
  %weight = nn.broadcast %late like %h : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.observe @m(%h) weight %weight : tensor<?x1xf32>
}

// A sample has two bags. So the gradient of the pooled rows has twice as many
// rows as the losses, and so do the zeros that replace it.
// CHECK-LABEL: nn.program @joined
// CHECK: nn.if
// CHECK: nn.yield %{{.*}}, %{{.*}} : tensor<?x1xf32>, tensor<?x3xf32>
// CHECK: } else {
// CHECK: ^bb0(%{{.*}}: tensor<?x2x3xf32>, %{{.*}}: tensor<?x3xf32>, %[[WEIGHT:.*]]: tensor<?x1xf32>):
// CHECK: %[[WIDE:.*]] = nn.broadcast %{{.*}} like %[[WEIGHT]] : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x6xf32>
// CHECK: %[[ZEROS:.*]] = nn.reshape %[[WIDE]] : (tensor<?x6xf32>) -> tensor<?x3xf32>
// CHECK: nn.yield %{{.*}}, %[[ZEROS]] : tensor<?x1xf32>, tensor<?x3xf32>
nn.program @joined reads(@r except @c) {
^bb0(%x: tensor<?x3xf32>, %d: !nn.ragged<?x2x*xi64>):
  %now = nn.read @now : tensor<1xf32>
  %e = nn.lookup @t[%d] pool(sum) : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
  %h = nn.tanh %e : tensor<?x2x3xf32>
  %f = nn.flatten %h from 1 : tensor<?x2x3xf32>
  %l = nn.reduce sum %f axes [1] keep : tensor<?x6xf32>
  %y = nn.slice %x axis 1 offset 0 size 1 : tensor<?x3xf32>
  %s = nn.squared_error %l, %y : tensor<?x1xf32>
  %weight = nn.broadcast %now like %l : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %s weight %weight over @a : tensor<?x1xf32>, tensor<?x1xf32>
}
