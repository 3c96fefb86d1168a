// RUN: pdl-opt %s --nn-autodiff | FileCheck %s

module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
    nn.field @weight : tensor<?x1xf32>
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.group @h rule(@sgd) rate(0.1)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.param @b : tensor<1xf32> in @g init(#nn.zeros)
  nn.param @c : tensor<1xf32> in @h init(#nn.zeros)
  nn.param @fixed : tensor<1xf32> init(#nn.zeros)

  // The cotangent of a weighted loss is its weight.
  nn.program @weighted reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %weight: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %l = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %l weight %weight over [@g] : tensor<?x1xf32>, tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @weighted
  // CHECK-NEXT: ^bb0(%[[X:.+]]: tensor<?x1xf32>, %[[WEIGHT:.+]]: tensor<?x1xf32>):
  // CHECK: %[[L:.+]] = nn.mul %[[X]]
  // CHECK-NEXT: %[[PRODUCT:.+]] = nn.mul %[[WEIGHT]], %[[X]]
  // CHECK-NEXT: %[[SUM:.+]] = nn.reduce sum %[[PRODUCT]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[L]] weight %[[WEIGHT]] {@a = %[[SUM]] : tensor<1xf32>}

  // Cotangents of a value with several uses are added in reverse order of use.
  nn.program @uses reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %weight: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %z = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    %first = nn.exp %z : tensor<?x1xf32>
    %second = nn.tanh %z : tensor<?x1xf32>
    %third = nn.relu %z : tensor<?x1xf32>
    %s = nn.add %first, %second : tensor<?x1xf32>, tensor<?x1xf32>
    %l = nn.add %s, %third : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @uses
  // CHECK: %[[FIRST:.+]] = nn.exp
  // CHECK: nn.broadcast
  // CHECK-NEXT: %[[THIRD:.+]] = nn.relu_gradient
  // CHECK: %[[SLOPE:.+]] = nn.sub
  // CHECK-NEXT: %[[TWO:.+]] = nn.add %[[THIRD]], %[[SLOPE]]
  // CHECK-NEXT: %[[THREE:.+]] = nn.add %[[TWO]], %[[FIRST]]
  // CHECK-NEXT: nn.mul %[[THREE]]

  // Nothing is computed for untrained values: the untrained parameter, the
  // other group, and the operand of stop_gradient.
  nn.program @inactive reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %weight: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %b = nn.read @b : tensor<1xf32>
    %c = nn.read @c : tensor<1xf32>
    %fixed = nn.read @fixed : tensor<1xf32>
    %0 = nn.mul %x, %fixed : tensor<?x1xf32>, tensor<1xf32>
    %1 = nn.mul %0, %c : tensor<?x1xf32>, tensor<1xf32>
    %2 = nn.mul %1, %b : tensor<?x1xf32>, tensor<1xf32>
    %3 = nn.stop_gradient %2 : tensor<?x1xf32>
    %l = nn.mul %3, %a : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
    nn.return %2 : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @inactive
  // CHECK: %[[STOPPED:.+]] = nn.stop_gradient
  // CHECK-NEXT: %[[L:.+]] = nn.mul %[[STOPPED]]
  // CHECK-NEXT: %[[DA:.+]] = nn.reduce sum %[[STOPPED]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[L]] {@a = %[[DA]] : tensor<1xf32>} over @g
  // CHECK-NEXT: nn.return

  // Weights may depend on trained symbols through stop_gradient. Ops that
  // gradients do not pass need not be differentiable.
  nn.program @stopped_weights reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %weight: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %l = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    %p = nn.relu_gradient %l, %x : tensor<?x1xf32>
    %w = nn.stop_gradient %p : tensor<?x1xf32>
    nn.minimize %l weight %w over [@g] : tensor<?x1xf32>, tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @stopped_weights
  // CHECK: %[[W:.+]] = nn.stop_gradient
  // CHECK: nn.apply_gradients %{{.+}} weight %[[W]]

  // A cotangent is cast back to the type of its value. A value that becomes an
  // id has no cotangent.
  nn.program @types reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %weight: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %z = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    %wide = nn.cast %z : (tensor<?x1xf32>) -> tensor<?x1xf64>
    %ids = nn.cast %z : (tensor<?x1xf32>) -> tensor<?x1xi64>
    %whole = nn.cast %ids : (tensor<?x1xi64>) -> tensor<?x1xf64>
    %l = nn.mul %wide, %whole : tensor<?x1xf64>, tensor<?x1xf64>
    nn.minimize %l over [@g] : tensor<?x1xf64>
  }
  // CHECK-LABEL: nn.program @types
  // CHECK: %[[X:.+]] = nn.mul
  // CHECK: %[[WHOLE:.+]] = nn.cast %{{.+}} : (tensor<?x1xi64>) -> tensor<?x1xf64>
  // CHECK-NEXT: %[[L:.+]] = nn.mul
  // CHECK-NEXT: %[[DZ:.+]] = nn.cast %[[WHOLE]] : (tensor<?x1xf64>) -> tensor<?x1xf32>
  // CHECK-NEXT: %[[DX:.+]] = nn.mul %[[DZ]]
  // CHECK-NEXT: %[[DA:.+]] = nn.reduce sum %[[DX]] axes [0]
  // CHECK-NEXT: nn.apply_gradients %[[L]] {@a = %[[DA]] : tensor<1xf32>} over @g : tensor<?x1xf64>

  // Frozen programs do not change.
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>, %weight: tensor<?x1xf32>):
    nn.return %x : tensor<?x1xf32>
  }
  // CHECK-LABEL: nn.program @predict frozen
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: nn.return
}
