// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// Rows of bags.

nn.table @t : i64 -> tensor<3xf32> init(#nn.zeros)

// CHECK-LABEL: nn.func private @segments
nn.func private @segments(%c: !nn.ragged<?x2x*xi64>, %d: !nn.ragged<?x2x*xi64>, %q: tensor<?x2x3xf32>, %p: tensor<?x2x5x3xf32>, %s: tensor<?xi32>, %h: tensor<?x3xf32>, %v: !nn.ragged<?x2x*xf32>) {
  // CHECK: nn.lookup @t[%{{.*}}] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
  %0 = nn.lookup @t[%c] pool(none) : (!nn.ragged<?x2x*xi64>) -> tensor<?x3xf32>
  // CHECK: nn.same_bags %{{.*}} like %{{.*}} : !nn.ragged<?x2x*xi64>
  %1 = nn.same_bags %d like %c : !nn.ragged<?x2x*xi64>
  // CHECK: nn.same_bags %{{.*}} like %{{.*}} : !nn.ragged<?x2x*xf32>, !nn.ragged<?x2x*xi64>
  %w = nn.same_bags %v like %c : !nn.ragged<?x2x*xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.cast %{{.*}} : (!nn.ragged<?x2x*xf32>) -> tensor<?x1xf32>
  %n = nn.cast %w : (!nn.ragged<?x2x*xf32>) -> tensor<?x1xf32>
  // CHECK: nn.segment_sum %{{.*}} of %{{.*}} : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
  %2 = nn.segment_sum %h of %c : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
  // CHECK: nn.segment_max %{{.*}} of %{{.*}} : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
  %3 = nn.segment_max %h of %c : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x3xf32>
  // CHECK: nn.segment_mean %{{.*}} of %{{.*}} : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  %4 = nn.segment_mean %h of %c : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.segment_sqrtn %{{.*}} of %{{.*}} : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  %5 = nn.segment_sqrtn %h of %c : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.segment_first %{{.*}} of %{{.*}} : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  %6 = nn.segment_first %h of %c : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.segment_last %{{.*}} of %{{.*}} : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  %7 = nn.segment_last %h of %c : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.segment_sizes %{{.*}} : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x1xf32>
  %8 = nn.segment_sizes %c : (!nn.ragged<?x2x*xi64>) -> tensor<?x2x1xf32>
  // CHECK: nn.segment_positions %{{.*}} : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
  %9 = nn.segment_positions %c : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
  // CHECK: nn.segment_positions %{{.*}} from_end : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
  %10 = nn.segment_positions %c from_end : (!nn.ragged<?x2x*xi64>) -> tensor<?x1xf32>
  // CHECK: nn.segment_positions %{{.*}} like %{{.*}} : (tensor<?xi32>, tensor<?x3xf32>) -> tensor<?x1xf32>
  %11 = nn.segment_positions %s like %h : (tensor<?xi32>, tensor<?x3xf32>) -> tensor<?x1xf32>
  // CHECK: nn.segment_repeat %{{.*}} over %{{.*}} : tensor<?x2x3xf32>, !nn.ragged<?x2x*xi64>
  %12 = nn.segment_repeat %q over %c : tensor<?x2x3xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.segment_repeat %{{.*}} over %{{.*}} like %{{.*}} : tensor<?x2x3xf32>, tensor<?xi32>, tensor<?x3xf32>
  %13 = nn.segment_repeat %q over %s like %h : tensor<?x2x3xf32>, tensor<?xi32>, tensor<?x3xf32>
  // CHECK: nn.segment_softmax %{{.*}} of %{{.*}} : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  %14 = nn.segment_softmax %h of %c : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.segment_shift %{{.*}} of %{{.*}} by -1 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  %15 = nn.segment_shift %h of %c by -1 : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.segment_reverse %{{.*}} of %{{.*}} : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  %16 = nn.segment_reverse %h of %c : tensor<?x3xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.segment_pad %{{.*}} of %{{.*}} : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x5x3xf32>
  %17 = nn.segment_pad %h of %c : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x5x3xf32>
  // CHECK: nn.segment_pad %{{.*}} of %{{.*}} from_end : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x5x3xf32>
  %18 = nn.segment_pad %h of %c from_end : (tensor<?x3xf32>, !nn.ragged<?x2x*xi64>) -> tensor<?x2x5x3xf32>
  // CHECK: nn.segment_unpad %{{.*}} over %{{.*}} : tensor<?x2x5x3xf32>, !nn.ragged<?x2x*xi64>
  %19 = nn.segment_unpad %p over %c : tensor<?x2x5x3xf32>, !nn.ragged<?x2x*xi64>
  // CHECK: nn.segment_unpad %{{.*}} over %{{.*}} like %{{.*}} from_end : tensor<?x2x5x3xf32>, tensor<?xi32>, tensor<?x3xf32>
  %20 = nn.segment_unpad %p over %s like %h from_end : tensor<?x2x5x3xf32>, tensor<?xi32>, tensor<?x3xf32>
  nn.return
}

// CHECK-LABEL: nn.func private @checked
nn.func private @checked(%s: tensor<?xi32>) {
  // CHECK: nn.check_bags %{{.*}}, %{{.*}}
  nn.check_bags %s, %s
  nn.return
}
