// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// Products of samples, and other orders of elements.

// CHECK-LABEL: nn.func private @products
nn.func private @products(%a: tensor<?x3x4xf32>, %b: tensor<?x4x2xf32>, %w: tensor<4x5xf32>, %i: tensor<?x3xi64>) {
  // CHECK: nn.matmul %{{.*}}, %{{.*}} : tensor<?x3x4xf32>, tensor<?x4x2xf32>
  %0 = nn.matmul %a, %b : tensor<?x3x4xf32>, tensor<?x4x2xf32>
  // CHECK: nn.matmul %{{.*}}, %{{.*}} transposed : tensor<?x3x4xf32>, tensor<?x3x4xf32>
  %1 = nn.matmul %a, %a transposed : tensor<?x3x4xf32>, tensor<?x3x4xf32>
  // CHECK: nn.matmul %{{.*}} transposed, %{{.*}} : tensor<?x3x4xf32>, tensor<?x3x4xf32>
  %2 = nn.matmul %a transposed, %a : tensor<?x3x4xf32>, tensor<?x3x4xf32>
  // CHECK: nn.matmul %{{.*}}, %{{.*}} : tensor<?x3x4xf32>, tensor<4x5xf32>
  %3 = nn.matmul %a, %w : tensor<?x3x4xf32>, tensor<4x5xf32>
  // CHECK: nn.batch_matmul %{{.*}} transposed, %{{.*}} : tensor<?x3x4xf32>, tensor<?x3x4xf32>
  %4 = nn.batch_matmul %a transposed, %a : tensor<?x3x4xf32>, tensor<?x3x4xf32>
  // CHECK: nn.batch_matmul %{{.*}}, %{{.*}} transposed : tensor<?x3x4xf32>, tensor<?x3x4xf32>
  %8 = nn.batch_matmul %a, %a transposed : tensor<?x3x4xf32>, tensor<?x3x4xf32>
  // CHECK: nn.transpose %{{.*}} permutation [0, 2, 1] : tensor<?x3x4xf32>
  %5 = nn.transpose %a permutation [0, 2, 1] : tensor<?x3x4xf32>
  // CHECK: nn.take %{{.*}} axis 1 at [2, -1, 2] : tensor<?x3x4xf32>
  %6 = nn.take %a axis 1 at [2, -1, 2] : tensor<?x3x4xf32>
  // CHECK: nn.take %{{.*}} axis 1 at [2] : tensor<?x3xi64>
  %7 = nn.take %i axis 1 at [2] : tensor<?x3xi64>
  nn.return
}

