// Programs without something that most programs have, up to phase roles in both
// modes.
// RUN: rm -rf %t && split-file %s %t
// RUN: pdl-opt %t/table_only.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefix=TABLE
// RUN: pdl-opt %t/table_only.mlir --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefix=TABLE
// RUN: pdl-opt %t/dense_only.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefix=DENSE
// RUN: pdl-opt %t/dense_only.mlir --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefix=DENSE
// RUN: pdl-opt %t/nothing_trained.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefix=NOTHING
// RUN: pdl-opt %t/nothing_trained.mlir --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefix=NOTHING
// RUN: not pdl-opt %t/stateless.mlir --pdl-pipeline="to=roles mode=sync" 2>&1 | FileCheck %s --check-prefix=STATELESS
// RUN: pdl-opt %t/one_clip.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefix=CLIP
// RUN: pdl-opt %t/two_trained.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefix=TWO
// RUN: pdl-opt %t/dots.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefix=DOTS
// RUN: pdl-opt %t/state.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefix=STATE
// RUN: pdl-opt %t/shared.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=SHARED,NORMS
// RUN: pdl-opt %t/shared.mlir --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefix=SHARED

// Two parameters have one gradient, and two tables are requested with one list
// of keys. Each is updated with what its own channel has received.
// SHARED: ps.post @train.exchange(%[[G:[0-9]+]], %[[G]], %[[R:[0-9]+]], %[[R]],
// SHARED: ps.handler @train.apply
// SHARED: %[[A:.*]] = ps.merged @train.gradient.a
// SHARED: %[[B:.*]] = ps.merged @train.gradient.b
// SHARED: %[[S:.*]]:2 = ps.merged @train.row_gradient.s
// SHARED: %[[T:.*]]:2 = ps.merged @train.row_gradient.t
// SHARED: nn.update @a gradient(%[[A]])
// SHARED: nn.update @b gradient(%[[B]])
// SHARED: nn.update @s keys(%[[S]]#0) gradient(%[[S]]#1)
// SHARED: nn.update @t keys(%[[T]]#0) gradient(%[[T]]#1)
// NORMS: ps.handler @train.norms
// NORMS: %[[A2:.*]] = ps.merged @train.gradient.a
// NORMS: %[[B2:.*]] = ps.merged @train.gradient.b
// NORMS: ps.partial_norm %[[A2]] {{.*}} to @train.partial_norm.c.a
// NORMS: ps.partial_norm %[[B2]] {{.*}} to @train.partial_norm.c.b

// A program that trains only a table sends no value.
// TABLE: ps.message @train.exchange
// TABLE-SAME: sends [@train.row_gradient.emb, @train.loss, @train.keys.emb] ahead [@train.keys.emb] receives [@train.loss, @train.rows.emb]
// TABLE: module @pserver
// TABLE: ps.handler @train.apply in "train" on @train.exchange {
// TABLE: nn.update @emb keys

// Without a table, nothing is sent ahead, but the response to a step's push
// still has the values of the next step.
// DENSE: ps.message @train.exchange
// DENSE-SAME: sends [@train.gradient.w, @train.loss] ahead [] receives [@train.loss, @train.value.w]
// DENSE: nn.program @train
// DENSE: ps.wait @train.exchange {stage = #nn.stage<receive>} : tensor<f64>, tensor<f64>, tensor<4x1xf32>
// DENSE: ps.post @train.exchange

// A program that may insert rows but trains nothing sends requests on its own,
// in sync too, because no sums over trainers are needed.
// NOTHING: ps.message @fill.pull in "fill" sends [@fill.keys.emb] ahead [] receives [@fill.rows.emb]
// NOTHING: nn.program @fill reads
// NOTHING: ps.wait @fill.pull
// NOTHING-NOT: ps.post
// NOTHING: module @pserver
// NOTHING-NOT: ps.handler

// A program without state needs no servers.
// STATELESS: stateless.mlir:1:1: error: holds no parameter, state or table, so that servers have nothing to do; use mode local

