// RUN: pdl-opt %s --nn-autodiff | FileCheck %s

// Adjoints of ops that move elements.

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

  // Only values that depend on a trained symbol get a cotangent.
  nn.program @concat reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %c = nn.concat %y, %z, %y axis 1 : tensor<?x1xf32>, tensor<?x4xf32>, tensor<?x1xf32>
    %q = nn.mul %c, %c : tensor<?x6xf32>, tensor<?x6xf32>
    %l = nn.reduce sum %q axes [1] keep : tensor<?x6xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @concat
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %[[Y:[a-z0-9]+]]: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[CONCAT:.+]] = nn.concat %[[Y]], %[[MUL]], %[[Y]] axis 1
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[CONCAT]], %[[CONCAT]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[MUL2]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[MUL2]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[BROADCAST2]], %[[CONCAT]]
  // CHECK-NEXT: %[[MUL4:.+]] = nn.mul %[[BROADCAST2]], %[[CONCAT]]
  // CHECK-NEXT: %[[ADD:.+]] = nn.add %[[MUL3]], %[[MUL4]]
  // CHECK-NEXT: %[[SLICE:.+]] = nn.slice %[[ADD]] axis 1 offset 1 size 4
  // CHECK-NEXT: %[[MUL5:.+]] = nn.mul %[[SLICE]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL5]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @slice reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %l = nn.slice %z axis 1 offset 2 size 1 : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @slice
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[SLICE:.+]] = nn.slice %[[MUL]] axis 1 offset 2 size 1
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[SLICE]]
  // CHECK-NEXT: %[[PAD:.+]] = nn.pad %[[BROADCAST]] axis 1 low 2 high 1
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[PAD]], %[[X]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[SLICE]] {@w = %[[REDUCE]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @pad reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %p = nn.pad %z axis 1 low 2 high 1 : tensor<?x4xf32>
    %l = nn.slice %p axis 1 offset 3 size 1 : tensor<?x7xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @pad
  // CHECK: %[[PAD:.+]] = nn.pad %{{.+}} axis 1 low 3 high 3
  // CHECK-NEXT: %[[SLICE:.+]] = nn.slice %[[PAD]] axis 1 offset 2 size 4
  // CHECK-NEXT: nn.mul %[[SLICE]]

  // If an entry is taken twice, a product with ones and zeros adds its
  // cotangents.
  nn.program @gather reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %places = nn.top_k %x count 1 : tensor<?x4xf32>
    %l = nn.gather %z at %places : tensor<?x4xf32>, tensor<?x1xi64>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @gather
  // CHECK: %[[PLACES:.+]] = nn.top_k
  // CHECK: nn.gather %{{.+}} at %[[PLACES]]
  // CHECK: %[[WANTED:.+]] = nn.cast %[[PLACES]]
  // CHECK: %[[ONES:.+]] = nn.equal
  // CHECK: nn.batch_matmul %[[ONES]] transposed, %{{.+}} : tensor<?x1x4xf32>, tensor<?x1x1xf32>

  nn.program @reshape reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %t = nn.reshape %z : (tensor<?x4xf32>) -> tensor<?x2x2xf32>
    %q = nn.exp %t : tensor<?x2x2xf32>
    %f = nn.reshape %q : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    %l = nn.reduce sum %f axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @reshape
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[RESHAPE:.+]] = nn.reshape %[[MUL]]
  // CHECK-NEXT: %[[EXP:.+]] = nn.exp %[[RESHAPE]]
  // CHECK-NEXT: %[[RESHAPE2:.+]] = nn.reshape %[[EXP]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[RESHAPE2]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[RESHAPE2]]
  // CHECK-NEXT: %[[RESHAPE3:.+]] = nn.reshape %[[BROADCAST2]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[RESHAPE3]], %[[EXP]]
  // CHECK-NEXT: %[[RESHAPE4:.+]] = nn.reshape %[[MUL2]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[RESHAPE4]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL3]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @broadcast reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %u = nn.read @u : tensor<1xf32>
    %b = nn.broadcast %u like %x : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %r = nn.mul %b, %x : tensor<?x4xf32>, tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @broadcast
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[U:.+]] = nn.read @u
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[U]] like %[[X]]
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[BROADCAST]], %[[X]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[MUL]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST3:.+]] = nn.broadcast %[[BROADCAST2]] like %[[MUL]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[BROADCAST3]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL2]] axes [1] keep
  // CHECK-NEXT: %[[REDUCE3:.+]] = nn.reduce  sum %[[REDUCE2]] axes [0] keep
  // CHECK-NEXT: %[[RESHAPE:.+]] = nn.reshape %[[REDUCE3]]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@u = %[[RESHAPE]] : tensor<1xf32>} over @g : tensor<?x1xf32>
}
