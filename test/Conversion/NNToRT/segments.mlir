// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Rows of bags: an iteration for each bag, which processes its rows in order.

module attributes {nn.phase = "roles"} {
nn.record @r {
  nn.field @c : !nn.ragged<?x2x*xi64>
  nn.field @d : !nn.ragged<?x2x*xi64>
}
nn.table @t : i64 -> tensor<3xf32> init(#nn.zeros)

// CHECK-LABEL: func.func @sum_compute
// CHECK: scf.parallel (%[[BAG:.*]]) = (%c0) to (%{{[0-9]+}}) step (%c1)
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: scf.parallel (%[[J:.*]]) = (%c0) to (%c3)
// CHECK: %[[A:.*]] = memref.load %[[TO:.*]][%[[BAG]], %[[J]]]
// CHECK: %[[B:.*]] = memref.load %{{.*}}[%[[ROW]], %[[J]]]
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[B]]
// CHECK: memref.store %[[S]], %[[TO]][%[[BAG]], %[[J]]]
nn.program @sum frozen reads(@r except [@d]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %u = nn.pull @t[%k] : tensor<?x3xf32>
  %h = nn.pool %u[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %0 = nn.segment_sum %h of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  nn.return %0 : tensor<?x2x3xf32>
}

// Rows that only the sum reads are computed when they are added.
// CHECK-LABEL: func.func @weighted_compute
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %c1
// CHECK: scf.parallel (%[[J:.*]]) = (%c0) to (%c3)
// CHECK: %[[A:.*]] = memref.load %[[TO:.*]][%[[BAG:.*]], %[[J]]]
// CHECK: %[[W:.*]] = memref.load %{{.*}}[%[[ROW]]]
// CHECK: %[[B:.*]] = memref.load %{{.*}}[%[[ROW]], %[[J]]]
// CHECK: %[[P:.*]] = arith.mulf %[[B]], %[[W]]
// CHECK: %[[S:.*]] = arith.addf %[[A]], %[[P]]
// CHECK: memref.store %[[S]], %[[TO]][%[[BAG]], %[[J]]]
nn.program @weighted frozen reads(@r except [@d]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %u = nn.pull @t[%k] : tensor<?x3xf32>
  %h = nn.pool %u[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %w = nn.segment_positions %s like %c : (tensor<?xi32>, tensor<?xi64>) -> tensor<?x1xf32>
  %p = nn.mul %h, %w : tensor<?x3xf32>, tensor<?x1xf32>
  %0 = nn.segment_sum %p of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  nn.return %0 : tensor<?x2x3xf32>
}

// CHECK-LABEL: func.func @max_compute
// CHECK: scf.parallel (%[[BAG:.*]]) = (%c0) to (%{{[0-9]+}}) step (%c1)
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[ROW]], %[[BEGIN]]
// CHECK: arith.cmpf ogt
// CHECK: arith.select %[[FIRST]]
nn.program @max frozen reads(@r except [@d]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %u = nn.pull @t[%k] : tensor<?x3xf32>
  %h = nn.pool %u[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %0 = nn.segment_max %h of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  nn.return %0 : tensor<?x2x3xf32>
}

// CHECK-LABEL: func.func @sizes_compute
// CHECK: %[[N:.*]] = arith.subi %{{.*}} : i32
// CHECK: arith.sitofp %[[N]] : i32 to f32
nn.program @sizes frozen reads(@r except [@d]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %u = nn.pull @t[%k] : tensor<?x3xf32>
  %h = nn.pool %u[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %0 = nn.segment_sizes %s : (tensor<?xi32>) -> tensor<?x2x1xf32>
  nn.return %0 : tensor<?x2x1xf32>
}

// CHECK-LABEL: func.func @repeat_compute
// CHECK: scf.parallel (%[[BAG:.*]]) = (%c0) to (%{{[0-9]+}}) step (%c1)
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: scf.parallel (%[[BAG:.*]]) = (%c0) to (%{{[0-9]+}}) step (%c1)
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[BAG]], %[[J:.*]]]
// CHECK: memref.store %[[X]], %{{.*}}[%[[ROW]], %[[J]]]
nn.program @repeat frozen reads(@r except [@d]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %u = nn.pull @t[%k] : tensor<?x3xf32>
  %h = nn.pool %u[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %q = nn.segment_sum %h of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  %1 = nn.segment_repeat %q over %s like %c : tensor<?x2x3xf32>, tensor<?xi32>, tensor<?xi64>
  %0 = nn.segment_sum %1 of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  nn.return %0 : tensor<?x2x3xf32>
}

// CHECK-LABEL: func.func @positions_compute
// CHECK: scf.parallel (%[[BAG:.*]]) = (%c0) to (%{{[0-9]+}}) step (%c1)
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: %[[LAST:.*]] = arith.subi %[[END]], %c1
// CHECK: arith.subi %[[LAST]], %[[ROW]]
nn.program @positions frozen reads(@r except [@d]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %u = nn.pull @t[%k] : tensor<?x3xf32>
  %h = nn.pool %u[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %p = nn.segment_positions %s like %c from_end : (tensor<?xi32>, tensor<?xi64>) -> tensor<?x1xf32>
  %0 = nn.segment_sum %p of %s : (tensor<?x1xf32>, tensor<?xi32>) -> tensor<?x2x1xf32>
  nn.return %0 : tensor<?x2x1xf32>
}

// CHECK-LABEL: func.func @shift_compute
// CHECK: scf.parallel (%[[BAG:.*]]) = (%c0) to (%{{[0-9]+}}) step (%c1)
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: %[[FROM:.*]] = arith.subi %[[ROW]], %c1
// CHECK: arith.cmpi sle, %[[BEGIN]], %[[FROM]]
// CHECK: arith.cmpi slt, %[[FROM]], %[[END]]
// CHECK: scf.if
// CHECK: memref.load %{{.*}}[%[[FROM]], %[[J:.*]]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[ROW]], %[[J]]]
nn.program @shift frozen reads(@r except [@d]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %u = nn.pull @t[%k] : tensor<?x3xf32>
  %h = nn.pool %u[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = nn.segment_shift %h of %s by 1 : tensor<?x3xf32>, tensor<?xi32>
  %0 = nn.segment_sum %1 of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  nn.return %0 : tensor<?x2x3xf32>
}

// CHECK-LABEL: func.func @reverse_compute
// CHECK: scf.parallel (%[[BAG:.*]]) = (%c0) to (%{{[0-9]+}}) step (%c1)
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: %[[LAST:.*]] = arith.subi %[[END]], %c1
// CHECK: %[[BACK:.*]] = arith.subi %[[LAST]], %[[ROW]]
// CHECK: %[[FROM:.*]] = arith.addi %[[BEGIN]], %[[BACK]]
// CHECK: memref.load %{{.*}}[%[[FROM]], %[[J:.*]]]
nn.program @reverse frozen reads(@r except [@d]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %u = nn.pull @t[%k] : tensor<?x3xf32>
  %h = nn.pool %u[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = nn.segment_reverse %h of %s : tensor<?x3xf32>, tensor<?xi32>
  %0 = nn.segment_sum %1 of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  nn.return %0 : tensor<?x2x3xf32>
}

// CHECK-LABEL: func.func @pad_compute
// CHECK: scf.parallel (%[[BAG:.*]]) = (%c0) to (%{{[0-9]+}}) step (%c1)
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: %[[AT:.*]] = arith.subi %[[ROW]], %[[BEGIN]]
// CHECK: arith.cmpi slt, %[[AT]], %c5
// CHECK: scf.if
// CHECK: %[[BASE:.*]] = arith.muli %[[BAG]], %c5
// CHECK: %[[PLACE:.*]] = arith.addi %[[BASE]], %[[AT]]
// CHECK: memref.load %{{.*}}[%[[ROW]], %[[J:.*]]]
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[PLACE]], %[[J]]]
nn.program @pad frozen reads(@r except [@d]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %u = nn.pull @t[%k] : tensor<?x3xf32>
  %h = nn.pool %u[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %0 = nn.segment_pad %h of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x5x3xf32>
  nn.return %0 : tensor<?x2x5x3xf32>
}

// CHECK-LABEL: func.func @unpad_compute
// CHECK: scf.parallel (%[[BAG:.*]]) = (%c0) to (%{{[0-9]+}}) step (%c1)
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: scf.parallel (%[[BAG:.*]]) = (%c0) to (%{{[0-9]+}}) step (%c1)
// CHECK: %[[BEGIN:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[END:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: scf.for %[[ROW:.*]] = %[[BEGIN]] to %[[END]] step %c1
// CHECK: %[[BACK:.*]] = arith.subi %[[ROW]], %[[END]]
// CHECK: %[[AT:.*]] = arith.addi %[[BACK]], %c5
// CHECK: scf.if
nn.program @unpad frozen reads(@r except [@d]) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>):
  %k, %i, %ks, %o = nn.unique %c
  %u = nn.pull @t[%k] : tensor<?x3xf32>
  %h = nn.pool %u[%i, %ks, %o] of (%c sum) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %p = nn.segment_pad %h of %s from_end : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x5x3xf32>
  %1 = nn.segment_unpad %p over %s like %h from_end : tensor<?x2x5x3xf32>, tensor<?xi32>, tensor<?x3xf32>
  %0 = nn.segment_sum %1 of %s : (tensor<?x3xf32>, tensor<?xi32>) -> tensor<?x2x3xf32>
  nn.return %0 : tensor<?x2x3xf32>
}

// Ops that can fail run in prepare.
// CHECK-LABEL: func.func @check_prepare
// CHECK: %[[STATUS:.*]] = rt.check_bags %[[D:.*]], %[[C:.*]] : memref<?xi32>, memref<?xi32>
// CHECK: arith.cmpi ne, %[[STATUS]]
nn.program @check frozen reads(@r) {
^bb0(%c: tensor<?xi64>, %s: tensor<?xi32>, %d: tensor<?xi64>, %ds: tensor<?xi32>):
  nn.check_bags %ds, %s
  // CHECK: rt.program @check frozen reads(@r [@c, @d]) joined [1, 0]
  %0 = nn.segment_sizes %s : (tensor<?xi32>) -> tensor<?x2x1xf32>
  nn.return %0 : tensor<?x2x1xf32>
}
}
