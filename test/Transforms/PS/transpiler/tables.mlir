// Case: embeddings, with a table that two slots share and one of a single slot,
// as local lookups, remote lookups, and one distributed table; sync and async.
//
// Fluid: the three kinds differed in programs and in meaning. A local table was
// cut like a parameter, and pulled as a whole in early versions. Only one table
// could be distributed. Its rows were trained by plain gradient descent,
// whatever the model said, and the trainers' gradients were added without an
// average.
//
// PDL: each table is remote, and there can be any number of them. Rows are
// received by distinct keys. The trainer keeps the order of the ids, their
// duplicates and bags. No whole table is ever sent, not even at the start,
// because a row's initial value follows from its key. The rule is that of the
// group. The gradients of all slots of a table are one sum, which is sent once.
// The hash of a key determines its shard, not a remainder by the number of
// servers.
//
// RUN: pdl-opt %S/Inputs/embedding.mlir --pdl-pipeline="to=roles mode=sync" | FileCheck %s --check-prefixes=CHECK,SYNC
// RUN: pdl-opt %S/Inputs/embedding.mlir --pdl-pipeline="to=roles mode=async" | FileCheck %s --check-prefixes=CHECK,ASYNC

// CHECK: module @trainer
// Two slots of ids for one table cost twice as much as one.
// CHECK: ps.shards @shared count 1024 cost 520
// CHECK: ps.shards @profiles count 1024 cost 260
// CHECK-NOT: value of @shared
// CHECK-NOT: value of @profiles
// CHECK-DAG: ps.channel @train.keys.shared number {{[0-9]+}} in "train" keys of @shared : tensor<?xi64>
// CHECK-DAG: ps.channel @train.rows.shared number {{[0-9]+}} in "train" rows of @shared : tensor<?x64xf32>
// CHECK-DAG: ps.channel @train.row_gradient.shared number {{[0-9]+}} in "train" row_gradient of @shared : tensor<?x64xf32>
// SYNC: ps.message @train.exchange in "train" round sends
// ASYNC: ps.message @train.exchange in "train" sends
// CHECK-SAME: [@train.row_gradient.shared, @train.row_gradient.profiles, @train.gradient.fc_w, @train.gradient.fc_b, @train.loss, @train.keys.shared, @train.keys.profiles]
// The keys of the next step are sent with the push of this one.
// CHECK-SAME: ahead [@train.keys.shared, @train.keys.profiles]
// CHECK-SAME: receives [@train.loss, @train.value.fc_w, @train.value.fc_b, @train.rows.shared, @train.rows.profiles]

// CHECK: nn.program @train
// CHECK: ^bb0(%{{.*}}: tensor<?x1xf32>, %[[TITLE:.*]]: tensor<?xi64>, %[[TS:.*]]: tensor<?xi32>, %[[BRAND:.*]]: tensor<?xi64>, %[[BS:.*]]: tensor<?xi32>, %[[PROFILE:.*]]: tensor<?xi64>, %{{.*}}: tensor<?xi32>):
// CHECK: %[[K0:[a-z0-9_]+]], %[[I0:[a-z0-9_]+]], {{.*}} = nn.unique %[[TITLE]], %[[BRAND]] {stage = #nn.stage<prepare>}
// CHECK: %[[K1:[a-z0-9_]+]], {{.*}} = nn.unique %[[PROFILE]] {stage = #nn.stage<prepare>}
// CHECK: %[[IN:.*]]:6 = ps.wait @train.exchange keys(%[[K0]], %[[K1]] :
// Rows are pooled bag by bag, at their positions.
// CHECK: nn.pool %[[IN]]#4[%[[I0]], {{.*}}] of (%[[TITLE]] bags(%[[TS]]) mean, %[[BRAND]] bags(%[[BS]]) mean)
// CHECK: nn.pool %[[IN]]#5
// The gradient of the shared table is summed over both slots before it is sent.
// CHECK: %[[G1:.*]] = nn.pool_gradient[%{{.*}}] of (%{{.*}} from %{{[0-9]+}})
// CHECK: %[[G0:.*]] = nn.pool_gradient[%[[I0]], {{.*}}] of (%{{.*}} from %{{[0-9]+}}, %{{.*}} from %{{[0-9]+}})
// CHECK-NOT: nn.pool_gradient
// CHECK: ps.post @train.exchange(%[[G0]], %[[G1]],

// The server: one owner updates a row once, by the group's Adam, with the mean.
// CHECK: module @pserver
// CHECK: ps.handler @train.apply
// CHECK: %[[LOSS:.*]]:2 = ps.merged @train.loss
// CHECK: %[[M:.*]]:2 = ps.merged @train.row_gradient.shared : tensor<?xi64>, tensor<?x64xf32>
// CHECK: nn.once @dense
// CHECK: nn.once @sparse weight(%[[LOSS]]#1)
// CHECK: nn.update @shared keys(%[[M]]#0) gradient(%[[M]]#1)
// CHECK-NEXT: ^bb0(%{{[a-z0-9]+}}: f32, %[[GRADIENT:[a-z0-9]+]]: f32, %[[M:[a-z0-9]+]]: f32, %[[V:[a-z0-9]+]]: f32, %[[WEIGHT:[a-z0-9]+]]: f32,
// CHECK-NEXT: arith.divf %[[GRADIENT]], %[[WEIGHT]] : f32
// CHECK: nn.update @profiles keys
// CHECK: nn.update @fc_w
// CHECK: nn.update @fc_b
// CHECK-NOT: nn.update @shared
