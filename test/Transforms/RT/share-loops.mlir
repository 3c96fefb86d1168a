// RUN: pdl-opt %s --rt-share-loops | FileCheck %s
// RUN: pdl-opt %s --rt-share-loops --remarks-filter=statistics -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS
// STATISTICS: rt-share-loops | {{.*}}shared-kernels=2{{$}}

nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
rt.program @p frozen reads(@clicks [@label])
  prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 0 * batch>)

// The first dimension is shared: the loop runs over the range of its arguments.
// An iteration reads and writes four elements of four bytes each, and adds
// them.

// CHECK-LABEL: func.func private @kernel.add(
// CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %[[N:.*]]: index, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK: scf.parallel (%{{.*}}, %{{.*}}) = (%[[BEGIN]], %{{.*}}) to (%[[END]], %{{.*}})

// CHECK-LABEL: func.func private @kernel.add.turns(
// CHECK-SAME: %[[ARGUMENTS:.*]]: !llvm.ptr, %[[FIRST:.*]]: i64, %[[BEHIND:.*]]: i64)
// CHECK: %[[AT0:.*]] = llvm.getelementptr %[[ARGUMENTS]][0] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: %[[X:.*]] = llvm.load %[[AT0]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[AT1:.*]] = llvm.getelementptr %[[ARGUMENTS]][1]
// CHECK: %[[Y:.*]] = llvm.load %[[AT1]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[AT2:.*]] = llvm.getelementptr %[[ARGUMENTS]][2]
// CHECK: %[[SIZE:.*]] = llvm.load %[[AT2]] : !llvm.ptr -> i64
// CHECK: %[[TURNS:.*]] = arith.index_cast %[[SIZE]] : i64 to index
// CHECK: %[[B:.*]] = arith.index_cast %[[FIRST]]
// CHECK: %[[E:.*]] = arith.index_cast %[[BEHIND]]
// CHECK: call @kernel.add(%[[X]], %[[Y]], %[[TURNS]], %[[B]], %[[E]])
func.func private @kernel.add(%from: !llvm.ptr {llvm.noalias}, %to: !llvm.ptr {llvm.noalias}, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c4) step (%c1, %c1) {
    %0 = memref.load %x[%i, %j] : memref<?x4xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %y[%i, %j] : memref<?x4xf32>
    scf.reduce
  }
  return
}

// A constant number of iterations that is large enough.

// CHECK-LABEL: func.func private @kernel.large(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[FACTOR:.*]]: f32, %[[BEGIN:.*]]: index, %[[END:.*]]: index)
// CHECK: scf.parallel (%{{.*}}) = (%[[BEGIN]]) to (%[[END]])
// CHECK-LABEL: func.func private @kernel.large.turns(
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> f32
func.func private @kernel.large(%to: !llvm.ptr, %factor: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100000 = arith.constant 100000 : index
  %y = rt.view %to[%c0] : !llvm.ptr -> memref<100000xf32>
  scf.parallel (%i) = (%c0) to (%c100000) step (%c1) {
    memref.store %factor, %y[%i] : memref<100000xf32>
    scf.reduce
  }
  return
}

// Few iterations, a loop whose iterations run in order, and what is read
// before the loop stay with one thread.

// CHECK-LABEL: func.func private @kernel.small(
// CHECK-SAME: %{{.*}}: !llvm.ptr)
func.func private @kernel.small(%to: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c400 = arith.constant 400 : index
  %zero = arith.constant 0.0 : f32
  %y = rt.view %to[%c0] : !llvm.ptr -> memref<400xf32>
  scf.parallel (%i) = (%c0) to (%c400) step (%c1) {
    memref.store %zero, %y[%i] : memref<400xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func private @kernel.ordered(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %{{.*}}: index)
func.func private @kernel.ordered(%to: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %y[%i] : memref<?xf32>
  }
  return
}

// CHECK-LABEL: func.func private @kernel.reads_before(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: index)
func.func private @kernel.reads_before(%from: !llvm.ptr, %to: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = rt.view %from[%c0] : !llvm.ptr -> memref<1xf32>
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  %0 = memref.load %x[%c0] : memref<1xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %0, %y[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// The pass does not change functions that no stage calls.

// CHECK-LABEL: func.func private @update(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %{{.*}}: index)
func.func private @update(%to: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    memref.store %zero, %y[%i] : memref<?xf32>
    scf.reduce
  }
  return
}

// CHECK-LABEL: func.func @prepare(
// CHECK-NOT: alloca
func.func @prepare(%context: !llvm.ptr) -> i32 {
  %ok = arith.constant 0 : i32
  return %ok : i32
}

// All calls of a stage share the memory for their arguments.

// CHECK-LABEL: func.func @compute(
// CHECK-SAME: %[[CONTEXT:.*]]: !llvm.ptr)
// CHECK: %[[THREE:.*]] = llvm.mlir.constant(3 : i64)
// CHECK: %[[ROOM:.*]] = llvm.alloca %[[THREE]] x i64
// CHECK-NOT: alloca
// CHECK: %[[COUNT:.*]] = rt.count
// CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[ROOM]][0]
// CHECK: llvm.store %[[CONTEXT]], %[[FIRST]] : !llvm.ptr, !llvm.ptr
// CHECK: llvm.getelementptr %[[ROOM]][1]
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[COUNT]] : index to i64
// CHECK: %[[LAST:.*]] = llvm.getelementptr %[[ROOM]][2]
// CHECK: llvm.store %[[WIDE]], %[[LAST]] : i64, !llvm.ptr
// CHECK: rt.run_loop @kernel.add.turns named "kernel.add" turns %[[COUNT]] bytes 36 arguments %[[ROOM]]
// CHECK: %[[MANY:.*]] = arith.constant 100000 : index
// CHECK: rt.run_loop @kernel.large.turns named "kernel.large" turns %[[MANY]] bytes 4 arguments %[[ROOM]]
// CHECK: call @kernel.small
// CHECK: call @kernel.ordered
// CHECK: call @kernel.reads_before
func.func @compute(%context: !llvm.ptr) -> i32 {
  %half = arith.constant 0.5 : f32
  %n = rt.count batch[0] of %context : !llvm.ptr
  call @kernel.add(%context, %context, %n) : (!llvm.ptr, !llvm.ptr, index) -> ()
  call @kernel.large(%context, %half) : (!llvm.ptr, f32) -> ()
  call @kernel.small(%context) : (!llvm.ptr) -> ()
  call @kernel.ordered(%context, %n) : (!llvm.ptr, index) -> ()
  call @kernel.reads_before(%context, %context, %n) : (!llvm.ptr, !llvm.ptr, index) -> ()
  %ok = arith.constant 0 : i32
  return %ok : i32
}
