// RUN: pdl-opt %s --rt-launch-kernels --canonicalize --split-input-file | FileCheck %s
// RUN: pdl-opt %s --rt-launch-kernels --split-input-file --remarks-filter=statistics -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS
// The result becomes a complete program.
// RUN: pdl-opt %s --rt-launch-kernels --rt-distribute-loops --rt-serialize-loops --rt-calls-to-llvm --split-input-file -o %t

// STATISTICS: device-kernels=2
// STATISTICS: device-kernels=0
// STATISTICS: device-kernels=1
// STATISTICS: device-kernels=7
// STATISTICS: device-kernels=4
// STATISTICS: device-kernels=18
// STATISTICS: device-kernels=0

// Kernels are launched with pointers of the device, and with the number of
// their iterations; an ordered kernel has one. The host waits once, for its
// work at the end.

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

// Work without a kernel is done by the host, on copies: drawn ids, and numbers
// that the stage itself reads and writes. A value that both sides have is not
// copied. The runtime knows where the rows of tables are.

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
    // CHECK: %[[LOOKUP:.*]] = rt.pointer lookup[0]
    // CHECK: %[[TO:.*]] = rt.address %{{.*}}[%c64]
    // CHECK-NEXT: rt.device_gather %[[WORKER]], %[[LOOKUP]] into %[[TO]] width 8 of f32
    %rows = rt.view %arena[%c64] size(%u) : !llvm.ptr -> memref<?x8xf32>
    rt.gather %lookup into %rows : !llvm.ptr, memref<?x8xf32>
    // CHECK: %[[DRAWN:.*]] = rt.host_memory %[[WORKER]]
    // CHECK: %[[VIEW:.*]] = rt.view %[[DRAWN]]
    // CHECK: rt.sample {{.*}} into %[[VIEW]]
    // CHECK: %[[IDS:.*]] = rt.address %{{.*}}[%c0]
    // CHECK-NEXT: rt.copy_in %[[WORKER]], %{{.*}} from %[[DRAWN]] to %[[IDS]]
    %ids = rt.view %arena[%c0] size(%b) : !llvm.ptr -> memref<?xi64>
    rt.sample uniform %draws stream 7 count 1 from 0 below 9 into %ids : !llvm.ptr, memref<?xi64>
    // A number is known after a wait.
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
    // Two metrics read one copy. After an op that may write the memory, they
    // need another copy.
    // CHECK: rt.copy_out %{{.*}} to %[[FIRST:.*]] :
    // CHECK-NOT: rt.copy_out
    // CHECK: rt.copy_within
    // CHECK: rt.copy_out %{{.*}} to %[[SECOND:.*]] :
    // CHECK-NOT: rt.copy_out
    // CHECK: rt.device_wait last
    // CHECK-DAG: rt.observe #nn.auc<buckets = 16> %[[SHARED:.*]] labels
    // CHECK-DAG: rt.observe #nn.log_loss %[[SHARED]] labels
    // CHECK: rt.observe {{.*}} labels(%{{.*}})
    // CHECK: rt.observe {{.*}} labels(%{{.*}})
    %q = rt.view %arena[%c0] size(%b) : !llvm.ptr -> memref<?x1xf32>
    %label = rt.view %numbers[%c0] size(%b) : !llvm.ptr -> memref<?x1xf32>
    rt.observe #nn.auc<buckets = 16> %q labels(%label : memref<?x1xf32>) into %metric : memref<?x1xf32>, !llvm.ptr
    rt.observe #nn.log_loss %q labels(%label : memref<?x1xf32>) into %metric : memref<?x1xf32>, !llvm.ptr
    memref.copy %one, %two : memref<1xf32> to memref<1xf32>
    rt.observe #nn.log_loss %q labels(%label : memref<?x1xf32>) into %metric : memref<?x1xf32>, !llvm.ptr
    %p = rt.view %numbers[%c0] size(%b) : !llvm.ptr -> memref<?x1xf32>
    rt.observe #nn.auc<buckets = 16> %p labels(%p : memref<?x1xf32>) into %metric : memref<?x1xf32>, !llvm.ptr
    return %zero : i32
  }
  rt.program @train frozen reads(@clicks [@numbers])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 64 * batch>)
}

// -----

// Stage prepare calls kernels on the host. Constants of the program are copied.

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

// -----

// Products and lookups are kernels of the device library, which also gives the
// number of their iterations. An iteration of a kernel computes its products
// itself.

