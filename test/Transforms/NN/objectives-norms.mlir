// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=async" | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=sync" -o /dev/null

// A norm covers the gradients of one loss and is divided by its weight,
// whatever other losses a program has.
nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @w : tensor<?x1xf32>
}
nn.clip @c : global_norm(1.0)
nn.group @a rule(@sgd) rate(0.1)
nn.group @b rule(@sgd) rate(0.1) clip(@c)
nn.param @u : tensor<1x1xf32> in @a init(#nn.zeros)
nn.param @v : tensor<1x1xf32> in @b init(#nn.zeros)

// CHECK: %{{.*}}, %[[FIRST:.*]] = nn.loss_sum
// CHECK: %{{.*}}, %[[SECOND:.*]] = nn.loss_sum
// CHECK: nn.squared_norm
// CHECK-SAME: %[[SECOND]]
nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>, %w: tensor<?x1xf32>):
  %l = nn.linear %x, @u : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %l over @a : tensor<?x1xf32>
  %m = nn.linear %x, @v : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %m weight %w over @b : tensor<?x1xf32>, tensor<?x1xf32>
}
