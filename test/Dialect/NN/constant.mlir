// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=merged" | FileCheck %s --check-prefix=F32
// RUN: pdl-opt %s --pdl-pipeline="to=merged element-type=f64" | FileCheck %s --check-prefix=F64

// A constant keeps its written numbers until the element type is final.
module {
  nn.record @r { nn.field @x : tensor<?x3xf32> }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x3xf32>):
    // CHECK: nn.constant dense<0.12345678901234568> : tensor<3xf32>
    // F32: nn.constant dense<0.12345679104328156> : tensor<3xf32>
    // F64: nn.constant dense<0.12345678901234568> : tensor<3xf64>
    %a = nn.constant dense<0.12345678901234568> : tensor<3xf32>
    // CHECK: nn.constant dense<[1.000000e-01, -3.000000e-01, 2.000000e+00]> : tensor<3xf32>
    // F32: nn.constant dense<[0.10000000149011612, -0.30000001192092896, 2.000000e+00]> : tensor<3xf32>
    // F64: nn.constant dense<[1.000000e-01, -3.000000e-01, 2.000000e+00]> : tensor<3xf64>
    %b = nn.constant dense<[0.1, -0.3, 2.0]> : tensor<3xf32>
    // CHECK: nn.constant dense<2.500000e-01> : tensor<3xf32>
    // F32: nn.constant dense<2.500000e-01> : tensor<3xf32>
    // F64: nn.constant dense<2.500000e-01> : tensor<3xf64>
    %c = nn.constant dense<0.25> : tensor<3xf32>
    // These digits are the numbers of f32.
    // CHECK: nn.constant dense<[1.000000e+00, 2.000000e+00, 0.10000000149011612]> : tensor<3xf32>
    // F64: nn.constant dense<[1.000000e+00, 2.000000e+00, 0.10000000149011612]> : tensor<3xf64>
    %d = nn.constant dense<"0x0000803F00000040CDCCCC3D"> : tensor<3xf32>
    // CHECK: nn.constant dense<[0x7F800000, 2.000000e+00, 0.10000000149011612]> : tensor<3xf32>
    // F64: nn.constant dense<[0x7FF0000000000000, 2.000000e+00, 0.10000000149011612]> : tensor<3xf64>
    %e = nn.constant dense<[0x7F800000, 2.0, 0.1]> : tensor<3xf32>
    %0 = nn.add %x, %a : tensor<?x3xf32>, tensor<3xf32>
    %1 = nn.add %0, %b : tensor<?x3xf32>, tensor<3xf32>
    %2 = nn.add %1, %c : tensor<?x3xf32>, tensor<3xf32>
    %3 = nn.add %2, %d : tensor<?x3xf32>, tensor<3xf32>
    %4 = nn.add %3, %e : tensor<?x3xf32>, tensor<3xf32>
    nn.return %4 : tensor<?x3xf32>
  }
}
