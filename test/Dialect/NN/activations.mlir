// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// Activations, ops with numbers, and nn.select. Default values are not printed.

// CHECK-LABEL: nn.func private @activations
nn.func private @activations(%x: tensor<?x4xf32>) {
  // CHECK: nn.floor %{{.*}} : tensor<?x4xf32>
  %0 = nn.floor %x : tensor<?x4xf32>
  // CHECK: nn.rsqrt %{{.*}} : tensor<?x4xf32>
  %1 = nn.rsqrt %x : tensor<?x4xf32>
  // CHECK: nn.softplus %{{.*}} : tensor<?x4xf32>
  %2 = nn.softplus %x : tensor<?x4xf32>
  // CHECK: nn.swish %{{.*}} : tensor<?x4xf32>
  %3 = nn.swish %x : tensor<?x4xf32>
  // CHECK: nn.hard_sigmoid %{{.*}} : tensor<?x4xf32>
  %4 = nn.hard_sigmoid %x : tensor<?x4xf32>
  // CHECK: nn.leaky_relu %{{.*}} : tensor<?x4xf32>
  %5 = nn.leaky_relu %x : tensor<?x4xf32>
  // CHECK: nn.elu %{{.*}} : tensor<?x4xf32>
  %6 = nn.elu %x : tensor<?x4xf32>
  // CHECK: nn.leaky_relu %{{.*}} slope 2.500000e-01 : tensor<?x4xf32>
  %7 = nn.leaky_relu %x slope 2.500000e-01 : tensor<?x4xf32>
  // CHECK: nn.elu %{{.*}} alpha 5.000000e-01 : tensor<?x4xf32>
  %8 = nn.elu %x alpha 5.000000e-01 : tensor<?x4xf32>
  // CHECK: nn.clamp %{{.*}} from -1.000000e+00 to 1.500000e+00 : tensor<?x4xf32>
  %9 = nn.clamp %x from -1.000000e+00 to 1.500000e+00 : tensor<?x4xf32>
  // CHECK: nn.pow %{{.*}} exponent 1.500000e+00 : tensor<?x4xf32>
  %10 = nn.pow %x exponent 1.500000e+00 : tensor<?x4xf32>
  // CHECK: nn.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  %11 = nn.select %x, %x, %x : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
  nn.return
}

// CHECK-LABEL: nn.func private @defaults
nn.func private @defaults(%x: tensor<?x4xf32>) {
  // CHECK: nn.leaky_relu %{{.*}} : tensor<?x4xf32>
  %0 = nn.leaky_relu %x slope 0.01 : tensor<?x4xf32>
  // CHECK: nn.elu %{{.*}} : tensor<?x4xf32>
  %1 = nn.elu %x alpha 1.0 : tensor<?x4xf32>
  nn.return
}
