// RUN: pdl-opt %s --nn-autodiff | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="from=merged to=split mode=sync" \
// RUN:   | FileCheck %s --check-prefix=SYNC
// RUN: pdl-opt %s --pdl-pipeline="from=merged to=buffers" \
// RUN:   | FileCheck %s --check-prefix=LOCAL

// Two losses, each over its own group, and a state for the weighted mean of the
// batch.
module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
    nn.field @w : tensor<?x1xf32>
  }
  nn.rule @descend hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    %0 = arith.mulf %rate, %gradient : f32
    %1 = arith.subf %value, %0 : f32
    nn.yield %1 : f32
  }
  nn.rule @count of states undivided hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %sum: f32, %rate: f32):
    %0 = arith.addf %value, %sum : f32
    nn.yield %0 : f32
  }
  nn.group @g rule(@descend) rate(0.1)
  nn.group @h rule(@descend) rate(0.1)
  nn.group @s rule(@count) rate(1.0)
  nn.param @seen : tensor<1xf32> in @s init(#nn.zeros)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.param @b : tensor<1xf32> in @h init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %w: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %b = nn.read @b : tensor<1xf32>
    nn.accumulate @seen(%x) weight %w : tensor<?x1xf32>, tensor<?x1xf32>
    %l = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
    %m = nn.mul %l, %b : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %m weight %w over [@h] : tensor<?x1xf32>, tensor<?x1xf32>
  }
}

// The second loss is reported like any mean.
// CHECK: nn.metric @"loss of h in train" : #nn.mean
// CHECK-LABEL: nn.program @train
// CHECK: %[[L:.+]] = nn.mul %arg0, %{{.*}} : tensor<?x1xf32>, tensor<1xf32>
// CHECK: %[[M:.+]] = nn.mul %[[L]],
// CHECK: nn.observe @"loss of h in train"(%[[M]]) weight %arg1
// CHECK-NOT: nn.accumulate
// CHECK-NOT: nn.minimize
// For the state: the sum of weight times value.
// CHECK: %[[ONES:.+]] = nn.broadcast
// CHECK: %[[VALUES:.+]] = nn.mul %arg0, %arg1
// CHECK: %[[SUM:.+]] = nn.reduce sum %[[VALUES]] axes [0]
// CHECK: %[[DA:.+]] = nn.reduce sum %arg0 axes [0]
// The first loss is a constant for the second one, and no symbol of the other
// group gets its gradient.
// CHECK: %[[PRODUCT:.+]] = nn.mul %arg1, %[[L]]
// CHECK: %[[DB:.+]] = nn.reduce sum %[[PRODUCT]] axes [0]
// CHECK: nn.apply_gradients %[[L]] {@a = %[[DA]] : tensor<1xf32>} over @g
// CHECK-NEXT: nn.apply_gradients %[[M]] weight %arg1 {@b = %[[DB]] : tensor<1xf32>} over @h
// CHECK-NEXT: nn.apply_gradients %[[ONES]] weight %arg1 {@seen = %[[SUM]] : tensor<1xf32>} over @s

// The channel of each gradient names the objective whose weight divides it.
// Each objective has its own channel.
// SYNC-DAG: ps.channel @train.gradient.a number {{[0-9]+}} in "train" gradient of @a : tensor<1xf32>
// SYNC-DAG: ps.channel @train.gradient.b number {{[0-9]+}} in "train" gradient of @b objective 1 : tensor<1xf32>
// SYNC-DAG: ps.channel @train.gradient.seen number {{[0-9]+}} in "train" gradient of @seen objective 2 : tensor<1xf32>
// SYNC-DAG: ps.channel @train.loss number {{[0-9]+}} in "train" loss : tensor<2xf64>
// SYNC-DAG: ps.channel @train.loss_0 number {{[0-9]+}} in "train" loss : tensor<2xf64>
// SYNC-DAG: ps.channel @train.loss_1 number {{[0-9]+}} in "train" loss : tensor<2xf64>
// SYNC-LABEL: ps.handler @train.apply
// SYNC: %[[FIRST:.+]]:2 = ps.merged @train.loss :
// SYNC: %[[SECOND:.+]]:2 = ps.merged @train.loss_0 :
// SYNC: %[[THIRD:.+]]:2 = ps.merged @train.loss_1 :
// SYNC: nn.once @g weight(%[[FIRST]]#1)
// SYNC: nn.once @h weight(%[[SECOND]]#1)
// SYNC: nn.once @s weight(%[[THIRD]]#1)
// An undivided rule gets the sum.
// SYNC: nn.update @seen
// SYNC-NEXT: ^bb0(%[[VALUE:.+]]: f32, %[[TOTAL:.+]]: f32, %{{.*}}: f32, %{{.*}}: f32):
// SYNC-NEXT: arith.addf %[[VALUE]], %[[TOTAL]]

// LOCAL-DAG: rt.pointer loss_sum[0]
// LOCAL-DAG: rt.pointer weight_sum[1]
// LOCAL-DAG: rt.pointer weight_sum[2]
// LOCAL: rt.program @train
// LOCAL-SAME: updates [@a, @b, @seen] lookup_of [-1, -1, -1] objectives [0, 1, 2]
// LOCAL-SAME: loss
