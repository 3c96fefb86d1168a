// RUN: pdl-opt %s --rt-outline-kernels --cse --split-input-file | FileCheck %s
// RUN: pdl-opt %s --rt-outline-kernels --split-input-file --remarks-filter=statistics -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS

// STATISTICS: rt-outline-kernels | {{.*}}nests=5
// STATISTICS: rt-outline-kernels | {{.*}}kernels=2

// Equal nests share a kernel, in all stages. Values that are equal in all of
// them stay inside the kernel. A constant or a number that differs becomes a
// parameter. One parameter serves all slots that always have equal values.

// CHECK: func.func private @kernel.elementwise_mul_add_f32(
// CHECK-SAME: %[[FROM:.*]]: !llvm.ptr {llvm.noalias}, %[[TO:.*]]: !llvm.ptr {llvm.noalias}, %[[ROWS:.*]]: index, %[[FACTOR:.*]]: f32) attributes {passthrough = ["noinline"]} {
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[X:.*]] = rt.view %[[FROM]][%[[C0]]] size(%[[ROWS]]) : !llvm.ptr -> memref<?xf32>
// CHECK-DAG: %[[Y:.*]] = rt.view %[[TO]][%[[C0]]] size(%[[ROWS]]) : !llvm.ptr -> memref<?xf32>
// CHECK: scf.for %[[I:.*]] = %[[C0]] to %[[ROWS]] step %[[C1]] {
// CHECK: %[[V:.*]] = memref.load %[[X]][%[[I]]]
// CHECK: %[[P:.*]] = arith.mulf %[[V]], %[[FACTOR]]
// CHECK: %[[S:.*]] = arith.addf %[[P]], %[[ONE]]
// CHECK: memref.store %[[S]], %[[Y]][%[[I]]]
// CHECK: return

// Loads before a loop and stores of its result are part of the kernel.
// CHECK: func.func private @kernel.reduce_add_f32(%{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: index) attributes {passthrough = ["noinline"]} {
// CHECK: %[[START:.*]] = memref.load
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[START]]) -> (f32)
// CHECK: memref.store %[[SUM]]
// CHECK: return

// CHECK: func.func @train_compute(%[[CONTEXT:.*]]: !llvm.ptr) -> i32 {
// CHECK-NOT: scf.for
// CHECK-NOT: rt.view
// CHECK: %[[P0:.*]] = rt.address %[[ARENA:.*]][%[[OFFSET:.*]]] : !llvm.ptr
// CHECK: call @kernel.elementwise_mul_add_f32(%[[ARENA]], %[[P0]], %[[N:.*]], %[[HALF:.*]]) :
// CHECK-NEXT: call @kernel.elementwise_mul_add_f32(%[[P0]], %[[ARENA]], %[[C4:.*]], %[[THIRD:.*]]) :
// CHECK-NEXT: call @kernel.reduce_add_f32(%[[ARENA]], %[[P0]], %[[N]]) :
func.func @train_prepare(%context: !llvm.ptr) -> i32 {
  %ok = arith.constant 0 : i32
  return %ok : i32
}
func.func @train_compute(%context: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = rt.count batch[0] of %context : !llvm.ptr
  %arena = rt.pointer compute_arena[0] of %context : !llvm.ptr -> !llvm.ptr
  %half = arith.constant 0.5 : f32
  %third = arith.constant 0.3 : f32
  %one = arith.constant 1.0 : f32
  %offset = arith.muli %n, %c4 : index
  %x = rt.view %arena[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  %y = rt.view %arena[%offset] size(%n) : !llvm.ptr -> memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.mulf %0, %half : f32
    %2 = arith.addf %1, %one : f32
    memref.store %2, %y[%i] : memref<?xf32>
  }
  %z = rt.view %arena[%offset] : !llvm.ptr -> memref<4xf32>
  %w = rt.view %arena[%c0] : !llvm.ptr -> memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %0 = memref.load %z[%i] : memref<4xf32>
    %1 = arith.mulf %0, %third : f32
    %2 = arith.addf %1, %one : f32
    memref.store %2, %w[%i] : memref<4xf32>
  }
  %s = rt.view %arena[%c0] : !llvm.ptr -> memref<1xf32>
  %start = memref.load %s[%c0] : memref<1xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%partial = %start) -> (f32) {
    %0 = memref.load %y[%i] : memref<?xf32>
    %1 = arith.addf %partial, %0 : f32
    scf.yield %1 : f32
  }
  memref.store %sum, %s[%c0] : memref<1xf32>
  %ok = arith.constant 0 : i32
  return %ok : i32
}
func.func @predict_compute(%context: !llvm.ptr) -> i32 {
  // CHECK: func.func @predict_compute
  // CHECK: %[[OUT:.*]] = rt.pointer output[0]
  // CHECK: call @kernel.elementwise_mul_add_f32(%[[IN:.*]], %[[OUT]], %{{.*}}, %[[Q:.*]]) :
  // CHECK: call @kernel.elementwise_mul_add_f32(%[[OUT]], %[[IN]], %{{.*}}, %[[Q]]) :
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %quarter = arith.constant 0.25 : f32
  %one = arith.constant 1.0 : f32
  %n = rt.count batch[0] of %context : !llvm.ptr
  %from = rt.pointer parameter[0] of %context : !llvm.ptr -> !llvm.ptr
  %to = rt.pointer output[0] of %context : !llvm.ptr -> !llvm.ptr
  %x = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.mulf %0, %quarter : f32
    %2 = arith.addf %1, %one : f32
    memref.store %2, %y[%i] : memref<?xf32>
  }
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %y[%i] : memref<?xf32>
    %1 = arith.mulf %0, %quarter : f32
    %2 = arith.addf %1, %one : f32
    memref.store %2, %x[%i] : memref<?xf32>
  }
  %ok = arith.constant 0 : i32
  return %ok : i32
}
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
rt.program @train frozen reads(@clicks [@label])
  prepare(@train_prepare, <0 + 0 * batch>) compute(@train_compute, <0 + 0 * batch>)
