// The number of rows is that of `like`, for any rank of `like`.
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.safetensors x F32 2,3 1,2,3,4,5,6
// RUN: pdl-opt %s --nn-interpret="program=predict data=%t.safetensors outputs=-" -o /dev/null | FileCheck %s
// CHECK: {{^}}0.5 1 0.5 1{{$}}
// CHECK-NEXT: {{^}}0.5 1 0.5 1{{$}}
// CHECK-NOT: 0.5
module {
  nn.record @r { nn.field @x : tensor<?x3xf32> }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x3xf32>):
    %k = nn.constant dense<[0.5, 1.0]> : tensor<2xf32>
    %0 = nn.broadcast %k like %x : (tensor<2xf32>, tensor<?x3xf32>) -> tensor<?x2x2xf32>
    %1 = nn.reshape %0 : (tensor<?x2x2xf32>) -> tensor<?x4xf32>
    nn.return %1 : tensor<?x4xf32>
  }
}
