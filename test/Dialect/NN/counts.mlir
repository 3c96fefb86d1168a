// RUN: pdl-opt %s | pdl-opt | FileCheck %s

// Counts that a rule gets for each row, in addition to its gradient.

// CHECK: nn.rule @told hyper () slots () row_slots (seen = 0.000000e+00) counts (show, click) once
nn.rule @told hyper() slots() row_slots(seen = 0.0) counts(show, click) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield
} row {
^bb0(%width: f64, %seen: f32, %show: f32, %click: f32, %rate: f32):
  %0 = arith.addf %seen, %show : f32
  nn.yield %0, %click : f32, f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %click: f32):
  %0 = arith.mulf %click, %gradient : f32
  %1 = arith.subf %value, %0 : f32
  nn.yield %1 : f32
}

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @c : !nn.ragged<?x3x*xi64>
}
nn.group @g rule(@told) rate(0.1)
nn.table @t : i64 -> tensor<2xf32> in @g init(#nn.zeros)
// CHECK-LABEL: nn.program @train
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>, %c: !nn.ragged<?x3x*xi64>):
  %e = nn.lookup @t[%c] pool(mean) : (!nn.ragged<?x3x*xi64>) -> tensor<?x3x2xf32>
  %f = nn.flatten %e from 1 : tensor<?x3x2xf32>
  %z = nn.reduce sum %f axes [1] keep : tensor<?x6xf32>
  // CHECK: nn.count @t[%arg1] show(%arg0) click(%arg0) : !nn.ragged<?x3x*xi64>, tensor<?x1xf32>
  nn.count @t[%c] show(%y) click(%y) : !nn.ragged<?x3x*xi64>, tensor<?x1xf32>
  nn.minimize %z over [@g] : tensor<?x1xf32>
}