rt.program @predict frozen reads(@clicks [@label])
  prepare(@train_prepare, <0 + 0 * batch>) compute(@predict_compute, <0 + 0 * batch>)

// -----

// A nest that reads and writes one memory is not equal to one that reads
// another, because pointers of a kernel do not overlap. If a name exists, a
// number is appended. Inner dimensions belong to the kernel.

// CHECK: func.func private @kernel.reduce_neg_f32(%{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: index)
// CHECK: func.func private @kernel.elementwise_neg_f32_0(%{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: index)
// CHECK: memref<?x3xf32>
// CHECK: func.func private @kernel.copy_i64(
// CHECK: func.func private @kernel.fill_f32(
// CHECK: func.func @f(
// CHECK: call @kernel.reduce_neg_f32(
// CHECK: call @kernel.elementwise_neg_f32_0(
// CHECK: call @kernel.copy_i64(
// CHECK: call @kernel.fill_f32(
// A result that another op uses is returned.
// CHECK: %[[SUM:.*]] = call @kernel.reduce_fptosi(
// CHECK: rt.allocate %{{.*}}, %[[SUM]]
func.func private @kernel.elementwise_neg_f32()
func.func @f(%context: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = rt.count batch[0] of %context : !llvm.ptr
  %worker = rt.pointer worker[0] of %context : !llvm.ptr -> !llvm.ptr
  %from = rt.pointer parameter[0] of %context : !llvm.ptr -> !llvm.ptr
  %to = rt.pointer output[0] of %context : !llvm.ptr -> !llvm.ptr
  %x = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?x3xf32>
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?x3xf32>
  %k = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?xi64>
  %l = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?xi64>
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<?x3xf32>
      %1 = arith.negf %0 : f32
      memref.store %1, %x[%i, %j] : memref<?x3xf32>
    }
  }
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<?x3xf32>
      %1 = arith.negf %0 : f32
      memref.store %1, %y[%i, %j] : memref<?x3xf32>
    }
  }
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %k[%i] : memref<?xi64>
    memref.store %0, %l[%i] : memref<?xi64>
  }
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    memref.store %zero, %x[%i, %c0] : memref<?x3xf32>
  }
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%partial = %c0) -> (index) {
    %0 = memref.load %x[%i, %c0] : memref<?x3xf32>
    %1 = arith.fptosi %0 : f32 to i64
    %2 = arith.index_cast %1 : i64 to index
    %3 = arith.addi %partial, %2 : index
    scf.yield %3 : index
  }
  %memory = rt.allocate %worker, %sum : !llvm.ptr -> !llvm.ptr
  llvm.store %memory, %to : !llvm.ptr, !llvm.ptr
  %ok = arith.constant 0 : i32
  return %ok : i32
}
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
rt.program @p frozen reads(@clicks [@label])
  prepare(@f, <0 + 0 * batch>) compute(@f, <0 + 0 * batch>)

// -----

// A parallel loop becomes a kernel like an ordered one, and its iterations stay
// independent. The two are different kernels.

