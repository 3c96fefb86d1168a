// RUN: pdl-opt %s --nn-assign-stages "--nn-to-rt=numerics=strict" --cse | FileCheck %s

// Random draws, with the information about samples in the step context.

module attributes {nn.phase = "roles"} {
nn.record @r {
  nn.field @x : tensor<?x4xf32>
  nn.field @i : tensor<?x2xi64>
}
nn.table @t : i64 -> tensor<4xf32> init(#nn.zeros)

// The executable contains sums of weights, the starts of searches, and
// logarithms of probabilities.
// CHECK-DAG: llvm.mlir.global internal constant @[[TABLE:.*]](dense<[3.000000e+00, 3.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<6xf64>)
// CHECK-DAG: llvm.mlir.global internal constant @[[LOGS:.*]](dense<[-0.28768207245178{{[0-9]+}}, 0xFFF0000000000000, -1.3862943611198{{[0-9]+}}]> : tensor<3xf64>)
// CHECK-LABEL: func.func @dropout_compute
// CHECK: %[[DRAWS:.*]] = rt.pointer draws[0]
// CHECK: rt.dropout %{{.*}} rate 5.000000e-01 %[[DRAWS]] stream 7 into %{{.*}} : memref<?x4xf32>, !llvm.ptr, memref<?x4xf32>
nn.program @dropout frozen reads(@r except [@i]) {
^bb0(%x: tensor<?x4xf32>):
  %0 = nn.dropout %x rate(0.5) stream(7) : tensor<?x4xf32>
  nn.return %0 : tensor<?x4xf32>
}

// Stage prepare draws ids, and does everything else that can fail.
// CHECK-LABEL: func.func @sample_prepare
// CHECK: %[[DRAWS:.*]] = rt.pointer draws[0]
// CHECK: rt.sample log_uniform %[[DRAWS]] stream 8 count 3 from 0 below 50 into %[[N:.*]] : !llvm.ptr, memref<?xi64>
// CHECK: rt.unique %{{.*}}, (%[[N]])
// CHECK: rt.log_probability log_uniform %{{.*}} from 0 below 50 into %{{.*}} : memref<?xi64>, memref<?xf32>
// CHECK-LABEL: func.func @sample_compute
// CHECK: scf.parallel (%[[I:.*]], %[[J:.*]]) = (%c0, %c0) to (%{{.*}}, %c3)
// CHECK: %[[DRAWN:.*]] = memref.load %{{.*}}[%[[I]], %[[J]]] : memref<?x3xi64>
// CHECK: scf.for %[[K:.*]] = %c0 to %c2
// CHECK: %[[OWN:.*]] = memref.load %{{.*}}[%[[I]], %[[K]]] : memref<?x2xi64>
// CHECK: arith.cmpi eq, %[[OWN]], %[[DRAWN]]
nn.program @sample frozen reads(@r except [@x]) {
^bb0(%i: tensor<?x2xi64>):
  %n = nn.sample 3 from 0 below 50 log_uniform stream(8) : tensor<?x3xi64>
  %f = nn.reshape %n : (tensor<?x3xi64>) -> tensor<?xi64>
  %k, %v, %ks, %o = nn.unique %f
  %r = nn.pull @t[%k] : tensor<?x4xf32>
  %p = nn.pool %r[%v, %ks, %o] of (%f sum) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %e = nn.reshape %p : (tensor<?x4xf32>) -> tensor<?x3x4xf32>
  %q = nn.log_probability %i from 0 below 50 log_uniform : (tensor<?x2xi64>) -> tensor<?x2xf32>
  %h = nn.accidental_hits %i, %n : (tensor<?x2xi64>, tensor<?x3xi64>) -> tensor<?x3xf32>
  nn.return %e, %q, %h : tensor<?x3x4xf32>, tensor<?x2xf32>, tensor<?x3xf32>
}

// CHECK-LABEL: func.func @counted_prepare
// CHECK-DAG: %[[SA:.*]] = llvm.mlir.addressof @[[TABLE]]
// CHECK-DAG: %[[LA:.*]] = llvm.mlir.addressof @[[LOGS]]
// CHECK: %[[S:.*]] = rt.view %[[SA]]
// CHECK: rt.sample counts(%[[S]] : memref<6xf64>) %{{.*}} stream 8 count 4 from 5 below 8 into %{{.*}} : !llvm.ptr, memref<?xi64>
// CHECK: %[[L:.*]] = rt.view %[[LA]]
// CHECK: rt.log_probability counts(%[[L]] : memref<3xf64>) %{{.*}} from 5 below 8 into %{{.*}} : memref<?xi64>, memref<?xf32>
nn.program @counted frozen reads(@r except [@x, @i]) {
^bb0:
  %n = nn.sample 4 from 5 below 8 counts(dense<[9, 0, 1]> : tensor<3xi64>) power(0.5) stream(8) : tensor<?x4xi64>
  %q = nn.log_probability %n from 5 below 8 counts(dense<[9, 0, 1]> : tensor<3xi64>) power(0.5) : (tensor<?x4xi64>) -> tensor<?x4xf32>
  nn.return %q : tensor<?x4xf32>
}
}