// Two groups with one clip have one joint norm.
// CLIP: ps.message @train.exchange in "train" round sends [@train.row_gradient.emb, @train.gradient.w, @train.loss] ahead []
// CLIP-SAME: receives [@train.loss, @train.partial_norm.joint.emb, @train.partial_norm.joint.w]
// CLIP: ps.message @train.norm in "train" round sends [@train.norm.joint, @train.keys.emb]
// CLIP: module @pserver
// CLIP: ps.handler @train.apply in "train" on @train.norm {
// CLIP: %[[N:.*]] = ps.merged @train.norm.joint
// CLIP: nn.once @dense weight({{.*}}) norm(%[[N]])
// CLIP: nn.once @sparse weight({{.*}}) norm(%[[N]])

// Two programs that train the same symbol have their own channels and handlers.
// TWO: ps.message @train.exchange
// TWO: ps.message @finetune.exchange
// TWO: module @pserver
// TWO: ps.handler @train.apply in "train" on @train.exchange
// TWO: nn.update @w
// TWO: ps.handler @finetune.apply in "finetune" on @finetune.exchange
// TWO: nn.update @w

// Names of the model take precedence over those of channels.
// DOTS: nn.param @train.loss :
// DOTS: ps.channel @[[LOSS:train.loss_[0-9]+]] number {{[0-9]+}} in "train" loss
// DOTS: ps.message @train.exchange in "train" round sends [@train.gradient.train.loss, @[[LOSS]]]

// A state is read like a parameter and never pushed. A parameter that is read
// twice has one channel for each direction. A program has no channel for a
// symbol that it does not read. The weights of samples are part of the sums.
// STATE: ps.message @train.exchange in "train" round
// STATE-SAME: sends [@train.gradient.w, @train.row_gradient.emb, @train.loss, @train.keys.emb]
// STATE-SAME: receives [@train.loss, @train.value.mean, @train.value.w, @train.rows.emb]
// STATE: nn.program @train
// STATE: ^bb0(%{{[a-z0-9]+}}: tensor<?x1xf32>, %[[WEIGHTS:[a-z0-9]+]]: tensor<?x1xf32>,
// STATE: %[[SUM:[a-z0-9]+]], %[[WEIGHT:[a-z0-9]+]] = nn.loss_sum %{{[0-9]+}} weight %[[WEIGHTS]]
// STATE: ps.post @train.exchange(%{{.*}}, %{{.*}}, %[[SUM]], %[[WEIGHT]])
// STATE: ps.message @predict.pull in "predict" sends [@predict.keys.late] ahead [] receives [@predict.value.only_predict, @predict.rows.late]

