// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-op-generic | pdl-opt | FileCheck %s

// A rule that reduces over rows, and an update with such a rule.

// CHECK: nn.rule @normalized hyper () slots (m = 0.000000e+00) row_slots (length = 5.000000e-01, touched = 0.000000e+00) once {
// CHECK: } sum {
// CHECK-NEXT: ^bb0(%{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32):
// CHECK: nn.yield %{{.+}} : f64
// CHECK: } row {
// CHECK-NEXT: ^bb0(%{{.+}}: f64, %{{.+}}: f64, %{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32):
// CHECK: nn.yield %{{.+}}, %{{.+}}, %{{.+}} : f32, f32, f32
// CHECK: } each {
nn.rule @normalized hyper() slots(m = 0.0) row_slots(length = 0.5, touched = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %m: f32, %rate: f32):
  %0 = arith.extf %gradient : f32 to f64
  %1 = arith.mulf %0, %0 : f64
  nn.yield %1 : f64
} row {
^bb0(%width: f64, %squares: f64, %length: f32, %touched: f32, %rate: f32):
  %0 = math.sqrt %squares : f64
  %1 = arith.truncf %0 : f64 to f32
  %2 = arith.divf %rate, %1 : f32
  %one = arith.constant 1.0 : f32
  %3 = arith.addf %touched, %one : f32
  nn.yield %1, %3, %2 : f32, f32, f32
} each {
^bb0(%value: f32, %gradient: f32, %m: f32, %rate: f32, %pace: f32):
  %0 = arith.mulf %pace, %gradient : f32
  %1 = arith.subf %value, %0 : f32
  nn.yield %1, %gradient : f32, f32
}

// Without sums: a slot counts how often a row was touched.
// CHECK: nn.rule @counting hyper () slots () row_slots (touched = 0.000000e+00) once {
nn.rule @counting hyper() slots() row_slots(touched = 0.0) once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} sum {
^bb0(%value: f32, %gradient: f32):
  nn.yield
} row {
^bb0(%width: f64, %touched: f32):
  %one = arith.constant 1.0 : f32
  %0 = arith.addf %touched, %one : f32
  nn.yield %0 : f32
} each {
^bb0(%value: f32, %gradient: f32):
  nn.yield %value : f32
}

nn.group @g rule(@normalized) rate(0.1)
nn.param @p : tensor<4x2xf32> in @g init(#nn.zeros)
nn.func private @f(%g: tensor<4x2xf32>, %s: tensor<f32>) {
  // CHECK: nn.update @p gradient(%{{.+}}) scalars(%{{.+}}) sum {
  // CHECK: } row {
  // CHECK: } each {
  // CHECK: } : tensor<4x2xf32>, tensor<f32>
  nn.update @p gradient(%g) scalars(%s) sum {
  ^bb0(%value: f32, %sum: f32, %rate: f32):
    %0 = arith.extf %sum : f32 to f64
    nn.yield %0 : f64
  } row {
  ^bb0(%width: f64, %total: f64, %length: f32, %rate: f32):
    %0 = arith.truncf %total : f64 to f32
    nn.yield %0, %rate : f32, f32
  } each {
  ^bb0(%value: f32, %sum: f32, %rate: f32, %pace: f32):
    nn.yield %pace : f32
  } : tensor<4x2xf32>, tensor<f32>
  nn.return
}

// A rule that reduces over a whole parameter.
// CHECK: nn.rule @scaled hyper () slots () once {
// CHECK: } sum {
// CHECK: } param {
// CHECK-NEXT: ^bb0(%{{.+}}: f64, %{{.+}}: f64, %{{.+}}: f32):
// CHECK: } each {
nn.rule @scaled hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  %0 = arith.extf %gradient : f32 to f64
  nn.yield %0 : f64
} param {
^bb0(%width: f64, %sum: f64, %rate: f32):
  %0 = arith.truncf %sum : f64 to f32
  nn.yield %0 : f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %pace: f32):
  nn.yield %pace : f32
}
