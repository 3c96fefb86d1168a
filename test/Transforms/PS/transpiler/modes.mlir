// Case: sync compared with async.
//
// Fluid: sync had barriers and averages, async had neither. It applied each
// trainer's gradient when it arrived, without a division by the number of
// trainers, so a learning rate had another meaning. Half of the ops differed.
//
// PDL: the programs of the two modes differ in three things. The message forms
// rounds or not. The digests of the wire differ, so that roles of different
// modes refuse each other. The norm of a clip is formed in different places. In
// both modes, the sum is divided by the weights of the merged gradients: of all
// trainers in sync, of one worker in async.
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

// In both modes, a push precedes the pull, which sees the effect of the push:
// the response to the push has the values and rows of the next step.
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