//--- table_only.mlir
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : tensor<?x1xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @emb : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %c: tensor<?x1xi64>):
    %e = nn.lookup @emb[%c] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over @g : tensor<?x1xf32>
  }
}
//--- dense_only.mlir
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x4xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<4x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x4xf32>):
    %z = nn.linear %x, @w : (tensor<?x4xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over @g : tensor<?x1xf32>
  }
}
//--- nothing_trained.mlir
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : tensor<?x1xi64>
  }
  nn.table @emb : i64 -> tensor<1xf32> init(#nn.zeros)
  nn.metric @auc : #nn.auc<buckets = 16>
  nn.program @fill reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %c: tensor<?x1xi64>):
    %e = nn.lookup @emb[%c] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %z = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %p = nn.sigmoid %z : tensor<?x1xf32>
    nn.observe @auc(%p, %y) : tensor<?x1xf32>
  }
}
//--- stateless.mlir
module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %0 = nn.sigmoid %x : tensor<?x1xf32>
    nn.return %0 : tensor<?x1xf32>
  }
}
//--- one_clip.mlir
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x4xf32>
    nn.field @c : tensor<?x1xi64>
  }
  nn.clip @joint : global_norm(1.0)
  nn.group @dense rule(@sgd) rate(0.1) clip(@joint)
  nn.group @sparse rule(@sgd) rate(0.2) clip(@joint)
  nn.table @emb : i64 -> tensor<1xf32> in @sparse init(#nn.zeros)
  nn.param @w : tensor<4x1xf32> in @dense init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x4xf32>, %c: tensor<?x1xi64>):
    %e = nn.lookup @emb[%c] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %f = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %h = nn.linear %x, @w : (tensor<?x4xf32>) -> tensor<?x1xf32>
    %z = nn.add %f, %h : tensor<?x1xf32>, tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@dense, @sparse] : tensor<?x1xf32>
  }
}
//--- two_trained.mlir
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x4xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<4x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x4xf32>):
    %z = nn.linear %x, @w : (tensor<?x4xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over @g : tensor<?x1xf32>
  }
  nn.program @finetune reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x4xf32>):
    %z = nn.linear %x, @w : (tensor<?x4xf32>) -> tensor<?x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over @g : tensor<?x1xf32>
  }
}
//--- dots.mlir
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x4xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @train.loss : tensor<4x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x4xf32>):
    %z = nn.linear %x, @train.loss : (tensor<?x4xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over @g : tensor<?x1xf32>
  }
}
//--- state.mlir
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @wt : tensor<?x1xf32>
    nn.field @x : tensor<?x4xf32>
    nn.field @c : tensor<?x1xi64>
  }
  nn.group @g rule(@adam) rate(0.1) untouched(dense)
  nn.state @mean : tensor<4xf32> init(#nn.zeros)
  nn.param @w : tensor<4x1xf32> in @g init(#nn.zeros)
  nn.param @only_predict : tensor<1xf32> init(#nn.zeros)
  nn.table @emb : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.table @late : i64 -> tensor<1xf32> init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %wt: tensor<?x1xf32>, %x: tensor<?x4xf32>, %c: tensor<?x1xi64>):
    %m = nn.read @mean : tensor<4xf32>
    %d = nn.sub %x, %m : tensor<?x4xf32>, tensor<4xf32>
    %z0 = nn.linear %d, @w : (tensor<?x4xf32>) -> tensor<?x1xf32>
    %z1 = nn.linear %x, @w : (tensor<?x4xf32>) -> tensor<?x1xf32>
    %e = nn.lookup @emb[%c] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %f = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %z2 = nn.add %z0, %z1 : tensor<?x1xf32>, tensor<?x1xf32>
    %z = nn.add %z2, %f : tensor<?x1xf32>, tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l weight %wt over [@g] : tensor<?x1xf32>, tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r except @y) {
  ^bb0(%wt: tensor<?x1xf32>, %x: tensor<?x4xf32>, %c: tensor<?x1xi64>):
    %m = nn.read @only_predict : tensor<1xf32>
    %e = nn.lookup @late[%c] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %f = nn.flatten %e from 1 : tensor<?x1x1xf32>
    %z = nn.add %f, %m : tensor<?x1xf32>, tensor<1xf32>
    nn.return %z : tensor<?x1xf32>
  }
}
//--- shared.mlir
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @k : tensor<?x1xi64>
  }
  nn.clip @c : global_norm(1.0)
  nn.group @g rule(@sgd) rate(0.1) clip(@c)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.param @b : tensor<1xf32> in @g init(#nn.zeros)
  nn.table @s : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %k: tensor<?x1xi64>):
    %e = nn.lookup @s[%k] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %f = nn.lookup @t[%k] pool(sum) : (tensor<?x1xi64>) -> tensor<?x1x1xf32>
    %s = nn.add %e, %f : tensor<?x1x1xf32>, tensor<?x1x1xf32>
    %z0 = nn.flatten %s from 1 : tensor<?x1x1xf32>
    %a = nn.read @a : tensor<1xf32>
    %b = nn.read @b : tensor<1xf32>
    %z1 = nn.add %z0, %a : tensor<?x1xf32>, tensor<1xf32>
    %z = nn.add %z1, %b : tensor<?x1xf32>, tensor<1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over @g : tensor<?x1xf32>
  }
}
