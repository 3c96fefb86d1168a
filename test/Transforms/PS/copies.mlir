// Mode geo: trainers apply the rules to copies, and servers add the changes.
// RUN: pdl-opt %S/Inputs/two_clips.mlir --pdl-pipeline="to=placed mode=geo" --nn-assign-stages --ps-insert-send-recv -o %t.plain
// RUN: FileCheck %s --check-prefixes=CHECK,PLAIN < %t.plain
// RUN: pdl-opt %t.plain --ps-fuse-messages -o %t.fused
// RUN: FileCheck %s --check-prefixes=CHECK,FUSED < %t.fused
// RUN: pdl-opt %S/Inputs/two_clips.mlir --pdl-pipeline="to=roles mode=geo" | FileCheck %s --check-prefix=ROLES

// Trained symbols are sent and received. Symbols that are only read are
// received, because servers may have other values than the initial ones.
// CHECK: ps.channel @train.keys.first number 0 in "train" keys of @first : tensor<?xi64>
// CHECK-NEXT: ps.channel @train.row_delta.first number 1 in "train" row_delta of @first : tensor<?x2xf32>
// CHECK-NEXT: ps.channel @train.changed_keys.first number 2 in "train" changed_keys of @first : tensor<?xi64>
// CHECK-NEXT: ps.channel @train.rows.first number 3 in "train" rows of @first : tensor<?x2xf32>
// CHECK: ps.channel @train.changed_keys.fixed number 8
// CHECK-NEXT: ps.channel @train.rows.fixed number 9
// CHECK-NEXT: ps.channel @train.delta.w number 10 in "train" delta of @w : tensor<2x1xf32>
// CHECK-NEXT: ps.channel @train.value.w number 11 in "train" value of @w : tensor<2x1xf32>
// CHECK-NEXT: ps.channel @train.delta.bias number 12
// CHECK-NEXT: ps.channel @train.value.bias number 13
// CHECK-NEXT: ps.channel @train.value.scale number 14
// FUSED-NEXT: ps.message @train.exchange in "train"
// FUSED-SAME: sends [@train.keys.first, @train.row_delta.first, @train.keys.second, @train.row_delta.second, @train.delta.w, @train.delta.bias] ahead []
// FUSED-SAME: receives [@train.changed_keys.first, @train.rows.first, @train.changed_keys.second, @train.rows.second, @train.changed_keys.fixed, @train.rows.fixed, @train.value.w, @train.value.bias, @train.value.scale]
// CHECK-NEXT: nn.program @train

// The wait is between prepare and compute, after the previous step was applied.
// CHECK: nn.unique {{.*}} {stage = #nn.stage<prepare>}
// PLAIN: ps.share @first sends [@train.keys.first, @train.row_delta.first] receives [@train.changed_keys.first, @train.rows.first] {stage = #nn.stage<receive>}
// PLAIN: ps.share @fixed sends [] receives [@train.changed_keys.fixed, @train.rows.fixed]
// PLAIN: ps.share @w sends [@train.delta.w] receives [@train.value.w]
// FUSED: ps.exchange @train.exchange {stage = #nn.stage<receive>}
// FUSED-NOT: ps.share
// CHECK: nn.read @w {stage = #nn.stage<compute>}
// All gradients of a clip are in this process, as in mode local.
// CHECK: nn.squared_norm {@second
// CHECK: nn.once @dense
// CHECK: nn.update @first {{.*}}
// CHECK: nn.update @bias

// CHECK: ps.handler @train.add in "train"
// FUSED-SAME: on @train.exchange
// CHECK-NEXT: %[[FIRST:.*]]:2 = ps.merged @train.row_delta.first : tensor<?xi64>, tensor<?x2xf32>
// CHECK-NEXT: ps.add_delta @first keys(%[[FIRST]]#0 : tensor<?xi64>) by %[[FIRST]]#1 : tensor<?x2xf32>
// CHECK: %[[W:.*]] = ps.merged @train.delta.w : tensor<2x1xf32>
// CHECK-NEXT: ps.add_delta @w by %[[W]] : tensor<2x1xf32>
// CHECK-NOT: nn.update

// A frozen program reads the copy, and exchanges no messages.
// CHECK: nn.program @predict frozen
// CHECK-NOT: ps.
// CHECK: nn.read @w

// Rules are in the role that applies them.
// ROLES: module @trainer
// ROLES: nn.rule @sgd
// ROLES: nn.group @dense
// ROLES: nn.table @first : i64 -> tensor<2xf32> in @sparse
// ROLES: ps.exchange @train.exchange
// ROLES: nn.update @w
// ROLES-NOT: ps.handler
// ROLES: module @pserver
// ROLES-NOT: nn.group
// ROLES-NOT: nn.rule
// ROLES: nn.table @first : i64 -> tensor<2xf32> init(
// ROLES: ps.handler @train.add
// ROLES-NOT: nn.program
