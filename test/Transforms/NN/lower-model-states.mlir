// RUN: pdl-opt %s --nn-lower-model | FileCheck %s

// A training program uses the statistics of the batch and accumulates them. A
// frozen program reads them.
nn.record @r { nn.field @x : tensor<?x2xf32> }
nn.group @g rule(@sgd) rate(0.1)
nn.group @h rule(@moving_average) rate(0.1)
nn.param @a : tensor<2xf32> in @g init(#nn.zeros)
nn.param @mean : tensor<2xf32> in @h init(#nn.zeros)
nn.param @variance : tensor<2xf32> in @h init(#nn.constant<1.0>)

nn.func private @normalized(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %n = nn.batch_norm %x mean @mean variance @variance : tensor<?x2xf32>
  nn.return %n : tensor<?x2xf32>
}

// CHECK-LABEL: nn.program @train
// CHECK-NOT: nn.read @mean
// CHECK: %[[COUNT:.+]] = nn.reduce sum %{{.*}} axes [0] mixing : tensor<?x1xf32>
// CHECK: nn.reduce sum %arg0 axes [0] mixing : tensor<?x2xf32>
// CHECK: %[[CENTERED:.+]] = nn.sub %arg0,
// CHECK: %[[SQUARES:.+]] = nn.mul %[[CENTERED]], %[[CENTERED]]
// CHECK: nn.accumulate @mean(%arg0) : tensor<?x2xf32>
// CHECK: nn.accumulate @variance(%[[SQUARES]]) : tensor<?x2xf32>
nn.program @train reads(@r) {
^bb0(%x: tensor<?x2xf32>):
  %n = nn.call @normalized(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %a = nn.read @a : tensor<2xf32>
  %z = nn.mul %n, %a : tensor<?x2xf32>, tensor<2xf32>
  %l = nn.reduce sum %z axes [1] keep : tensor<?x2xf32>
  nn.minimize %l over [@g] : tensor<?x1xf32>
}

// CHECK-LABEL: nn.program @predict
// CHECK: nn.read @mean
// CHECK: nn.read @variance
// CHECK-NOT: nn.accumulate
// CHECK-NOT: mixing
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x2xf32>):
  %n = nn.call @normalized(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  nn.return %n : tensor<?x2xf32>
}

// The sum over a batch is an op of its own.
// CHECK-LABEL: nn.program @sums
// CHECK: nn.reduce sum %arg0 axes [0] mixing
nn.program @sums frozen reads(@r) {
^bb0(%x: tensor<?x2xf32>):
  %s = nn.batch_sum %x : tensor<?x2xf32>
  %c = nn.sub %x, %s : tensor<?x2xf32>, tensor<2xf32>
  nn.return %c : tensor<?x2xf32>
}

// CHECK-LABEL: nn.program @seen
// CHECK: nn.accumulate @size
// CHECK: nn.accumulate @sum(%arg0)
// CHECK: nn.accumulate @squares
nn.group @s rule(@running_sum) rate(1.0)
nn.param @size : tensor<2xf32> in @s init(#nn.constant<1.0>)
nn.param @sum : tensor<2xf32> in @s init(#nn.zeros)
nn.param @squares : tensor<2xf32> in @s init(#nn.constant<1.0>)
nn.program @seen reads(@r) {
^bb0(%x: tensor<?x2xf32>):
  %n = nn.data_norm %x size @size sum @sum square_sum @squares : tensor<?x2xf32>
  %a = nn.read @a : tensor<2xf32>
  %z = nn.mul %n, %a : tensor<?x2xf32>, tensor<2xf32>
  %l = nn.reduce sum %z axes [1] keep : tensor<?x2xf32>
  nn.minimize %l over [@g] : tensor<?x1xf32>
}

// States that are arguments of a function.
// CHECK-LABEL: nn.program @with_states
// CHECK: nn.accumulate @mean
// CHECK: nn.accumulate @variance
nn.func private @layer(%x: tensor<?x2xf32>) with(@m: tensor<2xf32>, @v: tensor<2xf32>) -> tensor<?x2xf32> {
  %n = nn.batch_norm %x mean @m variance @v : tensor<?x2xf32>
  nn.return %n : tensor<?x2xf32>
}
nn.program @with_states reads(@r) {
^bb0(%x: tensor<?x2xf32>):
  %n = nn.call @layer(%x) with(@mean, @variance) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %a = nn.read @a : tensor<2xf32>
  %z = nn.mul %n, %a : tensor<?x2xf32>, tensor<2xf32>
  %l = nn.reduce sum %z axes [1] keep : tensor<?x2xf32>
  nn.minimize %l over [@g] : tensor<?x1xf32>
}
