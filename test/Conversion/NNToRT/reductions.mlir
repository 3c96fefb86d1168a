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

// Sums over the batch: columns are independent, and the rows of each are added
// in order.
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

// -----

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x12xf32>
  nn.field @w : tensor<?x3xf32>
}

// Squares that only a sum reads have no memory, even if a factor is repeated
// along a dimension: the iteration that adds a term computes it. Another op
// also reads the terms of the second sum.
// CHECK-LABEL: func.func @squares_compute
// CHECK:         scf.parallel
// CHECK:           memref.store %cst
// CHECK:         scf.parallel (%[[I:.*]], %[[J:.*]]) =
// CHECK-NEXT:      %[[START:.*]] = memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK-NEXT:      scf.for %[[K:.*]] = {{.*}} iter_args(%[[S:.*]] = %[[START]])
// CHECK-NEXT:        %[[W:.*]] = memref.load %{{.*}}[%[[I]], %[[K]]]
// CHECK-NEXT:        %[[X:.*]] = memref.load %{{.*}}[%[[I]], %[[K]], %[[J]]]
// CHECK-NEXT:        %[[Q:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT:        %[[T:.*]] = arith.mulf %[[Q]], %[[W]]
// CHECK-NEXT:        arith.addf %[[S]], %[[T]]
// CHECK:         scf.parallel
// CHECK:           arith.mulf
// CHECK:           memref.store
// CHECK:         scf.for
// CHECK-NEXT:      %[[U:.*]] = memref.load
// CHECK-NEXT:      arith.addf %{{.*}}, %[[U]]
nn.program @squares frozen reads(@r) {
^bb0(%flat: tensor<?x12xf32>, %weights: tensor<?x3xf32>):
  %x = nn.reshape %flat : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
  %w = nn.reshape %weights : (tensor<?x3xf32>) -> tensor<?x3x1xf32>
  %q = nn.mul %x, %x : tensor<?x3x4xf32>, tensor<?x3x4xf32>
  %t = nn.mul %q, %w : tensor<?x3x4xf32>, tensor<?x3x1xf32>
  %s = nn.reduce sum %t axes [1] : tensor<?x3x4xf32>
  %u = nn.mul %x, %w : tensor<?x3x4xf32>, tensor<?x3x1xf32>
  %v = nn.reduce sum %u axes [1] : tensor<?x3x4xf32>
  %o = nn.reshape %u : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
  nn.return %s, %v, %o : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x12xf32>
}

}
