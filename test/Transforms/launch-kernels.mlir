// RUN: pdl-opt %s --rt-launch-kernels --canonicalize --split-input-file | FileCheck %s
// RUN: pdl-opt %s --rt-launch-kernels --split-input-file --remarks-filter=statistics -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS
// All of it becomes a program.
// RUN: pdl-opt %s --rt-launch-kernels --rt-distribute-loops --rt-serialize-loops --rt-calls-to-llvm --split-input-file -o %t

// STATISTICS: device-kernels=2
// STATISTICS: device-kernels=0
// STATISTICS: device-kernels=1

// Kernels are launched with the device's pointers, and with as many turns as they
// have; one that has an order has one. What the host does at the end waits once.

// CHECK-LABEL: module @launches attributes {rt.target = "cuda"}
module @launches {
  nn.record @clicks {
    nn.field @numbers : tensor<?x13xf32>
  }
  // CHECK: func.func private @scale(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: index) {
  func.func private @scale(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, %n: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c13 = arith.constant 13 : index
    %0 = rt.view %x[%c0] size(%n) : !llvm.ptr -> memref<?x13xf32>
    %1 = rt.view %y[%c0] size(%n) : !llvm.ptr -> memref<?x13xf32>
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      scf.parallel (%j) = (%c0) to (%c13) step (%c1) {
        %2 = memref.load %0[%i, %j] : memref<?x13xf32>
        memref.store %2, %1[%i, %j] : memref<?x13xf32>
        scf.reduce
      }
      scf.reduce
    }
    return
  }
  func.func private @sum(%x: !llvm.ptr, %y: !llvm.ptr, %n: index, %start: f32) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %x[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
    %1 = rt.view %y[%c0] : !llvm.ptr -> memref<1xf32>
    %2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> (f32) {
      %3 = memref.load %0[%i] : memref<?xf32>
      %4 = arith.addf %sum, %3 : f32
      scf.yield %4 : f32
    }
    memref.store %2, %1[%c0] : memref<1xf32>
    return
  }
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  // CHECK-LABEL: func.func @compute(
  // CHECK-SAME: %[[CONTEXT:.*]]: !llvm.ptr)
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
  // CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
  // CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
  // CHECK-DAG: %[[C13:.*]] = arith.constant 13 : index
  // CHECK-DAG: %[[START:.*]] = arith.constant 1.000000e+00 : f32
  // CHECK: %[[WORKER:.*]] = rt.pointer worker[0] of %[[CONTEXT]]
  // CHECK-DAG: %[[ARENA:.*]] = rt.device_pointer compute_arena[0] of %[[WORKER]]
  // CHECK-DAG: %[[FIELD:.*]] = rt.device_pointer field_values[0] of %[[WORKER]]
  // CHECK-DAG: %[[B:.*]] = rt.count batch[0]
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %one = arith.constant 1.0 : f32
    %b = rt.count batch[0] of %context : !llvm.ptr
    %numbers = rt.pointer field_values[0] of %context : !llvm.ptr -> !llvm.ptr
    %arena = rt.pointer compute_arena[0] of %context : !llvm.ptr -> !llvm.ptr
    %loss = rt.pointer loss_sum[0] of %context : !llvm.ptr -> !llvm.ptr
    %weight = rt.pointer weight_sum[0] of %context : !llvm.ptr -> !llvm.ptr
    // CHECK-DAG: %[[TURNS:.*]] = arith.muli %[[B]], %[[C13]]
    // CHECK-DAG: %[[X:.*]] = rt.address %[[ARENA]][%c64]
    // CHECK: rt.launch @scale turns %[[TURNS]] of %[[WORKER]](%[[FIELD]], %[[X]], %[[B]])
    %x = rt.address %arena[%c64] : !llvm.ptr
    call @scale(%numbers, %x, %b) : (!llvm.ptr, !llvm.ptr, index) -> ()
    // CHECK: rt.launch @sum turns %[[C1]] of %[[WORKER]](%[[X]], %[[ARENA]], %[[B]], %[[START]])
    call @sum(%x, %arena, %b, %one) : (!llvm.ptr, !llvm.ptr, index, f32) -> ()
    // CHECK: %[[BYTES:.*]] = arith.muli %[[B]], %[[C4]]
    // CHECK: %[[HOST:.*]] = rt.host_memory %[[WORKER]], %[[BYTES]]
    // CHECK: rt.copy_out %[[WORKER]], %[[BYTES]] from %{{.*}} to %[[HOST]]
    // CHECK: %[[THERE:.*]] = rt.view %[[HOST]][%[[C0]]] size(%[[B]])
    %losses = rt.view %arena[%c0] size(%b) : !llvm.ptr -> memref<?xf32>
    rt.loss_sum %losses into %loss, %weight : memref<?xf32>, !llvm.ptr, !llvm.ptr
    // CHECK: rt.launch @sum
    call @sum(%x, %arena, %b, %one) : (!llvm.ptr, !llvm.ptr, index, f32) -> ()
    // CHECK: %[[STATUS:.*]] = rt.device_wait last %[[WORKER]]
    // CHECK: %[[BAD:.*]] = arith.cmpi ne, %[[STATUS]], %[[ZERO]]
    // CHECK: cf.cond_br %[[BAD]], ^[[FAILED:bb[0-9]+]](%[[STATUS]] : i32), ^[[GOES:bb[0-9]+]]
    // CHECK: ^[[GOES]]:
    // CHECK-NEXT: rt.loss_sum %[[THERE]]
    // CHECK-NEXT: return %[[ZERO]] : i32
    // CHECK: ^[[FAILED]](%[[RESULT:.*]]: i32)
    // CHECK-NEXT: return %[[RESULT]] : i32
    return %zero : i32
  }
  // CHECK: rt.device_kernel @scale arguments [#rt<device_argument read>, #rt<device_argument written>, #rt<device_argument number>]
  // CHECK: rt.device_kernel @sum arguments [#rt<device_argument read>, #rt<device_argument written>, #rt<device_argument number>, #rt<device_argument number>]
  rt.program @train frozen reads(@clicks [@numbers])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 64 * batch>)
}

