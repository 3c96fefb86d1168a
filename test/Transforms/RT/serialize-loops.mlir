// RUN: pdl-opt %s --rt-serialize-loops --split-input-file | FileCheck %s
// RUN: pdl-opt %s --rt-serialize-loops --split-input-file --remarks-filter=statistics -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS

// One remark for each module of this file.
// STATISTICS: rt-serialize-loops | {{.*}}loops=1{{$}}
// STATISTICS: rt-serialize-loops | {{.*}}loops=3{{$}}
// STATISTICS: rt-serialize-loops | {{.*}}loops=2{{$}}
// STATISTICS: rt-serialize-loops | {{.*}}sums=0{{$}}
// STATISTICS: rt-serialize-loops | {{.*}}loops=2{{$}}
// STATISTICS: rt-serialize-loops | {{.*}}sums=2{{$}}
// STATISTICS: rt-serialize-loops | {{.*}}loops=2{{$}}
// STATISTICS: rt-serialize-loops | {{.*}}sums=0{{$}}
// STATISTICS: rt-serialize-loops | {{.*}}sums=1{{$}}
// STATISTICS: rt-serialize-loops | {{.*}}loops=2{{$}}

// The last dimension is the innermost loop. A value that only outer dimensions
// change is loaded outside of the inner loops. A load that an outer loop
// repeats is not moved.

// CHECK-LABEL: func.func @elements(
// CHECK-SAME: %[[FROM:.*]]: !llvm.ptr, %[[COLUMN:.*]]: !llvm.ptr, %[[ROW:.*]]: !llvm.ptr, %[[TO:.*]]: !llvm.ptr, %[[N:.*]]: index)
// CHECK-DAG: %[[X:.*]] = rt.view %[[FROM]]
// CHECK-DAG: %[[C:.*]] = rt.view %[[COLUMN]]
// CHECK-DAG: %[[R:.*]] = rt.view %[[ROW]]
// CHECK-DAG: %[[Y:.*]] = rt.view %[[TO]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N]]
// CHECK-NEXT: %[[A:.*]] = memref.load %[[C]][%[[I]], %{{.*}}]
// CHECK-NEXT: scf.for %[[J:.*]] = %{{.*}} to %c4
// CHECK-NEXT: %[[B:.*]] = memref.load %[[X]][%[[I]], %[[J]]]
// CHECK-NEXT: %[[D:.*]] = memref.load %[[R]][%[[J]]]
// CHECK-NEXT: func.call @scalar
// CHECK-NEXT: arith.addf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: memref.store %{{.*}}, %[[Y]][%[[I]], %[[J]]]
// CHECK-NOT: scf.parallel
// CHECK: return
func.func private @scalar(f32) -> f32
func.func @elements(%from: !llvm.ptr, %column: !llvm.ptr, %row: !llvm.ptr, %to: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  %c = rt.view %column[%c0] size(%n) : !llvm.ptr -> memref<?x1xf32>
  %r = rt.view %row[%c0] : !llvm.ptr -> memref<4xf32>
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c4) step (%c1, %c1) {
    %0 = memref.load %x[%i, %j] : memref<?x4xf32>
    %1 = memref.load %c[%i, %c0] : memref<?x1xf32>
    %2 = memref.load %r[%j] : memref<4xf32>
    %3 = func.call @scalar(%1) : (f32) -> f32
    %4 = arith.addf %0, %2 : f32
    %5 = arith.addf %4, %3 : f32
    memref.store %5, %y[%i, %j] : memref<?x4xf32>
    scf.reduce
  }
  return
}

// -----

// A load stays if the inner loop may have no iteration, or if the memory may be
// written in the loop, through another view or in an unknown way.

// CHECK-LABEL: func.func @stay(
// CHECK: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load
// CHECK: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load
// CHECK: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.load
// CHECK: return
func.func @stay(%from: !llvm.ptr, %to: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  %same = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%c4, %n) step (%c1, %c1) {
    %0 = memref.load %x[%i] : memref<?xf32>
    memref.store %0, %y[%j, %i] : memref<?x4xf32>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c4) step (%c1, %c1) {
    %0 = memref.load %x[%i] : memref<?xf32>
    memref.store %0, %same[%i, %j] : memref<?x4xf32>
    scf.reduce
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c4) step (%c1, %c1) {
    %0 = memref.load %x[%i] : memref<?xf32>
    llvm.store %0, %to : f32, !llvm.ptr
    scf.reduce
  }
  return
}

// -----

// Loops within an iteration run one after the other.

