// RUN: pdl-opt %S/Inputs/two_clips.mlir --pdl-pipeline="to=placed mode=sync" --nn-assign-stages -o %t.sync
// RUN: pdl-opt %S/Inputs/two_clips.mlir --pdl-pipeline="to=placed mode=async" --nn-assign-stages -o %t.async
// RUN: FileCheck %s --check-prefix=BEFORE < %t.sync
// RUN: pdl-opt %t.sync --ps-insert-send-recv | FileCheck %s --check-prefixes=CHECK,SYNC
// RUN: pdl-opt %t.async --ps-insert-send-recv | FileCheck %s --check-prefixes=CHECK,ASYNC

// A trainer's program reads and updates state. All of this moves to servers.
// BEFORE-LABEL: nn.program @train
// BEFORE-DAG: nn.read @scale {stage = #nn.stage<compute>}
// BEFORE-DAG: nn.pull @first[{{.*}}] {stage = #nn.stage<prepare>}
// BEFORE: nn.squared_norm {@second[%{{.*}}] = %{{.*}}, @w = %{{.*}}} weight
// BEFORE: nn.once @dense {{.*}} norm
// BEFORE: nn.update @first
// BEFORE: nn.update @bias

// Channels are numbered by program. A table has one for each direction. A
// symbol that is only read has no gradient channel.
// CHECK: ps.channel @train.value.scale number 0 in "train" value of @scale : tensor<2xf32>
// CHECK-NEXT: ps.channel @train.value.w number 1 in "train" value of @w : tensor<2x1xf32>
// CHECK-NEXT: ps.channel @train.value.bias number 2 in "train" value of @bias : tensor<1xf32>
// CHECK-NEXT: ps.channel @train.keys.first number 3 in "train" keys of @first : tensor<?xi64>
// CHECK-NEXT: ps.channel @train.rows.first number 4 in "train" rows of @first : tensor<?x2xf32>
// CHECK-NEXT: ps.channel @train.keys.second number 5
// CHECK-NEXT: ps.channel @train.rows.second number 6
// CHECK-NEXT: ps.channel @train.keys.fixed number 7
// CHECK-NEXT: ps.channel @train.rows.fixed number 8
// In mode async workers form norms, so a gradient channel names its clip.
// SYNC-NEXT: ps.channel @train.row_gradient.first number 9 in "train" row_gradient of @first : tensor<?x2xf32>
// SYNC-NEXT: ps.channel @train.row_gradient.second number 10 in "train" row_gradient of @second :
// SYNC-NEXT: ps.channel @train.gradient.w number 11 in "train" gradient of @w : tensor<2x1xf32>
// ASYNC-NEXT: ps.channel @train.row_gradient.first number 9 in "train" row_gradient of @first clip @loose : tensor<?x2xf32>
// ASYNC-NEXT: ps.channel @train.row_gradient.second number 10 in "train" row_gradient of @second clip @tight :
// ASYNC-NEXT: ps.channel @train.gradient.w number 11 in "train" gradient of @w clip @tight : tensor<2x1xf32>
// CHECK-NEXT: ps.channel @train.gradient.bias number 12 in "train" gradient of @bias :
// CHECK-NEXT: ps.channel @train.loss number 13 in "train" loss : tensor<2xf64>

// Partial norms are ordered by clip, then by symbol in the module's order.
// SYNC-NEXT: ps.channel @train.partial_norm.tight.second number 14 in "train" partial_norm of @second clip @tight : tensor<?xf64>
// SYNC-NEXT: ps.channel @train.partial_norm.tight.w number 15
// SYNC-NEXT: ps.channel @train.norm.tight number 16 in "train" norm clip @tight : tensor<f64>
// SYNC-NEXT: ps.channel @train.partial_norm.loose.first number 17
// SYNC-NEXT: ps.channel @train.norm.loose number 18
// ASYNC-NEXT: ps.channel @train.norm.tight number 14 in "train" norm clip @tight : tensor<f64>
// ASYNC-NEXT: ps.channel @train.norm.loose number 15
// CHECK-NEXT: nn.program @train