// -----

// What has no kernel is the host's, on copies: rows of tables, ids that are drawn,
// numbers that the stage itself reads and writes. What both sides have is not
// copied out.

// CHECK-LABEL: module @copies
module @copies {
  nn.record @clicks {
    nn.field @numbers : tensor<?x4xf32>
  }
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  // CHECK-LABEL: func.func @compute(
  // CHECK: %[[WORKER:.*]] = rt.pointer worker[0]
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %b = rt.count batch[0] of %context : !llvm.ptr
    %u = rt.count lookup_keys[0] of %context : !llvm.ptr
    %numbers = rt.pointer field_values[0] of %context : !llvm.ptr -> !llvm.ptr
    %arena = rt.pointer compute_arena[0] of %context : !llvm.ptr -> !llvm.ptr
    %lookup = rt.pointer lookup[0] of %context : !llvm.ptr -> !llvm.ptr
    %draws = rt.pointer draws[0] of %context : !llvm.ptr -> !llvm.ptr
    %metric = rt.pointer metric[0] of %context : !llvm.ptr -> !llvm.ptr
    // CHECK: %[[ROWS:.*]] = rt.host_memory %[[WORKER]]
    // CHECK: %[[VIEW:.*]] = rt.view %[[ROWS]]
    // CHECK: rt.gather %{{.*}} into %[[VIEW]]
    // CHECK: %[[TO:.*]] = rt.address %{{.*}}[%c64]
    // CHECK-NEXT: rt.copy_in %[[WORKER]], %{{.*}} from %[[ROWS]] to %[[TO]]
    %rows = rt.view %arena[%c64] size(%u) : !llvm.ptr -> memref<?x8xf32>
    rt.gather %lookup into %rows : !llvm.ptr, memref<?x8xf32>
    // CHECK: rt.sample
    // CHECK: rt.copy_in
    %ids = rt.view %arena[%c0] size(%b) : !llvm.ptr -> memref<?xi64>
    rt.sample uniform %draws stream 7 count 1 from 0 below 9 into %ids : !llvm.ptr, memref<?xi64>
    // A number is known behind a wait.
    // CHECK: rt.copy_out
    // CHECK: rt.device_wait %
    // CHECK: cf.cond_br
    // CHECK: %[[V:.*]] = memref.load
    // CHECK: memref.store %[[V]]
    // CHECK: rt.copy_in
    %one = rt.view %arena[%c0] : !llvm.ptr -> memref<1xf32>
    %two = rt.view %arena[%c64] : !llvm.ptr -> memref<1xf32>
    %v = memref.load %one[%c0] : memref<1xf32>
    memref.store %v, %two[%c0] : memref<1xf32>
    // CHECK: rt.copy_within
    memref.copy %one, %two : memref<1xf32> to memref<1xf32>
    // CHECK-NOT: rt.copy_out
    // CHECK: rt.device_wait last
    // CHECK: rt.observe {{.*}} labels(%{{.*}})
    %p = rt.view %numbers[%c0] size(%b) : !llvm.ptr -> memref<?x1xf32>
    rt.observe #nn.auc<buckets = 16> %p labels(%p : memref<?x1xf32>) into %metric : memref<?x1xf32>, !llvm.ptr
    return %zero : i32
  }
  rt.program @train frozen reads(@clicks [@numbers])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 64 * batch>)
}

// -----

// Stage prepare calls kernels on the host; constants of the program are copied.

// CHECK-LABEL: module @both_sides
module @both_sides {
  nn.record @clicks {
    nn.field @numbers : tensor<?x4xf32>
  }
  llvm.mlir.global internal constant @table(dense<1.0> : tensor<4xf32>) : !llvm.array<4 x f32>
  // CHECK: func.func private @fill(
  // CHECK: func.func private @fill.host(
  func.func private @fill(%x: !llvm.ptr, %n: index) attributes {passthrough = ["noinline"]} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %v = arith.constant 1.0 : f32
    %0 = rt.view %x[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      memref.store %v, %0[%i] : memref<?xf32>
      scf.reduce
    }
    return
  }
  // CHECK-LABEL: func.func @prepare(
  // CHECK: call @fill.host(
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    %b = rt.count batch[0] of %context : !llvm.ptr
    %arena = rt.pointer prepare_arena[0] of %context : !llvm.ptr -> !llvm.ptr
    call @fill(%arena, %b) : (!llvm.ptr, index) -> ()
    return %zero : i32
  }
  // CHECK-LABEL: func.func @compute(
  // CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @table
  // CHECK: %[[COPY:.*]] = rt.device_constant %{{.*}}, %c16 of %[[TABLE]]
  // CHECK: rt.launch @fill turns %{{.*}} of %{{.*}}(%[[COPY]],
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    %b = rt.count batch[0] of %context : !llvm.ptr
    %table = llvm.mlir.addressof @table : !llvm.ptr
    call @fill(%table, %b) : (!llvm.ptr, index) -> ()
    return %zero : i32
  }
  rt.program @train frozen reads(@clicks [@numbers])
    prepare(@prepare, <0 + 4 * batch>) compute(@compute, <0 + 64 * batch>)
}
