// RUN: pdl-opt %s --nn-lower-model | FileCheck %s

// Each op that draws gets its own stream, in the order of the program with
// inlined functions. Ops with other names do not count. A frozen program keeps
// all elements.

module {
nn.record @r {
  nn.field @x : tensor<?x4xf32>
}
nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros)
nn.group @g rule(@sgd) rate(0.1)
nn.param @w : tensor<4xf32> in @g init(#nn.zeros)

nn.func private @twice(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = nn.dropout %x rate(0.5) : tensor<?x4xf32>
  %n = nn.sample 2 from 0 below 9 uniform : tensor<?x2xi64>
  %1 = nn.dropout %0 rate(0.5) : tensor<?x4xf32>
  %e = nn.lookup @t[%n] pool(sum) : (tensor<?x2xi64>) -> tensor<?x2x4xf32>
  %s = nn.reduce sum %e axes [1] : tensor<?x2x4xf32>
  %2 = nn.add %1, %s : tensor<?x4xf32>, tensor<?x4xf32>
  nn.return %2 : tensor<?x4xf32>
}

// The low halves of xxh64 of train/dropout/0, train/sample/0, train/dropout/1 ...
// CHECK-LABEL: nn.program @train
// CHECK: nn.dropout %{{.*}} rate(5.000000e-01) stream(3270950598)
// CHECK: nn.sample 2 from 0 below 9 uniform stream(1376511200)
// CHECK: nn.dropout %{{.*}} rate(5.000000e-01) stream(2102133577)
// CHECK: nn.dropout %{{.*}} rate(5.000000e-01) stream(2610992207)
// CHECK: nn.sample 2 from 0 below 9 uniform stream(1823052025)
// CHECK: nn.dropout %{{.*}} rate(5.000000e-01) stream(3049462510)
nn.program @train reads(@r) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.call @twice(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = nn.call @twice(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %w = nn.read @w : tensor<4xf32>
  %2 = nn.mul %1, %w : tensor<?x4xf32>, tensor<4xf32>
  %l = nn.reduce sum %2 axes [1] keep : tensor<?x4xf32>
  nn.minimize %l over [@g] : tensor<?x1xf32>
}

// CHECK-LABEL: nn.program @predict frozen
// CHECK-NOT: nn.dropout
// CHECK: nn.sample 2 from 0 below 9 uniform stream(1196882379)
// CHECK-NOT: nn.dropout
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.call @twice(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}
}