// The order of stages after the entry: prepare, receive, compute, send.
// CHECK-NOT: nn.read
// CHECK-NOT: nn.pull
// CHECK: %[[K0:[a-z0-9_]+]], {{.*}} = nn.unique {{.*}} {stage = #nn.stage<prepare>}
// CHECK: %[[K1:[a-z0-9_]+]], {{.*}} = nn.unique {{.*}} {stage = #nn.stage<prepare>}
// CHECK: %[[K2:[a-z0-9_]+]], {{.*}} = nn.unique {{.*}} {stage = #nn.stage<prepare>}
// CHECK-NEXT: ps.recv @train.value.scale {stage = #nn.stage<receive>} : tensor<2xf32>
// CHECK-NEXT: ps.recv @train.value.w {stage = #nn.stage<receive>} : tensor<2x1xf32>
// CHECK-NEXT: ps.recv @train.value.bias {stage = #nn.stage<receive>} : tensor<1xf32>
// CHECK-NEXT: ps.pull @train.rows.first[%[[K0]]] by @train.keys.first {stage = #nn.stage<receive>}
// CHECK-NEXT: ps.pull @train.rows.second[%[[K1]]] by @train.keys.second {stage = #nn.stage<receive>}
// CHECK-NEXT: ps.pull @train.rows.fixed[%[[K2]]] by @train.keys.fixed {stage = #nn.stage<receive>}
// CHECK: %[[SUM:.*]], %[[WEIGHT:.*]] = nn.loss_sum
// CHECK-NEXT: %[[T0:.*]] = ps.push %[[G0:.*]][%[[K0]]] to @train.row_gradient.first {stage = #nn.stage<send>}
// CHECK-NEXT: %[[T1:.*]] = ps.push %[[G1:.*]][%[[K1]]] to @train.row_gradient.second
// CHECK-NEXT: %[[T2:.*]] = ps.send %[[G2:.*]] to @train.gradient.w
// CHECK-NEXT: %[[T3:.*]] = ps.send %{{.*}} to @train.gradient.bias
// CHECK-NEXT: %[[T4:.*]] = ps.send %[[SUM]], %[[WEIGHT]] to @train.loss

// Sync: no server has a whole gradient. Servers respond with partial norms
// after all pushes of all trainers, and trainers join them.
// SYNC-NEXT: %[[ALL:.*]] = ps.barrier %[[T0]], %[[T1]], %[[T2]], %[[T3]], %[[T4]]
// SYNC-NEXT: ps.recv @train.loss after(%[[ALL]])
// SYNC-NEXT: %[[P0:.*]] = ps.recv @train.partial_norm.tight.second after(%[[ALL]])
// SYNC-NEXT: %[[P1:.*]] = ps.recv @train.partial_norm.tight.w after(%[[ALL]])
// SYNC-NEXT: %[[N0:.*]] = ps.join_norms %[[P0]], %[[P1]]
// SYNC-NEXT: ps.send %[[N0]] to @train.norm.tight
// SYNC-NEXT: %[[P2:.*]] = ps.recv @train.partial_norm.loose.first after(%[[ALL]])
// SYNC-NEXT: %[[N1:.*]] = ps.join_norms %[[P2]]
// SYNC-NEXT: ps.send %[[N1]] to @train.norm.loose
// SYNC-NOT: nn.squared_norm

// Async: there is no barrier, because a worker has its whole gradient.
// ASYNC-NOT: ps.barrier
// ASYNC-NEXT: ps.recv @train.loss after(%[[T0]], %[[T1]], %[[T2]], %[[T3]], %[[T4]])
// ASYNC-NEXT: %[[N0:.*]] = nn.squared_norm {@second[%[[K1]]] = %[[G1]] : tensor<?x2xf32>, @w = %[[G2]] : tensor<2x1xf32>} weight(%[[WEIGHT]]) {stage = #nn.stage<send>}
// ASYNC-NEXT: ps.send %[[N0]] to @train.norm.tight
// ASYNC-NEXT: %[[N1:.*]] = nn.squared_norm {@first[%[[K0]]] = %[[G0]] : tensor<?x2xf32>} weight(%[[WEIGHT]]) {stage = #nn.stage<send>}
// ASYNC-NEXT: ps.send %[[N1]] to @train.norm.loose

