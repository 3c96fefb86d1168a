// RUN: pdl-opt %s --nn-link-std --nn-lower-model --nn-join-cycle | FileCheck %s

// Losses of both float types: the number of the current program is cast once
// for all weighted losses of a program. Values that two of them need are
// computed if one of the two is not 0.

nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @z : tensor<?x1xf64>
}
nn.group @a rule(@sgd) rate(0.1)
nn.group @b rule(@sgd) rate(0.1)
nn.group @kept rule(@moving_average) rate(0.1)
nn.param @u : tensor<1xf32> in @a init(#nn.zeros)
nn.param @v : tensor<1xf64> in @b init(#nn.zeros)
nn.param @mean : tensor<1xf64> in @kept init(#nn.zeros)
nn.metric @m : #nn.mean

// CHECK-LABEL: nn.program @train
// CHECK: nn.minimize %{{.*}} over @a : tensor<?x1xf32>
// CHECK: %[[P:.*]] = nn.mul %{{.*}} : tensor<?x1xf64>, tensor<1xf64>
// CHECK: %[[TURN:.*]] = nn.cast %{{.*}} : (tensor<1xf32>) -> tensor<1xf64>
// CHECK: nn.broadcast %[[TURN]] like %[[P]]
// CHECK: nn.minimize %[[P]]
// CHECK-NOT: nn.cast
// CHECK: nn.broadcast %[[TURN]] like %[[P]]
// CHECK: nn.accumulate @mean
// CHECK: nn.broadcast %[[TURN]] like %[[P]]
// CHECK: nn.observe @m
nn.program @first reads(@r except @z) {
^bb0(%x: tensor<?x1xf32>):
  %u = nn.read @u : tensor<1xf32>
  %l = nn.mul %x, %u : tensor<?x1xf32>, tensor<1xf32>
  nn.minimize %l over @a : tensor<?x1xf32>
}
nn.program @second reads(@r except @x) {
^bb0(%z: tensor<?x1xf64>):
  %v = nn.read @v : tensor<1xf64>
  %p = nn.mul %z, %v : tensor<?x1xf64>, tensor<1xf64>
  nn.minimize %p over @b : tensor<?x1xf64>
  nn.accumulate @mean(%p) : tensor<?x1xf64>
  nn.observe @m(%p) : tensor<?x1xf64>
}
nn.cycle @train [@first, @second]
