// RUN: pdl-opt %s --nn-link-std --nn-lower-model --nn-join-cycle | FileCheck %s

// Alternating programs become one. A state counts the steps of the cycle.
// Samples of a program that is not the current one have no weight.

nn.record @r {
  nn.field @x : tensor<?x1xf32>
  nn.field @y : tensor<?x1xf32>
  nn.field @c : !nn.ragged<?x1x*xi64>
}
nn.group @a rule(@sgd) rate(0.1)
nn.group @b rule(@sgd) rate(0.1)
nn.group @kept rule(@moving_average) rate(0.1)
nn.param @u : tensor<1x1xf32> in @a init(#nn.zeros)
nn.param @v : tensor<1x1xf32> in @b init(#nn.zeros)
nn.param @mean : tensor<1xf32> in @kept init(#nn.zeros)
nn.metric @m : #nn.mean

// CHECK: nn.rule @cyclic_counter
// CHECK: nn.group @train.turns rule(@cyclic_counter {length = 4.000000e+00 : f64}) rate(1.000000e+00)
// CHECK: nn.param @train.turn : tensor<1xf32> in @train.turns init(#nn.zeros)
// CHECK-NOT: nn.cycle
// CHECK-NOT: @second
// Fields that neither program reads are left out.
// CHECK: nn.program @train reads(@r except @c) {
// CHECK: ^bb0(%[[X:.*]]: tensor<?x1xf32>, %[[Y:.*]]: tensor<?x1xf32>):
// CHECK: %[[TURN:.*]] = nn.read @train.turn
// CHECK: nn.greater_equal %[[TURN]], %{{.*}}
// CHECK: nn.less %[[TURN]], %{{.*}}
// CHECK: nn.greater_equal %[[TURN]], %{{.*}}
// CHECK: nn.less %[[TURN]], %{{.*}}
// Two consecutive steps of one program.
// CHECK: %[[FIRST:.*]] = nn.add
// CHECK: %[[U:.*]] = nn.read @u
// CHECK: %[[L:.*]] = nn.matmul %[[X]], %[[U]]
// CHECK: %[[W:.*]] = nn.broadcast %[[FIRST]] like %[[L]]
// CHECK: nn.minimize %[[L]] weight %[[W]] over @a
// CHECK: %[[W2:.*]] = nn.broadcast %[[FIRST]] like %[[L]]
// CHECK: nn.accumulate @mean(%[[L]]) weight %[[W2]]
// CHECK: %[[SECOND:.*]] = nn.mul
// Each symbol is read once.
// CHECK-NOT: nn.read @u
// CHECK: %[[V:.*]] = nn.read @v
// CHECK: %[[P:.*]] = nn.matmul %[[X]], %[[U]]
// CHECK: %[[Q:.*]] = nn.matmul %[[P]], %[[V]]
// CHECK: %[[C:.*]] = nn.broadcast %[[SECOND]] like %[[Q]]
// CHECK: %[[CY:.*]] = nn.mul %[[Y]], %[[C]]
// CHECK: nn.minimize %[[Q]] weight %[[CY]] over @b
// CHECK: %[[C2:.*]] = nn.broadcast %[[SECOND]] like %[[Q]]
// CHECK: nn.observe @m(%[[Q]]) weight %[[C2]]
// CHECK: nn.accumulate @train.turn(%{{.*}}) : tensor<?x1xf32>
// CHECK-NEXT: }
nn.program @first reads(@r except [@c, @y]) {
^bb0(%x: tensor<?x1xf32>):
  %l = nn.linear %x, @u : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %l over @a : tensor<?x1xf32>
  nn.accumulate @mean(%l) : tensor<?x1xf32>
}
nn.program @second reads(@r except @c) {
^bb0(%x: tensor<?x1xf32>, %y: tensor<?x1xf32>):
  %p = nn.linear %x, @u : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %q = nn.linear %p, @v : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %q weight %y over @b : tensor<?x1xf32>, tensor<?x1xf32>
  nn.observe @m(%q) : tensor<?x1xf32>
}
nn.cycle @train [@first, @second * 2, @first]
