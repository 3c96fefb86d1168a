// RUN: pdl-opt %s --nn-autodiff | FileCheck %s

// The adjoint of pooling.

module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @x : tensor<?x4xf32>
    nn.field @y : tensor<?x1xf32>
    nn.field @ids : !nn.ragged<?x2x*xi64>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<4xf32> in @g init(#nn.zeros)
  nn.param @v : tensor<4xf32> in @g init(#nn.zeros)
  nn.param @m : tensor<4x1xf32> in @g init(#nn.zeros)
  nn.param @mt : tensor<1x4xf32> in @g init(#nn.zeros)
  nn.param @s : tensor<f32> in @g init(#nn.zeros)
  nn.param @u : tensor<1xf32> in @g init(#nn.zeros)
  nn.table @emb : i64 -> tensor<4xf32> in @g init(#nn.zeros)

  // No loss depends on the second input, so its cotangent is not made.
  nn.program @pool reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %keys, %inverse, %key_splits, %occurrences = nn.unique %ids, %ids
    %rows = nn.pull @emb[%keys] : tensor<?x4xf32>
    %e:2 = nn.pool %rows[%inverse, %key_splits, %occurrences] of (%ids bags(%splits) mean, %ids bags(%splits) sum) : (tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>)
    %a = nn.reshape %e#0 : (tensor<?x4xf32>) -> tensor<?x2x4xf32>
    %r = nn.exp %a : tensor<?x2x4xf32>
    %f = nn.reduce sum %r axes [1, 2] : tensor<?x2x4xf32>
    %l = nn.reshape %f : (tensor<?xf32>) -> tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @pool
  // CHECK-NEXT: ^bb0(%{{.+}}: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>, %[[IDS:[a-z0-9]+]]: tensor<?xi64>, %[[SPLITS:[a-z0-9]+]]: tensor<?xi32>
  // CHECK-NEXT: %[[KEYS:.+]], %[[INVERSE:.+]], %[[KEY_SPLITS:.+]], %[[OCCURRENCES:.+]] = nn.unique %[[IDS]], %[[IDS]]
  // CHECK-NEXT: %[[EMB:.+]] = nn.pull @emb[%[[KEYS]]]
  // CHECK-NEXT: %[[POOL:.+]]:2 = nn.pool %[[EMB]][%[[INVERSE]], %[[KEY_SPLITS]], %[[OCCURRENCES]]] of (%[[IDS]] bags(%[[SPLITS]]) mean, %[[IDS]] bags(%[[SPLITS]]) sum)
  // CHECK-NEXT: %[[RESHAPE:.+]] = nn.reshape %[[POOL]]#0
  // CHECK-NEXT: %[[EXP:.+]] = nn.exp %[[RESHAPE]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[EXP]] axes [1, 2]
  // CHECK-NEXT: %[[RESHAPE2:.+]] = nn.reshape %[[REDUCE]]
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[RESHAPE2]]
  // CHECK-NEXT: %[[RESHAPE3:.+]] = nn.reshape %[[BROADCAST]]
  // CHECK-NEXT: %[[RESHAPE4:.+]] = nn.reshape %[[RESHAPE3]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[RESHAPE4]] like %[[EXP]]
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[BROADCAST2]], %[[EXP]]
  // CHECK-NEXT: %[[RESHAPE5:.+]] = nn.reshape %[[MUL]]
  // CHECK-NEXT: %[[POOL_GRADIENT:.+]] = nn.pool_gradient[%[[INVERSE]], %[[KEY_SPLITS]], %[[OCCURRENCES]]] of (%[[IDS]] bags(%[[SPLITS]]) mean from %[[RESHAPE5]], %[[IDS]] bags(%[[SPLITS]]) sum)
  // CHECK-NEXT: nn.apply_gradients %[[RESHAPE2]] {@emb[%[[KEYS]]] = %[[POOL_GRADIENT]] : tensor<?x4xf32>} over @g : tensor<?x1xf32>
}
