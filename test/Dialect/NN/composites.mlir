// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// Ops that can be expressed by others.

nn.param @w : tensor<4x4xf32> init(#nn.zeros)
nn.param @v : tensor<4x1xf32> init(#nn.zeros)
nn.param @b : tensor<4xf32> init(#nn.zeros)
nn.param @c : tensor<9x2xf32> init(#nn.zeros)

// CHECK-LABEL: nn.func private @composites
nn.func private @composites(%x: tensor<?x4xf32>, %e: tensor<?x3x4xf32>, %g: tensor<4xf32>) {
  // CHECK: nn.softmax %{{.*}} axis 1 : tensor<?x4xf32>
  %0 = nn.softmax %x axis 1 : tensor<?x4xf32>
  // CHECK: nn.log_softmax %{{.*}} axis 1 : tensor<?x4xf32>
  %1 = nn.log_softmax %x axis 1 : tensor<?x4xf32>
  // CHECK: nn.layer_norm %{{.*}} : tensor<?x4xf32>
  %2 = nn.layer_norm %x : tensor<?x4xf32>
  // CHECK: nn.layer_norm %{{.*}} scale %{{.*}} shift %{{.*}} epsilon 1.000000e-03 : tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>
  %3 = nn.layer_norm %x scale %g shift %g epsilon 1.000000e-03 : tensor<?x4xf32>, tensor<4xf32>, tensor<4xf32>
  // CHECK: nn.l2_normalize %{{.*}} : tensor<?x4xf32>
  %4 = nn.l2_normalize %x : tensor<?x4xf32>
  // CHECK: nn.l2_normalize %{{.*}} epsilon 5.000000e-01 : tensor<?x4xf32>
  %5 = nn.l2_normalize %x epsilon 5.000000e-01 : tensor<?x4xf32>
  // CHECK: nn.cosine_similarity %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>
  %6 = nn.cosine_similarity %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK: nn.factorization %{{.*}} : tensor<?x3x4xf32>
  %7 = nn.factorization %e : tensor<?x3x4xf32>
  // CHECK: nn.pairwise_dots %{{.*}} : tensor<?x3x4xf32>
  %8 = nn.pairwise_dots %e : tensor<?x3x4xf32>
  // CHECK: nn.pairwise_dots %{{.*}} self : tensor<?x3x4xf32>
  %9 = nn.pairwise_dots %e self : tensor<?x3x4xf32>
  // CHECK: nn.cross_layer %{{.*}}, %{{.*}}, @w, @b : tensor<?x4xf32>
  %10 = nn.cross_layer %x, %x, @w, @b : tensor<?x4xf32>
  // CHECK: nn.cross_layer %{{.*}}, %{{.*}}, @v, @b vector : tensor<?x4xf32>
  %11 = nn.cross_layer %x, %x, @v, @b vector : tensor<?x4xf32>
  // CHECK: nn.compressed_interaction %{{.*}}, %{{.*}}, @c : (tensor<?x3x4xf32>, tensor<?x3x4xf32>) -> tensor<?x2x4xf32>
  %12 = nn.compressed_interaction %e, %e, @c : (tensor<?x3x4xf32>, tensor<?x3x4xf32>) -> tensor<?x2x4xf32>
  // CHECK: nn.softmax_cross_entropy %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<?x4xf32>
  %13 = nn.softmax_cross_entropy %x, %x : tensor<?x4xf32>, tensor<?x4xf32>
  // CHECK: nn.one_hot %{{.*}} classes 8 : tensor<?x1xf32>
  %classes = nn.one_hot %13 classes 8 : tensor<?x1xf32>
  // CHECK: nn.hinge_loss %{{.*}}, %{{.*}} : tensor<?x4xf32>
  %14 = nn.hinge_loss %x, %x : tensor<?x4xf32>
  // CHECK: nn.bpr_loss %{{.*}}, %{{.*}} : tensor<?x4xf32>
  %15 = nn.bpr_loss %x, %x : tensor<?x4xf32>
  // CHECK: nn.rank_loss %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4xf32>
  %16 = nn.rank_loss %x, %x, %x : tensor<?x4xf32>
  // CHECK: nn.huber_loss %{{.*}}, %{{.*}} : tensor<?x4xf32>
  %17 = nn.huber_loss %x, %x : tensor<?x4xf32>
  // CHECK: nn.huber_loss %{{.*}}, %{{.*}} delta 5.000000e-01 : tensor<?x4xf32>
  %18 = nn.huber_loss %x, %x delta 5.000000e-01 : tensor<?x4xf32>
  // CHECK: nn.log_loss %{{.*}}, %{{.*}} : tensor<?x4xf32>
  %19 = nn.log_loss %x, %x : tensor<?x4xf32>
  // CHECK: nn.log_loss %{{.*}}, %{{.*}} epsilon 1.250000e-01 : tensor<?x4xf32>
  %20 = nn.log_loss %x, %x epsilon 1.250000e-01 : tensor<?x4xf32>
  // CHECK: nn.linear %{{.*}}, @w act(relu) : (tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  %21 = nn.linear %e, @w act(relu) : (tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  nn.return
}

