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

// Sums over the batch: columns are independent, the rows of each come in order.
// CHECK-LABEL: func.func @ordered_compute
// CHECK:         scf.parallel
// CHECK:           memref.store %{{.*}}, %[[SUM:.*]][%{{.*}}] : memref<4xf32>
// CHECK:         scf.parallel (%[[J:.*]]) = (%{{.*}}) to (%c4)
// CHECK:           %[[START:.*]] = memref.load %[[SUM]][%[[J]]]
// CHECK:           %[[END:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[S:.*]] = %[[START]])
// CHECK:             %[[X:.*]] = memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK:             arith.addf %[[S]], %[[X]]
// CHECK:           memref.store %[[END]], %[[SUM]][%[[J]]]
nn.program @ordered frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  %s = nn.reduce sum %x axes [0] : tensor<?x4xf32>
  %o = nn.mul %x, %s : tensor<?x4xf32>, tensor<4xf32>
  nn.return %o : tensor<?x4xf32>
}

}
