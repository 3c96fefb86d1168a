// RUN: pdl-opt %s | pdl-opt | FileCheck %s

// CHECK-LABEL: func.func @prepare
func.func @prepare(%context: !llvm.ptr) -> i32 {
  %c0 = arith.constant 0 : index
  // CHECK: rt.count batch[0] of %{{.*}} : !llvm.ptr
  %b = rt.count batch[0] of %context : !llvm.ptr
  // CHECK: rt.pointer worker[0] of %{{.*}} : !llvm.ptr -> !llvm.ptr
  %worker = rt.pointer worker[0] of %context : !llvm.ptr -> !llvm.ptr
  %values = rt.pointer field_values[1] of %context : !llvm.ptr -> !llvm.ptr
  %splits = rt.pointer field_splits[1] of %context : !llvm.ptr -> !llvm.ptr
  %lookup = rt.pointer lookup[0] of %context : !llvm.ptr -> !llvm.ptr
  // CHECK: rt.view %{{.*}}[%{{.*}}] size(%{{.*}}) : !llvm.ptr -> memref<?xi64>
  %ids = rt.view %values[%c0] size(%b) : !llvm.ptr -> memref<?xi64>
  %bags = rt.view %splits[%c0] size(%b) : !llvm.ptr -> memref<?xi32>
  // CHECK: rt.cross_ragged_count(%{{.*}}, %{{.*}}) : memref<?xi32>, memref<?xi32>
  %n = rt.cross_ragged_count (%bags, %bags) : memref<?xi32>, memref<?xi32>
  // CHECK: rt.allocate %{{.*}}, %{{.*}} : !llvm.ptr -> !llvm.ptr
  %memory = rt.allocate %worker, %n : !llvm.ptr -> !llvm.ptr
  %crossed = rt.view %memory[%c0] size(%n) : !llvm.ptr -> memref<?xi64>
  // CHECK: rt.cross_ragged (%[[IDS:.*]] : memref<?xi64> bags(%[[BAGS:.*]] : memref<?xi32>), %[[IDS]] : memref<?xi64> bags(%[[BAGS]] : memref<?xi32>)) salt 7 into %{{.*}}, %[[BAGS]] : memref<?xi64>, memref<?xi32>
  rt.cross_ragged (%ids : memref<?xi64> bags(%bags : memref<?xi32>), %ids : memref<?xi64> bags(%bags : memref<?xi32>))
    salt 7 into %crossed, %bags : memref<?xi64>, memref<?xi32>
  // CHECK: rt.cross(%{{.*}}) salt 1 into
  rt.cross (%ids) salt 1 into %ids : (memref<?xi64>), memref<?xi64>
  // CHECK: rt.unique %{{.*}}, (%{{.*}}, %{{.*}}) into %{{.*}} : !llvm.ptr, (memref<?xi64>, memref<?xi64>), !llvm.ptr
  %s0 = rt.unique %worker, (%ids, %crossed) into %lookup : !llvm.ptr, (memref<?xi64>, memref<?xi64>), !llvm.ptr
  // CHECK: rt.pull %{{.*}}, table 2 into
  %s1 = rt.pull %worker, table 2 into %lookup : !llvm.ptr, !llvm.ptr
  return %s1 : i32
}

