// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Ops that move elements.

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @y : tensor<?x1xf32>
  nn.field @i : tensor<?x2xi64>
  nn.field @c : !nn.ragged<?x2x*xi64>
}
nn.metric @auc : #nn.auc<buckets = 64>
nn.metric @loss : #nn.log_loss
nn.metric @copc : #nn.copc
nn.param @m : tensor<4x8xf32> init(#nn.zeros)
nn.param @b : tensor<8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// CHECK-LABEL: func.func @moves_compute
// The concat: a loop over samples, and one over the columns of each operand.
// CHECK:         scf.parallel (%[[ROW:.*]]) =
// CHECK:           scf.parallel (%[[COLUMN:.*]]) = (%{{.*}}) to (%c4)
// CHECK:             memref.store %{{.*}}[%[[ROW]], %[[COLUMN]]]
// CHECK:           memref.store %{{.*}}[%[[ROW]], 
// The slice of two columns, starting with the second.
// CHECK:         scf.parallel (%[[I:.*]], %[[J:.*]]) = (%{{.*}}) to (%{{.*}}, %c2)
// CHECK:           %[[FROM:.*]] = arith.addi %[[J]], %c1
// CHECK:           memref.load %{{.*}}[%[[I]], %[[FROM]]]
// The pad: three columns of zeros, then the elements. No column is written
// twice.
// CHECK:         scf.parallel (%[[ROW:.*]]) =
// CHECK:           scf.parallel (%[[Z:.*]]) = (%{{.*}}) to (%c3)
// CHECK:             memref.store %cst{{.*}}, %{{.*}}[%[[ROW]], %[[Z]]]
// CHECK:           scf.parallel (%[[K:.*]]) = (%{{.*}}) to (%c2)
// CHECK:             %[[TO:.*]] = arith.addi %[[K]], %c3
// CHECK:             memref.store %{{.*}}[%[[ROW]], %[[TO]]]
// CHECK-NOT:       memref.store %cst
// CHECK:         return
nn.program @moves frozen reads(@r except [@i, @c]) {
^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>):
  %0 = nn.concat %x, %y axis 1 : tensor<?x4xf32>, tensor<?x1xf32>
  %1 = nn.slice %0 axis 1 offset 1 size 2 : tensor<?x5xf32>
  %2 = nn.pad %1 axis 1 low 3 high 0 : tensor<?x2xf32>
  nn.return %2, %1 : tensor<?x5xf32>, tensor<?x2xf32>
}

}

// -----

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @c : !nn.ragged<?x2x*xi64>
  nn.field @d : !nn.ragged<?x2x*xi64>
}
nn.state @w : tensor<4xf32> init(#nn.zeros)
nn.param @m : tensor<4x8xf32> init(#nn.zeros)
nn.table @emb : i64 -> tensor<3xf32> init(#nn.zeros)

// A field that is itself an output is copied.
// CHECK-LABEL: func.func @copied_compute
// CHECK:         memref.copy %{{.*}}, %{{.*}} : memref<?xf32> to memref<?xf32>
nn.program @copied frozen reads(@r except [@c, @d]) {
^bb0(%x: tensor<?x4xf32>):
  nn.return %x : tensor<?x4xf32>
}

}
