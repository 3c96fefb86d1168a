// RUN: pdl-opt %s --rt-calls-to-llvm --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @context
// CHECK-SAME: (%[[CONTEXT:.*]]: !llvm.ptr)
func.func @context(%context: !llvm.ptr) -> (index, !llvm.ptr, !llvm.ptr) {
  // CHECK: %[[KEYS:.*]] = llvm.getelementptr %{{.*}}[1, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<"pdl_lookup"
  // CHECK: llvm.load %[[KEYS]] : !llvm.ptr -> i64
  %u = rt.count lookup_keys[1] of %context : !llvm.ptr
  // A struct itself is not loaded.
  // CHECK: llvm.getelementptr %{{.*}}[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<"pdl_lookup"
  %m = rt.pointer lookup[2] of %context : !llvm.ptr -> !llvm.ptr
  // CHECK: %[[LIST:.*]] = llvm.load
  // CHECK: %[[W:.*]] = llvm.getelementptr %[[LIST]][3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
  // CHECK: llvm.load %[[W]] : !llvm.ptr -> !llvm.ptr
  %w = rt.pointer parameter[3] of %context : !llvm.ptr -> !llvm.ptr
  return %u, %m, %w : index, !llvm.ptr, !llvm.ptr
}

// CHECK-LABEL: func.func @gemm
// CHECK-SAME: (%[[WORKER:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %{{.*}}: index)
func.func @gemm(%worker: !llvm.ptr, %arena: !llvm.ptr, %b: index) {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %x = rt.view %arena[%c0] size(%b) : !llvm.ptr -> memref<?x4xf32>
  %w = rt.view %arena[%c256] : !llvm.ptr -> memref<4x8xf32>
  %bias = rt.view %arena[%c0] : !llvm.ptr -> memref<8xf32>
  %y = rt.view %arena[%c256] size(%b) : !llvm.ptr -> memref<?x8xf32>
  // The post-ops are on the stack, in order.
  // CHECK: %[[POSTS:.*]] = llvm.alloca %{{.*}} x !llvm.struct<"pdl_post"
  // CHECK: %[[FIRST:.*]] = llvm.getelementptr %[[POSTS]][0, 0]
  // CHECK: llvm.store %{{.*}}, %[[FIRST]] : i32, !llvm.ptr
  // CHECK: llvm.getelementptr %[[POSTS]][1, 0]
  // CHECK: llvm.call @pdlrt_gemm(%[[WORKER]], %{{.*}}, %[[POSTS]]) : (!llvm.ptr, i32, i32, i32, i32, i64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i32, !llvm.ptr) -> ()
  rt.gemm fast %worker, %x, %w bias(%bias : memref<8xf32>) post [#rt<post bias>, #rt<post relu>] into %y
    : !llvm.ptr, memref<?x4xf32>, memref<4x8xf32>, memref<?x8xf32>
  return
}

// CHECK-LABEL: func.func @unique
func.func @unique(%worker: !llvm.ptr, %p: !llvm.ptr, %n: index, %lookup: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  %a = rt.view %p[%c0] size(%n) : !llvm.ptr -> memref<?xi64>
  // CHECK: %[[STATUS:.*]] = llvm.call @pdlrt_unique({{.*}}) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
  // CHECK: return %[[STATUS]]
  %status = rt.unique %worker, (%a, %a) into %lookup : !llvm.ptr, (memref<?xi64>, memref<?xi64>), !llvm.ptr
  return %status : i32
}

// Rows with gaps: in columns of a wider matrix, each with several bags.
// CHECK-LABEL: func.func @columns
func.func @columns(%worker: !llvm.ptr, %p: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %x = rt.view %p[%c0] size(%n) : !llvm.ptr -> memref<?x4xf32>
  %w = rt.view %p[%c0] : !llvm.ptr -> memref<4x8xf32>
  %y = rt.view %p[%c0] size(%n) : !llvm.ptr -> memref<?x8xf32, strided<[13, 1]>>
  // CHECK-DAG: %[[BAGS:.*]] = llvm.mlir.constant(3 : index) : i64
  // CHECK-DAG: %[[STRIDE:.*]] = llvm.mlir.constant(13 : index) : i64
  // CHECK: llvm.call @pdlrt_gemm(%{{.*}}, %[[STRIDE]], %{{.*}}, %{{.*}}) :
  rt.gemm fast %worker, %x, %w post [] into %y
    : !llvm.ptr, memref<?x4xf32>, memref<4x8xf32>, memref<?x8xf32, strided<[13, 1]>>
  %inverse = rt.view %p[%c0] size(%n) : !llvm.ptr -> memref<?xi32>
  %bags = rt.view %p[%c0] size(%n) : !llvm.ptr -> memref<?x3x4xf32, strided<[13, 4, 1]>>
  // CHECK: %[[COUNT:.*]] = llvm.mul %{{.*}}, %[[BAGS]]
  // CHECK: llvm.call @pdlrt_pool(%{{.*}}, %{{.*}}, %[[COUNT]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[BAGS]], %[[STRIDE]], %{{.*}}) :
  rt.pool sum %x[%inverse] into %bags
    : memref<?x4xf32>, memref<?xi32>, memref<?x3x4xf32, strided<[13, 4, 1]>>
  // CHECK: llvm.getelementptr %[[INPUTS:.*]][0, 0] : {{.*}} !llvm.struct<"pdl_pooled_input"
  // CHECK: llvm.store %[[BAGS]]
  // CHECK: llvm.store %[[STRIDE]]
  // CHECK: llvm.call @pdlrt_pool_gradient(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[INPUTS]], %{{.*}}, %{{.*}}) :
  rt.pool_gradient [#rt<pooling sum>] (%bags : memref<?x3x4xf32, strided<[13, 4, 1]>>) at %p[%c0] into %x
    : !llvm.ptr, memref<?x4xf32>
  // CHECK: llvm.call @pdlrt_batch_gemm(
  %squares = rt.view %p[%c0] size(%n) : !llvm.ptr -> memref<?x4x4xf32>
  rt.batch_gemm %worker, %squares, %squares transposed into %squares
    : !llvm.ptr, memref<?x4x4xf32>, memref<?x4x4xf32>, memref<?x4x4xf32>
  return
}

// One id per bag, so there are no splits.
// CHECK-LABEL: func.func @pool
func.func @pool(%p: !llvm.ptr, %n: index) {
  %c0 = arith.constant 0 : index
  %rows = rt.view %p[%c0] size(%n) : !llvm.ptr -> memref<?x4xf64>
  %inverse = rt.view %p[%c0] size(%n) : !llvm.ptr -> memref<?xi32>
  // CHECK-DAG: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
  // CHECK-DAG: %[[F64:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: llvm.call @pdlrt_pool(%[[F64]], {{.*}}, %[[NULL]], %{{.*}}) :
  rt.pool sum %rows[%inverse] into %rows : memref<?x4xf64>, memref<?xi32>, memref<?x4xf64>
  return
}

// CHECK-LABEL: func.func @draws_and_batches
func.func @draws_and_batches(%context: !llvm.ptr, %u: memref<?x4xf32>, %v: memref<?xf32>, %keys: memref<?xi64>, %splits: memref<?xi32>) -> i32 {
  // CHECK: %[[CONTEXT:.*]] = llvm.getelementptr %{{.*}}[0, {{[0-9]+}}] : {{.*}} !llvm.struct<"pdl_step_context"
  // CHECK: %[[DRAWS:.*]] = llvm.load %[[CONTEXT]]
  %draws = rt.pointer draws[0] of %context : !llvm.ptr -> !llvm.ptr
  %worker = rt.pointer worker[0] of %context : !llvm.ptr -> !llvm.ptr
  // CHECK: llvm.call @pdlrt_sample(%[[DRAWS]], %{{.*}}) : (!llvm.ptr, i64, i32, i64, i64, i64, !llvm.ptr, !llvm.ptr) -> ()
  rt.sample log_uniform %draws stream 7 count 5 from 0 below 50 into %keys : !llvm.ptr, memref<?xi64>
  // CHECK: %[[STATUS:.*]] = llvm.call @pdlrt_log_probability(%{{.*}}) : (i32, i32, i64, i64, !llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> i32
  %status = rt.log_probability uniform %keys from -9 below 9 into %v : memref<?xi64>, memref<?xf32>
  // CHECK: llvm.call @pdlrt_dropout(%[[DRAWS]], %{{.*}}) : (!llvm.ptr, i64, i32, f64, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  rt.dropout %u splits(%splits : memref<?xi32>) rate 0.5 %draws stream 7 into %u : memref<?x4xf32>, !llvm.ptr, memref<?x4xf32>
  // CHECK: llvm.call @pdlrt_in_batch_log_sum_exp(%{{.*}}) : (!llvm.ptr, i32, i32, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  rt.in_batch_log_sum_exp strict %worker, %u, %u ids(%keys : memref<?xi64>) scratch %v into %v
    : !llvm.ptr, memref<?x4xf32>, memref<?x4xf32>, memref<?xf32>, memref<?xf32>
  // CHECK: llvm.call @pdlrt_in_batch_gradient(%{{.*}}) : (!llvm.ptr, i32, i32, i32, i64, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  rt.in_batch_gradient items strict %worker, %u, %u sums %v from %v scratch %v into %u
    : !llvm.ptr, memref<?x4xf32>, memref<?x4xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?x4xf32>
  // CHECK: llvm.call @pdlrt_gradient_ready(%{{.*}}, %{{.*}}) : (!llvm.ptr, i32) -> ()
  rt.gradient_ready 3 of %worker : !llvm.ptr
  // CHECK: return %[[STATUS]]
  return %status : i32
}

// The lanes of the runtime's function: the first 16 elements are added to +0,
// the last two are vectors of powers of two; then the tree.
// CHECK-LABEL: func.func @combine_row
func.func @combine_row(%p: !llvm.ptr, %n: index, %i: index) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %x = rt.view %p[%c0] size(%n) : !llvm.ptr -> memref<?x18xf32>
  // CHECK: %[[FIRST:.*]] = llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
  // CHECK: %[[SUMS:.*]] = llvm.fadd %{{.*}}, %[[FIRST]] : vector<16xf32>
  // CHECK: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr -> vector<2xf32>
  // CHECK: llvm.fadd %[[SUMS]], %{{.*}} : vector<16xf32>
  // CHECK: llvm.fadd %{{.*}} : vector<8xf32>
  // CHECK: llvm.fadd %{{.*}} : vector<4xf32>
  // CHECK: llvm.fadd %{{.*}} : vector<2xf32>
  // CHECK: %[[SUM:.*]] = llvm.fadd %{{.*}} : f32
  // CHECK: llvm.fdiv %[[SUM]], %{{.*}} : f32
  %mean = rt.combine_row mean %x[%i] : memref<?x18xf32>
  // CHECK: llvm.fcmp "ogt" %{{.*}} : vector<16xf32>
  // CHECK: llvm.fcmp "uno" %{{.*}} : vector<16xf32>
  // CHECK: llvm.select
  %max = rt.combine_row max %x[%i] : memref<?x18xf32>
  return %mean, %max : f32, f32
}
