// RUN: pdl-opt %s --nn-autodiff | FileCheck %s

// The adjoint of the matrix product.

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

  nn.program @plain reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %m = nn.read @m : tensor<4x1xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %p = nn.matmul %z, %m : tensor<?x4xf32>, tensor<4x1xf32>
    %l = nn.exp %p : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @plain
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[M:.+]] = nn.read @m
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[MATMUL:.+]] = nn.matmul %[[MUL]], %[[M]]
  // CHECK-NEXT: %[[EXP:.+]] = nn.exp %[[MATMUL]]
  // CHECK-NEXT: %[[MATMUL2:.+]] = nn.matmul %[[MUL]] transposed, %[[EXP]]
  // CHECK-NEXT: %[[MATMUL3:.+]] = nn.matmul %[[EXP]], %[[M]] transposed
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[MATMUL3]], %[[X]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[EXP]] {@w = %[[REDUCE]] : tensor<4xf32>, @m = %[[MATMUL2]] : tensor<4x1xf32>} over @g : tensor<?x1xf32>

  nn.program @rhs_transposed reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %m = nn.read @mt : tensor<1x4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %p = nn.matmul %z, %m transposed : tensor<?x4xf32>, tensor<1x4xf32>
    %l = nn.exp %p : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @rhs_transposed
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MT:.+]] = nn.read @mt
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[MATMUL:.+]] = nn.matmul %[[MUL]], %[[MT]] transposed
  // CHECK-NEXT: %[[EXP:.+]] = nn.exp %[[MATMUL]]
  // CHECK-NEXT: %[[MATMUL2:.+]] = nn.matmul %[[EXP]] transposed, %[[MUL]]
  // CHECK-NEXT: %[[MATMUL3:.+]] = nn.matmul %[[EXP]], %[[MT]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[MATMUL3]], %[[X]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[EXP]] {@w = %[[REDUCE]] : tensor<4xf32>, @mt = %[[MATMUL2]] : tensor<1x4xf32>} over @g : tensor<?x1xf32>

  nn.program @lhs_transposed reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %m = nn.read @m : tensor<4x1xf32>
    %mt = nn.read @mt : tensor<1x4xf32>
    %q = nn.matmul %mt transposed, %m transposed : tensor<1x4xf32>, tensor<4x1xf32>
    %z = nn.matmul %x, %q : tensor<?x4xf32>, tensor<4x4xf32>
    %r = nn.exp %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @lhs_transposed
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[M:.+]] = nn.read @m
  // CHECK-NEXT: %[[MT:.+]] = nn.read @mt
  // CHECK-NEXT: %[[MATMUL:.+]] = nn.matmul %[[MT]] transposed, %[[M]] transposed
  // CHECK-NEXT: %[[MATMUL2:.+]] = nn.matmul %[[X]], %[[MATMUL]]
  // CHECK-NEXT: %[[EXP:.+]] = nn.exp %[[MATMUL2]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[EXP]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[EXP]]
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[BROADCAST2]], %[[EXP]]
  // CHECK-NEXT: %[[MATMUL3:.+]] = nn.matmul %[[X]] transposed, %[[MUL]]
  // CHECK-NEXT: %[[MATMUL4:.+]] = nn.matmul %[[MATMUL3]] transposed, %[[MT]] transposed
  // CHECK-NEXT: %[[MATMUL5:.+]] = nn.matmul %[[M]] transposed, %[[MATMUL3]] transposed
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@m = %[[MATMUL4]] : tensor<4x1xf32>, @mt = %[[MATMUL5]] : tensor<1x4xf32>} over @g : tensor<?x1xf32>
}
