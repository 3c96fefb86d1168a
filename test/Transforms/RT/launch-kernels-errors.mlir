// RUN: pdl-opt %s --rt-launch-kernels -split-input-file -verify-diagnostics

module @memory {
  nn.record @clicks {
    nn.field @label : tensor<?x1xf32>
  }
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %0 = rt.view %context[%c0] : !llvm.ptr -> memref<4xf32>
    // expected-error @+1 {{load has no place on a device; this is a fault of PDL, please report it}}
    %1 = memref.load %0[%c0] : memref<4xf32>
    return %zero : i32
  }
  rt.program @train frozen reads(@clicks [@label])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 0 * batch>)
}

// -----

module @rows {
  nn.record @clicks {
    nn.field @label : tensor<?x1xf32>
  }
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %arena = rt.pointer compute_arena[0] of %context : !llvm.ptr -> !llvm.ptr
    %0 = rt.view %arena[%c0] : !llvm.ptr -> memref<4x2xf32, strided<[4, 1]>>
    %1 = rt.view %arena[%c0] : !llvm.ptr -> memref<4x2xf32>
    // expected-error @+1 {{copy has no place on a device; this is a fault of PDL, please report it}}
    memref.copy %0, %1 : memref<4x2xf32, strided<[4, 1]>> to memref<4x2xf32>
    return %zero : i32
  }
  rt.program @train frozen reads(@clicks [@label])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 0 * batch>)
}
