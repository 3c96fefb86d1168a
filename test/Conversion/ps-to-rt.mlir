// RUN: pdl-opt %S/../Transforms/PS/Inputs/two_roles.mlir --pdl-pipeline="to=roles mode=sync" -o %t.sync
// RUN: pdl-opt %S/../Transforms/PS/Inputs/two_roles.mlir --pdl-pipeline="to=roles mode=async" -o %t.async
// RUN: pdl-opt %t.sync --pass-pipeline="builtin.module(builtin.module(nn-updates-to-kernels,ps-to-rt))" | FileCheck %s --check-prefixes=CHECK,EARLY
// RUN: pdl-opt %t.async --pass-pipeline="builtin.module(builtin.module(nn-updates-to-kernels,ps-to-rt))" | FileCheck %s --check-prefixes=CHECK,LATE

// The contents of a response are read like state of this process: values when
// compute begins, rows from prepare on. The runtime computes sums and norms,
// and waits.
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
// The loss sums stay, because the runtime reads them from the step context.
// CHECK-NEXT: nn.loss_sum
// CHECK-NEXT: rt.gradient @emb keys(%[[K]] : tensor<?xi64>) sum(%[[DROWS]] : tensor<?x4xf32>) {stage = #nn.stage<apply>}
// If a trainer sends the sum of its workers to owners, it may send the sum
// early. If each worker sends on its own, it may not.
// EARLY-NEXT: rt.gradient @w sum(%[[DW]] : tensor<208x1xf32>) early {stage = #nn.stage<apply>}
// EARLY-NEXT: rt.gradient @v sum(%[[DV]] : tensor<208x1xf32>) early {stage = #nn.stage<apply>}
// LATE-NEXT: rt.gradient @w sum(%[[DW]] : tensor<208x1xf32>) {stage = #nn.stage<apply>}
// LATE-NEXT: rt.gradient @v sum(%[[DV]] : tensor<208x1xf32>) {stage = #nn.stage<apply>}
// CHECK-NEXT: }
// A program that only requests keeps only its reads.
// CHECK: nn.program @predict frozen
// CHECK-NOT: ps.
// CHECK: nn.read @scale
// CHECK: nn.pull @emb
// CHECK-NOT: rt.gradient

// On servers, handlers have become kernels. Channels, messages and units stay
// for the descriptor.
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
