// RUN: pdl-opt %s --nn-autodiff | FileCheck %s

// Adjoints of reductions.

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

  nn.program @mean reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %m = nn.reduce mean %z axes [1] : tensor<?x4xf32>
    %l = nn.reshape %m : (tensor<?xf32>) -> tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @mean
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  mean %[[MUL]] axes [1]
  // CHECK-NEXT: %[[RESHAPE:.+]] = nn.reshape %[[REDUCE]]
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[RESHAPE]]
  // CHECK-NEXT: %[[RESHAPE2:.+]] = nn.reshape %[[BROADCAST]]
  // CHECK-NEXT: %[[CONSTANT2:.+]] = nn.constant dense<4.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[DIV:.+]] = nn.div %[[RESHAPE2]], %[[CONSTANT2]]
  // CHECK-NEXT: %[[RESHAPE3:.+]] = nn.reshape %[[DIV]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[RESHAPE3]] like %[[MUL]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[BROADCAST2]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[RESHAPE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  // Equal elements share the cotangent.
  nn.program @max reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %l = nn.reduce max %z axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @max
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  max %[[MUL]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[REDUCE]] like %[[MUL]]
  // CHECK-NEXT: %[[EQUAL:.+]] = nn.equal %[[MUL]], %[[BROADCAST2]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[EQUAL]] axes [1] keep
  // CHECK-NEXT: %[[DIV:.+]] = nn.div %[[BROADCAST]], %[[REDUCE2]]
  // CHECK-NEXT: %[[BROADCAST3:.+]] = nn.broadcast %[[DIV]] like %[[MUL]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[BROADCAST3]], %[[EQUAL]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[MUL2]], %[[X]]
  // CHECK-NEXT: %[[REDUCE3:.+]] = nn.reduce  sum %[[MUL3]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE3]] : tensor<4xf32>} over @g : tensor<?x1xf32>
}
