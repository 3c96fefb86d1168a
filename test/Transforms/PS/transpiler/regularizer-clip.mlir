// Case: L2 decay and clipping of one of two parameters.
//
// Fluid: both moved to the server, in the order merge, average, clip, decay,
// rule. Because of a defect, the last parameter's clip applied to all
// parameters. A clip by norm would have used only one slice, because a server
// has no more.
//
// PDL: clip and decay belong to a group, and are expanded only in the updates
// of its symbols. The order is merge, divide, clip, regularizer, rule. The norm
// of a joint clip is that of the group's whole gradient, over all servers. In
// sync, servers respond with partial norms, and trainers send the joined norm
// back. A clip by norm is a joint clip of one symbol.
//
// RUN: sed -e 's/@weights rule(@sgd) rate(0.1)/@weights rule(@momentum) rate(0.1) decay(#nn.l2<1.0e-4>) clip(@joint)/' -e 's/  nn.group @biases/  nn.clip @joint : global_norm(0.1)\n&/' %S/Inputs/dense.mlir > %t.mlir
// RUN: pdl-opt %t.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,SYNC
// RUN: pdl-opt %t.mlir --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefixes=CHECK,ASYNC
// RUN: sed -e 's/global_norm/norm/' %t.mlir | pdl-opt --pdl-pipeline="to=roles mode=sync" | sed -e 's/weights[.]fc_w/weights/g; s/joint[.]fc_w/joint/g' | FileCheck %s --check-prefixes=CHECK,SYNC

// CHECK: module @trainer
// SYNC: ps.message @train.exchange in "train" round sends [@train.gradient.fc_w, @train.gradient.fc_b, @train.loss] ahead [] receives [@train.loss, @train.partial_norm.joint.fc_w]
// SYNC-NEXT: ps.message @train.norm in "train" round sends [@train.norm.joint] ahead [] receives [@train.value.fc_w, @train.value.fc_b]
// ASYNC: ps.message @train.exchange in "train" sends [@train.gradient.fc_w, @train.gradient.fc_b, @train.loss, @train.norm.joint]
// Trainers send gradients unchanged.
// CHECK: nn.program @train
// CHECK: %[[DW:.*]] = nn.gemm %{{.*}} transposed
// SYNC: ps.post @train.exchange(%[[DW]],
// SYNC-NEXT: %[[OUT:.*]]:3 = ps.wait @train.exchange
// SYNC-NEXT: %[[N:.*]] = ps.join_norms %[[OUT]]#2
// SYNC-NEXT: ps.post @train.norm(%[[N]])
// ASYNC: %[[N:.*]] = nn.squared_norm {@fc_w = %[[DW]] : tensor<{{.*}}>} weight(
// ASYNC-NEXT: ps.post @train.exchange(%[[DW]], %{{.*}}, %{{.*}}, %{{.*}}, %[[N]])

// CHECK: module @pserver
// CHECK: ps.handler @train.apply
// CHECK: %[[LOSS:.*]]:2 = ps.merged @train.loss
// CHECK: %[[W:.*]] = ps.merged @train.gradient.fc_w
// CHECK: %[[B:.*]] = ps.merged @train.gradient.fc_b
// CHECK: %[[NORM:.*]] = ps.merged @train.norm.joint
// The factor limit / max(norm, limit), once.
// CHECK: %[[S:.*]]:4 = nn.once @weights weight(%[[LOSS]]#1) norm(%[[NORM]]) -> (weight, clip_factor, 
// CHECK: math.sqrt
// CHECK: %[[FREE:.*]]:2 = nn.once @biases weight(%[[LOSS]]#1) -> (weight, "rate") {

// Divide, clip, decay, rule.
// CHECK: nn.update @fc_w gradient(%[[W]]) scalars(%[[S]]#0, %[[S]]#1, %[[S]]#2, %[[S]]#3)
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: f32, %[[GRADIENT:.*]]: f32, %[[VELOCITY:.*]]: f32, %[[WEIGHT:.*]]: f32, %[[FACTOR:.*]]: f32, %[[RATE:.*]]: f32, %[[MOMENTUM:.*]]: f32):
// CHECK: %[[MEAN:.*]] = arith.divf %[[GRADIENT]], %[[WEIGHT]]
// CHECK: %[[CLIPPED:.*]] = arith.mulf %[[MEAN]], %[[FACTOR]]
// CHECK: %[[DECAY:.*]] = arith.mulf %{{.*}}, %[[VALUE]]
// CHECK: %[[DECAYED:.*]] = arith.addf %[[CLIPPED]], %[[DECAY]]
// CHECK: %[[KEPT:.*]] = arith.mulf %[[MOMENTUM]], %[[VELOCITY]]
// CHECK: %[[NEW:.*]] = arith.addf %[[KEPT]], %[[DECAYED]]
// CHECK: nn.yield %{{.*}}, %[[NEW]]

// The bias has neither: divide, rule.
// CHECK: nn.update @fc_b gradient(%[[B]]) scalars(%[[FREE]]#0, %[[FREE]]#1)
// CHECK-NEXT: ^bb0(%[[VALUE:.*]]: f32, %[[GRADIENT:.*]]: f32, %[[WEIGHT:.*]]: f32, %[[RATE:.*]]: f32):
// CHECK-NEXT: %[[MEAN:.*]] = arith.divf %[[GRADIENT]], %[[WEIGHT]]
// CHECK-NEXT: %[[CHANGE:.*]] = arith.mulf %[[RATE]], %[[MEAN]]
// CHECK-NEXT: arith.subf %[[VALUE]], %[[CHANGE]]
