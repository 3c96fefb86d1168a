// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=fast" --cse | FileCheck %s

// A scan is one nest: bags, the rows of a bag, and the body for one row, with
// memory for one row. States begin with zeros or `init`. After each row, a
// state is a copy of the written row.

module attributes {nn.phase = "roles"} {
nn.record @r {
  nn.field @c : !nn.ragged<?x2x*xi64>
}
nn.table @t : i64 -> tensor<3xf32> init(#nn.zeros)
nn.state @u : tensor<3x3xf32> init(#nn.zeros)

// CHECK-LABEL: func.func @forwards_compute
// CHECK: %[[BASE:.*]] = rt.address
// CHECK: scf.for %[[BAG:.*]] = %c0 to %{{.*}} step %c1
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: memref.store %cst
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: %[[AT:.*]] = arith.muli %[[ROW]], %c12
// CHECK: rt.gemm strict
// CHECK-SAME: memref<1x3xf32>, memref<3x3xf32>
// CHECK: arith.addf
// The row of the result, and the state for the next row.
// CHECK: scf.parallel
// CHECK: scf.parallel
// CHECK: scf.parallel
nn.program @forwards frozen reads(@r) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %u = nn.read @u : tensor<3x3xf32>
  %k, %i, %ks, %o = nn.unique %c
  %p = nn.pull @t[%k] : tensor<?x3xf32>
  %x = nn.pool %p[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %h = nn.scan %x of %s with(%u) {
  ^bb0(%row: tensor<?x3xf32>, %before: tensor<?x3xf32>, %shared: tensor<3x3xf32>):
    %0 = nn.matmul %before, %shared : tensor<?x3xf32>, tensor<3x3xf32>
    %1 = nn.add %row, %0 : tensor<?x3xf32>, tensor<?x3xf32>
    nn.yield %1 : tensor<?x3xf32>
  } : tensor<?x3xf32>, tensor<?xi32>, tensor<3x3xf32>
  %q = nn.segment_sum %h of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  nn.return %q : tensor<?x2x3xf32>
}

// CHECK-LABEL: func.func @backwards_compute
// CHECK: scf.for
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for %[[TURN:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: %[[SUM:.*]] = arith.addi %[[BEGIN]], %[[END]]
// CHECK: %[[LAST:.*]] = arith.subi %[[SUM]], %c1
// CHECK: %[[ROW:.*]] = arith.subi %[[LAST]], %[[TURN]]
// CHECK: arith.muli %[[ROW]], %c12
nn.program @backwards frozen reads(@r) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %p = nn.pull @t[%k] : tensor<?x3xf32>
  %x = nn.pool %p[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %h = nn.scan %x of %s from_end {
  ^bb0(%row: tensor<?x3xf32>, %before: tensor<?x3xf32>):
    %1 = nn.add %row, %before : tensor<?x3xf32>, tensor<?x3xf32>
    nn.yield %1 : tensor<?x3xf32>
  } : tensor<?x3xf32>, tensor<?xi32>
  %q = nn.segment_sum %h of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  nn.return %q : tensor<?x2x3xf32>
}

// A bag begins with its row of `init`.
// CHECK-LABEL: func.func @begun_compute
// CHECK: scf.for %[[BAG:.*]] = %c0 to %{{.*}} step %c1 {
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[AT:.*]] = arith.muli %[[BAG]], %c12
// CHECK: rt.view %{{.*}}[%[[AT]]] : !llvm.ptr -> memref<3xf32>
// CHECK: scf.parallel
// CHECK: scf.for %{{.*}} = %[[BEGIN]]
nn.program @begun frozen reads(@r) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %p = nn.pull @t[%k] : tensor<?x3xf32>
  %x = nn.pool %p[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %f = nn.segment_sum %x of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  %h = nn.scan %x of %s init(%f) {
  ^bb0(%row: tensor<?x3xf32>, %before: tensor<?x3xf32>):
    %1 = nn.add %row, %before : tensor<?x3xf32>, tensor<?x3xf32>
    nn.yield %1 : tensor<?x3xf32>
  } : tensor<?x3xf32>, tensor<?xi32>, tensor<?x2x3xf32>
  %q = nn.segment_sum %h of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  nn.return %q : tensor<?x2x3xf32>
}
}
