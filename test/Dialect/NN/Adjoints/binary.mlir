// RUN: pdl-opt %s --nn-autodiff | FileCheck %s

// Adjoints of elementwise ops with two operands.

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

  // If an operand was repeated over samples, its cotangent is summed over
  // samples.
  nn.program @add reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %v = nn.read @v : tensor<4xf32>
    %z = nn.mul %x, %v : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.add %z, %w : tensor<?x4xf32>, tensor<4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @add
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[V:.+]] = nn.read @v
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[V]]
  // CHECK-NEXT: %[[ADD:.+]] = nn.add %[[MUL]], %[[W]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[ADD]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[ADD]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[BROADCAST2]] axes [0]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[BROADCAST2]], %[[X]]
  // CHECK-NEXT: %[[REDUCE3:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>, @v = %[[REDUCE3]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @sub reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %v = nn.read @v : tensor<4xf32>
    %z = nn.mul %x, %v : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.sub %z, %w : tensor<?x4xf32>, tensor<4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @sub
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[V:.+]] = nn.read @v
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[V]]
  // CHECK-NEXT: %[[SUB:.+]] = nn.sub %[[MUL]], %[[W]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[SUB]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[SUB]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[BROADCAST2]] axes [0]
  // CHECK-NEXT: %[[NEG:.+]] = nn.neg %[[REDUCE2]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[BROADCAST2]], %[[X]]
  // CHECK-NEXT: %[[REDUCE3:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[NEG]] : tensor<4xf32>, @v = %[[REDUCE3]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @mul reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %v = nn.read @v : tensor<4xf32>
    %z = nn.mul %x, %v : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.mul %z, %w : tensor<?x4xf32>, tensor<4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @mul
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[V:.+]] = nn.read @v
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[V]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[MUL]], %[[W]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[MUL2]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[MUL2]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[BROADCAST2]], %[[MUL]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL3]] axes [0]
  // CHECK-NEXT: %[[MUL4:.+]] = nn.mul %[[BROADCAST2]], %[[W]]
  // CHECK-NEXT: %[[MUL5:.+]] = nn.mul %[[MUL4]], %[[X]]
  // CHECK-NEXT: %[[REDUCE3:.+]] = nn.reduce  sum %[[MUL5]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>, @v = %[[REDUCE3]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @div reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %v = nn.read @v : tensor<4xf32>
    %z = nn.mul %x, %v : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.div %z, %w : tensor<?x4xf32>, tensor<4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @div
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[V:.+]] = nn.read @v
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[V]]
  // CHECK-NEXT: %[[DIV:.+]] = nn.div %[[MUL]], %[[W]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[DIV]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[DIV]]
  // CHECK-NEXT: %[[DIV2:.+]] = nn.div %[[BROADCAST2]], %[[W]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[DIV2]], %[[DIV]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: %[[NEG:.+]] = nn.neg %[[REDUCE2]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[DIV2]], %[[X]]
  // CHECK-NEXT: %[[REDUCE3:.+]] = nn.reduce  sum %[[MUL3]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[NEG]] : tensor<4xf32>, @v = %[[REDUCE3]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @max reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %v = nn.read @v : tensor<4xf32>
    %z = nn.mul %x, %v : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.max %z, %w : tensor<?x4xf32>, tensor<4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @max
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[V:.+]] = nn.read @v
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[V]]
  // CHECK-NEXT: %[[MAX:.+]] = nn.max %[[MUL]], %[[W]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[MAX]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[MAX]]
  // CHECK-NEXT: %[[CONSTANT2:.+]] = nn.constant dense<5.000000e-01> : tensor<f32>
  // CHECK-NEXT: %[[EQUAL:.+]] = nn.equal %[[MUL]], %[[W]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[EQUAL]], %[[CONSTANT2]]
  // CHECK-NEXT: %[[GREATER:.+]] = nn.greater %[[W]], %[[MUL]]
  // CHECK-NEXT: %[[ADD:.+]] = nn.add %[[GREATER]], %[[MUL2]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[BROADCAST2]], %[[ADD]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL3]] axes [0]
  // CHECK-NEXT: %[[GREATER2:.+]] = nn.greater %[[MUL]], %[[W]]
  // CHECK-NEXT: %[[ADD2:.+]] = nn.add %[[GREATER2]], %[[MUL2]]
  // CHECK-NEXT: %[[MUL4:.+]] = nn.mul %[[BROADCAST2]], %[[ADD2]]
  // CHECK-NEXT: %[[MUL5:.+]] = nn.mul %[[MUL4]], %[[X]]
  // CHECK-NEXT: %[[REDUCE3:.+]] = nn.reduce  sum %[[MUL5]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>, @v = %[[REDUCE3]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @min reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %v = nn.read @v : tensor<4xf32>
    %z = nn.mul %x, %v : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.min %z, %w : tensor<?x4xf32>, tensor<4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @min
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[V:.+]] = nn.read @v
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[V]]
  // CHECK-NEXT: %[[MIN:.+]] = nn.min %[[MUL]], %[[W]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[MIN]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[MIN]]
  // CHECK-NEXT: %[[CONSTANT2:.+]] = nn.constant dense<5.000000e-01> : tensor<f32>
  // CHECK-NEXT: %[[EQUAL:.+]] = nn.equal %[[MUL]], %[[W]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[EQUAL]], %[[CONSTANT2]]
  // CHECK-NEXT: %[[GREATER:.+]] = nn.greater %[[MUL]], %[[W]]
  // CHECK-NEXT: %[[ADD:.+]] = nn.add %[[GREATER]], %[[MUL2]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[BROADCAST2]], %[[ADD]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL3]] axes [0]
  // CHECK-NEXT: %[[GREATER2:.+]] = nn.greater %[[W]], %[[MUL]]
  // CHECK-NEXT: %[[ADD2:.+]] = nn.add %[[GREATER2]], %[[MUL2]]
  // CHECK-NEXT: %[[MUL4:.+]] = nn.mul %[[BROADCAST2]], %[[ADD2]]
  // CHECK-NEXT: %[[MUL5:.+]] = nn.mul %[[MUL4]], %[[X]]
  // CHECK-NEXT: %[[REDUCE3:.+]] = nn.reduce  sum %[[MUL5]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>, @v = %[[REDUCE3]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  // Sums over features come before sums over samples.
  nn.program @scalar reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %s = nn.read @s : tensor<f32>
    %r = nn.mul %x, %s : tensor<?x4xf32>, tensor<f32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @scalar
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[S:.+]] = nn.read @s
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[S]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[MUL]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[MUL]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[BROADCAST2]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL2]] axes [1] keep
  // CHECK-NEXT: %[[REDUCE3:.+]] = nn.reduce  sum %[[REDUCE2]] axes [0] keep
  // CHECK-NEXT: %[[RESHAPE:.+]] = nn.reshape %[[REDUCE3]]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@s = %[[RESHAPE]] : tensor<f32>} over @g : tensor<?x1xf32>

  nn.program @unit reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %u = nn.read @u : tensor<1xf32>
    %l = nn.mul %y, %u : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @unit
  // CHECK-NEXT: ^bb0(%{{.+}}: tensor<?x4xf32>, %[[Y:[a-z0-9]+]]: tensor<?x1xf32>
  // CHECK-NEXT: %[[U:.+]] = nn.read @u
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[Y]], %[[U]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[Y]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[MUL]] {@u = %[[REDUCE]] : tensor<1xf32>} over @g : tensor<?x1xf32>

  // A value that is both operands gets two cotangents, which are added.
  nn.program @square reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.mul %z, %z : tensor<?x4xf32>, tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @square
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[MUL]], %[[MUL]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[MUL2]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[MUL2]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[BROADCAST2]], %[[MUL]]
  // CHECK-NEXT: %[[MUL4:.+]] = nn.mul %[[BROADCAST2]], %[[MUL]]
  // CHECK-NEXT: %[[ADD:.+]] = nn.add %[[MUL3]], %[[MUL4]]
  // CHECK-NEXT: %[[MUL5:.+]] = nn.mul %[[ADD]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL5]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>
}
