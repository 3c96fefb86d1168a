// RUN: pdl-opt %s | pdl-opt | FileCheck %s

nn.table @t : i64 -> tensor<3xf32> init(#nn.zeros)
// CHECK: nn.param @a : tensor<2x3xf32> init(#nn.xavier_normal)
nn.param @a : tensor<2x3xf32> init(#nn.xavier_normal)
// CHECK: nn.param @cut : tensor<3xf32> init(#nn.truncated_normal<0.000000e+00, 5.000000e-01>)
nn.param @cut : tensor<3xf32> init(#nn.truncated_normal<0.0, 0.5>)
// CHECK: nn.param @b : tensor<2x3xf32> init(#nn.msra_uniform<fan_in>)
nn.param @b : tensor<2x3xf32> init(#nn.msra_uniform<fan_in>)
// CHECK: nn.param @c : tensor<2x3xf32> init(#nn.msra_normal<fan_out>)
nn.param @c : tensor<2x3xf32> init(#nn.msra_normal<fan_out>)

nn.func private @f(%d: tensor<?x2xi64>, %c: !nn.ragged<?x1x*xi64>, %e: tensor<?x2x5xf32>, %w: !nn.ragged<?x1x*xf32>) {
  // CHECK: nn.id_arithmetic add %{{.*}} with -7 : tensor<?x2xi64>
  %0 = nn.id_arithmetic add %d with -7 : tensor<?x2xi64>
  // CHECK: nn.id_arithmetic remainder %{{.*}} with 1000 : !nn.ragged<?x1x*xi64>
  %1 = nn.id_arithmetic remainder %c with 1000 : !nn.ragged<?x1x*xi64>
  // CHECK: nn.cast %{{.*}} : (tensor<?x2xi64>) -> tensor<?x2xf32>
  %2 = nn.cast %0 : (tensor<?x2xi64>) -> tensor<?x2xf32>
  // CHECK: nn.cast %{{.*}} : (tensor<?x2xf32>) -> tensor<?x2xi64>
  %3 = nn.cast %2 : (tensor<?x2xf32>) -> tensor<?x2xi64>
  // CHECK: nn.cast %{{.*}} : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
  %4 = nn.cast %1 : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
  // CHECK: nn.lookup @t[%{{.*}}] weights(%{{.*}}) pool(mean) : (!nn.ragged<?x1x*xi64>, tensor<?x1xf32>) -> tensor<?x1x3xf32>
  %5 = nn.lookup @t[%1] weights(%4) pool(mean) : (!nn.ragged<?x1x*xi64>, tensor<?x1xf32>) -> tensor<?x1x3xf32>
  // CHECK: nn.cvm %{{.*}} : tensor<?x2x5xf32>
  %6 = nn.cvm %e : tensor<?x2x5xf32>
  // CHECK: nn.segment_window %{{.*}} of %{{.*}} from -1 to 1 : tensor<?x1xf32>, !nn.ragged<?x1x*xi64>
  %7 = nn.segment_window %4 of %1 from -1 to 1 : tensor<?x1xf32>, !nn.ragged<?x1x*xi64>
  // CHECK: nn.less %
  %8 = nn.less %2, %2 : tensor<?x2xf32>, tensor<?x2xf32>
  // CHECK: nn.less_equal %
  %9 = nn.less_equal %2, %2 : tensor<?x2xf32>, tensor<?x2xf32>
  // CHECK: nn.greater_equal %
  %10 = nn.greater_equal %2, %2 : tensor<?x2xf32>, tensor<?x2xf32>
  // CHECK: nn.not_equal %
  %11 = nn.not_equal %2, %2 : tensor<?x2xf32>, tensor<?x2xf32>
  // CHECK: nn.cast %{{.*}} : (tensor<?x2xf32>) -> tensor<?x2xf64>
  %12 = nn.cast %2 : (tensor<?x2xf32>) -> tensor<?x2xf64>
  // CHECK: nn.cast %{{.*}} : (tensor<?x2xf64>) -> tensor<?x2xf32>
  %13 = nn.cast %12 : (tensor<?x2xf64>) -> tensor<?x2xf32>
  // CHECK: nn.cast %{{.*}} : (!nn.ragged<?x1x*xf32>) -> tensor<?x1xf64>
  %14 = nn.cast %w : (!nn.ragged<?x1x*xf32>) -> tensor<?x1xf64>
  // The bags define which rows belong together. `like` defines their number.
  // CHECK: nn.segment_sum %{{.*}} of %{{.*}} : (tensor<?x1xf64>, !nn.ragged<?x1x*xf32>) -> tensor<?x1x1xf64>
  %15 = nn.segment_sum %14 of %w : (tensor<?x1xf64>, !nn.ragged<?x1x*xf32>) -> tensor<?x1x1xf64>
  // CHECK: nn.broadcast %{{.*}} like %{{.*}} : (tensor<1x3xf64>, tensor<?x2xf32>) -> tensor<?x3xf64>
  %16 = nn.constant dense<1.0> : tensor<1x3xf64>
  %17 = nn.broadcast %16 like %2 : (tensor<1x3xf64>, tensor<?x2xf32>) -> tensor<?x3xf64>
  // CHECK: nn.if %{{.*}} with(%{{.*}}, %{{.*}}) {
  %18 = nn.constant dense<1.0> : tensor<1xf32>
  %19 = nn.if %18 with(%12, %2) {
  ^bb0(%a: tensor<?x2xf64>, %b: tensor<?x2xf32>):
    nn.yield %a : tensor<?x2xf64>
  } else {
  ^bb0(%a: tensor<?x2xf64>, %b: tensor<?x2xf32>):
    %wide = nn.cast %b : (tensor<?x2xf32>) -> tensor<?x2xf64>
    nn.yield %wide : tensor<?x2xf64>
  } : tensor<1xf32>, tensor<?x2xf64>, tensor<?x2xf32>
  nn.return
}
