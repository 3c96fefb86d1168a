// RUN: pdl-opt %s --rt-distribute-loops --split-input-file | FileCheck %s
// RUN: pdl-opt %s --rt-distribute-loops --split-input-file --remarks-filter=statistics -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS
// The remaining loops have an order.
// RUN: pdl-opt %s --rt-distribute-loops --rt-serialize-loops --split-input-file | FileCheck %s --check-prefix=ORDER
// ORDER-NOT: scf.parallel

// STATISTICS-COUNT-5: distributed-kernels=1
// STATISTICS: distributed-kernels=0
// STATISTICS: distributed-kernels=0

// All dimensions are numbered, also those of an inner loop. Its constant bound
// is known before.

// CHECK-LABEL: func.func private @copy(
// CHECK-SAME: %[[X:.*]]: !llvm.ptr, %[[Y:.*]]: !llvm.ptr, %[[N:.*]]: index, %[[FIRST:.*]]: index, %[[STRIDE:.*]]: index)
// CHECK: %[[ROWS:.*]] = arith.muli %[[N]], %c2
// CHECK: %[[ALL:.*]] = arith.muli %[[ROWS]], %c13
// CHECK: scf.for %[[TURN:.*]] = %[[FIRST]] to %[[ALL]] step %[[STRIDE]] {
// CHECK: %[[K:.*]] = arith.remui %[[TURN]], %c13
// CHECK: %[[REST:.*]] = arith.divui %[[TURN]], %c13
// CHECK: %[[J:.*]] = arith.remui %[[REST]], %c2
// CHECK: %[[I:.*]] = arith.divui %[[REST]], %c2
// CHECK: %[[V:.*]] = memref.load %{{.*}}[%[[I]], %[[J]], %[[K]]]
// CHECK: memref.store %[[V]], %{{.*}}[%[[I]], %[[J]], %[[K]]]
// CHECK-NOT: scf.
// CHECK: return

// For the host, the function has its arguments in memory.

