// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// For each row, one pass for each requested number. A pass finds the largest
// number after the previous one. Nothing is moved or sorted.

module attributes {nn.phase = "roles"} {
nn.record @r {
  nn.field @x : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @largest_compute
// CHECK: scf.parallel (%[[ROW:.*]]) =
// CHECK: scf.for %[[RANK:.*]] = %c0 to %c3 step %c1 iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, i64)
// CHECK: scf.for %[[AT:.*]] = %c0 to %c8 step %c1 iter_args
// CHECK: memref.load %{{.*}}[%[[ROW]], %[[AT]]]
// CHECK: arith.cmpf olt
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf ogt
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[ROW]], %[[RANK]]] : memref<?x3xi64>
nn.program @largest frozen reads(@r) {
^bb0(%x: tensor<?x8xf32>):
  %places = nn.top_k %x count 3 : tensor<?x8xf32>
  %0 = nn.cast %places : (tensor<?x3xi64>) -> tensor<?x3xf32>
  nn.return %0 : tensor<?x3xf32>
}
// An entry is copied, and no other entry is read instead: the entries that are
// not taken may be infinite.
// CHECK-LABEL: func.func @taken_compute
// CHECK: scf.parallel (%[[ROW:.*]], %[[TO:.*]]) =
// CHECK: %[[PLACE:.*]] = arith.index_cast
// CHECK: %[[IS:.*]] = arith.cmpi ult, %[[PLACE]], %c8
// CHECK: %[[FROM:.*]] = arith.select %[[IS]], %[[PLACE]], %c0
// CHECK: %[[ENTRY:.*]] = memref.load %{{.*}}[%[[ROW]], %[[FROM]], %{{.*}}]
// CHECK: %[[POSITIVE:.*]] = arith.addf %[[ENTRY]], %{{.*}}
// CHECK: arith.select %[[IS]], %[[POSITIVE]], %{{.*}} : f32
nn.program @taken frozen reads(@r) {
^bb0(%x: tensor<?x8xf32>):
  %places = nn.top_k %x count 3 : tensor<?x8xf32>
  %0 = nn.gather %x at %places : tensor<?x8xf32>, tensor<?x3xi64>
  nn.return %0 : tensor<?x3xf32>
}
// A running sum over the elements of a row: an infinite element does not affect
// earlier sums.
// CHECK-LABEL: func.func @sums_compute
// CHECK: scf.parallel (%[[ROW:.*]]) =
// CHECK: scf.for %[[AT:.*]] = %c0 to %c8 step %c1 iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[ROW]], %[[AT]]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[SUM]], %[[X]]
// CHECK: memref.store %[[SUM]], %{{.*}}[%[[ROW]], %[[AT]]]
// CHECK: scf.yield %[[NEXT]]
nn.program @sums frozen reads(@r) {
^bb0(%x: tensor<?x8xf32>):
  %0 = nn.cumulative_sum %x exclusive : tensor<?x8xf32>
  nn.return %0 : tensor<?x8xf32>
}
// Sums from an element to the end are added in ascending order as well, each
// from its own start.
// CHECK-LABEL: func.func @rests_compute
// CHECK: scf.parallel (%[[ROW:.*]], %[[FROM:.*]]) =
// CHECK: %[[COUNT:.*]] = arith.subi %c8, %[[FROM]]
// CHECK: scf.for %[[TURN:.*]] = %c0 to %[[COUNT]] step %c1
// CHECK: %[[AT:.*]] = arith.addi %[[FROM]], %[[TURN]]
// CHECK: %[[X:.*]] = memref.load %{{.*}}[%[[ROW]], %[[AT]]]
// CHECK: arith.addf %{{.*}}, %[[X]]
nn.program @rests frozen reads(@r) {
^bb0(%x: tensor<?x8xf32>):
  %0 = nn.cumulative_sum %x reversed : tensor<?x8xf32>
  nn.return %0 : tensor<?x8xf32>
}
// An angle is an elementwise loop, whose functions are inlined later.
// CHECK-LABEL: func.func @angles_compute
// CHECK: math.sin
// CHECK: math.cos
nn.program @angles frozen reads(@r) {
^bb0(%x: tensor<?x8xf32>):
  %0 = nn.sin %x : tensor<?x8xf32>
  %1 = nn.cos %0 : tensor<?x8xf32>
  nn.return %1 : tensor<?x8xf32>
}
}