// CHECK-LABEL: func.func @turns(
// CHECK: scf.for %[[I:.*]] =
// CHECK-NEXT: scf.for %[[J:.*]] = %{{.*}} to %c4
// CHECK-NEXT: memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK-NEXT: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: memref.store %{{.*}}[%[[I]], %c4]
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @turns(%from: !llvm.ptr, %to: !llvm.ptr, %n: index, %last: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?x5xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
      %0 = memref.load %x[%i, %j] : memref<?x4xf32>
      memref.store %0, %y[%i, %j] : memref<?x5xf32>
      scf.reduce
    }
    memref.store %last, %y[%i, %c4] : memref<?x5xf32>
    scf.reduce
  }
  return
}

// -----

// Ordered sums follow the order of the memory that they read. A sum over outer
// and inner dimensions is in a register during the inner ones.

// CHECK-LABEL: func.func @sums(
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N:.*]] step
// CHECK-NEXT: scf.for %[[J:.*]] = %{{.*}} to %c3
// CHECK-NEXT: %[[SUM:.*]] = memref.load %[[Y:.*]][%[[J]]]
// CHECK-NEXT: %[[NEXT:.*]] = memref.load %{{.*}}[%[[I]], %[[J]]]
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[SUM]], %[[NEXT]]
// CHECK-NEXT: memref.store %[[S]], %[[Y]][%[[J]]]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N]] step
// CHECK-NEXT: scf.for %[[J:.*]] = %{{.*}} to %c3
// CHECK-NEXT: %[[START:.*]] = memref.load %[[Y]][%[[J]]]
// CHECK-NEXT: %[[S:.*]] = scf.for %[[K:.*]] = %{{.*}} to %c2 step %{{.*}} iter_args(%[[SUM:.*]] = %[[START]])
// CHECK-NEXT: %[[NEXT:.*]] = memref.load %{{.*}}[%[[I]], %[[J]], %[[K]]]
// CHECK-NEXT: %[[LARGER:.*]] = arith.maximumf %[[SUM]], %[[NEXT]]
// CHECK-NEXT: scf.yield %[[LARGER]]
// CHECK-NEXT: }
// CHECK-NEXT: memref.store %[[S]], %[[Y]][%[[J]]]
func.func @sums(%from: !llvm.ptr, %to: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %x = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?x3xf32>
  %z = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?x3x2xf32>
  %y = rt.view %to[%c0] : !llvm.ptr -> memref<3xf32>
  scf.parallel (%j) = (%c0) to (%c3) step (%c1) {
    %0 = memref.load %y[%j] : memref<3xf32>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %0) -> (f32) {
      %2 = memref.load %x[%i, %j] : memref<?x3xf32>
      %3 = arith.addf %sum, %2 : f32
      scf.yield %3 : f32
    }
    memref.store %1, %y[%j] : memref<3xf32>
    scf.reduce
  }
  scf.parallel (%j) = (%c0) to (%c3) step (%c1) {
    %0 = memref.load %y[%j] : memref<3xf32>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%outer = %0) -> (f32) {
      %2 = scf.for %k = %c0 to %c2 step %c1 iter_args(%sum = %outer) -> (f32) {
        %3 = memref.load %z[%i, %j, %k] : memref<?x3x2xf32>
        %4 = arith.maximumf %sum, %3 : f32
        scf.yield %4 : f32
      }
      scf.yield %2 : f32
    }
    memref.store %1, %y[%j] : memref<3xf32>
    scf.reduce
  }
  return
}

// -----

// The terms of a sum keep their order. A sum that accesses its memory in
// another order stays within its iteration, and so does one that reads memory
// that it writes.

// CHECK-LABEL: func.func @order(
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %c3
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %c2
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N:.*]] step
// CHECK: memref.load %{{.*}}[%[[I]], %[[J]], %[[K]]]
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %c3
// CHECK-NEXT: memref.load
// CHECK-NEXT: scf.for
func.func @order(%from: !llvm.ptr, %to: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %z = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?x3x2xf32>
  %y = rt.view %to[%c0] : !llvm.ptr -> memref<3xf32>
  %same = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?x3xf32>
  scf.parallel (%j) = (%c0) to (%c3) step (%c1) {
    %0 = memref.load %y[%j] : memref<3xf32>
    %1 = scf.for %k = %c0 to %c2 step %c1 iter_args(%outer = %0) -> (f32) {
      %2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %outer) -> (f32) {
        %3 = memref.load %z[%i, %j, %k] : memref<?x3x2xf32>
        %4 = arith.addf %sum, %3 : f32
        scf.yield %4 : f32
      }
      scf.yield %2 : f32
    }
    memref.store %1, %y[%j] : memref<3xf32>
    scf.reduce
  }
  scf.parallel (%j) = (%c0) to (%c3) step (%c1) {
    %0 = memref.load %y[%j] : memref<3xf32>
    %1 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %0) -> (f32) {
      %2 = memref.load %same[%i, %j] : memref<?x3xf32>
      %3 = arith.addf %sum, %2 : f32
      scf.yield %3 : f32
    }
    memref.store %1, %y[%j] : memref<3xf32>
    scf.reduce
  }
  return
}

