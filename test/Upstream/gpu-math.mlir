// RUN: mlir-opt %s --pass-pipeline='builtin.module(gpu.module(convert-gpu-to-nvvm))' | FileCheck %s

// Calls of CUDA's library, which does not exist without CUDA.
// CHECK-DAG: llvm.func @__nv_sqrtf(f32) -> f32
// CHECK-DAG: llvm.func @__nv_fmaf(f32, f32, f32) -> f32
// A memref of rank 1 is five parameters, one of rank 2 seven.
// CHECK: llvm.func @kernel(%{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: i64, %{{[^,]*}}: i64, %{{[^,]*}}: i64, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: !llvm.ptr, %{{[^,]*}}: i64, %{{[^,]*}}: i64, %{{[^,]*}}: i64, %{{[^,]*}}: i64, %{{[^,]*}}: i64)
// CHECK: llvm.call @__nv_sqrtf
// CHECK: llvm.call @__nv_fmaf

// Calls that bypass the library are rounded correctly.
// RUN: mlir-opt %s --pass-pipeline='builtin.module(nvvm-attach-target{chip=sm_90 O=3},gpu.module(convert-gpu-to-nvvm,reconcile-unrealized-casts),gpu-module-to-binary{format=isa})' | FileCheck %s --check-prefix=PTX
// PTX: div.rn.f32

gpu.module @kernels {
  gpu.func @kernel(%a: memref<?xf32>, %b: memref<?x?xf32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %a[%i] : memref<?xf32>
    %y = math.sqrt %x : f32
    %z = math.fma %y, %x, %x : f32
    %w = arith.divf %z, %y : f32
    memref.store %w, %b[%i, %i] : memref<?x?xf32>
    gpu.return
  }
}