// CHECK-LABEL: func.func @compute
func.func @compute(%worker: !llvm.ptr, %p: !llvm.ptr, %n: index, %rows: memref<?x4xf32>, %i: memref<?xi32>,
                   %v: memref<?xf32>, %keys: memref<?xi64>, %edges: memref<3xf64>, %w: memref<4x4xf32>, %bias: memref<4xf32>) {
  // CHECK: rt.gather %{{.*}} into
  rt.gather %p into %rows : !llvm.ptr, memref<?x4xf32>
  // CHECK: rt.pool mean %{{.*}}[%{{.*}}] splits(%{{.*}} : memref<?xi32>) into
  rt.pool mean %rows[%i] splits(%i : memref<?xi32>) into %rows : memref<?x4xf32>, memref<?xi32>, memref<?x4xf32>
  // CHECK: rt.pool sum {{.*}} : memref<?x4xf32>, memref<?xi32>, memref<?x3x4xf32, strided<[20, 4, 1]>>
  %apart = rt.view %p[%n] size(%n) : !llvm.ptr -> memref<?x3x4xf32, strided<[20, 4, 1]>>
  rt.pool sum %rows[%i] into %apart : memref<?x4xf32>, memref<?xi32>, memref<?x3x4xf32, strided<[20, 4, 1]>>
  // CHECK: rt.pool_gradient [#rt<pooling sqrtn>, #rt<pooling sum>](%{{.*}}, %{{.*}} : memref<?x4xf32>, memref<?x4xf32>) at %{{.*}}[%{{.*}}, %{{.*}}] splits(%{{.*}} : memref<?xi32>) of [1] bags(%{{.*}} : memref<?xi32>) into
  rt.pool_gradient [#rt<pooling sqrtn>, #rt<pooling sum>] (%rows, %rows : memref<?x4xf32>, memref<?x4xf32>) at %p[%n, %n]
    splits(%i : memref<?xi32>) of [1] bags(%i : memref<?xi32>) into %rows : !llvm.ptr, memref<?x4xf32>
  // CHECK: rt.pool_gradient [#rt<pooling sum>](%{{.*}} : memref<?x4xf32>) at %{{.*}}[%{{.*}}] into
  rt.pool_gradient [#rt<pooling sum>] (%rows : memref<?x4xf32>) at %p[%n] into %rows : !llvm.ptr, memref<?x4xf32>
  // CHECK: rt.bucketize %{{.*}}, %{{.*}} into
  rt.bucketize %v, %edges into %keys : memref<?xf32>, memref<3xf64>, memref<?xi64>
  // CHECK: rt.gemm strict %{{.*}}, %{{.*}}, %{{.*}} transposed bias(%{{.*}} : memref<4xf32>)
  rt.gemm strict %worker, %rows, %w transposed bias(%bias : memref<4xf32>) post [#rt<post bias>, #rt<post relu>] into %rows
    : !llvm.ptr, memref<?x4xf32>, memref<4x4xf32>, memref<?x4xf32>
  %matrices = rt.view %p[%n] size(%n) : !llvm.ptr -> memref<?x3x3xf32>
  // CHECK: rt.batch_gemm %{{.*}}, %{{.*}} transposed, %{{.*}} transposed into %{{.*}} : !llvm.ptr, memref<?x3x3xf32>
  rt.batch_gemm %worker, %matrices transposed, %matrices transposed into %matrices
    : !llvm.ptr, memref<?x3x3xf32>, memref<?x3x3xf32>, memref<?x3x3xf32>
  // CHECK: rt.in_batch_log_sum_exp strict %{{.*}}, %{{.*}}, %{{.*}} correction(%{{.*}} : memref<?xf32>) ids(%{{.*}} : memref<?xi64>) scratch %{{.*}} into %{{.*}} : !llvm.ptr, memref<?x4xf32>, memref<?x4xf32>, memref<?xf32>, memref<?xf32>
  rt.in_batch_log_sum_exp strict %worker, %rows, %rows correction(%v : memref<?xf32>) ids(%keys : memref<?xi64>) scratch %v into %v
    : !llvm.ptr, memref<?x4xf32>, memref<?x4xf32>, memref<?xf32>, memref<?xf32>
  // CHECK: rt.in_batch_gradient items fast %{{.*}}, %{{.*}}, %{{.*}} sums %{{.*}} from %{{.*}} scratch %{{.*}} into %{{.*}} : !llvm.ptr, memref<?x4xf32>, memref<?x4xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?x4xf32>
  rt.in_batch_gradient items fast %worker, %rows, %rows sums %v from %v scratch %v into %rows
    : !llvm.ptr, memref<?x4xf32>, memref<?x4xf32>, memref<?xf32>, memref<?xf32>, memref<?xf32>, memref<?x4xf32>
  // CHECK: rt.dropout %{{.*}} splits(%{{.*}} : memref<?xi32>) rate 5.000000e-01 %{{.*}} stream 7 into %{{.*}} : memref<?x4xf32>, !llvm.ptr, memref<?x4xf32>
  rt.dropout %rows splits(%i : memref<?xi32>) rate 0.5 %p stream 7 into %rows : memref<?x4xf32>, !llvm.ptr, memref<?x4xf32>
  // CHECK: rt.sample log_uniform %{{.*}} stream 7 count 5 from 0 below 50 into %{{.*}} : !llvm.ptr, memref<?xi64>
  rt.sample log_uniform %p stream 7 count 5 from 0 below 50 into %keys : !llvm.ptr, memref<?xi64>
  // CHECK: rt.log_probability uniform %{{.*}} from -9 below 9 into %{{.*}} : memref<?xi64>, memref<?xf32>
  %drawn = rt.log_probability uniform %keys from -9 below 9 into %v : memref<?xi64>, memref<?xf32>
  // CHECK: rt.sample counts(%{{.*}} : memref<3xf64>) %{{.*}} stream 7 count 5 from 0 below 3 into %{{.*}} : !llvm.ptr, memref<?xi64>
  rt.sample counts(%edges : memref<3xf64>) %p stream 7 count 5 from 0 below 3 into %keys : !llvm.ptr, memref<?xi64>
  // CHECK: rt.log_probability counts(%{{.*}} : memref<3xf64>) %{{.*}} from 0 below 3 into %{{.*}} : memref<?xi64>, memref<?xf32>
  %counted = rt.log_probability counts(%edges : memref<3xf64>) %keys from 0 below 3 into %v : memref<?xi64>, memref<?xf32>
  // CHECK: rt.reduce_rows max %{{.*}} rows %{{.*}} width %{{.*}} into
  rt.reduce_rows max %v rows %n width %n into %v : memref<?xf32>, memref<?xf32>
  // CHECK: rt.combine_row mean %{{.*}}[%{{.*}}] : memref<?x4xf32>
  %mean = rt.combine_row mean %rows[%n] : memref<?x4xf32>
  // CHECK: rt.loss_sum %{{.*}} weights(%{{.*}} : memref<?xf32>) into
  rt.loss_sum %v weights(%v : memref<?xf32>) into %p, %p : memref<?xf32>, !llvm.ptr, !llvm.ptr
  // CHECK: rt.observe #nn.auc<buckets = 4096> %{{.*}} labels(%{{.*}} : memref<?x4xf32>) weights(%{{.*}} : memref<?xf32>) into
  rt.observe #nn.auc<buckets = 4096> %rows labels(%rows : memref<?x4xf32>) weights(%v : memref<?xf32>) into %p : memref<?x4xf32>, !llvm.ptr
  // CHECK: rt.observe_groups 2 %{{.*}}, %{{.*}} labels(%{{.*}}) groups(%{{.*}}) weights(%{{.*}} : memref<?xf32>) into %{{.*}} : !llvm.ptr, memref<?xf32>, memref<?xf32>, memref<?xi64>, !llvm.ptr
  rt.observe_groups 2 %worker, %v labels(%v) groups(%keys) weights(%v : memref<?xf32>) into %p
    : !llvm.ptr, memref<?xf32>, memref<?xf32>, memref<?xi64>, !llvm.ptr
  // CHECK: rt.gradient_ready 3 of %{{.*}} : !llvm.ptr
  rt.gradient_ready 3 of %worker : !llvm.ptr
  return
}
