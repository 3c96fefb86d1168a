// A step whose weights sum to zero updates nothing and does not count: the
// second step still sees w = 1, the third one w = 0.5 (gradient 2 * 0.25 * 1).
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.safetensors x F32 3,1 1,1,1 weight F32 3,1 0,2,2
// RUN: pdl-opt %s --pdl-pipeline="to=gradient" --nn-interpret="data=%t.safetensors batch-size=1 losses=-" -o /dev/null | FileCheck %s
// CHECK: nan
// CHECK-NEXT: {{^}}1{{$}}
// CHECK-NEXT: {{^}}0.25{{$}}
module @m {
  nn.record @sample {
    nn.field @x : tensor<?x1xf32>
    nn.field @weight : tensor<?x1xf32>
  }
  nn.group @g rule(@sgd) rate(0.25)
  nn.param @w : tensor<1xf32> in @g init(#nn.constant<1.0>)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x1xf32>, %weight: tensor<?x1xf32>):
    %w = nn.read @w : tensor<1xf32>
    %p = nn.mul %x, %w : tensor<?x1xf32>, tensor<1xf32>
    %l = nn.mul %p, %p : tensor<?x1xf32>, tensor<?x1xf32>
    nn.minimize %l weight %weight over [@g] : tensor<?x1xf32>, tensor<?x1xf32>
  }
}
