// RUN: pdl-opt %s --rt-extract-kernels -split-input-file -verify-diagnostics

module @product {
  func.func private @step(%worker: !llvm.ptr, %a: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %0 = rt.view %a[%c0] : !llvm.ptr -> memref<4x4xf32>
    // expected-error @+1 {{there is no gemm for a device in a loop whose iterations run in order; compile this model for CPUs}}
    rt.gemm strict %worker, %0, %0 post [] into %0 : !llvm.ptr, memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>
    return
  }
  rt.device_kernel @step arguments [#rt<device_argument number>, #rt<device_argument written>]
}

// -----

module @double {
  func.func private @exp(f64) -> f64
  // This also holds for functions that kernels call.
  func.func private @formula(%x: f64) -> f64 {
    // expected-error @+1 {{a device has no exp of 'f64'; compile this model for CPUs}}
    %0 = call @exp(%x) : (f64) -> f64
    return %0 : f64
  }
  func.func private @step(%a: !llvm.ptr) {
    %0 = llvm.load %a : !llvm.ptr -> f64
    %1 = call @formula(%0) : (f64) -> f64
    llvm.store %1, %a : f64, !llvm.ptr
    return
  }
  rt.device_kernel @step arguments [#rt<device_argument written>]
}
