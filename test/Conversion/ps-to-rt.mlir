// RUN: pdl-opt %S/../Transforms/PS/Inputs/two_roles.mlir --pdl-pipeline="to=roles mode=sync" -o %t.sync
// RUN: pdl-opt %S/../Transforms/PS/Inputs/two_roles.mlir --pdl-pipeline="to=roles mode=async" -o %t.async
// RUN: pdl-opt %t.sync --pass-pipeline="builtin.module(builtin.module(nn-updates-to-kernels,ps-to-rt))" | FileCheck %s --check-prefixes=CHECK,EARLY
// RUN: pdl-opt %t.async --pass-pipeline="builtin.module(builtin.module(nn-updates-to-kernels,ps-to-rt))" | FileCheck %s --check-prefixes=CHECK,LATE

// What an answer brings is read like state of the process: values when compute
// begins, rows from prepare on. Sums, norms and waiting are the runtime's.
// CHECK: module @trainer
// CHECK: ps.blocks @w
// CHECK: ps.channel @train.value.scale number 0
// CHECK: ps.message @train.exchange
// CHECK: nn.program @train
// CHECK-NOT: ps.
// CHECK: %[[K:[a-z0-9_]+]], {{.*}} = nn.unique {{.*}} {stage = #nn.stage<prepare>}
// CHECK-NEXT: %[[SCALE:.*]] = nn.read @scale {stage = #nn.stage<compute>} : tensor<8xf32>
// CHECK-NEXT: %[[W:.*]] = nn.read @w {stage = #nn.stage<compute>} : tensor<208x1xf32>
// CHECK-NEXT: %[[V:.*]] = nn.read @v {stage = #nn.stage<compute>} : tensor<208x1xf32>
// CHECK-NEXT: %[[ROWS:.*]] = nn.pull @emb[%[[K]]] {stage = #nn.stage<prepare>} : tensor<?x4xf32>
// CHECK: nn.pool %[[ROWS]][
// CHECK: nn.mul %{{.*}}, %[[SCALE]]
// CHECK: nn.gemm %{{.*}}, %[[W]]
// CHECK: nn.gemm %{{.*}}, %[[V]]
// CHECK: %[[DV:.*]] = nn.gemm %{{.*}} transposed,
// CHECK: %[[DW:.*]] = nn.gemm %{{.*}} transposed,
// CHECK: %[[DROWS:.*]] = nn.pool_gradient
// The sums of loss stay: the runtime takes them from the step context.
// CHECK-NEXT: nn.loss_sum
// CHECK-NEXT: rt.gradient @emb keys(%[[K]] : tensor<?xi64>) sum(%[[DROWS]] : tensor<?x4xf32>) {stage = #nn.stage<apply>}
// Where the sum of a trainer's workers goes to owners, it may leave early; where
// each worker sends by itself it does not.
// EARLY-NEXT: rt.gradient @w sum(%[[DW]] : tensor<208x1xf32>) early {stage = #nn.stage<apply>}
// EARLY-NEXT: rt.gradient @v sum(%[[DV]] : tensor<208x1xf32>) early {stage = #nn.stage<apply>}
// LATE-NEXT: rt.gradient @w sum(%[[DW]] : tensor<208x1xf32>) {stage = #nn.stage<apply>}
// LATE-NEXT: rt.gradient @v sum(%[[DV]] : tensor<208x1xf32>) {stage = #nn.stage<apply>}
// CHECK-NEXT: }
// Of a program that only asks, nothing is left but reads.
// CHECK: nn.program @predict frozen
// CHECK-NOT: ps.
// CHECK: nn.read @scale
// CHECK: nn.pull @emb
// CHECK-NOT: rt.gradient

// On servers handlers have become kernels; channels, messages and units stay for
// the descriptor.
// CHECK: module @pserver
// CHECK: ps.shards @emb
// CHECK: ps.channel @train.gradient.w
// CHECK: ps.message @train.exchange
// CHECK-NOT: ps.handler
// CHECK-NOT: nn.update
// CHECK: rt.once_kernel @all
// CHECK-NOT: nn.update
// CHECK: rt.update_kernel @emb
// CHECK: rt.update_kernel @w
// CHECK: rt.update_kernel @v
// CHECK-NOT: rt.update_kernel
