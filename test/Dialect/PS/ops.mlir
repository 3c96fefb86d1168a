// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

module attributes {nn.phase = "split", ps.mode = #ps.mode<sync>} {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
    nn.field @c : tensor<?x1xi64>
  }
  nn.clip @joint : global_norm(1.0)
  nn.rule @sgd hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    nn.yield %gradient : f32
  }
  nn.group @g rule(@sgd) rate(0.1) clip(@joint)
  nn.table @emb : i64 -> tensor<3xf32> in @g init(#nn.zeros)
  nn.param @w : tensor<130x4xf32> in @g init(#nn.xavier)
  nn.state @mean : tensor<13xf32> init(#nn.zeros)

  // CHECK: ps.shards @emb count 1024 cost 20
  ps.shards @emb count 1024 cost 20
  // CHECK: ps.blocks @w rows [0, 64, 130] costs [2048, 2112]
  ps.blocks @w rows [0, 64, 130] costs [2048, 2112]
  // A vector is one row.
  // CHECK: ps.blocks @mean rows [0, 1] costs [1]
  ps.blocks @mean rows [0, 1] costs [1]

  // Channels of all kinds.
  // CHECK: ps.channel @value number 0 in "train" value of @w : tensor<130x4xf32>
  ps.channel @value number 0 in "train" value of @w : tensor<130x4xf32>
  // CHECK: ps.channel @mean_value number 1 in "train" value of @mean : tensor<13xf32>
  ps.channel @mean_value number 1 in "train" value of @mean : tensor<13xf32>
  // CHECK: ps.channel @keys number 2 in "train" keys of @emb : tensor<?xi64>
  ps.channel @keys number 2 in "train" keys of @emb : tensor<?xi64>
  // CHECK: ps.channel @rows number 3 in "train" rows of @emb : tensor<?x3xf32>
  ps.channel @rows number 3 in "train" rows of @emb : tensor<?x3xf32>
  // CHECK: ps.channel @gradient number 4 in "train" gradient of @w : tensor<130x4xf32>
  ps.channel @gradient number 4 in "train" gradient of @w : tensor<130x4xf32>
  // CHECK: ps.channel @row_gradient number 5 in "train" row_gradient of @emb : tensor<?x3xf32>
  ps.channel @row_gradient number 5 in "train" row_gradient of @emb : tensor<?x3xf32>
  // CHECK: ps.channel @loss number 6 in "train" loss : tensor<2xf64>
  ps.channel @loss number 6 in "train" loss : tensor<2xf64>
  // CHECK: ps.channel @partial_w number 7 in "train" partial_norm of @w clip @joint : tensor<?xf64>
  ps.channel @partial_w number 7 in "train" partial_norm of @w clip @joint : tensor<?xf64>
  // CHECK: ps.channel @partial_emb number 8 in "train" partial_norm of @emb clip @joint : tensor<?xf64>
  ps.channel @partial_emb number 8 in "train" partial_norm of @emb clip @joint : tensor<?xf64>
  // CHECK: ps.channel @norm number 9 in "train" norm clip @joint : tensor<f64>
  ps.channel @norm number 9 in "train" norm clip @joint : tensor<f64>

  // CHECK: ps.channel @delta number 10 in "train" delta of @w : tensor<130x4xf32>
  ps.channel @delta number 10 in "train" delta of @w : tensor<130x4xf32>
  // CHECK: ps.channel @row_delta number 11 in "train" row_delta of @emb : tensor<?x3xf32>
  ps.channel @row_delta number 11 in "train" row_delta of @emb : tensor<?x3xf32>
  // CHECK: ps.channel @changed number 12 in "train" changed_keys of @emb : tensor<?xi64>
  ps.channel @changed number 12 in "train" changed_keys of @emb : tensor<?xi64>

  // CHECK: ps.message @exchange in "train" round sends [@row_gradient, @gradient, @loss] ahead []
  // CHECK-SAME: receives [@loss, @partial_w, @partial_emb]
  ps.message @exchange in "train" round sends [@row_gradient, @gradient, @loss] ahead []
    receives [@loss, @partial_w, @partial_emb]
  // CHECK: ps.message @again in "train" sends [@norm, @keys] ahead [@keys] receives [@value, @mean_value, @rows]
  ps.message @again in "train" sends [@norm, @keys] ahead [@keys] receives [@value, @mean_value, @rows]
  // CHECK: ps.message @trade in "train" sends [@delta, @keys, @row_delta] ahead [] receives [@value, @mean_value, @changed, @rows]
  ps.message @trade in "train" sends [@delta, @keys, @row_delta] ahead []
    receives [@value, @mean_value, @changed, @rows]
  // CHECK: ps.message @nothing in "train" sends [] ahead [] receives []
  ps.message @nothing in "train" sends [] ahead [] receives []

  // One op for each channel.
  // CHECK-LABEL: nn.program @train
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %c: tensor<?x1xi64>):
    %ids = nn.reshape %c : (tensor<?x1xi64>) -> tensor<?xi64>
    %k, %i, %s, %o = nn.unique %ids
    // CHECK: %[[W:.*]] = ps.recv @value : tensor<130x4xf32>
    %w = ps.recv @value : tensor<130x4xf32>
    // CHECK: %[[ROWS:.*]] = ps.pull @rows[%[[KEYS:.*]]] by @keys : tensor<?xi64> -> tensor<?x3xf32>
    %rows = ps.pull @rows[%k] by @keys : tensor<?xi64> -> tensor<?x3xf32>
    %sum, %weight = nn.loss_sum %x : tensor<?x1xf32>
    // CHECK: %[[T0:.*]] = ps.push %[[ROWS]][%[[KEYS]]] to @row_gradient : tensor<?x3xf32>[tensor<?xi64>]
    %t0 = ps.push %rows[%k] to @row_gradient : tensor<?x3xf32>[tensor<?xi64>]
    // CHECK: %[[T1:.*]] = ps.send %[[W]] to @gradient : tensor<130x4xf32>
    %t1 = ps.send %w to @gradient : tensor<130x4xf32>
    // CHECK: %[[T2:.*]] = ps.send %{{.*}}, %{{.*}} to @loss : tensor<f64>, tensor<f64>
    %t2 = ps.send %sum, %weight to @loss : tensor<f64>, tensor<f64>
    // CHECK: %[[ALL:.*]] = ps.barrier %[[T0]], %[[T1]], %[[T2]]
    %all = ps.barrier %t0, %t1, %t2
    // CHECK: ps.recv @loss after(%[[ALL]]) : tensor<f64>, tensor<f64>
    %losses:2 = ps.recv @loss after(%all) : tensor<f64>, tensor<f64>
    // CHECK: %[[P0:.*]] = ps.recv @partial_emb after(%[[ALL]], %[[T0]]) : tensor<?xf64>
    %p0 = ps.recv @partial_emb after(%all, %t0) : tensor<?xf64>
    // CHECK: %[[P1:.*]] = ps.recv @partial_w after(%[[ALL]]) : tensor<?xf64>
    %p1 = ps.recv @partial_w after(%all) : tensor<?xf64>
    // CHECK: %[[N:.*]] = ps.join_norms %[[P0]], %[[P1]] : tensor<?xf64>, tensor<?xf64> -> tensor<f64>
    %n = ps.join_norms %p0, %p1 : tensor<?xf64>, tensor<?xf64> -> tensor<f64>
    // CHECK: ps.send %[[N]] to @norm : tensor<f64>
    %t3 = ps.send %n to @norm : tensor<f64>
  }

  // One op for each message.
  // CHECK-LABEL: nn.program @fused
  nn.program @fused reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %c: tensor<?x1xi64>):
    %ids = nn.reshape %c : (tensor<?x1xi64>) -> tensor<?xi64>
    %k, %i, %s, %o = nn.unique %ids
    // CHECK: %[[A:.*]]:3 = ps.wait @again keys(%{{.*}} : tensor<?xi64>) : tensor<130x4xf32>, tensor<13xf32>, tensor<?x3xf32>
    %w, %mean, %rows = ps.wait @again keys(%k : tensor<?xi64>) : tensor<130x4xf32>, tensor<13xf32>, tensor<?x3xf32>
    %sum, %weight = nn.loss_sum %x : tensor<?x1xf32>
    // CHECK: ps.post @exchange(%[[A]]#2, %[[A]]#0, %{{.*}}, %{{.*}}) : tensor<?x3xf32>, tensor<130x4xf32>, tensor<f64>, tensor<f64>
    ps.post @exchange(%rows, %w, %sum, %weight) : tensor<?x3xf32>, tensor<130x4xf32>, tensor<f64>, tensor<f64>
    // CHECK: %{{.*}}:4 = ps.wait @exchange : tensor<f64>, tensor<f64>, tensor<?xf64>, tensor<?xf64>
    %l:2, %p0, %p1 = ps.wait @exchange : tensor<f64>, tensor<f64>, tensor<?xf64>, tensor<?xf64>
    // CHECK: ps.post @again(%{{.*}}) : tensor<f64>
    ps.post @again(%sum) : tensor<f64>
    // CHECK: ps.wait @nothing{{$}}
    ps.wait @nothing
    // CHECK: ps.post @nothing(){{$}}
    ps.post @nothing()
  }

  // A copy of the state, before and after messages are formed.
  // CHECK-LABEL: nn.program @copy
  nn.program @copy reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %c: tensor<?x1xi64>):
    // CHECK: ps.share @w sends [@delta] receives [@value]
    ps.share @w sends [@delta] receives [@value]
    // CHECK: ps.share @emb sends [@keys, @row_delta] receives [@changed, @rows]
    ps.share @emb sends [@keys, @row_delta] receives [@changed, @rows]
    // CHECK: ps.share @mean sends [] receives [@mean_value]
    ps.share @mean sends [] receives [@mean_value]
    // CHECK: ps.exchange @trade
    ps.exchange @trade
  }
  // CHECK: ps.handler @add in "train" on @trade {
  ps.handler @add in "train" on @trade {
    // CHECK: %[[D:.*]] = ps.merged @delta : tensor<130x4xf32>
    %d = ps.merged @delta : tensor<130x4xf32>
    // CHECK: ps.add_delta @w by %[[D]] : tensor<130x4xf32>
    ps.add_delta @w by %d : tensor<130x4xf32>
    // CHECK: %[[RD:.*]]:2 = ps.merged @row_delta : tensor<?xi64>, tensor<?x3xf32>
    %keys, %rows = ps.merged @row_delta : tensor<?xi64>, tensor<?x3xf32>
    // CHECK: ps.add_delta @emb keys(%[[RD]]#0 : tensor<?xi64>) by %[[RD]]#1 : tensor<?x3xf32>
    ps.add_delta @emb keys(%keys : tensor<?xi64>) by %rows : tensor<?x3xf32>
  }

  // CHECK: ps.handler @norms in "train" on @exchange {
  ps.handler @norms in "train" on @exchange {
    // CHECK: %[[L:.*]]:2 = ps.merged @loss : tensor<f64>, tensor<f64>
    %sum, %weight = ps.merged @loss : tensor<f64>, tensor<f64>
    // CHECK: %[[R:.*]]:2 = ps.merged @row_gradient : tensor<?xi64>, tensor<?x3xf32>
    %keys, %rows = ps.merged @row_gradient : tensor<?xi64>, tensor<?x3xf32>
    // CHECK: %[[G:.*]] = ps.merged @gradient : tensor<130x4xf32>
    %g = ps.merged @gradient : tensor<130x4xf32>
    // CHECK: ps.partial_norm %[[R]]#1 weight(%[[L]]#1) to @partial_emb : tensor<?x3xf32>, tensor<f64>
    ps.partial_norm %rows weight(%weight) to @partial_emb : tensor<?x3xf32>, tensor<f64>
    // CHECK: ps.partial_norm %[[G]] weight(%[[L]]#1) to @partial_w : tensor<130x4xf32>, tensor<f64>
    ps.partial_norm %g weight(%weight) to @partial_w : tensor<130x4xf32>, tensor<f64>
  }
  // CHECK: ps.handler @apply in "train" on @again {
  ps.handler @apply in "train" on @again {
    // CHECK: %[[NORM:.*]] = ps.merged @norm : tensor<f64>
    %n = ps.merged @norm : tensor<f64>
    %sum, %weight = ps.merged @loss : tensor<f64>, tensor<f64>
    %g = ps.merged @gradient : tensor<130x4xf32>
    // CHECK: nn.once @g weight(%{{.*}}) norm(%[[NORM]])
    %scalars:2 = nn.once @g weight(%weight) norm(%n) -> (weight, clip_factor) {
    ^bb0(%step: f64, %w: f64, %squared: f64):
      nn.yield %w, %squared : f64, f64
    } : tensor<f32>, tensor<f32>
    // CHECK: nn.update @w
    nn.update @w gradient(%g) scalars(%scalars#0) {
    ^bb0(%value: f32, %gradient: f32, %w: f32):
      nn.yield %gradient : f32
    } : tensor<130x4xf32>, tensor<f32>
  }
  // A handler before messages are formed, and a handler that does nothing.
  // CHECK: ps.handler @early in "train" {
  // CHECK-NEXT: }
  ps.handler @early in "train" {}
}