// CHECK-LABEL: module @library
module @library {
  nn.record @clicks {
    nn.field @numbers : tensor<?x4xf32>
    nn.field @ids : !nn.ragged<?x2x*xi64>
  }
  // CHECK-DAG: func.func private @pdldevice_product_turns(index, index, index, index, index, !llvm.ptr, !llvm.ptr, index, !llvm.ptr, !llvm.ptr, !llvm.ptr, index) -> index
  // CHECK-DAG: func.func private @pdldevice_product_f32(index, index, index, index, index, !llvm.ptr, !llvm.ptr, index, !llvm.ptr, !llvm.ptr, !llvm.ptr, index, index, index)
  // CHECK: func.func private @step(
  func.func private @step(%worker: !llvm.ptr, %x: !llvm.ptr, %w: !llvm.ptr, %n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %0 = rt.view %x[%c0] size(%n) : !llvm.ptr -> memref<?x4x4xf32>
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      %own = memref.alloca() : memref<4x4xf32>
      %ownThree = memref.alloca() : memref<1x4x4xf32>
      %1 = rt.view %w[%c0] : !llvm.ptr -> memref<4x4xf32>
      // CHECK: %[[OWN:.*]] = llvm.inttoptr
      // CHECK: func.call @pdldevice_product_f32(%c0, %c1, %c4, %c4, %c4, %{{.*}}, %{{.*}}, %c0, %{{.*}}, %{{.*}}, %[[OWN]], %c4, %c0, %c1)
      rt.gemm strict %worker, %1, %1 transposed post [] into %own : !llvm.ptr, memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>
      // Products of a row of rank 3, as in the body of a scan.
      %3 = rt.view %w[%c0] : !llvm.ptr -> memref<1x4x4xf32>
      // CHECK: func.call @pdldevice_batch_product_f32(%c0, %c1, %c1, %c4, %c4, %c4, %{{.*}}, %{{.*}}, %{{.*}}, %c0, %c1)
      rt.batch_gemm %worker, %3, %3 transposed into %ownThree : !llvm.ptr, memref<1x4x4xf32>, memref<1x4x4xf32>, memref<1x4x4xf32>
      %2 = memref.load %own[%c0, %c0] : memref<4x4xf32>
      memref.store %2, %0[%i, %c0, %c0] : memref<?x4x4xf32>
      scf.reduce
    }
    return
  }
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  // CHECK-LABEL: func.func @compute(
  // CHECK-DAG: %[[NULL:.*]] = llvm.mlir.zero
  // CHECK-DAG: %[[B:.*]] = rt.count batch[0]
  // CHECK-DAG: %[[U:.*]] = rt.count lookup_keys[0]
  // CHECK-DAG: %[[W:.*]] = rt.device_pointer parameter[0]
  // CHECK-DAG: %[[KEYS:.*]] = rt.device_pointer lookup_key_splits[0]
  // CHECK-DAG: %[[OCCURRENCES:.*]] = rt.device_pointer lookup_occurrences[0]
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %b = rt.count batch[0] of %context : !llvm.ptr
    %u = rt.count lookup_keys[0] of %context : !llvm.ptr
    %bags = rt.count field_values[1] of %context : !llvm.ptr
    %worker = rt.pointer worker[0] of %context : !llvm.ptr -> !llvm.ptr
    %numbers = rt.pointer field_values[0] of %context : !llvm.ptr -> !llvm.ptr
    %parameter = rt.pointer parameter[0] of %context : !llvm.ptr -> !llvm.ptr
    %arena = rt.pointer compute_arena[0] of %context : !llvm.ptr -> !llvm.ptr
    %lookup = rt.pointer lookup[0] of %context : !llvm.ptr -> !llvm.ptr
    %splits = rt.pointer field_splits[1] of %context : !llvm.ptr -> !llvm.ptr
    // Bias, then relu.
    // CHECK: %[[TURNS:.*]] = call @pdldevice_product_turns(%c0, %c0, %[[B]], %c8, %c4, %{{.*}}, %{{.*}}, %c33, %{{.*}}, %{{.*}}, %{{.*}}, %c12)
    // CHECK: rt.launch @pdldevice_product_f32 turns %[[TURNS]] of
    %x = rt.view %numbers[%c0] size(%b) : !llvm.ptr -> memref<?x4xf32>
    %w = rt.view %parameter[%c0] : !llvm.ptr -> memref<4x8xf32>
    %bias = rt.view %parameter[%c64] : !llvm.ptr -> memref<8xf32>
    %y = rt.view %arena[%c0] size(%b) : !llvm.ptr -> memref<?x8xf32, strided<[12, 1]>>
    rt.gemm strict %worker, %x, %w bias(%bias : memref<8xf32>) post [#rt<post bias>, #rt<post relu>] into %y
      : !llvm.ptr, memref<?x4xf32>, memref<4x8xf32>, memref<?x8xf32, strided<[12, 1]>>
    // Two inputs, one after the other; one has splits.
    // CHECK: rt.launch @pdldevice_pool_gradient_f32 turns %{{.*}} of %{{.*}}(%c1, %[[U]], %c8, %[[KEYS]], %[[OCCURRENCES]], %c0, %c0, %[[B]],
    // CHECK: rt.launch @pdldevice_bags_of turns
    // CHECK: rt.launch @pdldevice_pool_gradient_f32 turns %{{.*}} of %{{.*}}(%c0, %[[U]], %c8, %[[KEYS]], %[[OCCURRENCES]], %c1, %[[B]],
    %c = rt.view %arena[%c0] size(%b) : !llvm.ptr -> memref<?x8xf32>
    %d = rt.view %arena[%c0] size(%b) : !llvm.ptr -> memref<?x2x8xf32, strided<[24, 8, 1]>>
    %s = rt.view %splits[%c0] size(%bags) : !llvm.ptr -> memref<?xi32>
    %bag_of = rt.view %arena[%c64] size(%bags) : !llvm.ptr -> memref<?xi32>
    %g = rt.view %arena[%c64] size(%u) : !llvm.ptr -> memref<?x8xf32>
    rt.pool_gradient [#rt<pooling sum>, #rt<pooling mean>] (%c, %d : memref<?x8xf32>, memref<?x2x8xf32, strided<[24, 8, 1]>>)
      at %lookup[%c0, %b] splits(%s : memref<?xi32>) of [1] bags(%bag_of : memref<?xi32>) into %g : !llvm.ptr, memref<?x8xf32>
    // One block of rows after the other.
    // CHECK: scf.for %[[FIRST:.*]] = %c0 to %[[B]] step %c128 {
    // CHECK: arith.minui
    // CHECK: rt.launch @pdldevice_product_f32
    // CHECK: rt.launch @pdldevice_in_batch_maxima_f32
    // CHECK: rt.launch @pdldevice_in_batch_exponentials_f32
    // CHECK: rt.launch @pdldevice_in_batch_logarithms_f32
    // CHECK: }
    %scratch = rt.view %arena[%c64] size(%b) : !llvm.ptr -> memref<?xf32>
    %sums = rt.view %arena[%c64] size(%b) : !llvm.ptr -> memref<?xf32>
    rt.in_batch_log_sum_exp strict %worker, %c, %c scratch %scratch into %sums
      : !llvm.ptr, memref<?x8xf32>, memref<?x8xf32>, memref<?xf32>, memref<?xf32>
    // An unused pointer of the host is not passed.
    // CHECK: rt.launch @step turns %[[B]] of %{{.*}}(%[[NULL]], %{{.*}}, %[[W]], %[[B]])
    call @step(%worker, %arena, %parameter, %b) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, index) -> ()
    return %zero : i32
  }
  // CHECK: rt.device_kernel @pdldevice_product_f32 arguments
  // Factors that the products of a kernel only read are marked as read, because
  // other replicas may read them too.
  // CHECK: rt.device_kernel @step arguments [#rt<device_argument number>, #rt<device_argument written>, #rt<device_argument read>, #rt<device_argument number>]
  rt.program @train frozen reads(@clicks [@numbers, @ids])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 64 * batch>)
}

