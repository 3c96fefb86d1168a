// Fluid's transpiler, sync against async. There sync had barriers and averages,
// async neither: it applied each trainer's gradient as it came, without a division
// by the number of trainers, so that the rate meant something else. Half of the
// ops differed.
//
// Here the programs of the two modes are the same but for three things: the message
// forms rounds or not, the wire's digest (so that roles of different modes refuse
// each other), and where a clip's norm is formed. The division is by the weights of
// what was merged in both: of all trainers in sync, of one worker in async.
//
// RUN: pdl-opt %S/Inputs/embedding.mlir --pdl-pipeline="to=roles mode=sync" -o %t.sync
// RUN: pdl-opt %S/Inputs/embedding.mlir --pdl-pipeline="to=roles mode=async" -o %t.async
// RUN: not diff %t.sync %t.async > %t.different
// RUN: sed -e 's/ps.mode = #ps.mode<[a-z]*>//' -e 's/ps.wire = "[0-9a-f]*"//' -e 's/ in "train" round / in "train" /' %t.sync > %t.sync.plain
// RUN: sed -e 's/ps.mode = #ps.mode<[a-z]*>//' -e 's/ps.wire = "[0-9a-f]*"//' %t.async > %t.async.plain
// RUN: diff %t.sync.plain %t.async.plain
// RUN: grep -c '^<.*round' %t.different | FileCheck %s --check-prefix=ROUNDS
// One message in each of the two roles.
// ROUNDS: {{^2$}}

// Pushing before pulling, and pulling what the own push did: the answer to the push
// brings the values and rows of the next step, in both.
// RUN: FileCheck %s < %t.sync
// RUN: FileCheck %s < %t.async
// CHECK: ps.message @train.exchange
// CHECK-SAME: sends [@train.row_gradient.shared, {{.*}}@train.loss, @train.keys.shared, @train.keys.profiles]
// CHECK-SAME: receives [@train.loss, @train.value.fc_w, {{.*}}@train.rows.shared, @train.rows.profiles]
// CHECK: nn.program @train
// CHECK: ps.wait @train.exchange
// CHECK-NOT: ps.wait
// CHECK: ps.post @train.exchange
// CHECK: module @pserver
// CHECK: ps.handler @train.apply in "train" on @train.exchange
// CHECK: %[[LOSS:.*]]:2 = ps.merged @train.loss
// CHECK: nn.once @dense weight(%[[LOSS]]#1)
