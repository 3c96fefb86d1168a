// RUN: pdl-opt %s --nn-add-averages -split-input-file | FileCheck %s

// Hyper-parameters, slots and scalars of the average follow those of the rule.
// The average gets the new value. Groups with the same two rules share one
// joined rule.
// CHECK-LABEL: module @plain
// CHECK: nn.rule @momentum_with_mean hyper (momentum = 9.000000e-01, average_decay = 5.000000e-01) slots (velocity = 0.000000e+00, average = 0.000000e+00, average_weight = 0.000000e+00) frozen("average") once {
// CHECK-NEXT: ^bb0(%{{.+}}: f64, %[[RATE:.+]]: f64, %[[MOMENTUM:.+]]: f64, %[[DECAY:.+]]: f64):
// CHECK-NEXT: nn.yield %[[RATE]], %[[MOMENTUM]], %[[DECAY]]
// CHECK: } each {
// CHECK-NEXT: ^bb0(%[[VALUE:.+]]: f32, %{{.+}}: f32, %[[VELOCITY:.+]]: f32, %[[AVERAGE:.+]]: f32, %[[WEIGHT:.+]]: f32, %{{.+}}: f32, %[[BY:.+]]: f32, %[[OF:.+]]: f32):
// CHECK-NEXT: %[[MOVED:.+]] = arith.mulf %[[BY]], %[[VELOCITY]]
// CHECK-NEXT: %[[NEW:.+]] = arith.subf %[[VALUE]], %[[MOVED]]
// CHECK-NEXT: %[[MEAN:.+]] = arith.addf %[[AVERAGE]], %[[NEW]]
// CHECK-NEXT: %[[SUM:.+]] = arith.addf %[[WEIGHT]], %[[OF]]
// CHECK-NEXT: nn.yield %[[NEW]], %[[MOVED]], %[[MEAN]], %[[SUM]]
// CHECK: nn.group @a rule(@momentum_with_mean {average_decay = 2.500000e-01 : f64, momentum = 5.000000e-01 : f64}) rate(1.000000e-01)
// CHECK-NOT: average(
// CHECK-NOT: nn.rule
// CHECK: nn.group @b rule(@momentum_with_mean) rate
// CHECK-NEXT: nn.group @c rule(@momentum) rate
module @plain {
  nn.rule @momentum hyper(momentum = 0.9) slots(velocity = 0.0) once {
  ^bb0(%step: f64, %rate: f64, %momentum: f64):
    nn.yield %rate, %momentum : f64, f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %velocity: f32, %rate: f32, %momentum: f32):
    %moved = arith.mulf %momentum, %velocity : f32
    %new = arith.subf %value, %moved : f32
    nn.yield %new, %moved : f32, f32
  }
  nn.rule @mean of averages hyper(decay = 0.5) slots(weight = 0.0) once {
  ^bb0(%step: f64, %rate: f64, %decay: f64):
    nn.yield %decay : f64
  } each {
  ^bb0(%average: f32, %value: f32, %weight: f32, %decay: f32):
    %new = arith.addf %average, %value : f32
    %sum = arith.addf %weight, %decay : f32
    nn.yield %new, %sum : f32, f32
  }
  nn.group @a rule(@momentum {momentum = 0.5}) rate(0.1) average(@mean {decay = 0.25})
  nn.group @b rule(@momentum) rate(0.1) average(@mean)
  nn.group @c rule(@momentum) rate(0.1)
}

// -----

// A rule that reduces over rows keeps its regions, which do not use the
// additions of the average.
// CHECK-LABEL: module @rows
// CHECK: nn.rule @scaled_with_last
// CHECK-SAME: row_slots (length = 0.000000e+00) frozen("average")
// CHECK: sum {
// CHECK-NEXT: ^bb0(%{{.+}}: f32, %[[GRADIENT:.+]]: f32, %{{.+}}: f32, %{{.+}}: f32):
// CHECK-NEXT: arith.extf %[[GRADIENT]]
// CHECK: row {
// CHECK-NEXT: ^bb0(%{{.+}}: f64, %{{.+}}: f64, %[[LENGTH:.+]]: f32, %[[RATE:.+]]: f32):
// CHECK-NEXT: nn.yield %[[LENGTH]], %[[RATE]]
// CHECK: each {
// CHECK-NEXT: ^bb0(%{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32, %[[PACE:.+]]: f32):
// CHECK-NEXT: nn.yield %[[PACE]], %[[PACE]]
module @rows {
  nn.rule @scaled hyper() slots() row_slots(length = 0.0) once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } sum {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    %0 = arith.extf %gradient : f32 to f64
    nn.yield %0 : f64
  } row {
  ^bb0(%width: f64, %sum: f64, %length: f32, %rate: f32):
    nn.yield %length, %rate : f32, f32
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32, %pace: f32):
    nn.yield %pace : f32
  }
  nn.rule @last of averages hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%average: f32, %value: f32):
    nn.yield %value : f32
  }
  nn.group @g rule(@scaled) rate(0.1) average(@last)
}
