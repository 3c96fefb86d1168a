// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// A condition that selects one of two ways to compute values.

// CHECK-LABEL: nn.func private @f
nn.func private @f(%c: tensor<1xf32>, %x: tensor<?x3xf32>, %m: tensor<3xf32>) {
  // CHECK: %{{.*}}:2 = nn.if %{{.*}} with(%{{.*}}, %{{.*}}) {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<?x3xf32>, %{{.*}}: tensor<3xf32>):
  // CHECK-NEXT: nn.yield %[[X]], %[[X]] : tensor<?x3xf32>, tensor<?x3xf32>
  // CHECK-NEXT: } else {
  // CHECK-NEXT: ^bb0(%[[Y:.*]]: tensor<?x3xf32>, %[[M:.*]]: tensor<3xf32>):
  // CHECK-NEXT: %[[Z:.*]] = nn.mul %[[Y]], %[[M]]
  // CHECK-NEXT: nn.yield %[[Z]], %[[Y]] : tensor<?x3xf32>, tensor<?x3xf32>
  // CHECK-NEXT: } : tensor<1xf32>, tensor<?x3xf32>, tensor<3xf32>
  %0:2 = nn.if %c with(%x, %m) {
  ^bb0(%y: tensor<?x3xf32>, %n: tensor<3xf32>):
    nn.yield %y, %y : tensor<?x3xf32>, tensor<?x3xf32>
  } else {
  ^bb0(%y: tensor<?x3xf32>, %n: tensor<3xf32>):
    %z = nn.mul %y, %n : tensor<?x3xf32>, tensor<3xf32>
    nn.yield %z, %y : tensor<?x3xf32>, tensor<?x3xf32>
  } : tensor<1xf32>, tensor<?x3xf32>, tensor<3xf32>
  // A condition without inputs.
  // CHECK: nn.if %{{.*}} {
  %1 = nn.if %c {
    %a = nn.constant dense<1.0> : tensor<f32>
    nn.yield %a : tensor<f32>
  } else {
    %a = nn.constant dense<2.0> : tensor<f32>
    nn.yield %a : tensor<f32>
  } : tensor<1xf32>
  nn.return
}
