// The losses of three steps, computed by hand. w and b start at 0.5 and 0, so
// the errors are -0.5 and -2, and the gradients -4.5 and -2.5; the learning
// rate is 0.5.
// RUN: python3 %S/Inputs/write_tensors.py %pdl_src/integration_test/oracles %t.safetensors x F32 2,1 1,2 y F32 2,1 1,3
// RUN: pdl-opt %s --pdl-pipeline="to=model" --nn-interpret="data=%t.safetensors losses=-" -o /dev/null | FileCheck %s --check-prefix=FORWARD
// RUN: pdl-opt %s --pdl-pipeline="to=merged" --nn-interpret="data=%t.safetensors losses=-" -o /dev/null | FileCheck %s --check-prefix=FORWARD
// RUN: pdl-opt %s --pdl-pipeline="to=gradient" --nn-interpret="data=%t.safetensors losses=- steps=2" -o /dev/null | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=fused" --nn-interpret="data=%t.safetensors losses=- steps=2" -o /dev/null | FileCheck %s
// RUN: pdl-opt %s --pdl-pipeline="to=fused element-type=f64" --nn-interpret="data=%t.safetensors losses=- steps=2" -o /dev/null | FileCheck %s

// One process is one sender, and none of its gradients are late.
// RUN: sed 's/rate(0.5)$/rate(0.5) rate_over(pushers) compensate(@delay_compensation)/' %s > %t.late.mlir
// RUN: grep -c "compensate(@delay_compensation)$" %t.late.mlir | FileCheck %s --check-prefix=LATE
// LATE: 1
// RUN: pdl-opt %t.late.mlir --pdl-pipeline="to=gradient" --nn-interpret="data=%t.safetensors losses=- steps=2" -o /dev/null | FileCheck %s
// RUN: pdl-opt %t.late.mlir --pdl-pipeline="to=placed" --nn-interpret="data=%t.safetensors losses=- steps=2" -o /dev/null | FileCheck %s

// In batches of one sample: 0.25, then w = 1, b = 0.5 and an error of -0.5.
// RUN: pdl-opt %s --pdl-pipeline="to=fused" --nn-interpret="data=%t.safetensors losses=- batch-size=1" -o /dev/null | FileCheck %s --check-prefix=SINGLE

// FORWARD: {{^}}2.125{{$}}
// FORWARD-NOT: {{.}}
// CHECK: {{^}}2.125{{$}}
// CHECK-NEXT: {{^}}11.53125{{$}}
// CHECK-NOT: {{.}}
// SINGLE: {{^}}0.25{{$}}
// SINGLE-NEXT: {{^}}0.25{{$}}
module @line {
  nn.record @sample {
    nn.field @x : tensor<?x1xf32>
    nn.field @y : tensor<?x1xf32>
  }
  nn.group @g rule(@sgd) rate(0.5)
  nn.param @w : tensor<1x1xf32> in @g init(#nn.constant<0.5>)
  nn.param @b : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@sample) {
  ^bb0(%x: tensor<?x1xf32>, %y: tensor<?x1xf32>):
    %p = nn.linear %x, @w, @b : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %p, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
