// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// Ops that mix the samples of a batch.

// CHECK-LABEL: nn.func private @mixing
nn.func private @mixing(%u: tensor<?x4xf32>, %v: tensor<?x4xf32>, %q: tensor<?x1xf32>, %i: tensor<?x1xi64>, %b: tensor<?x2x3xf32>) {
  // CHECK: nn.rotate %{{.*}} by 1 : tensor<?x4xf32>
  %0 = nn.rotate %u by 1 : tensor<?x4xf32>
  // CHECK: nn.rotate %{{.*}} by -7 : tensor<?x1xi64>
  %1 = nn.rotate %i by -7 : tensor<?x1xi64>
  // CHECK: nn.rotate %{{.*}} by 2 : tensor<?x2x3xf32>
  %2 = nn.rotate %b by 2 : tensor<?x2x3xf32>
  // CHECK: nn.in_batch_softmax %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>
  %3 = nn.in_batch_softmax %u, %v : tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK: nn.in_batch_softmax %{{.*}}, %{{.*}} ids %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xi64>
  %4 = nn.in_batch_softmax %u, %v ids %i : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xi64>
  // CHECK: nn.in_batch_softmax %{{.*}}, %{{.*}} correction %{{.*}} ids %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x1xi64>
  %5 = nn.in_batch_softmax %u, %v correction %q ids %i : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>, tensor<?x1xi64>
  // CHECK: nn.in_batch_log_sum_exp %{{.*}}, %{{.*}} correction %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>
  %6 = nn.in_batch_log_sum_exp %u, %v correction %q : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xf32>
  // CHECK: nn.in_batch_gradient of items %{{.*}}, %{{.*}} ids %{{.*}} sums %{{.*}} from %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x1xf32>
  %7 = nn.in_batch_gradient of items %u, %v ids %i sums %6 from %q : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x1xf32>
  nn.return
}
