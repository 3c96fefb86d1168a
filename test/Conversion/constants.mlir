// RUN: pdl-opt %s --pdl-pipeline="to=tasks" | FileCheck %s

// A constant of any rank is a flat array.
module {
  nn.record @r {
    nn.field @x : tensor<?x6xf32>
  }
  // CHECK: llvm.mlir.global internal constant @{{.*}}(dense<[1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00]> : tensor<6xf32>)
  // CHECK-SAME: !llvm.array<6 x f32>
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x6xf32>):
    %c = nn.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
    %0 = nn.reshape %x : (tensor<?x6xf32>) -> tensor<?x2x3xf32>
    %1 = nn.add %0, %c : tensor<?x2x3xf32>, tensor<2x3xf32>
    nn.return %1 : tensor<?x2x3xf32>
  }
}