// -----

// Integers that iterations combine are carried from iteration to iteration and
// from loop to loop.

// CHECK-LABEL: func.func @largest
// CHECK-SAME: (%[[N:.*]]: index, %[[START:.*]]: i32)
// CHECK: %[[OUTER:.*]] = scf.for %{{.*}} = %{{.*}} to %[[N]] {{.*}} iter_args(%[[A:.*]] = %[[START]]) -> (i32)
// CHECK-NEXT: %[[INNER:.*]] = scf.for {{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (i32)
// CHECK: %[[BITS:.*]] = arith.index_cast
// CHECK-NEXT: %[[MAX:.*]] = arith.maxsi %[[B]], %[[BITS]]
// CHECK-NEXT: scf.yield %[[MAX]]
// CHECK: scf.yield %[[INNER]]
// CHECK: return %[[OUTER]]
func.func @largest(%n: index, %start: i32) -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %largest = scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c4) step (%c1, %c1) init (%start) -> i32 {
    %sum = arith.addi %i, %j : index
    %bits = arith.index_cast %sum : index to i32
    scf.reduce(%bits : i32) {
    ^bb0(%a: i32, %b: i32):
      %max = arith.maxsi %a, %b : i32
      scf.reduce.return %max : i32
    }
  }
  return %largest : i32
}

// -----

// No load of a product's terms depends on all loops. The terms of neighboring
// sums are added in parallel, term after term.

// CHECK-LABEL: func.func @product
// CHECK: scf.for %[[I:.*]] = %c0 to %[[N:.*]] step
// CHECK-NEXT: scf.for %[[K:.*]] = %c0 to %c3 step
// CHECK-NEXT: scf.for %[[J:.*]] = %c0 to %c8 step
// CHECK-NEXT: %[[SUM:.*]] = memref.load %[[TO:.*]][%[[I]], %[[J]]]
// CHECK-NEXT: %[[A:.*]] = memref.load %{{.*}}[%[[I]], %[[K]]]
// CHECK-NEXT: %[[B:.*]] = memref.load %{{.*}}[%[[K]], %[[J]]]
// CHECK-NEXT: %[[NEXT:.*]] = math.fma %[[A]], %[[B]], %[[SUM]]
// CHECK-NEXT: memref.store %[[NEXT]], %[[TO]][%[[I]], %[[J]]]
func.func @product(%left: !llvm.ptr, %right: !llvm.ptr, %to: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %a = rt.view %left[%c0] size(%n) : !llvm.ptr -> memref<?x3xf32>
  %b = rt.view %right[%c0] : !llvm.ptr -> memref<3x8xf32>
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?x8xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c8) step (%c1, %c1) {
    %0 = memref.load %y[%i, %j] : memref<?x8xf32>
    %1 = scf.for %k = %c0 to %c3 step %c1 iter_args(%sum = %0) -> (f32) {
      %2 = memref.load %a[%i, %k] : memref<?x3xf32>
      %3 = memref.load %b[%k, %j] : memref<3x8xf32>
      %4 = math.fma %2, %3, %sum : f32
      scf.yield %4 : f32
    }
    memref.store %1, %y[%i, %j] : memref<?x8xf32>
    scf.reduce
  }
  return
}

// -----

// Memory of an iteration is allocated once for all iterations, at the begin of
// the function, so that the stack does not grow.

// CHECK-LABEL: func.func @memory_of_a_turn
// CHECK-NEXT: %[[ROW:.*]] = memref.alloca() : memref<4xf32>
// CHECK: scf.for %[[I:.*]] = %c0 to
// CHECK-NEXT: scf.for %[[J:.*]] = %c0 to %c4
// CHECK: memref.store %{{.*}}, %[[ROW]][%[[J]]]
// CHECK: %[[SUM:.*]] = rt.combine_row sum %[[ROW]][]
// CHECK-NEXT: memref.store %[[SUM]], %{{.*}}[%[[I]]]
func.func @memory_of_a_turn(%from: !llvm.ptr, %to: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %x = rt.view %from[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  %y = rt.view %to[%c0] size(%n) : !llvm.ptr -> memref<?xf32>
  scf.parallel (%i) = (%c0) to (%n) step (%c1) {
    %row = memref.alloca() : memref<4xf32>
    scf.parallel (%j) = (%c0) to (%c4) step (%c1) {
      %0 = memref.load %x[%i, %j] : memref<?x4xf32>
      %1 = arith.mulf %0, %0 : f32
      memref.store %1, %row[%j] : memref<4xf32>
      scf.reduce
    }
    %sum = rt.combine_row sum %row[] : memref<4xf32>
    memref.store %sum, %y[%i] : memref<?xf32>
    scf.reduce
  }
  return
}
