// The fixed summation orders, shown in f32, where another order gives another
// number.
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.safetensors row F32 1,17 16777216,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1 pair F32 1,2 -1,1.000244140625
// RUN: pdl-opt %s --nn-interpret="program=predict data=%t.safetensors outputs=-" -o /dev/null | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=fused" --nn-interpret="program=predict data=%t.safetensors outputs=-" -o /dev/null | FileCheck %s

// - Sixteen lanes and a tree: lane 0 loses the element 16 and lane 8; the other
//   14 arrive in pairs. One after the other all would be lost.
// - Across a row that is not contiguous they are added one after the other.
// - A product is a chain of fused multiply-adds: (1 + 2^-12)^2 - (1 + 2^-11) is
//   2^-24, which a rounded product loses.
// CHECK: {{^}}output0	output1	output2{{$}}
// CHECK-NEXT: {{^}}16777230	16777216	5.9604645e-08{{$}}
module @sums {
  nn.record @sample {
    nn.field @row : tensor<?x17xf32>
    nn.field @pair : tensor<?x2xf32>
  }
  nn.program @predict frozen reads(@sample) {
  ^bb0(%row: tensor<?x17xf32>, %pair: tensor<?x2xf32>):
    %lanes = nn.reduce sum %row axes [1] keep : tensor<?x17xf32>
    %column = nn.reshape %row : (tensor<?x17xf32>) -> tensor<?x17x1xf32>
    %chain = nn.reduce sum %column axes [1] : tensor<?x17x1xf32>
    %w = nn.constant dense<[[1.00048828125], [1.000244140625]]> : tensor<2x1xf32>
    %product = nn.matmul %pair, %w : tensor<?x2xf32>, tensor<2x1xf32>
    nn.return %lanes, %chain, %product : tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
  }
}
