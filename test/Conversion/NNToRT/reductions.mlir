// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Reductions.

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @c : !nn.ragged<?x2x*xi64>
  nn.field @d : !nn.ragged<?x2x*xi64>
}
nn.state @w : tensor<4xf32> init(#nn.zeros)
nn.param @m : tensor<4x8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// Sums over the batch: rows in order, columns in the inner loop.
// CHECK-LABEL: func.func @ordered_compute
// CHECK:         scf.for
// CHECK:           memref.store %{{.*}}, %[[SUM:.*]][%{{.*}}] : memref<4xf32>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step
// CHECK:           scf.for %[[J:.*]] = %{{.*}} to %c4
// CHECK:             memref.load %[[SUM]][%[[J]]]
// CHECK:             memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK:             arith.addf
// CHECK:             memref.store %{{.*}}, %[[SUM]][%[[J]]]
nn.program @ordered frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %s = nn.reduce sum %x axes [0] : (tensor<?x4xf32>) -> tensor<4xf32>
  %o = nn.mul %x, %s : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  nn.return %o : tensor<?x4xf32>
}

}
