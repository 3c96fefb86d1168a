// With a clip by global norm: two messages per step in sync, one in async.
// RUN: pdl-opt %S/Inputs/two_clips.mlir --pdl-pipeline="to=split mode=sync" | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: pdl-opt %S/Inputs/two_clips.mlir --pdl-pipeline="to=split mode=async" | FileCheck %s --check-prefixes=CHECK,ONE
// Without such a clip: one message in both.
// RUN: pdl-opt %pdl_src/models/wide_deep/wide_deep.mlir --pdl-pipeline="to=split mode=sync" | FileCheck %s --check-prefixes=PLAIN,ROUND
// RUN: pdl-opt %pdl_src/models/wide_deep/wide_deep.mlir --pdl-pipeline="to=split mode=async" | FileCheck %s --check-prefixes=PLAIN,FREE

// The number of messages of @train and of @predict together.
// RUN: pdl-opt %S/Inputs/two_clips.mlir --pdl-pipeline="to=split mode=sync" --remarks-filter=statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=SYNC-COUNT
// SYNC-COUNT: channels=28
// SYNC-COUNT: messages-before=24
// SYNC-COUNT: messages-after=3
// RUN: pdl-opt %S/Inputs/two_clips.mlir --pdl-pipeline="to=split mode=async" --remarks-filter=statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=ASYNC-COUNT
// ASYNC-COUNT: channels=25
// ASYNC-COUNT: messages-before=20
// ASYNC-COUNT: messages-after=2

// The exchange sends gradients and sums, and receives partial norms. The norm
// message sends the keys of the next step ahead, and receives its rows and
// values.
// TWO: ps.message @train.exchange in "train" round
// TWO-SAME: sends [@train.row_gradient.first, @train.row_gradient.second, @train.gradient.w, @train.gradient.bias, @train.loss] ahead []
// TWO-SAME: receives [@train.loss, @train.partial_norm.tight.second, @train.partial_norm.tight.w, @train.partial_norm.loose.first]
// TWO-NEXT: ps.message @train.norm in "train" round
// TWO-SAME: sends [@train.norm.tight, @train.norm.loose, @train.keys.first, @train.keys.second, @train.keys.fixed]
// TWO-SAME: ahead [@train.keys.first, @train.keys.second, @train.keys.fixed]
// TWO-SAME: receives [@train.value.scale, @train.value.w, @train.value.bias, @train.rows.first, @train.rows.second, @train.rows.fixed]

// ONE: ps.message @train.exchange in "train" sends
// ONE-SAME: [@train.row_gradient.first, @train.row_gradient.second, @train.gradient.w, @train.gradient.bias, @train.loss, @train.norm.tight, @train.norm.loose, @train.keys.first, @train.keys.second, @train.keys.fixed]
// ONE-SAME: ahead [@train.keys.first, @train.keys.second, @train.keys.fixed]
// ONE-SAME: receives [@train.loss, @train.value.scale, @train.value.w, @train.value.bias, @train.rows.first, @train.rows.second, @train.rows.fixed]

// CHECK-NOT: ps.message
// CHECK: nn.program @train
// CHECK-NOT: ps.recv
// CHECK-NOT: ps.pull

// The step begins after the response to the last message of the previous step.
// TWO: %[[IN:.*]]:6 = ps.wait @train.norm keys(%{{.*}}, %{{.*}}, %{{.*}} : tensor<?xi64>, tensor<?xi64>, tensor<?xi64>) {stage = #nn.stage<receive>}
// TWO: nn.pool %[[IN]]#3
// TWO: nn.mul %{{.*}}, %[[IN]]#0
// TWO: %[[SUM:.*]], %[[WEIGHT:.*]] = nn.loss_sum
// TWO-NEXT: ps.post @train.exchange(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SUM]], %[[WEIGHT]]) {stage = #nn.stage<send>}
// TWO-NEXT: %[[OUT:.*]]:5 = ps.wait @train.exchange {stage = #nn.stage<send>} : tensor<f64>, tensor<f64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
// TWO-NEXT: %[[N0:.*]] = ps.join_norms %[[OUT]]#2, %[[OUT]]#3
// TWO-NEXT: %[[N1:.*]] = ps.join_norms %[[OUT]]#4
// TWO-NEXT: ps.post @train.norm(%[[N0]], %[[N1]]) {stage = #nn.stage<send>} : tensor<f64>, tensor<f64>
// TWO-NEXT: }

// The first two results are the sums of the previous step.
// ONE: %[[IN:.*]]:8 = ps.wait @train.exchange keys(
// ONE: nn.pool %[[IN]]#5
// ONE: nn.mul %{{.*}}, %[[IN]]#2
// ONE: %[[SUM:.*]], %[[WEIGHT:.*]] = nn.loss_sum
// ONE-NEXT: %[[N0:.*]] = nn.squared_norm {@second[{{.*}}, @w = 
// ONE-NEXT: %[[N1:.*]] = nn.squared_norm {@first[
// ONE-NEXT: ps.post @train.exchange(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SUM]], %[[WEIGHT]], %[[N0]], %[[N1]]) {stage = #nn.stage<send>}
// ONE-NEXT: }

// CHECK-NOT: ps.send
// CHECK-NOT: ps.push
// CHECK-NOT: ps.barrier
// The response to the exchange has partial norms. The last message applies the
// state.
// TWO: ps.handler @train.apply in "train" on @train.norm {
// TWO: ps.handler @train.norms in "train" on @train.exchange {
// ONE: ps.handler @train.apply in "train" on @train.exchange {

// A frozen program sends requests and gets responses, never in rounds.
// CHECK: ps.message @predict.pull in "predict" sends [@predict.keys.first, @predict.keys.second, @predict.keys.fixed]
// CHECK-SAME: ahead [] receives [@predict.value.scale, @predict.value.w, @predict.value.bias, @predict.rows.first, @predict.rows.second, @predict.rows.fixed]
// CHECK: nn.program @predict frozen
// CHECK: ps.wait @predict.pull keys(
// CHECK-NOT: ps.post

// ROUND: ps.message @train.exchange in "train" round sends [@train.row_gradient.wide_weights, @train.row_gradient.embedding,
// FREE: ps.message @train.exchange in "train" sends [@train.row_gradient.wide_weights, @train.row_gradient.embedding,
// PLAIN-SAME: @train.loss, @train.keys.wide_weights, @train.keys.embedding]
// PLAIN-SAME: ahead [@train.keys.wide_weights, @train.keys.embedding] receives [@train.loss, @train.value.w1,
// PLAIN-NOT: ps.message
// PLAIN: nn.program @train
// PLAIN: ps.wait @train.exchange
// PLAIN-NOT: ps.wait
// PLAIN: ps.post @train.exchange
// PLAIN-NOT: ps.post
// PLAIN: ps.handler @train.apply in "train" on @train.exchange
// PLAIN-NOT: ps.handler
