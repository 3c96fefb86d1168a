// RUN: pdl-opt %s --nn-autodiff | FileCheck %s

// Adjoints of elementwise ops with one operand.

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

  nn.program @neg reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.neg %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @neg
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[NEG:.+]] = nn.neg %[[MUL]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[NEG]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[NEG]]
  // CHECK-NEXT: %[[NEG2:.+]] = nn.neg %[[BROADCAST2]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[NEG2]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @abs reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.abs %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @abs
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[ABS:.+]] = nn.abs %[[MUL]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[ABS]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[ABS]]
  // CHECK-NEXT: %[[SIGN:.+]] = nn.sign %[[MUL]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[BROADCAST2]], %[[SIGN]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[MUL2]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL3]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @exp reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.exp %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @exp
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[EXP:.+]] = nn.exp %[[MUL]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[EXP]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[EXP]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[BROADCAST2]], %[[EXP]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[MUL2]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL3]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @log reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.log %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @log
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[LOG:.+]] = nn.log %[[MUL]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[LOG]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[LOG]]
  // CHECK-NEXT: %[[DIV:.+]] = nn.div %[[BROADCAST2]], %[[MUL]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[DIV]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @log1p reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.log1p %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @log1p
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[LOG1P:.+]] = nn.log1p %[[MUL]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[LOG1P]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[LOG1P]]
  // CHECK-NEXT: %[[CONSTANT2:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[ADD:.+]] = nn.add %[[MUL]], %[[CONSTANT2]]
  // CHECK-NEXT: %[[DIV:.+]] = nn.div %[[BROADCAST2]], %[[ADD]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[DIV]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @sqrt reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.sqrt %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @sqrt
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[SQRT:.+]] = nn.sqrt %[[MUL]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[SQRT]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[SQRT]]
  // CHECK-NEXT: %[[ADD:.+]] = nn.add %[[SQRT]], %[[SQRT]]
  // CHECK-NEXT: %[[DIV:.+]] = nn.div %[[BROADCAST2]], %[[ADD]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[DIV]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @tanh reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.tanh %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @tanh
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[TANH:.+]] = nn.tanh %[[MUL]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[TANH]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[TANH]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[TANH]], %[[TANH]]
  // CHECK-NEXT: %[[CONSTANT2:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[SUB:.+]] = nn.sub %[[CONSTANT2]], %[[MUL2]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[BROADCAST2]], %[[SUB]]
  // CHECK-NEXT: %[[MUL4:.+]] = nn.mul %[[MUL3]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL4]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @sigmoid reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.sigmoid %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @sigmoid
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[SIGMOID:.+]] = nn.sigmoid %[[MUL]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[SIGMOID]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[SIGMOID]]
  // CHECK-NEXT: %[[CONSTANT2:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[SUB:.+]] = nn.sub %[[CONSTANT2]], %[[SIGMOID]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[SIGMOID]], %[[SUB]]
  // CHECK-NEXT: %[[MUL3:.+]] = nn.mul %[[BROADCAST2]], %[[MUL2]]
  // CHECK-NEXT: %[[MUL4:.+]] = nn.mul %[[MUL3]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL4]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @relu reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.relu %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @relu
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[RELU:.+]] = nn.relu %[[MUL]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[RELU]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[RELU]]
  // CHECK-NEXT: %[[RELU_GRADIENT:.+]] = nn.relu_gradient %[[BROADCAST2]], %[[RELU]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[RELU_GRADIENT]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @gelu reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.gelu %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @gelu
  // CHECK: %[[MUL:.+]] = nn.mul %{{.*}}, %{{.*}}
  // CHECK-NEXT: %[[GELU:.+]] = nn.gelu %[[MUL]]
  // CHECK: %[[COTANGENT:.+]] = nn.broadcast %{{.+}} like %[[GELU]]
  // CHECK-NEXT: %[[SQUARE:.+]] = nn.mul %[[MUL]], %[[MUL]]
  // CHECK-NEXT: %[[CUBIC:.+]] = nn.constant dense<0.0356{{[0-9]+}}> : tensor<f32>
  // CHECK-NEXT: %[[SCALED:.+]] = nn.mul %[[SQUARE]], %[[CUBIC]]
  // CHECK-NEXT: %[[LINEAR:.+]] = nn.constant dense<0.7978{{[0-9]+}}> : tensor<f32>
  // CHECK-NEXT: %[[FACTOR:.+]] = nn.add %[[SCALED]], %[[LINEAR]]
  // CHECK-NEXT: %[[U:.+]] = nn.mul %[[MUL]], %[[FACTOR]]
  // CHECK-NEXT: %[[TANH:.+]] = nn.tanh %[[U]]
  // CHECK-NEXT: %[[CUBIC3:.+]] = nn.constant dense<0.1070{{[0-9]+}}> : tensor<f32>
  // CHECK-NEXT: %[[SCALED3:.+]] = nn.mul %[[SQUARE]], %[[CUBIC3]]
  // CHECK-NEXT: %[[LINEAR2:.+]] = nn.constant dense<0.7978{{[0-9]+}}> : tensor<f32>
  // CHECK-NEXT: %[[SLOPE_U:.+]] = nn.add %[[SCALED3]], %[[LINEAR2]]
  // CHECK-NEXT: %[[TANH2:.+]] = nn.mul %[[TANH]], %[[TANH]]
  // CHECK-NEXT: %[[ONE:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[SLOPE_TANH:.+]] = nn.sub %[[ONE]], %[[TANH2]]
  // CHECK-NEXT: %[[INNER:.+]] = nn.mul %[[MUL]], %[[SLOPE_TANH]]
  // CHECK-NEXT: %[[INNER2:.+]] = nn.mul %[[INNER]], %[[SLOPE_U]]
  // CHECK-NEXT: %[[ONE2:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[SUM:.+]] = nn.add %[[TANH]], %[[ONE2]]
  // CHECK-NEXT: %[[TWICE:.+]] = nn.add %[[SUM]], %[[INNER2]]
  // CHECK-NEXT: %[[HALF:.+]] = nn.constant dense<5.000000e-01> : tensor<f32>
  // CHECK-NEXT: %[[SLOPE:.+]] = nn.mul %[[TWICE]], %[[HALF]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[COTANGENT]], %[[SLOPE]]

  nn.program @erf reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.erf %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @erf
  // CHECK: %[[MUL:.+]] = nn.mul %{{.*}}, %{{.*}}
  // CHECK-NEXT: %[[ERF:.+]] = nn.erf %[[MUL]]
  // CHECK: %[[COTANGENT:.+]] = nn.broadcast %{{.+}} like %[[ERF]]
  // CHECK: %[[SQUARE:.+]] = nn.mul %[[MUL]], %[[MUL]]
  // CHECK: %[[NEG:.+]] = nn.neg %[[SQUARE]]
  // CHECK: %[[EXP:.+]] = nn.exp %[[NEG]]
  // CHECK: %[[SLOPE:.+]] = nn.mul %[[EXP]], %{{.+}}
  // CHECK: nn.mul %[[COTANGENT]], %[[SLOPE]]

  nn.program @gelu_erf reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.gelu_erf %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @gelu_erf
  // CHECK: %[[MUL:.+]] = nn.mul %{{.*}}, %{{.*}}
  // CHECK-NEXT: %[[GELU:.+]] = nn.gelu_erf %[[MUL]]
  // CHECK: nn.erf
  // CHECK: nn.exp
  // CHECK: nn.apply_gradients

  nn.program @signed_log1p reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.signed_log1p %z : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @signed_log1p
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[SIGNED_LOG1P:.+]] = nn.signed_log1p %[[MUL]]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[SIGNED_LOG1P]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[SIGNED_LOG1P]]
  // CHECK-NEXT: %[[ABS:.+]] = nn.abs %[[MUL]]
  // CHECK-NEXT: %[[CONSTANT2:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[ADD:.+]] = nn.add %[[ABS]], %[[CONSTANT2]]
  // CHECK-NEXT: %[[DIV:.+]] = nn.div %[[BROADCAST2]], %[[ADD]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[DIV]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>

  nn.program @standardize reads(@r) {
  ^bb0(%x: tensor<?x4xf32>, %y: tensor<?x1xf32>, %ids: tensor<?xi64>, %splits: tensor<?xi32>):
    %w = nn.read @w : tensor<4xf32>
    %z = nn.mul %x, %w : tensor<?x4xf32>, tensor<4xf32>
    %r = nn.standardize %z mean [0.0, 1.0, 2.0, 3.0] deviation [1.0, 2.0, 4.0, 8.0] : tensor<?x4xf32>
    %l = nn.reduce sum %r axes [1] keep : tensor<?x4xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @standardize
  // CHECK-NEXT: ^bb0(%[[X:[a-z0-9]+]]: tensor<?x4xf32>, %{{.+}}: tensor<?x1xf32>
  // CHECK-NEXT: %[[W:.+]] = nn.read @w
  // CHECK-NEXT: %[[MUL:.+]] = nn.mul %[[X]], %[[W]]
  // CHECK-NEXT: %[[STANDARDIZE:.+]] = nn.standardize %[[MUL]] mean [0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00] deviation [1.000000e+00, 2.000000e+00, 4.000000e+00, 8.000000e+00]
  // CHECK-NEXT: %[[REDUCE:.+]] = nn.reduce  sum %[[STANDARDIZE]] axes [1] keep
  // CHECK-NEXT: %[[CONSTANT:.+]] = nn.constant dense<1.000000e+00> : tensor<f32>
  // CHECK-NEXT: %[[BROADCAST:.+]] = nn.broadcast %[[CONSTANT]] like %[[REDUCE]]
  // CHECK-NEXT: %[[BROADCAST2:.+]] = nn.broadcast %[[BROADCAST]] like %[[STANDARDIZE]]
  // CHECK-NEXT: %[[CONSTANT2:.+]] = nn.constant dense<[1.000000e+00, 2.000000e+00, 4.000000e+00, 8.000000e+00]> : tensor<4xf32>
  // CHECK-NEXT: %[[DIV:.+]] = nn.div %[[BROADCAST2]], %[[CONSTANT2]]
  // CHECK-NEXT: %[[MUL2:.+]] = nn.mul %[[DIV]], %[[X]]
  // CHECK-NEXT: %[[REDUCE2:.+]] = nn.reduce  sum %[[MUL2]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[REDUCE]] {@w = %[[REDUCE2]] : tensor<4xf32>} over @g : tensor<?x1xf32>
}
