// Case: one dense layer of 1000 x 1000 with a bias and two servers. Parameters
// are sliced, not sliced, or not sliced because the minimum block is larger
// than the parameter.
//
// Fluid: a trainer split each gradient, sent the parts one by one, waited at a
// send barrier, received the parameters part by part, waited at a fetch
// barrier, and joined the parts. Servers summed the gradients, multiplied them
// by 1 / trainers, and applied the rule.
//
// PDL: there is one message per server and step. Blocks are units of placement
// and not values of the program, so the program contains no split and no join.
// The sums of the losses' weights are sent with the gradients, and the server
// divides by them. So batches of different sizes count as in one process.
//
// RUN: pdl-opt %S/Inputs/dense.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,SYNC,SLICED
// RUN: pdl-opt %S/Inputs/dense.mlir --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefixes=CHECK,ASYNC,SLICED
// RUN: pdl-opt %S/Inputs/dense.mlir --pdl-pipeline="to=roles mode=sync slice=false" | FileCheck %s --check-prefixes=CHECK,SYNC,WHOLE
// RUN: pdl-opt %S/Inputs/dense.mlir --pdl-pipeline="to=roles mode=sync min-block-elements=1048576" | FileCheck %s --check-prefixes=CHECK,SYNC,WHOLE
// RUN: pdl-opt %S/Inputs/dense.mlir --pdl-pipeline="to=placed mode=sync" --ps-place="servers=2" | FileCheck %s --check-prefix=TWO
// RUN: pdl-opt %S/Inputs/dense.mlir --pdl-pipeline="to=placed mode=sync" --ps-place="servers=2 policy=round-robin" | FileCheck %s --check-prefix=TURNS
// RUN: pdl-opt %S/Inputs/dense.mlir --pdl-pipeline="to=placed mode=sync slice=false" --ps-place="servers=2" | FileCheck %s --check-prefix=UNCUT

// CHECK: module @trainer
// A unit of 64 rows has 250 KiB, more than the target of a block.
// SLICED: ps.blocks @fc_w rows [0, 64, 128, 192, 256, 320, 384, 448, 512, 576, 640, 704, 768, 832, 896, 1000]
// WHOLE: ps.blocks @fc_w rows [0, 1000] costs [8000000]
// CHECK: ps.blocks @fc_b rows [0, 1] costs [8000]

// Sync forms rounds over all trainers. Async does not; each push is applied on
// its own.
// SYNC: ps.message @train.exchange in "train" round sends
// ASYNC: ps.message @train.exchange in "train" sends
// CHECK-SAME: [@train.gradient.fc_w, @train.gradient.fc_b, @train.loss] ahead []
// CHECK-SAME: receives [@train.loss, @train.value.fc_w, @train.value.fc_b]

// The trainer: values, forward, backward, push. It initializes nothing, and has
// no update, learning rate or regularizer.
// CHECK: nn.program @train
// CHECK: %[[IN:.*]]:4 = ps.wait @train.exchange
// CHECK: nn.gemm %{{.*}}, %[[IN]]#2 bias(%[[IN]]#3)
// CHECK-NOT: nn.update
// CHECK-NOT: nn.once
// CHECK: %[[DB:.*]] = nn.reduce sum %{{.*}} axes [0]
// CHECK: %[[DW:.*]] = nn.gemm %{{.*}} transposed
// CHECK: %[[SUM:.*]], %[[WEIGHT:.*]] = nn.loss_sum
// CHECK: ps.post @train.exchange(%[[DW]], %[[DB]], %[[SUM]], %[[WEIGHT]])

// The server: merge, divide, and the rule, once for each parameter. It has no
// forward pass.
// CHECK: module @pserver
// CHECK: ps.handler @train.apply in "train" on @train.exchange {
// CHECK-NEXT: %[[LOSS:.*]]:2 = ps.merged @train.loss
// CHECK-NEXT: %[[W:.*]] = ps.merged @train.gradient.fc_w
// CHECK-NEXT: %[[B:.*]] = ps.merged @train.gradient.fc_b
// CHECK-NEXT: nn.once @weights weight(%[[LOSS]]#1)
// CHECK-NOT: nn.gemm
// CHECK: nn.update @fc_w gradient(%[[W]])
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: f32, %[[GRADIENT:.*]]: f32, %[[WEIGHT:.*]]: f32, %[[RATE:.*]]: f32):
// CHECK-NEXT: %[[MEAN:.*]] = arith.divf %[[GRADIENT]], %[[WEIGHT]]
// CHECK-NEXT: %[[CHANGE:.*]] = arith.mulf %[[RATE]], %[[MEAN]]
// CHECK-NEXT: %[[NEW:.*]] = arith.subf %[[VALUE]], %[[CHANGE]]
// CHECK-NEXT: nn.yield %[[NEW]]
// CHECK: nn.update @fc_b gradient(%[[B]])
// CHECK-NOT: nn.update

// Owners are assigned when programs start; each block has one owner. By default
// the server with the least load gets the next block, so that bytes are
// distributed evenly.
// TWO: ps.blocks @fc_w {{.*}}servers = array<i32: {{[01, ]+}}>
// TWO: ps.blocks @fc_b {{.*}}servers = array<i32: {{[01]}}>
// Round robin, which was Fluid's default. The position continues from parameter
// to parameter.
// TURNS: ps.blocks @fc_w {{.*}}servers = array<i32: 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0>
// TURNS: ps.blocks @fc_b {{.*}}servers = array<i32: 1>
// UNCUT: ps.blocks @fc_w {{.*}}servers = array<i32: 0>
// UNCUT: ps.blocks @fc_b {{.*}}servers = array<i32: 1>