// -----

// The rule of a parameter is launched, except for a parameter that a stage
// reads by itself, whose kernel is removed. The runtime launches a kernel to
// check whether gradients are finite.

// CHECK-LABEL: module @rules
module @rules {
  nn.record @clicks {
    nn.field @numbers : tensor<?x13xf32>
  }
  nn.param @w : tensor<4xf32> init(#nn.zeros)
  nn.param @turn : tensor<f32> init(#nn.zeros)
  // CHECK: func.func private @pdldevice_check_finite_f32(index, !llvm.ptr, !llvm.ptr, index, index)
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %w = rt.pointer parameter[0] of %context : !llvm.ptr -> !llvm.ptr
    %turn = rt.pointer parameter[1] of %context : !llvm.ptr -> !llvm.ptr
    %sum = rt.pointer loss_sum[0] of %context : !llvm.ptr -> !llvm.ptr
    %number = rt.view %turn[%c0] : !llvm.ptr -> memref<f32>
    %loss = rt.view %sum[%c0] : !llvm.ptr -> memref<f64>
    %0 = memref.load %number[] : memref<f32>
    %1 = arith.extf %0 : f32 to f64
    memref.store %1, %loss[] : memref<f64>
    return %zero : i32
  }
  func.func private @update(%count: i64, %state: !llvm.ptr, %gradient: !llvm.ptr, %scalars: !llvm.ptr) -> i32
  // CHECK: func.func private @rule(
  // CHECK-NOT: func.func private @rule_of_turn
  func.func private @rule(%turns: index, %value: !llvm.ptr, %gradient: !llvm.ptr, %scalars: !llvm.ptr, %found: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %one = arith.constant 1 : i32
    scf.parallel (%i) = (%c0) to (%turns) step (%c1) {
      %n = arith.index_cast %i : index to i64
      %from = llvm.getelementptr %gradient[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %0 = llvm.load %from : !llvm.ptr -> f32
      %rate = llvm.load %scalars : !llvm.ptr -> f32
      %1 = arith.mulf %rate, %0 : f32
      %to = llvm.getelementptr %value[%n] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %1, %to : f32, !llvm.ptr
      llvm.store %one, %found : i32, !llvm.ptr
    }
    return
  }
  func.func private @rule_of_turn(%turns: index, %value: !llvm.ptr, %gradient: !llvm.ptr, %scalars: !llvm.ptr, %found: !llvm.ptr) {
    return
  }
  // CHECK: rt.update_kernel @w calls @update launches @rule
  // CHECK: rt.update_kernel @turn calls @update{{$}}
  rt.update_kernel @w calls @update launches @rule
  rt.update_kernel @turn calls @update launches @rule_of_turn
  // CHECK: rt.device_kernel @pdldevice_check_finite_f32 arguments [#rt<device_argument number>, #rt<device_argument read>, #rt<device_argument written>]
  // CHECK: rt.device_kernel @rule arguments [#rt<device_argument number>, #rt<device_argument written>, #rt<device_argument read>, #rt<device_argument read>, #rt<device_argument written>]
  rt.program @train reads(@clicks [@numbers]) updates [@w] lookup_of [-1] loss
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 0 * batch>)
}

// -----

// If tables belong to this process, the runtime gets their kernels, for each
// element type that occurs.

// CHECK-LABEL: module @tables
module @tables {
  nn.record @clicks {
    nn.field @numbers : tensor<?x13xf32>
  }
  nn.table @narrow : i64 -> tensor<4xf32> init(#nn.zeros)
  nn.table @wide : i64 -> tensor<4xf64> init(#nn.zeros)
  nn.table @more : i64 -> tensor<8xf32> init(#nn.zeros)
  // CHECK-DAG: func.func private @pdldevice_table_find(!llvm.ptr, index, !llvm.ptr, !llvm.ptr, index, index)
  // CHECK-DAG: func.func private @pdldevice_table_insert_f32(!llvm.ptr, index, index, !llvm.ptr, !llvm.ptr, !llvm.ptr, index, index, index, index)
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  // CHECK: rt.device_kernel @pdldevice_table_find arguments [#rt<device_argument read>, #rt<device_argument number>, #rt<device_argument read>, #rt<device_argument written>]
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_count arguments [#rt<device_argument number>, #rt<device_argument read>, #rt<device_argument written>]
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_place
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_insert_f32
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_gather_f32
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_rehash
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_list
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_read
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_write
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_keys
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_mark
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_spread_f32
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_widen
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_round
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_note
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_insert_f64
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_gather_f64
  // CHECK-NEXT: rt.device_kernel @pdldevice_table_spread_f64
  // CHECK-NOT: rt.device_kernel
  rt.program @train frozen reads(@clicks [@numbers])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 0 * batch>)
}

// -----

// Tables of servers need no kernels.

// CHECK-LABEL: module @remote
module @remote attributes {ps.role = "trainer"} {
  nn.record @clicks {
    nn.field @numbers : tensor<?x13xf32>
  }
  nn.table @narrow : i64 -> tensor<4xf32> init(#nn.zeros)
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  // CHECK-NOT: rt.device_kernel
  rt.program @train frozen reads(@clicks [@numbers])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 0 * batch>)
}