// CHECK: func.func private @kernel.elementwise_mul_f32(%[[FROM:.*]]: !llvm.ptr {llvm.noalias}, %[[TO:.*]]: !llvm.ptr {llvm.noalias}, %[[ROWS:.*]]: index, %[[FACTOR:.*]]: f32)
// CHECK: %[[X:.*]] = rt.view %[[FROM]]
// CHECK: %[[Y:.*]] = rt.view %[[TO]]
// CHECK: scf.parallel (%[[I:.*]], %[[J:.*]]) = (%{{.*}}) to (%[[ROWS]], %c3)
// CHECK: memref.load %[[X]][%[[I]], %[[J]]]
// CHECK: arith.mulf %{{.*}}, %[[FACTOR]]
// CHECK: memref.store %{{.*}}, %[[Y]][%[[I]], %[[J]]]
// CHECK: func.func private @kernel.reduce_mul_f32(
// CHECK: scf.parallel
// CHECK: scf.for
// CHECK: func.func private @kernel.elementwise_mul_f32_0(
// CHECK: scf.for
// CHECK: scf.for
// CHECK-LABEL: func.func @g(
// CHECK: call @kernel.elementwise_mul_f32(
// CHECK: call @kernel.elementwise_mul_f32(
// CHECK: call @kernel.reduce_mul_f32(
// CHECK: call @kernel.elementwise_mul_f32_0(
func.func @g(%context: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %n = rt.count batch[0] of %context : !llvm.ptr
  %half = arith.constant 0.5 : f32
  %third = arith.constant 0.3 : f32
  %from = rt.pointer parameter[0] of %context : !llvm.ptr -> !llvm.ptr
  %to = rt.pointer output[0] of %context : !llvm.ptr -> !llvm.ptr
  %x = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?x3xf32>
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?x3xf32>
  %s = rt.view %to[%c0] : !llvm.ptr -> memref<3xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c3) step (%c1, %c1) {
    %0 = memref.load %x[%i, %j] : memref<?x3xf32>
    %1 = arith.mulf %0, %half : f32
    memref.store %1, %y[%i, %j] : memref<?x3xf32>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c3) step (%c1, %c1) {
    %0 = memref.load %y[%i, %j] : memref<?x3xf32>
    %1 = arith.mulf %0, %third : f32
    memref.store %1, %x[%i, %j] : memref<?x3xf32>
    scf.reduce
  }
  scf.parallel (%j) = (%c0) to (%c3) step (%c1) {
    %0 = memref.load %s[%j] : memref<3xf32>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%product = %0) -> (f32) {
      %2 = memref.load %x[%i, %j] : memref<?x3xf32>
      %3 = arith.mulf %product, %2 : f32
      scf.yield %3 : f32
    }
    memref.store %1, %s[%j] : memref<3xf32>
    scf.reduce
  }
  scf.for %i = %c0 to %n step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %0 = memref.load %x[%i, %j] : memref<?x3xf32>
      %1 = arith.mulf %0, %half : f32
      memref.store %1, %y[%i, %j] : memref<?x3xf32>
    }
  }
  %ok = arith.constant 0 : i32
  return %ok : i32
}
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
rt.program @p frozen reads(@clicks [@label])
  prepare(@g, <0 + 0 * batch>) compute(@g, <0 + 0 * batch>)

// -----

// One nest uses a result of another one.

// CHECK-LABEL: func.func @chained(
// CHECK: %[[SUM:.*]] = call @kernel.reduce_add(
// CHECK: call @kernel.elementwise_mul_f32({{.*}}, %[[SUM]])
func.func @chained(%context: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = rt.count batch[0] of %context : !llvm.ptr
  %from = rt.pointer parameter[0] of %context : !llvm.ptr -> !llvm.ptr
  %to = rt.pointer output[0] of %context : !llvm.ptr -> !llvm.ptr
  %x = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  %zero = arith.constant 0.0 : f32
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%partial = %zero) -> (f32) {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.addf %partial, %0 : f32
    scf.yield %1 : f32
  }
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = arith.mulf %0, %sum : f32
    memref.store %1, %y[%i] : memref<?xf32>
  }
  %ok = arith.constant 0 : i32
  return %ok : i32
}
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
rt.program @p frozen reads(@clicks [@label])
  prepare(@chained, <0 + 0 * batch>) compute(@chained, <0 + 0 * batch>)

// -----

// One address is one argument, however often and in whatever form it occurs.
// Two noalias arguments with one address would let the optimizer reorder
// dependent accesses.

