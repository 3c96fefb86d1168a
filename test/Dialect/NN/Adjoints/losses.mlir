// RUN: pdl-opt %s --nn-autodiff | FileCheck %s

// Adjoints of losses.

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

  nn.program @sigmoid_cross_entropy reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %m = nn.read @m : tensor<4x1xf32>
    %z = nn.matmul %x, %m : tensor<?x4xf32>, tensor<4x1xf32>
    %l = nn.sigmoid_cross_entropy %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @sigmoid_cross_entropy
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %[[Y:[a-z0-9]+]]: tensor<?x1xf32>
  // CHECK-NEXT: %[[M:.+]] = nn.read @m
  // CHECK-NEXT: %[[MATMUL:.+]] = nn.matmul %[[X]], %[[M]]
  // CHECK-NEXT: %[[SIGMOID_CROSS_ENTROPY:.+]] = nn.sigmoid_cross_entropy %[[MATMUL]], %[[Y]]
  // CHECK-NEXT: %[[SIGMOID:.+]] = nn.sigmoid %[[MATMUL]]
  // CHECK-NEXT: %[[SUB:.+]] = nn.sub %[[SIGMOID]], %[[Y]]
  // CHECK-NEXT: %[[MATMUL2:.+]] = nn.matmul %[[X]] transposed, %[[SUB]]
  // CHECK-NEXT: nn.apply_gradients %[[SIGMOID_CROSS_ENTROPY]] {@m = %[[MATMUL2]] : tensor<4x1xf32>} over @g : tensor<?x1xf32>

  nn.program @squared_error reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %m = nn.read @m : tensor<4x1xf32>
    %z = nn.matmul %x, %m : tensor<?x4xf32>, tensor<4x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @squared_error
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %[[Y:[a-z0-9]+]]: tensor<?x1xf32>
  // CHECK-NEXT: %[[M:.+]] = nn.read @m
  // CHECK-NEXT: %[[MATMUL:.+]] = nn.matmul %[[X]], %[[M]]
  // CHECK-NEXT: %[[SQUARED_ERROR:.+]] = nn.squared_error %[[MATMUL]], %[[Y]]
  // CHECK-NEXT: %[[SUB:.+]] = nn.sub %[[MATMUL]], %[[Y]]
  // CHECK-NEXT: %[[ADD:.+]] = nn.add %[[SUB]], %[[SUB]]
  // CHECK-NEXT: %[[MATMUL2:.+]] = nn.matmul %[[X]] transposed, %[[ADD]]
  // CHECK-NEXT: nn.apply_gradients %[[SQUARED_ERROR]] {@m = %[[MATMUL2]] : tensor<4x1xf32>} over @g : tensor<?x1xf32>

  // Labels may be computed, as in distillation.
  nn.program @trained_labels reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %u = nn.read @u : tensor<1xf32>
    %t = nn.mul %y, %u : tensor<?x1xf32>, tensor<1xf32>
    %a = nn.sigmoid_cross_entropy %y, %t : tensor<?x1xf32>
    %b = nn.squared_error %y, %t : tensor<?x1xf32>
    %l = nn.add %a, %b : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @trained_labels
  // CHECK-NEXT: ^bb0(%{{.+}}: tensor<?x4xf32>, %[[Y:[a-z0-9]+]]: tensor<?x1xf32>
  // CHECK-NEXT: %[[U:.+]] = nn.read @u
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[Y]], %[[U]]
  // CHECK-NEXT: %[[SIGMOID_CROSS_ENTROPY:.+]] = nn.sigmoid_cross_entropy %[[Y]], %[[MUL]]
  // CHECK-NEXT: %[[SQUARED_ERROR:.+]] = nn.squared_error %[[Y]], %[[MUL]]
  // CHECK-NEXT: %[[ADD:.+]] = nn.add %[[SIGMOID_CROSS_ENTROPY]], %[[SQUARED_ERROR]]
  // CHECK-NEXT: %[[SUB:.+]] = nn.sub %[[Y]], %[[MUL]]
  // CHECK-NEXT: %[[ADD2:.+]] = nn.add %[[SUB]], %[[SUB]]
  // CHECK-NEXT: %[[NEG:.+]] = nn.neg %[[ADD2]]
  // CHECK-NEXT: %[[NEG2:.+]] = nn.neg %[[Y]]
  // CHECK-NEXT: %[[ADD3:.+]] = nn.add %[[NEG]], %[[NEG2]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[ADD3]], %[[Y]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[ADD]] {@u = %[[REDUCE]] : tensor<1xf32>} over @g : tensor<?x1xf32>
}
