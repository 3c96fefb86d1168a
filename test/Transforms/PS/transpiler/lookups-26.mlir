// Case: a model with a lookup for each of its 26 slots, as models for Fluid
// were written.
//
// Fluid: each lookup had its own ops and messages, until a later pass merged
// some.
//
// PDL: lookups of one table are one, however they are written. There is one
// channel for keys, one for rows, one for gradients, and one message per step
// and server.
//
// RUN: grep -c "nn.lookup @emb" %s | FileCheck %s --check-prefix=WRITTEN
// WRITTEN: {{^}}27
// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=sync" | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=roles mode=async" | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=split mode=sync" --remarks-filter=statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT

// COUNT-DAG: lookups-merged=25
// Keys, rows, row gradients; value and gradient of @w; the sums of the loss.
// COUNT-DAG: channels=6
// COUNT-DAG: messages-after=1

// CHECK: module @trainer
// 512 samples of 26 ids, 8 bytes of key and two rows of 32 bytes, divided by
// 1024.
// CHECK: ps.shards @emb count 1024 cost 936
// CHECK: ps.channel @train.keys.emb number 1 in "train" keys of @emb
// CHECK: ps.channel @train.rows.emb number 2 in "train" rows of @emb
// CHECK: ps.channel @train.row_gradient.emb number 3 in "train" row_gradient of @emb
// CHECK-NOT: of @emb
// CHECK: ps.message @train.exchange
// CHECK-SAME: sends [@train.row_gradient.emb, @train.gradient.w, @train.loss, @train.keys.emb] ahead [@train.keys.emb] receives [@train.loss, @train.value.w, @train.rows.emb]
// CHECK: nn.program @train
// CHECK: %[[K:[a-z0-9_]+]], {{.*}} = nn.unique {{(%[a-z0-9]+, ){25}%[a-z0-9]+ }}
// CHECK-NOT: nn.unique
// CHECK: ps.wait @train.exchange keys(%[[K]] : tensor<?xi64>)
// CHECK: nn.pool %
// CHECK-NOT: nn.pool %
// CHECK: nn.pool_gradient
// CHECK-NOT: nn.pool_gradient
// CHECK: ps.post @train.exchange
// CHECK: module @pserver
// CHECK: nn.update @emb
// CHECK-NOT: nn.update @emb

module @many_lookups {
  nn.record @r {
    nn.field @label : tensor<?x1xf32>
    nn.field @c0 : tensor<?x1xi64>
    nn.field @c1 : tensor<?x1xi64>
    nn.field @c2 : tensor<?x1xi64>
    nn.field @c3 : tensor<?x1xi64>
    nn.field @c4 : tensor<?x1xi64>
    nn.field @c5 : tensor<?x1xi64>
    nn.field @c6 : tensor<?x1xi64>
    nn.field @c7 : tensor<?x1xi64>
    nn.field @c8 : tensor<?x1xi64>
    nn.field @c9 : tensor<?x1xi64>
    nn.field @c10 : tensor<?x1xi64>
    nn.field @c11 : tensor<?x1xi64>
    nn.field @c12 : tensor<?x1xi64>
    nn.field @c13 : tensor<?x1xi64>
    nn.field @c14 : tensor<?x1xi64>
    nn.field @c15 : tensor<?x1xi64>
    nn.field @c16 : tensor<?x1xi64>
    nn.field @c17 : tensor<?x1xi64>
    nn.field @c18 : tensor<?x1xi64>
    nn.field @c19 : tensor<?x1xi64>
    nn.field @c20 : tensor<?x1xi64>
    nn.field @c21 : tensor<?x1xi64>
    nn.field @c22 : tensor<?x1xi64>
    nn.field @c23 : tensor<?x1xi64>
    nn.field @c24 : tensor<?x1xi64>
    nn.field @c25 : tensor<?x1xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @emb : i64 -> tensor<8xf32> in @g init(#nn.uniform<-0.1, 0.1>)
  nn.param @w : tensor<208x1xf32> in @g init(#nn.xavier)
  nn.program @train reads(@r) {
  ^bb0(%label: tensor<?x1xf32>, %c0: tensor<?x1xi64>, %c1: tensor<?x1xi64>, %c2: tensor<?x1xi64>, %c3: tensor<?x1xi64>, %c4: tensor<?x1xi64>, %c5: tensor<?x1xi64>, %c6: tensor<?x1xi64>, %c7: tensor<?x1xi64>, %c8: tensor<?x1xi64>, %c9: tensor<?x1xi64>, %c10: tensor<?x1xi64>, %c11: tensor<?x1xi64>, %c12: tensor<?x1xi64>, %c13: tensor<?x1xi64>, %c14: tensor<?x1xi64>, %c15: tensor<?x1xi64>, %c16: tensor<?x1xi64>, %c17: tensor<?x1xi64>, %c18: tensor<?x1xi64>, %c19: tensor<?x1xi64>, %c20: tensor<?x1xi64>, %c21: tensor<?x1xi64>, %c22: tensor<?x1xi64>, %c23: tensor<?x1xi64>, %c24: tensor<?x1xi64>, %c25: tensor<?x1xi64>):
    %r0 = nn.lookup @emb[%c0] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r1 = nn.lookup @emb[%c1] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r2 = nn.lookup @emb[%c2] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r3 = nn.lookup @emb[%c3] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r4 = nn.lookup @emb[%c4] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r5 = nn.lookup @emb[%c5] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r6 = nn.lookup @emb[%c6] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r7 = nn.lookup @emb[%c7] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r8 = nn.lookup @emb[%c8] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r9 = nn.lookup @emb[%c9] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r10 = nn.lookup @emb[%c10] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r11 = nn.lookup @emb[%c11] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r12 = nn.lookup @emb[%c12] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r13 = nn.lookup @emb[%c13] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r14 = nn.lookup @emb[%c14] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r15 = nn.lookup @emb[%c15] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r16 = nn.lookup @emb[%c16] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r17 = nn.lookup @emb[%c17] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r18 = nn.lookup @emb[%c18] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r19 = nn.lookup @emb[%c19] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r20 = nn.lookup @emb[%c20] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r21 = nn.lookup @emb[%c21] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r22 = nn.lookup @emb[%c22] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r23 = nn.lookup @emb[%c23] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r24 = nn.lookup @emb[%c24] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %r25 = nn.lookup @emb[%c25] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x8xf32>
    %e = nn.concat %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17, %r18, %r19, %r20, %r21, %r22, %r23, %r24, %r25 axis 2
      : tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>, tensor<?x1x8xf32>
    %x = nn.flatten %e from 1 : tensor<?x1x208xf32>
    %z = nn.linear %x, @w : (tensor<?x208xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %label : tensor<?x1xf32>
    nn.minimize %l over @g : tensor<?x1xf32>
  }
}