// CHECK: func.func private @kernel.elementwise_neg_f32(%{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: index)
// CHECK: func.func private @kernel.copy_f32(%{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: index)
// If addresses overlap, no argument is noalias.
// CHECK: func.func private @kernel.elementwise_exp_f32(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr) attributes
// Adjacent addresses are both noalias.
// CHECK: func.func private @kernel.elementwise_exp_f32_0(%{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: !llvm.ptr {llvm.noalias}) attributes
// CHECK-LABEL: func.func @aliased(
func.func @aliased(%context: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c60 = arith.constant 60 : index
  %c64 = arith.constant 64 : index
  %n = rt.count batch[0] of %context : !llvm.ptr
  %first = rt.pointer output[0] of %context : !llvm.ptr -> !llvm.ptr
  %second = rt.pointer output[0] of %context : !llvm.ptr -> !llvm.ptr
  %behind = rt.address %second[%c4] : !llvm.ptr
  %x = rt.view %first[%c64] size(%n) : !llvm.ptr -> memref<?xf32>
  %y = rt.view %behind[%c60] size(%n) : !llvm.ptr -> memref<?xf32>
  scf.for %i = %c1 to %n step %c1 {
    %j = arith.subi %i, %c1 : index
    %0 = memref.load %x[%j] : memref<?xf32>
    %1 = arith.negf %0 : f32
    memref.store %1, %y[%i] : memref<?xf32>
  }
  %arena = rt.pointer compute_arena[0] of %context : !llvm.ptr -> !llvm.ptr
  %offset = arith.muli %n, %n : index
  %p = rt.address %arena[%offset] : !llvm.ptr
  %z = rt.view %arena[%offset] size(%n) : !llvm.ptr -> memref<?xf32>
  %w = rt.view %p[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %z[%i] : memref<?xf32>
    memref.store %0, %w[%i] : memref<?xf32>
  }
  %farther = arith.addi %offset, %c8 : index
  %a = rt.view %p[%c0] : !llvm.ptr -> memref<4xf32>
  %b = rt.view %arena[%farther] : !llvm.ptr -> memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %0 = memref.load %a[%i] : memref<4xf32>
    %1 = math.exp %0 : f32
    memref.store %1, %b[%i] : memref<4xf32>
  }
  %c = rt.view %p[%c16] : !llvm.ptr -> memref<4xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    %0 = memref.load %a[%i] : memref<4xf32>
    %1 = math.exp %0 : f32
    memref.store %1, %c[%i] : memref<4xf32>
  }
  %ok = arith.constant 0 : i32
  return %ok : i32
}
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
rt.program @p frozen reads(@clicks [@label])
  prepare(@aliased, <0 + 0 * batch>) compute(@aliased, <0 + 0 * batch>)

// -----

// The distance of rows belongs to the kernel, but not the first column.
// Adjacent columns share no memory.

// CHECK: func.func private @kernel.elementwise_neg_f32(%{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: index)
// CHECK: memref<?x4xf32, strided<[12, 1]>>
// CHECK: func.func private @kernel.elementwise_neg_f32_0(%{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: !llvm.ptr {llvm.noalias}, %{{[^,]*}}: index)
// CHECK: memref<?x4xf32, strided<[13, 1]>>
// CHECK: func.func @columns(
// CHECK: call @kernel.elementwise_neg_f32(
// CHECK: call @kernel.elementwise_neg_f32(
// CHECK: call @kernel.elementwise_neg_f32_0(
func.func @columns(%context: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %n = rt.count batch[0] of %context : !llvm.ptr
  %p = rt.pointer compute_arena[0] of %context : !llvm.ptr -> !llvm.ptr
  %a = rt.view %p[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32, strided<[12, 1]>>
  %b = rt.view %p[%c16] size(%n) : !llvm.ptr -> memref<?x4xf32, strided<[12, 1]>>
  %c = rt.view %p[%c32] size(%n) : !llvm.ptr -> memref<?x4xf32, strided<[12, 1]>>
  %out = rt.pointer output[0] of %context : !llvm.ptr -> !llvm.ptr
  %d = rt.view %out[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32, strided<[13, 1]>>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c4) step (%c1, %c1) {
    %0 = memref.load %a[%i, %j] : memref<?x4xf32, strided<[12, 1]>>
    %1 = arith.negf %0 : f32
    memref.store %1, %b[%i, %j] : memref<?x4xf32, strided<[12, 1]>>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c4) step (%c1, %c1) {
    %0 = memref.load %b[%i, %j] : memref<?x4xf32, strided<[12, 1]>>
    %1 = arith.negf %0 : f32
    memref.store %1, %c[%i, %j] : memref<?x4xf32, strided<[12, 1]>>
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c4) step (%c1, %c1) {
    %0 = memref.load %c[%i, %j] : memref<?x4xf32, strided<[12, 1]>>
    %1 = arith.negf %0 : f32
    memref.store %1, %d[%i, %j] : memref<?x4xf32, strided<[13, 1]>>
  }
  %ok = arith.constant 0 : i32
  return %ok : i32
}
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
rt.program @train frozen reads(@clicks [@label])
  prepare(@columns, <0 + 0 * batch>) compute(@columns, <0 + 0 * batch>)
