// RUN: pdl-opt %s --nn-expand-updates | FileCheck %s

// In `sum` and in `each`, the gradient of a rule is the mean with regularizers.
// The weight is a scalar of all three regions, which the rule does not see.

// CHECK: nn.update @t keys(%{{.+}}) gradient(%{{.+}}) scalars(%[[S:.+]]#0, %[[S]]#1) sum {
// CHECK-NEXT: ^bb0(%[[VALUE:[a-z0-9]+]]: f32, %[[SUM:[a-z0-9]+]]: f32, %[[M:[a-z0-9]+]]: f32, %[[WEIGHT:[a-z0-9]+]]: f32, %[[RATE:[a-z0-9]+]]: f32):
// CHECK-NEXT: %[[MEAN:.+]] = arith.divf %[[SUM]], %[[WEIGHT]] : f32
// CHECK-NEXT: %[[L2:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: %[[PULL:.+]] = arith.mulf %[[L2]], %[[VALUE]] : f32
// CHECK-NEXT: %[[GRADIENT:.+]] = arith.addf %[[MEAN]], %[[PULL]] : f32
// CHECK-NEXT: %[[WIDE:.+]] = arith.extf %[[GRADIENT]] : f32 to f64
// CHECK-NEXT: nn.yield %[[WIDE]] : f64
// CHECK-NEXT: } row {
// CHECK-NEXT: ^bb0(%[[WIDTH:[a-z0-9]+]]: f64, %[[TOTAL:[a-z0-9]+]]: f64, %[[A:[a-z0-9]+]]: f32, %[[WEIGHT:[a-z0-9]+]]: f32, %[[RATE:[a-z0-9]+]]: f32):
// CHECK-NEXT: %[[QUOTIENT:.+]] = arith.divf %[[TOTAL]], %[[WIDTH]] : f64
// CHECK-NEXT: %[[NARROW:.+]] = arith.truncf %[[QUOTIENT]] : f64 to f32
// CHECK-NEXT: %[[PACE:.+]] = arith.mulf %[[RATE]], %[[A]] : f32
// CHECK-NEXT: nn.yield %[[NARROW]], %[[PACE]] : f32, f32
// CHECK-NEXT: } each {
// CHECK-NEXT: ^bb0(%[[VALUE:[a-z0-9]+]]: f32, %[[SUM:[a-z0-9]+]]: f32, %[[M:[a-z0-9]+]]: f32, %[[WEIGHT:[a-z0-9]+]]: f32, %[[RATE:[a-z0-9]+]]: f32, %[[PACE:[a-z0-9]+]]: f32):
// CHECK-NEXT: arith.divf %[[SUM]], %[[WEIGHT]] : f32
// CHECK: %[[NEW:.+]] = arith.mulf %[[PACE]], %[[M]] : f32
// CHECK-NEXT: nn.yield %[[NEW]], %[[RATE]] : f32, f32
module @rows attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xi64> nn.field @y : tensor<?x1xf32> }
  nn.rule @own hyper() slots(m = 0.0) row_slots(a = 0.0) once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } sum {
  ^bb0(%value: f32, %gradient: f32, %m: f32, %rate: f32):
    %0 = arith.extf %gradient : f32 to f64
    nn.yield %0 : f64
  } row {
  ^bb0(%width: f64, %total: f64, %a: f32, %rate: f32):
    %0 = arith.divf %total, %width : f64
    %1 = arith.truncf %0 : f64 to f32
    %2 = arith.mulf %rate, %a : f32
    nn.yield %1, %2 : f32, f32
  } each {
  ^bb0(%value: f32, %gradient: f32, %m: f32, %rate: f32, %pace: f32):
    %0 = arith.mulf %pace, %m : f32
    nn.yield %0, %rate : f32, f32
  }
  nn.group @g rule(@own) rate(0.1) decay(#nn.l2<0.5>) untouched(lazy)
  nn.table @t : i64 -> tensor<2xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xi64>, %y: tensor<?x1xf32>):
    %ids = nn.reshape %x : (tensor<?x1xi64>) -> tensor<?xi64>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %ids
    %rows = nn.pull @t[%keys] : tensor<?x2xf32>
    nn.apply_gradients %y {@t[%keys] = %rows : tensor<?x2xf32>} over [@g] : tensor<?x1xf32>
  }
}
