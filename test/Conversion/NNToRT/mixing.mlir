// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Rows of other samples, and scores of a batch, of which only some rows are in
// memory at a time.

module attributes {nn.phase = "roles"} {
nn.record @r {
  nn.field @u : tensor<?x4xf32>
  nn.field @i : tensor<?x1xi64>
}
nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros)

// Stage prepare rotates ids.
// CHECK-LABEL: func.func @rotate_prepare
// CHECK: %[[B:.*]] = rt.count batch[0]
// CHECK: %[[D:.*]] = arith.maxsi %[[B]], %c1
// CHECK: %[[REST:.*]] = arith.remsi %c-3, %[[D]]
// CHECK: %[[BELOW:.*]] = arith.cmpi slt, %[[REST]], %c0
// CHECK: %[[SHIFT:.*]] = arith.select %[[BELOW]], %{{.*}}, %[[REST]]
// CHECK: scf.parallel (%[[I:.*]], %[[J:.*]]) = (%c0, %c0) to (%[[B]], %c1)
// CHECK: arith.addi %[[I]], %[[SHIFT]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]], %[[J]]] : memref<?x1xi64>
// CHECK: rt.unique
nn.program @rotate frozen reads(@r except [@u]) {
^bb0(%i: tensor<?x1xi64>):
  %0 = nn.rotate %i by -3 : tensor<?x1xi64>
  %f = nn.reshape %0 : (tensor<?x1xi64>) -> tensor<?xi64>
  %k, %n, %ks, %o = nn.unique %f
  %r = nn.pull @t[%k] : tensor<?x4xf32>
  %p = nn.pool %r[%n, %ks, %o] of (%f sum) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  nn.return %p : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @scores_compute
// CHECK: %[[ROOM:.*]] = rt.view %{{.*}} : !llvm.ptr -> memref<?xf32>
// CHECK: rt.in_batch_log_sum_exp strict %{{.*}}, %[[U:.*]], %[[U]] ids(%{{.*}} : memref<?xi64>) scratch %[[ROOM]] into %[[L:.*]] : !llvm.ptr, memref<?x4xf32>, memref<?x4xf32>, memref<?xf32>, memref<?xf32>
// CHECK: rt.in_batch_gradient users strict %{{.*}}, %[[U]], %[[U]] ids(%{{.*}} : memref<?xi64>) sums %[[L]] from %[[L]] scratch %{{.*}} into %{{.*}} : !llvm.ptr, memref<?x4xf32>, memref<?x4xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?x4xf32>
nn.program @scores frozen reads(@r) {
^bb0(%u: tensor<?x4xf32>, %i: tensor<?x1xi64>):
  %0 = nn.in_batch_log_sum_exp %u, %u ids %i : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xi64>
  %1 = nn.in_batch_gradient of users %u, %u ids %i sums %0 from %0 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x1xf32>
  nn.return %1 : tensor<?x4xf32>
}
}
