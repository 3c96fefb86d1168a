// RUN: pdl-opt %s --nn-convert-element-type=type=f64 | FileCheck %s
// RUN: pdl-opt %s --nn-convert-element-type=type=f64 | FileCheck %s --check-prefix=NONE
// RUN: pdl-opt %s --nn-convert-element-type=type=f32 | FileCheck %s --check-prefix=SAME

// NONE-NOT: f32
// SAME-NOT: tensor<{{.*}}xf64>
// SAME: nn.program @casts

// CHECK: nn.field @x : tensor<?x2xf64> missing(0.000000e+00 : f64)
// CHECK: nn.field @ids : !nn.ragged<?x1x*xi64>
nn.record @r {
  nn.field @x : tensor<?x2xf32> missing(0.0)
  nn.field @ids : !nn.ragged<?x1x*xi64>
}

// Ops that widened and narrowed in a rule are the identity now.
// CHECK: nn.rule @wide
// CHECK: } each {
// CHECK-NEXT: ^bb0(%[[VALUE:[a-z0-9]+]]: f64, %[[GRADIENT:[a-z0-9]+]]: f64):
// CHECK-NEXT: %[[TENTH:.+]] = arith.constant 0.10000000149011612 : f64
// CHECK-NEXT: %[[PART:.+]] = arith.mulf %[[GRADIENT]], %[[TENTH]] : f64
// CHECK-NEXT: %[[NEW:.+]] = arith.subf %[[VALUE]], %[[PART]] : f64
// CHECK-NEXT: nn.yield %[[NEW]] : f64
nn.rule @wide hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield
} each {
^bb0(%value: f32, %gradient: f32):
  %tenth = arith.constant 0.1 : f32
  %part = arith.mulf %gradient, %tenth : f32
  %a = arith.extf %value : f32 to f64
  %b = arith.extf %part : f32 to f64
  %c = arith.subf %a, %b : f64
  %new = arith.truncf %c : f64 to f32
  nn.yield %new : f32
}
nn.group @g rule(@wide) rate(0.1)

// CHECK: nn.param @w : tensor<2x1xf64> in @g init(#nn.xavier)
// CHECK: nn.table @t : i64 -> tensor<1xf64> in @g init(#nn.uniform<{{.+}}>)
// CHECK: nn.state @s : tensor<2xf64>
nn.param @w : tensor<2x1xf32> in @g init(#nn.xavier)
nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.uniform<-0.5, 0.5>)
nn.state @s : tensor<2xf32> init(#nn.zeros)

// CHECK: nn.func private @f(%{{.+}}: tensor<?x2xf64>) -> tensor<?x1xf64>
// The numbers of a constant are those that are written in the model.
// CHECK: nn.constant dense<[5.000000e-01, 1.000000e-01]> : tensor<2xf64>
// CHECK: nn.constant dense<3.000000e+00> : tensor<2xf64>
nn.func private @f(%x: tensor<?x2xf32>) -> tensor<?x1xf32> {
  %c = nn.constant dense<[0.5, 0.1]> : tensor<2xf32>
  %d = nn.constant dense<3.0> : tensor<2xf32>
  %y = nn.mul %x, %c : tensor<?x2xf32>, tensor<2xf32>
  %v = nn.add %y, %d : tensor<?x2xf32>, tensor<2xf32>
  %z = nn.linear %v, @w : (tensor<?x2xf32>) -> tensor<?x1xf32>
  nn.return %z : tensor<?x1xf32>
}

// CHECK: nn.program @predict
// CHECK-NEXT: ^bb0(%[[X:.+]]: tensor<?x2xf64>, %{{.+}}: !nn.ragged<?x1x*xi64>):
// CHECK-NEXT: nn.call @f(%[[X]]) : (tensor<?x2xf64>) -> tensor<?x1xf64>
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x2xf32>, %ids: !nn.ragged<?x1x*xi64>):
  %z = nn.call @f(%x) : (tensor<?x2xf32>) -> tensor<?x1xf32>
  nn.return %z : tensor<?x1xf32>
}

// A cast between floats is the identity now. A cast of ids or of bags stays.
// CHECK: nn.program @casts
// CHECK-NEXT: ^bb0(%[[X:.+]]: tensor<?x2xf64>, %[[IDS:.+]]: !nn.ragged<?x1x*xi64>):
// CHECK-NEXT: nn.cast %[[IDS]] : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf64>
// CHECK-NEXT: %[[SUM:.+]] = nn.add %[[X]], %[[X]]
// CHECK-NEXT: nn.return %[[SUM]]
nn.program @casts frozen reads(@r) {
^bb0(%x: tensor<?x2xf32>, %ids: !nn.ragged<?x1x*xi64>):
  %wide = nn.cast %x : (tensor<?x2xf32>) -> tensor<?x2xf64>
  %rows = nn.cast %ids : (!nn.ragged<?x1x*xi64>) -> tensor<?x1xf32>
  %narrow = nn.cast %wide : (tensor<?x2xf64>) -> tensor<?x2xf32>
  %sum = nn.add %narrow, %x : tensor<?x2xf32>, tensor<?x2xf32>
  nn.return %sum : tensor<?x2xf32>
}