// The trainer updates nothing.
// CHECK-NOT: nn.update
// CHECK: ps.handler @train.apply in "train" {
// CHECK-NEXT: %[[L:.*]]:2 = ps.merged @train.loss : tensor<f64>, tensor<f64>
// CHECK-NEXT: %[[R0:.*]]:2 = ps.merged @train.row_gradient.first : tensor<?xi64>, tensor<?x2xf32>
// CHECK-NEXT: %[[R1:.*]]:2 = ps.merged @train.row_gradient.second
// CHECK-NEXT: %[[R2:.*]] = ps.merged @train.gradient.w
// CHECK-NEXT: %[[R3:.*]] = ps.merged @train.gradient.bias
// CHECK-NEXT: %[[M0:.*]] = ps.merged @train.norm.tight
// CHECK-NEXT: %[[M1:.*]] = ps.merged @train.norm.loose
// Each group is divided by the weight and clipped by its own norm.
// CHECK-NEXT: %[[S0:.*]]:3 = nn.once @dense weight(%[[L]]#1) norm(%[[M0]])
// CHECK: %[[S1:.*]]:3 = nn.once @sparse weight(%[[L]]#1) norm(%[[M1]])
// CHECK: %[[S2:.*]]:2 = nn.once @free weight(%[[L]]#1) -> (weight, "rate") {
// CHECK-NOT: stage
// CHECK: nn.update @first keys(%[[R0]]#0) gradient(%[[R0]]#1) scalars(%[[S1]]#0,
// CHECK: nn.update @second keys(%[[R1]]#0) gradient(%[[R1]]#1) scalars(%[[S0]]#0,
// CHECK: nn.update @w gradient(%[[R2]]) scalars(%[[S0]]#0,
// CHECK: nn.update @bias gradient(%[[R3]]) scalars(%[[S2]]#0, %[[S2]]#1)
// CHECK-NOT: nn.update

// SYNC: ps.handler @train.norms in "train" {
// SYNC-NEXT: %[[L:.*]]:2 = ps.merged @train.loss
// SYNC-NEXT: %[[R0:.*]]:2 = ps.merged @train.row_gradient.first
// SYNC-NEXT: %[[R1:.*]]:2 = ps.merged @train.row_gradient.second
// SYNC-NEXT: %[[R2:.*]] = ps.merged @train.gradient.w
// SYNC-NEXT: ps.merged @train.gradient.bias
// SYNC-NEXT: ps.partial_norm %[[R1]]#1 weight(%[[L]]#1) to @train.partial_norm.tight.second
// SYNC-NEXT: ps.partial_norm %[[R2]] weight(%[[L]]#1) to @train.partial_norm.tight.w
// SYNC-NEXT: ps.partial_norm %[[R0]]#1 weight(%[[L]]#1) to @train.partial_norm.loose.first
// SYNC-NEXT: }
// ASYNC-NOT: ps.handler

// A frozen program only sends requests. Its channels have their own numbers.
// CHECK: ps.channel @predict.value.scale number 0 in "predict"
// CHECK: ps.channel @predict.rows.fixed number 8 in "predict"
// CHECK-NOT: ps.channel
// CHECK: nn.program @predict frozen
// CHECK: ps.recv @predict.value.scale {stage = #nn.stage<receive>}
// CHECK: ps.pull @predict.rows.first
// CHECK: ps.pull @predict.rows.second
// CHECK: ps.pull @predict.rows.fixed
// CHECK-NOT: ps.send
// CHECK-NOT: ps.push
// CHECK-NOT: ps.handler
