// RUN: pdl-opt %s --rt-launch-kernels --canonicalize | FileCheck %s
// RUN: pdl-opt %s --rt-launch-kernels=numerics=strict --canonicalize | FileCheck %s --check-prefix=STRICT --implicit-check-not=rt.device_product
// The result becomes a complete program.
// RUN: pdl-opt %s --rt-launch-kernels --rt-distribute-loops --rt-serialize-loops --rt-calls-to-llvm --canonicalize | FileCheck %s --check-prefix=CALLS
// RUN: not pdl-opt %s --rt-launch-kernels=numerics=exact 2>&1 | FileCheck %s --check-prefix=NUMERICS
// NUMERICS: error: rt-launch-kernels knows no numerics 'exact'; expected fast or strict

// With numerics fast, a library of the device computes f32 products, and their
// bias if it comes first. Other post-ops are a kernel after the product. Strict
// numerics does not use the library.

// CHECK: module @products attributes {rt.device_products, rt.target = "cuda"}
// STRICT: module @products attributes {rt.target = "cuda"}
module @products {
  nn.record @clicks {
    nn.field @numbers : tensor<?x4xf32>
  }
  func.func @prepare(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    return %zero : i32
  }
  // CHECK-LABEL: func.func @compute(
  // CHECK-DAG: %[[WORKER:.*]] = rt.pointer worker[0]
  // CHECK-DAG: %[[B:.*]] = rt.count batch[0]
  // CHECK-DAG: %[[X:.*]] = rt.device_pointer field_values[0]
  // CHECK-DAG: %[[W:.*]] = rt.device_pointer parameter[0]
  // CHECK-DAG: %[[Y:.*]] = rt.device_pointer compute_arena[0]
  // CHECK-DAG: %[[BIAS:.*]] = rt.address %[[W]][%c64]
  // CALLS-LABEL: llvm.func @pdlrt_device_product(!llvm.ptr, i32, i32, i32, i32, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64)
  // CALLS-LABEL: func.func @compute(
  // STRICT-LABEL: func.func @compute(
  func.func @compute(%context: !llvm.ptr) -> i32 {
    %zero = arith.constant 0 : i32
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %b = rt.count batch[0] of %context : !llvm.ptr
    %worker = rt.pointer worker[0] of %context : !llvm.ptr -> !llvm.ptr
    %numbers = rt.pointer field_values[0] of %context : !llvm.ptr -> !llvm.ptr
    %parameter = rt.pointer parameter[0] of %context : !llvm.ptr -> !llvm.ptr
    %arena = rt.pointer compute_arena[0] of %context : !llvm.ptr -> !llvm.ptr
    %x = rt.view %numbers[%c0] size(%b) : !llvm.ptr -> memref<?x4xf32>
    %w = rt.view %parameter[%c0] : !llvm.ptr -> memref<4x8xf32>
    %bias = rt.view %parameter[%c64] : !llvm.ptr -> memref<8xf32>
    %mask = rt.view %arena[%c64] size(%b) : !llvm.ptr -> memref<?x8xf32>
    %y = rt.view %arena[%c0] size(%b) : !llvm.ptr -> memref<?x8xf32, strided<[12, 1]>>
    // Bias, then relu.
    // CHECK: rt.device_product fast %[[WORKER]], %{{.*}}, %{{.*}} bias(%[[BIAS]] : !llvm.ptr) sizes(%[[B]], %c8, %c4) into %[[OUT:.*]] stride %c12 else @pdldevice_product_f32
    // CHECK: %[[TURNS:.*]] = call @pdldevice_posts_turns(%[[B]], %c8, %c2, %{{.*}}, %{{.*}}, %{{.*}}, %c12)
    // CHECK: rt.launch @pdldevice_posts_f32 turns %[[TURNS]] of %[[WORKER]](%[[B]], %c8, %c2, %{{.*}}, %{{.*}}, %{{.*}}, %c12)
    // STRICT: rt.launch @pdldevice_product_f32
    // CALLS-DAG: %[[FALSE:.*]] = llvm.mlir.constant(0 : i32)
    // CALLS: llvm.call @pdlrt_device_product(%{{.*}}, %[[FALSE]], %[[FALSE]], %[[FALSE]], %[[FALSE]], %{{.*}}) :
    rt.gemm fast %worker, %x, %w bias(%bias : memref<8xf32>) post [#rt<post bias>, #rt<post relu>] into %y
      : !llvm.ptr, memref<?x4xf32>, memref<4x8xf32>, memref<?x8xf32, strided<[12, 1]>>
    // Only the bias, and no post-op.
    // CHECK-NOT: pdldevice_posts
    // CHECK: rt.device_product fast {{.*}} bias(
    // CHECK-NOT: pdldevice_posts
    // CHECK: rt.device_product fast %{{.*}}, %{{.*}} transposed, %{{.*}} sizes(%c4, %c4, %[[B]])
    %g = rt.view %parameter[%c0] : !llvm.ptr -> memref<4x4xf32>
    rt.gemm fast %worker, %x, %w bias(%bias : memref<8xf32>) post [#rt<post bias>] into %y
      : !llvm.ptr, memref<?x4xf32>, memref<4x8xf32>, memref<?x8xf32, strided<[12, 1]>>
    %o = rt.view %arena[%c0] : !llvm.ptr -> memref<4x4xf32>
    rt.gemm fast %worker, %x transposed, %x post [] into %o
      : !llvm.ptr, memref<?x4xf32>, memref<?x4xf32>, memref<4x4xf32>
    // A mask.
    // CHECK: rt.device_product fast
    // CHECK: call @pdldevice_posts_turns(%[[B]], %c8, %c3,
    // CHECK: rt.launch @pdldevice_posts_f32
    rt.gemm fast %worker, %x, %w mask(%mask : memref<?x8xf32>) post [#rt<post relu_gradient>] into %y
      : !llvm.ptr, memref<?x4xf32>, memref<4x8xf32>, memref<?x8xf32, strided<[12, 1]>>
    // A bias that comes last is a post-op like others.
    // CHECK: rt.device_product fast %{{.*}}, %{{.*}}, %{{[a-z0-9]*}} sizes(
    // CHECK: call @pdldevice_posts_turns(%[[B]], %c8, %c18,
    // CHECK: rt.launch @pdldevice_posts_f32
    rt.gemm fast %worker, %x, %w bias(%bias : memref<8xf32>) post [#rt<post relu>, #rt<post bias>] into %y
      : !llvm.ptr, memref<?x4xf32>, memref<4x8xf32>, memref<?x8xf32, strided<[12, 1]>>
    // The library rounds factors or, with strict numerics, the kernel with the
    // fixed summation order.
    // CHECK: rt.device_product bf16 {{.*}} else @pdldevice_bf16_product_f32
    // STRICT: rt.launch @pdldevice_bf16_product_f32
    rt.gemm bf16 %worker, %x, %w post [] into %y
      : !llvm.ptr, memref<?x4xf32>, memref<4x8xf32>, memref<?x8xf32, strided<[12, 1]>>
    // CHECK: rt.device_product bf16 {{.*}} else @pdldevice_bf16_product_f32
    rt.gemm bf16_fast %worker, %x, %w post [] into %y
      : !llvm.ptr, memref<?x4xf32>, memref<4x8xf32>, memref<?x8xf32, strided<[12, 1]>>
    // Strict with any numerics: the products of a recurrence, and those of f64.
    // CHECK: rt.launch @pdldevice_product_f32
    // CHECK: rt.launch @pdldevice_product_f64
    rt.gemm strict %worker, %x, %w post [] into %y
      : !llvm.ptr, memref<?x4xf32>, memref<4x8xf32>, memref<?x8xf32, strided<[12, 1]>>
    %d = rt.view %arena[%c0] : !llvm.ptr -> memref<4x4xf64>
    rt.gemm fast %worker, %d, %d post [] into %d : !llvm.ptr, memref<4x4xf64>, memref<4x4xf64>, memref<4x4xf64>
    // Scores of a batch.
    // CHECK: scf.for
    // CHECK: rt.device_product fast %[[WORKER]], %{{.*}}, %{{.*}} transposed sizes(%[[ROWS:.*]], %[[B]], %c8) into %[[SCORES:.*]] stride %[[B]] else
    // CHECK: rt.launch @pdldevice_in_batch_weights_f32
    // CHECK: rt.device_product fast %[[WORKER]], %[[SCORES]], %{{.*}} sizes(%[[ROWS]], %c8, %[[B]])
    %u = rt.view %arena[%c0] size(%b) : !llvm.ptr -> memref<?x8xf32>
    %scratch = rt.view %arena[%c64] size(%b) : !llvm.ptr -> memref<?xf32>
    rt.in_batch_gradient users fast %worker, %u, %u sums %scratch from %scratch scratch %scratch into %mask
      : !llvm.ptr, memref<?x8xf32>, memref<?x8xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?x8xf32>
    return %zero : i32
  }
  rt.program @train frozen reads(@clicks [@numbers])
    prepare(@prepare, <0 + 0 * batch>) compute(@compute, <0 + 64 * batch>)
}
