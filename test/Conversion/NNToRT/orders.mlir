// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Products of samples, and other orders of elements.

module attributes {nn.phase = "roles"} {
nn.record @r {
  nn.field @x : tensor<?x12xf32>
}

// CHECK-LABEL: func.func @products_compute
// CHECK-NOT: scf.parallel
// CHECK: rt.batch_gemm %{{.*}}, %[[A:.*]] transposed, %[[A]] into %{{.*}} : {{.*}} memref<?x4x4xf32>
nn.program @products frozen reads(@r) {
^bb0(%x: tensor<?x12xf32>):
  %a = nn.reshape %x : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
  %p = nn.batch_matmul %a transposed, %a : tensor<?x3x4xf32>, tensor<?x3x4xf32>
  nn.return %p : tensor<?x4x4xf32>
}

// CHECK-LABEL: func.func @transpose_compute
// CHECK: scf.parallel (%[[B:.*]], %[[I:.*]], %[[J:.*]]) = (%c0, %c0, %c0) to (%{{.*}}, %c4, %c3)
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[B]], %[[J]], %[[I]]]
// CHECK: memref.store %[[X]], %{{.*}}[%[[B]], %[[I]], %[[J]]]
nn.program @transpose frozen reads(@r) {
^bb0(%x: tensor<?x12xf32>):
  %a = nn.reshape %x : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
  %t = nn.transpose %a permutation [0, 2, 1] : tensor<?x3x4xf32>
  nn.return %t : tensor<?x4x3xf32>
}

// If no position can be missing, none is checked.
// CHECK-LABEL: func.func @take_compute
// CHECK-NOT: arith.select
// CHECK: %[[AT:.*]] = memref.load %{{.*}}[%[[I:.*]]] : memref<2xi64>
// CHECK: %[[ROW:.*]] = arith.index_cast %[[AT]] : i64 to index
// CHECK: arith.muli %[[ROW]], %c4
// CHECK-NOT: arith.select
// CHECK: memref.store
nn.program @take frozen reads(@r) {
^bb0(%x: tensor<?x12xf32>):
  %a = nn.reshape %x : (tensor<?x12xf32>) -> tensor<?x3x4xf32>
  %f = nn.take %a axis 1 at [2, 0] : tensor<?x3x4xf32>
  nn.return %f : tensor<?x2x4xf32>
}

// CHECK-LABEL: func.func @missing_compute
// CHECK: %[[AT:.*]] = memref.load %{{.*}}[%{{.*}}] : memref<2xi64>
// CHECK: %[[ROW:.*]] = arith.index_cast %[[AT]] : i64 to index
// CHECK: %[[MISSING:.*]] = arith.cmpi slt, %[[ROW]], %c0
// CHECK: arith.maxsi %[[ROW]], %c0
// CHECK: arith.select %[[MISSING]], %cst, %{{.*}} : f32
nn.program @missing frozen reads(@r) {
^bb0(%x: tensor<?x12xf32>):
  %f = nn.take %x axis 1 at [2, -1] : tensor<?x12xf32>
  nn.return %f : tensor<?x2xf32>
}
}
