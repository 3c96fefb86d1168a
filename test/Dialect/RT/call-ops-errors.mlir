// RUN: pdl-opt %s --verify-diagnostics --split-input-file

func.func @missing_size(%p: !llvm.ptr, %o: index) {
  // expected-error@below {{needs a size exactly for a dynamic first dimension (C2)}}
  %0 = rt.view %p[%o] : !llvm.ptr -> memref<?x4xf32>
  return
}

// -----

func.func @useless_size(%p: !llvm.ptr, %o: index) {
  // expected-error@below {{needs a size exactly for a dynamic first dimension (C2)}}
  %0 = rt.view %p[%o] size(%o) : !llvm.ptr -> memref<4xf32>
  return
}

// -----

func.func @inner_dynamic(%p: !llvm.ptr, %o: index) {
  // expected-error@below {{whose dimension 1 is dynamic (C1)}}
  %0 = rt.view %p[%o] : !llvm.ptr -> memref<4x?xf32>
  return
}

// -----

func.func @gaps(%p: !llvm.ptr, %o: index) {
  // expected-error@below {{which is not row-major with known strides (C3)}}
  %0 = rt.view %p[%o] : !llvm.ptr -> memref<4x4xf32, strided<[3, 1]>>
  return
}

// -----

func.func @unknown_stride(%p: !llvm.ptr, %o: index) {
  // expected-error@below {{which is not row-major with known strides (C3)}}
  %0 = rt.view %p[%o] : !llvm.ptr -> memref<4x4xf32, strided<[?, 1]>>
  return
}

// -----

func.func @offset(%p: !llvm.ptr, %o: index) {
  // expected-error@below {{which is not row-major with known strides (C3)}}
  %0 = rt.view %p[%o] : !llvm.ptr -> memref<4x4xf32, strided<[8, 1], offset: 2>>
  return
}

// -----

// An op that does not support gaps between rows rejects them.
func.func @metric(%p: !llvm.ptr, %o: index) {
  %0 = rt.view %p[%o] size(%o) : !llvm.ptr -> memref<?x1xf32, strided<[4, 1]>>
  // expected-error@below {{operand #0 must be 2D memref of 32-bit or 64-bit float values without gaps}}
  rt.observe #nn.auc<buckets = 64> %0 into %p : memref<?x1xf32, strided<[4, 1]>>, !llvm.ptr
  return
}

// -----

// The attribute of the model selects the metric.
func.func @no_metric(%p: !llvm.ptr, %x: memref<?x1xf32>) {
  // expected-error@below {{custom op 'rt.observe' invalid kind of attribute specified}}
  rt.observe #nn.zeros %x into %p : memref<?x1xf32>, !llvm.ptr
  return
}

// -----

// A product supports gaps only between rows.
func.func @columns(%p: !llvm.ptr, %x: memref<?x4xf32>, %w: memref<4x4xf32>, %y: memref<?x4xf32, strided<[8, 2]>>) {
  // expected-error@below {{must be 2D memref of 32-bit or 64-bit float values with gaps at most between rows}}
  rt.gemm fast %p, %x, %w post [] into %y
    : !llvm.ptr, memref<?x4xf32>, memref<4x4xf32>, memref<?x4xf32, strided<[8, 2]>>
  return
}

// -----

func.func @row_of_a_row(%x: memref<?x4xf32>, %i: index) {
  // expected-error@below {{combines a row of 'memref<?x4xf32>' at 2 indices; expected one for each dimension but the last, whose size is known and which has no gaps (C1)}}
  %0 = rt.combine_row sum %x[%i, %i] : memref<?x4xf32>
  return
}

// -----

func.func @row_of_unknown_size(%x: memref<?xf32>) {
  // expected-error@below {{at 0 indices; expected one for each dimension but the last, whose size is known}}
  %0 = rt.combine_row sum %x[] : memref<?xf32>
  return
}

// -----

func.func @row_with_gaps(%x: memref<?x4xf32, strided<[8, 2]>>, %i: index) {
  // expected-error@below {{which has no gaps (C1)}}
  %0 = rt.combine_row max %x[%i] : memref<?x4xf32, strided<[8, 2]>>
  return
}

// -----

func.func @poolings(%p: !llvm.ptr, %n: index, %x: memref<?x4xf32>) {
  // expected-error@below {{has 1 cotangents, 2 poolings and 1 first occurrences; expected one of each for each input (C1)}}
  rt.pool_gradient [#rt<pooling sum>, #rt<pooling sum>] (%x : memref<?x4xf32>) at %p[%n] into %x : !llvm.ptr, memref<?x4xf32>
  return
}

// -----

func.func @bagged(%p: !llvm.ptr, %n: index, %x: memref<?x4xf32>, %s: memref<?xi32>) {
  // expected-error@below {{names input 1 of 1 as one with splits; expected ascending numbers below it (C2)}}
  rt.pool_gradient [#rt<pooling sum>] (%x : memref<?x4xf32>) at %p[%n] splits(%s : memref<?xi32>) of [1] bags(%s : memref<?xi32>) into %x
    : !llvm.ptr, memref<?x4xf32>
  return
}

// -----

func.func @no_bags(%p: !llvm.ptr, %n: index, %x: memref<?x4xf32>, %s: memref<?xi32>) {
  // expected-error@below {{has 1 splits for 1 inputs; expected one for each, and 'bags' with them alone (C2)}}
  rt.pool_gradient [#rt<pooling sum>] (%x : memref<?x4xf32>) at %p[%n] splits(%s : memref<?xi32>) of [0] into %x
    : !llvm.ptr, memref<?x4xf32>
  return
}
