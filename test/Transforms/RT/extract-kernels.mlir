// RUN: pdl-opt %s --rt-extract-kernels | FileCheck %s
// RUN: pdl-opt %s --rt-extract-kernels --remarks-filter=statistics -o %t 2>&1 | FileCheck %s --check-prefix=STATISTICS

// Kernels that a device launches stay, with the functions of formulas.
// Everything else of the program is removed.

// STATISTICS: extracted-kernels=2

// CHECK-LABEL: module
// CHECK-NOT: nn.
// CHECK: func.func private @pdlabi_expf(f32) -> f32
// CHECK-NOT: @of_update
// CHECK: func.func private @fill(%{{.*}}: !llvm.ptr, %{{.*}}: index) {
// CHECK: func.func private @exp(
// CHECK: call @pdlabi_expf
// CHECK-NOT: func.func
// CHECK-NOT: rt.program
module @model {
  nn.record @clicks {
    nn.field @label : tensor<?x1xf32>
  }
  func.func private @pdlabi_expf(f32) -> f32
  func.func private @of_update(%x: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  func.func private @fill(%x: !llvm.ptr, %n: index) {
    return
  }
  func.func private @exp(%x: !llvm.ptr) {
    %0 = llvm.load %x : !llvm.ptr -> f32
    %1 = call @pdlabi_expf(%0) : (f32) -> f32
    llvm.store %1, %x : f32, !llvm.ptr
    return
  }
  func.func @train_prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  func.func @train_compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    %n = rt.count batch[0] of %context : !llvm.ptr
    %worker = rt.pointer worker[0] of %context : !llvm.ptr -> !llvm.ptr
    rt.launch @fill turns %n of %worker(%context, %n) : !llvm.ptr, (!llvm.ptr, index)
    rt.launch @exp turns %n of %worker(%context) : !llvm.ptr, (!llvm.ptr)
    return %zero : i32
  }
  rt.device_kernel @fill arguments [#rt<device_argument written>, #rt<device_argument number>]
  rt.device_kernel @exp arguments [#rt<device_argument written>]
  rt.program @train frozen reads(@clicks [@label])
    prepare(@train_prepare, <0 + 0 * batch>) compute(@train_compute, <0 + 0 * batch>)
}
