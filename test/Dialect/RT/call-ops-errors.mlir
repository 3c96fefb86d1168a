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
  // expected-error@below {{which is not row-major without gaps (C1)}}
  %0 = rt.view %p[%o] : !llvm.ptr -> memref<4x4xf32, strided<[8, 1]>>
  return
}
