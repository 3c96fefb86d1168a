// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s
// RUN: pdl-opt %s --split-input-file --nn-assign-stages "--nn-to-rt=numerics=strict" --remarks-filter=statistics 2>&1 | FileCheck %s --check-prefix=COUNT

// Reductions of rows, and elementwise ops before and after them, in one loop.

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x10xf32>
}

// A softmax: the differences and their exp exist for one row at a time, and the
// sum is one number. The loop has two rows of memory, and two numbers.
// COUNT: nn-to-rt | Category:statistics | fused=4
// COUNT: nn-to-rt | Category:statistics | row-loops=1
// CHECK-LABEL: func.func @softmax_compute
// CHECK-NOT:     compute_arena
// CHECK:         scf.parallel (%[[I:.*]]) = (%{{.*}}) to (%{{.*}})
// CHECK:           %[[MAX:.*]] = memref.alloca() : memref<1xf32>
// CHECK:           %[[EXP:.*]] = memref.alloca() : memref<10xf32>
// CHECK:           %[[SUM:.*]] = memref.alloca() : memref<1xf32>
// CHECK:           %[[M:.*]] = rt.combine_row max %{{.*}}[%[[I]]] : memref<?x10xf32>
// CHECK:           memref.store %[[M]], %[[MAX]][%c0]
// CHECK:           scf.parallel (%[[J:.*]]) = (%{{.*}}) to (%c10)
// CHECK-DAG:         memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK-DAG:         memref.load %[[MAX]][%c0]
// CHECK:             arith.subf
// CHECK:             %[[E:.*]] = math.exp
// CHECK:             memref.store %[[E]], %[[EXP]][%[[J]]]
// CHECK:           %[[S:.*]] = rt.combine_row sum %[[EXP]][] : memref<10xf32>
// CHECK:           memref.store %[[S]], %[[SUM]][%c0]
// CHECK:           scf.parallel (%[[J:.*]]) = (%{{.*}}) to (%c10)
// CHECK:             %[[Q:.*]] = arith.divf
// CHECK:             memref.store %[[Q]], %{{.*}}[%[[I]], %[[J]]] : memref<?x10xf32>
// CHECK-NOT:     scf.parallel
// CHECK-NOT:     rt.reduce_rows
// CHECK:         return
nn.program @softmax frozen reads(@r) {
^bb0(%x: tensor<?x10xf32>):
  %m = nn.reduce max %x axes [1] keep : tensor<?x10xf32>
  %d = nn.sub %x, %m : tensor<?x10xf32>, tensor<?x1xf32>
  %e = nn.exp %d : tensor<?x10xf32>
  %s = nn.reduce sum %e axes [1] keep : tensor<?x10xf32>
  %q = nn.div %e, %s : tensor<?x10xf32>, tensor<?x1xf32>
  nn.return %q : tensor<?x10xf32>
}

}

// -----

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x24xf32>
}

// Values that other ops read have memory: here the sums, which are an output.
// Rows are counted by two dimensions.
// COUNT: nn-to-rt | Category:statistics | row-loops=1
// CHECK-LABEL: func.func @kept_compute
// CHECK:         %[[OUT:.*]] = rt.pointer output[0]
// CHECK:         scf.parallel (%[[I:.*]], %[[J:.*]]) = (%{{.*}}) to (%{{.*}}, %c3)
// CHECK:           memref.alloca() : memref<8xf32>
// CHECK:           %[[S:.*]] = rt.combine_row sum
// CHECK:           memref.store %[[S]], %{{.*}}[%[[I]], %[[J]]] : memref<?x3xf32>
nn.program @kept frozen reads(@r) {
^bb0(%flat: tensor<?x24xf32>):
  %x = nn.reshape %flat : (tensor<?x24xf32>) -> tensor<?x3x8xf32>
  %e = nn.exp %x : tensor<?x3x8xf32>
  %s = nn.reduce sum %e axes [2] keep : tensor<?x3x8xf32>
  %q = nn.div %e, %s : tensor<?x3x8xf32>, tensor<?x3x1xf32>
  nn.return %s, %q : tensor<?x3x1xf32>, tensor<?x3x8xf32>
}

}

// -----

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x8xf32>
  nn.field @wide : tensor<?x600xf32>
}
nn.param @w : tensor<8x8xf32> init(#nn.zeros)

// A value is not part of the loop if other code reads it before the position of
// the loop: the product reads the exp, and the quotient needs the product. Rows
// that are too long are not part of it either.
// COUNT: nn-to-rt | Category:statistics | row-loops=1
// CHECK-LABEL: func.func @apart_compute
// CHECK:         rt.combine_row sum
// CHECK:         rt.gemm
// CHECK:         arith.divf
// CHECK:         rt.reduce_rows max
nn.program @apart frozen reads(@r) {
^bb0(%x: tensor<?x8xf32>, %wide: tensor<?x600xf32>):
  %w = nn.read @w : tensor<8x8xf32>
  %e = nn.exp %x : tensor<?x8xf32>
  %s = nn.reduce sum %e axes [1] keep : tensor<?x8xf32>
  %p = nn.gemm %e, %w post [] : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %q = nn.div %p, %s : tensor<?x8xf32>, tensor<?x1xf32>
  %m = nn.reduce max %wide axes [1] keep : tensor<?x600xf32>
  %d = nn.sub %wide, %m : tensor<?x600xf32>, tensor<?x1xf32>
  nn.return %q, %d : tensor<?x8xf32>, tensor<?x600xf32>
}

}

// -----

module attributes {nn.phase = "roles"} {

nn.record @r {
  nn.field @x : tensor<?x16xf32>
}

// An iteration sees only its own row. If a value is read in another shape, as
// rows of other numbers, the loop ends.
// COUNT: nn-to-rt | Category:statistics | row-loops=1
// CHECK-LABEL: func.func @reshaped_compute
// CHECK:         rt.combine_row sum
// CHECK:         scf.parallel
// CHECK:           arith.divf
nn.program @reshaped frozen reads(@r) {
^bb0(%flat: tensor<?x16xf32>):
  %x = nn.reshape %flat : (tensor<?x16xf32>) -> tensor<?x4x4xf32>
  %e = nn.exp %x : tensor<?x4x4xf32>
  %s = nn.reduce sum %e axes [2] keep : tensor<?x4x4xf32>
  %turned = nn.reshape %s : (tensor<?x4x1xf32>) -> tensor<?x1x4xf32>
  %q = nn.div %e, %turned : tensor<?x4x4xf32>, tensor<?x1x4xf32>
  nn.return %q : tensor<?x4x4xf32>
}

}
