// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=fast sum-chunks=4" --cse | FileCheck %s
// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=strict sum-chunks=4" --cse | FileCheck %s --check-prefix=ORDERED --implicit-check-not="to (%c4, "
// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=fast" --cse | FileCheck %s --check-prefix=ORDERED --implicit-check-not="to (%c4, "

// With numerics fast, and if the target has threads for them, chunks of a batch
// are summed concurrently. A second sum adds the results.

module attributes {nn.phase = "roles"} {
nn.record @r {
  nn.field @x : tensor<?x6xf32>
  nn.field @y : tensor<?x3xf32>
}

// ORDERED-LABEL: func.func @columns_compute
// ORDERED: memref.store %cst
// ORDERED: scf.for %{{.*}} = %c0 to %[[B:.*]] step %c1

// CHECK-LABEL: func.func @columns_compute
// CHECK-DAG:     %[[B:.*]] = rt.count batch[0]
// CHECK-DAG:     %[[PARTS:.*]] = rt.view %{{.*}} -> memref<4x6xf32>
// CHECK:         %[[ALL:.*]] = arith.addi %[[B]], %c3
// CHECK:         %[[SIZE:.*]] = arith.divui %[[ALL]], %c4
// CHECK:         scf.parallel (%[[C:.*]], %[[J:.*]]) = (%c0, %c0) to (%c4, %c6) step (%c1, %c1) {
// CHECK-NEXT:      %[[TIMES:.*]] = arith.muli %[[C]], %[[SIZE]]
// CHECK-NEXT:      %[[BEGIN:.*]] = arith.minui %[[TIMES]], %[[B]]
// CHECK-NEXT:      %[[REST:.*]] = arith.subi %[[B]], %[[BEGIN]]
// CHECK-NEXT:      %[[TURNS:.*]] = arith.minui %[[SIZE]], %[[REST]]
// CHECK-NEXT:      %[[PART:.*]] = scf.for %[[I:.*]] = %c0 to %[[TURNS]] step %c1 iter_args(%[[S:.*]] = %cst) -> (f32) {
// CHECK-NEXT:        %[[ROW:.*]] = arith.addi %[[BEGIN]], %[[I]]
// CHECK-NEXT:        %[[X:.*]] = memref.load %{{.*}}[%[[ROW]], %[[J]]]
// CHECK-NEXT:        %[[Q:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT:        %[[N:.*]] = arith.addf %[[S]], %[[Q]]
// CHECK-NEXT:        scf.yield %[[N]]
// CHECK-NEXT:      }
// CHECK-NEXT:      memref.store %[[PART]], %[[PARTS]][%[[C]], %[[J]]]
// CHECK:         scf.parallel (%[[K:.*]]) = (%c0) to (%c6) step (%c1) {
// CHECK-NEXT:      %[[SUM:.*]] = scf.for %[[D:.*]] = %c0 to %c4 step %c1 iter_args(%[[T:.*]] = %cst) -> (f32) {
// CHECK-NEXT:        %[[P:.*]] = memref.load %[[PARTS]][%[[D]], %[[K]]]
// CHECK-NEXT:        %[[M:.*]] = arith.addf %[[T]], %[[P]]
// CHECK-NEXT:        scf.yield %[[M]]
// CHECK-NEXT:      }
// CHECK-NEXT:      memref.store %[[SUM]], %[[OUT:.*]][%[[K]]] : memref<6xf32>
nn.program @columns frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x6xf32>):
  %q = nn.mul %x, %x : tensor<?x6xf32>, tensor<?x6xf32>
  %s = nn.reduce sum %q axes [0] : tensor<?x6xf32>
  %o = nn.mul %x, %s : tensor<?x6xf32>, tensor<6xf32>
  nn.return %o : tensor<?x6xf32>
}

// The mean is divided after both steps. With one column, each chunk is one
// iteration.
// CHECK-LABEL: func.func @one_compute
// CHECK:         scf.parallel (%[[C:.*]]) = (%c0) to (%c4) step (%c1) {
// CHECK:           memref.store %{{.*}}, %[[PARTS:.*]][%[[C]]] : memref<4xf32>
// CHECK:         %[[SUM:.*]] = scf.for %[[D:.*]] = %c0 to %c4
// CHECK:           memref.load %[[PARTS]][%[[D]]]
// CHECK:         memref.store %[[SUM]], %{{.*}}[%c0] : memref<1xf32>
// CHECK:         arith.divf
nn.program @one frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x6xf32>):
  %c = nn.slice %x axis 1 offset 2 size 1 : tensor<?x6xf32>
  %s = nn.reduce mean %c axes [0] : tensor<?x1xf32>
  %o = nn.mul %x, %s : tensor<?x6xf32>, tensor<1xf32>
  nn.return %o : tensor<?x6xf32>
}

// Kept dimensions may be anywhere. Sums within a sample have a fixed order.
// CHECK-LABEL: func.func @within_compute
// CHECK-NOT:     to (%c4,
// CHECK:         scf.parallel (%{{.*}}, %[[C:.*]]) = (%c0, %c0) to (%{{.*}}, %c2)
// CHECK-NEXT:      memref.load
// CHECK-NEXT:      scf.for %{{.*}} = %c0 to %c3 step
// CHECK-LABEL: func.func @both_compute
// CHECK:         scf.parallel (%[[C:.*]], %[[J:.*]]) = (%c0, %c0) to (%c4, %c2) step (%c1, %c1) {
// CHECK:           scf.for %{{.*}} = %c0 to %{{.*}} step %c1 iter_args(%{{.*}} = %cst)
// CHECK:             arith.addf
// CHECK:           memref.store %{{.*}}, %{{.*}}[%[[C]], %[[J]]] : memref<4x2xf32>
nn.program @within frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x6xf32>):
  %b = nn.reshape %x : (tensor<?x6xf32>) -> tensor<?x3x2xf32>
  %s = nn.reduce sum %b axes [1] : tensor<?x3x2xf32>
  nn.return %s : tensor<?x2xf32>
}
nn.program @both frozen reads(@r except [@y]) {
^bb0(%x: tensor<?x6xf32>):
  %b = nn.reshape %x : (tensor<?x6xf32>) -> tensor<?x3x2xf32>
  %s = nn.reduce sum %b axes [0, 1] : tensor<?x3x2xf32>
  %c = nn.slice %x axis 1 offset 0 size 2 : tensor<?x6xf32>
  %o = nn.mul %c, %s : tensor<?x2xf32>, tensor<2xf32>
  nn.return %o : tensor<?x2xf32>
}
}
