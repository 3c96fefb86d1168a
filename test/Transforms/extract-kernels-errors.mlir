// RUN: pdl-opt %s --rt-extract-kernels -split-input-file -verify-diagnostics

module @product {
  nn.record @clicks {
    nn.field @label : tensor<?x1xf32>
  }
  func.func private @step(%worker: !llvm.ptr, %a: !llvm.ptr) {
    %c0 = arith.constant 0 : index
    %0 = rt.view %a[%c0] : !llvm.ptr -> memref<4x4xf32>
    // expected-error @+1 {{there is no gemm for a device in a loop whose turns follow each other; compile this model for CPUs}}
    rt.gemm strict %worker, %0, %0 post [] into %0 : !llvm.ptr, memref<4x4xf32>, memref<4x4xf32>, memref<4x4xf32>
    return
  }
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    call @step(%context, %context) : (!llvm.ptr, !llvm.ptr) -> ()
    return %zero : i32
  }
  rt.program @train frozen reads(@clicks [@label])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 0 * batch>)
}

// -----

module @double {
  nn.record @clicks {
    nn.field @label : tensor<?x1xf32>
  }
  func.func private @exp(f64) -> f64
  // Of what kernels call as well.
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
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    call @step(%context) : (!llvm.ptr) -> ()
    return %zero : i32
  }
  rt.program @train frozen reads(@clicks [@label])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 0 * batch>)
}

// -----

module @numbers {
  nn.record @clicks {
    nn.field @label : tensor<?x1xf32>
  }
  // expected-error @+1 {{kernel step gives numbers to its caller, which a device does not; this is a fault of PDL, please report it}}
  func.func private @step(%a: !llvm.ptr) -> f32 {
    %0 = llvm.load %a : !llvm.ptr -> f32
    return %0 : f32
  }
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    %0 = call @step(%context) : (!llvm.ptr) -> f32
    return %zero : i32
  }
  rt.program @train frozen reads(@clicks [@label])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 0 * batch>)
}
