// The interpreter passes the symbols of a call to a function: (2 x + 1) * 3 +
// 10, and (3 x + 10) * 2 + 1. The model with inlined functions gives the same.
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.data x F32 2,1 1,2
// RUN: pdl-opt %s --nn-interpret="program=predict data=%t.data outputs=-" -o /dev/null | FileCheck %s
// RUN: pdl-opt %s --nn-lower-model --nn-interpret="program=predict data=%t.data outputs=-" -o /dev/null | FileCheck %s
// CHECK: forward{{.}}back
// CHECK-NEXT: 19{{.}}27
// CHECK-NEXT: 25{{.}}33
module {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.param @two : tensor<1x1xf32> init(#nn.constant<2.0>)
  nn.param @one : tensor<1xf32> init(#nn.constant<1.0>)
  nn.param @three : tensor<1x1xf32> init(#nn.constant<3.0>)
  nn.param @ten : tensor<1xf32> init(#nn.constant<10.0>)
  nn.func private @line(%x: tensor<?x1xf32>) with(@w: tensor<1x1xf32>, @b: tensor<1xf32>) -> tensor<?x1xf32> {
    %w = nn.read @w : tensor<1x1xf32>
    %0 = nn.matmul %x, %w : tensor<?x1xf32>, tensor<1x1xf32>
    %b = nn.read @b : tensor<1xf32>
    %1 = nn.add %0, %b : tensor<?x1xf32>, tensor<1xf32>
    nn.return %1 : tensor<?x1xf32>
  }
  nn.func private @composed(%x: tensor<?x1xf32>)
      with(@w: tensor<1x1xf32>, @b: tensor<1xf32>, @v: tensor<1x1xf32>, @c: tensor<1xf32>) -> tensor<?x1xf32> {
    %0 = nn.linear %x, @w, @b : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %1 = nn.call @line(%0) with(@v, @c) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %1 : tensor<?x1xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %0 = nn.call @composed(%x) with(@two, @one, @three, @ten) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %1 = nn.call @composed(%x) with(@three, @ten, @two, @one) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %0 as "forward", %1 as "back" : tensor<?x1xf32>, tensor<?x1xf32>
  }
}