// CHECK-LABEL: func.func private @copy.run(
// CHECK-SAME: %[[ARGUMENTS:.*]]: !llvm.ptr, %[[FIRST:.*]]: i64, %[[STRIDE:.*]]: i64)
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[ARGUMENTS]][2]
// CHECK: %[[N:.*]] = llvm.load %[[AT]] : !llvm.ptr -> i64
// CHECK: arith.index_cast %[[N]]
// CHECK: arith.index_cast %[[FIRST]]
// CHECK: arith.index_cast %[[STRIDE]]
// CHECK: call @copy(
// CHECK: rt.device_kernel @copy {{.*}} runs @copy.run
func.func private @copy(%x: !llvm.ptr, %y: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = rt.view %x[%c0] size(%n) : !llvm.ptr -> memref<?x2x13xf32>
  %1 = rt.view %y[%c0] size(%n) : !llvm.ptr -> memref<?x2x13xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c2) step (%c1, %c1) {
    %c13 = arith.constant 13 : index
    scf.parallel (%k) = (%c0) to (%c13) step (%c1) {
      %2 = memref.load %0[%i, %j, %k] : memref<?x2x13xf32>
      memref.store %2, %1[%i, %j, %k] : memref<?x2x13xf32>
      scf.reduce
    }
    scf.reduce
  }
  return
}
rt.device_kernel @copy arguments [#rt<device_argument read>, #rt<device_argument written>, #rt<device_argument number>]

// -----

// Two loops in one iteration stay, and so does an ordered sum.

// CHECK-LABEL: func.func private @concat(
// CHECK: scf.for %{{.*}} = %arg4 to %arg3 step %arg5 {
// CHECK: scf.parallel
// CHECK: scf.parallel
func.func private @concat(%x: !llvm.ptr, %y: !llvm.ptr, %z: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = rt.view %x[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  %1 = rt.view %y[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  %2 = rt.view %z[%c0] size(%n) : !llvm.ptr -> memref<?x8xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
      %3 = memref.load %0[%i, %j] : memref<?x4xf32>
      memref.store %3, %2[%i, %j] : memref<?x8xf32>
      scf.reduce
    }
    scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
      %3 = memref.load %1[%i, %j] : memref<?x4xf32>
      %4 = arith.addi %j, %c4 : index
      memref.store %3, %2[%i, %4] : memref<?x8xf32>
      scf.reduce
    }
    scf.reduce
  }
  return
}
rt.device_kernel @concat arguments [#rt<device_argument read>, #rt<device_argument read>, #rt<device_argument written>, #rt<device_argument number>]

// -----

// CHECK-LABEL: func.func private @sums(
// CHECK: scf.for %[[J:.*]] = %arg3 to %c400 step %arg4 {
// CHECK: scf.for %[[I:.*]] = %c0 to %arg2 step %c1
// CHECK: memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK: arith.addf
func.func private @sums(%x: !llvm.ptr, %y: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c400 = arith.constant 400 : index
  %0 = rt.view %x[%c0] size(%c400) : !llvm.ptr -> memref<?xf32>
  %1 = rt.view %y[%c0] size(%n) : !llvm.ptr -> memref<?x400xf32>
  scf.parallel (%j) = (%c0) to (%c400) step (%c1) {
    %2 = memref.load %0[%j] : memref<?xf32>
    %3 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %2) -> (f32) {
      %4 = memref.load %1[%i, %j] : memref<?x400xf32>
      %5 = arith.addf %sum, %4 : f32
      scf.yield %5 : f32
    }
    memref.store %3, %0[%j] : memref<?xf32>
    scf.reduce
  }
  return
}
rt.device_kernel @sums arguments [#rt<device_argument written>, #rt<device_argument read>, #rt<device_argument number>]

// -----

// Memory of an iteration belongs to a thread, for all its iterations.

// CHECK-LABEL: func.func private @rows(
// CHECK-NEXT: memref.alloca() : memref<4xf32>
// CHECK: scf.for
// CHECK-NOT: memref.alloca
// CHECK: return
func.func private @rows(%x: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = rt.view %x[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %row = memref.alloca() : memref<4xf32>
    scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
      %1 = memref.load %0[%i, %j] : memref<?x4xf32>
      memref.store %1, %row[%j] : memref<4xf32>
      scf.reduce
    }
    %2 = memref.load %row[%c0] : memref<4xf32>
    memref.store %2, %0[%i, %c1] : memref<?x4xf32>
    scf.reduce
  }
  return
}
rt.device_kernel @rows arguments [#rt<device_argument written>, #rt<device_argument number>]

// -----

// A formula that a kernel calls does not change.

// CHECK: func.func private @formula(%{{.*}}: f32) -> f32 {
// CHECK-LABEL: func.func private @calls(
func.func private @formula(%x: f32) -> f32 {
  return %x : f32
}
func.func private @calls(%x: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = rt.view %x[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %1 = memref.load %0[%i] : memref<?xf32>
    %2 = func.call @formula(%1) : (f32) -> f32
    memref.store %2, %0[%i] : memref<?xf32>
    scf.reduce
  }
  return
}
rt.device_kernel @calls arguments [#rt<device_argument written>, #rt<device_argument number>]

// -----

// Ordered work is done by thread 0: one sum, and memory that is read before a
// loop that may write it.

// CHECK-LABEL: func.func private @sum(
// CHECK: %[[ZERO:.*]] = arith.constant 0 : index
// CHECK: %[[IS:.*]] = arith.cmpi eq, %arg3, %[[ZERO]]
// CHECK: scf.if %[[IS]] {
// CHECK: scf.for
// CHECK: memref.store
// CHECK: }
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @reads_before(
// CHECK-NEXT: memref.alloca() : memref<1xf32>
// CHECK: scf.if
// CHECK: scf.parallel
func.func private @sum(%x: !llvm.ptr, %y: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = rt.view %x[%c0] size(%c1) : !llvm.ptr -> memref<?xf32>
  %1 = rt.view %y[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  %2 = memref.load %0[%c0] : memref<?xf32>
  %3 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %2) -> (f32) {
    %4 = memref.load %1[%i] : memref<?xf32>
    %5 = arith.addf %sum, %4 : f32
    scf.yield %5 : f32
  }
  memref.store %3, %0[%c0] : memref<?xf32>
  return
}
func.func private @reads_before(%x: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = rt.view %x[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  %first = memref.load %0[%c0] : memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %own = memref.alloca() : memref<1xf32>
    memref.store %first, %own[%c0] : memref<1xf32>
    %1 = memref.load %own[%c0] : memref<1xf32>
    memref.store %1, %0[%i] : memref<?xf32>
    scf.reduce
  }
  return
}
rt.device_kernel @sum arguments [#rt<device_argument written>, #rt<device_argument read>, #rt<device_argument number>]
rt.device_kernel @reads_before arguments [#rt<device_argument written>, #rt<device_argument number>]

// -----

// A function that is not a kernel does not change. A kernel that is linked
// later has already distributed its iterations.

// CHECK-LABEL: func.func @stage(
// CHECK-SAME: %{{.*}}: !llvm.ptr)
// CHECK: func.func private @pdldevice_given(!llvm.ptr, i64, i64, i64)
// CHECK-LABEL: func.func private @pdldevice_given.run(
// CHECK: call @pdldevice_given(
func.func @stage(%x: !llvm.ptr) {
  return
}
func.func private @pdldevice_given(!llvm.ptr, i64, i64, i64)
rt.device_kernel @pdldevice_given arguments [#rt<device_argument written>, #rt<device_argument number>]
