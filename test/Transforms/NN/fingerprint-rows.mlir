// RUN: pdl-opt %s --pdl-pipeline="to=merged" | FileCheck %s
// RUN: sed 's/slots() row_slots(a = 0.0)/slots() row_slots(a = 1.0)/' %s | pdl-opt --pdl-pipeline="to=merged" | FileCheck %s --check-prefix=VALUE
// RUN: pdl-opt %s --pdl-pipeline="to=merged" | grep "rule of group" > %t.rule
// RUN: sed 's/arith.addf %%a, %%one/arith.subf %%a, %%one/' %s | pdl-opt --pdl-pipeline="to=merged" | grep "rule of group" > %t.other
// RUN: not diff %t.rule %t.other

// Row slots are part of the state. Their initial values and the regions of rows
// are part of the training.
// CHECK: "row slots of @w" = "a"
// CHECK: "rule of group @g" = "{} slots {} row slots {a = 0}, {{[0-9a-f]+}}"
// VALUE: "rule of group @g" = "{} slots {} row slots {a = 1}, {{[0-9a-f]+}}"
module @m {
  nn.record @r { nn.field @x : tensor<?x3xf32> }
  nn.rule @counting hyper() slots() row_slots(a = 0.0) once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } sum {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield
  } row {
  ^bb0(%width: f64, %a: f32):
    %one = arith.constant 1.0 : f32
    %0 = arith.addf %a, %one : f32
    nn.yield %0 : f32
  } each {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield %value : f32
  }
  nn.group @g rule(@counting) rate(0.1)
  nn.param @w : tensor<3x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x3xf32>):
    %z = nn.linear %x, @w : (tensor<?x3xf32>) -> tensor<?x1xf32>
    nn.minimize %z over [@g] : tensor<?x1xf32>
  }
}
