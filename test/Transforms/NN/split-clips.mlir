// RUN: pdl-opt %s --nn-split-clips -split-input-file | FileCheck %s
// RUN: pdl-opt %s --nn-split-clips -split-input-file --remarks-filter=statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=STATISTICS

// STATISTICS: nn-split-clips | {{.*}}groups-split=2
// STATISTICS: nn-split-clips | {{.*}}groups-split=0

// Two groups share a clip by norm. Each symbol gets a joint clip of its own.
// All other clauses of a group are kept, and so are other groups.
// CHECK-LABEL: module @two
// CHECK-NOT: : norm(
// CHECK: nn.clip @joint : global_norm(3.000000e+00)
// CHECK-NEXT: nn.clip @each.a : global_norm(5.000000e-01)
// CHECK-NEXT: nn.group @full.a rule(@own) rate(2.500000e-01) decay(#nn.l2<5.000000e-01>) clip(@each.a) untouched({{ ?}}lazy)
// CHECK-NEXT: nn.clip @each.b : global_norm(5.000000e-01)
// CHECK-NEXT: nn.group @full.b rule(@own) rate(2.500000e-01) decay(#nn.l2<5.000000e-01>) clip(@each.b) untouched({{ ?}}lazy)
// CHECK-NEXT: nn.clip @each.aside : global_norm(5.000000e-01)
// CHECK-NEXT: nn.group @full.aside rule(@own)
// CHECK-NEXT: nn.clip @each.t : global_norm(5.000000e-01)
// CHECK-NEXT: nn.group @rows.t rule(@own) rate(1.250000e-01) clip(@each.t)
// CHECK-NEXT: nn.group @other rule(@own) rate(1.000000e+00) clip(@joint)
// CHECK-NOT: : norm(
// CHECK: nn.param @a {{.*}} in @full.a
// CHECK: nn.param @b {{.*}} in @full.b
// CHECK: nn.param @aside {{.*}} in @full.aside
// CHECK: nn.param @c {{.*}} in @other
// CHECK: nn.table @t {{.*}} in @rows.t
// A symbol without gradient has no group in the list.
// CHECK: nn.apply_gradients {{.*}} over [@full.a, @full.b, @other, @rows.t]
module @two attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @x : tensor<?x2xf32>
    nn.field @ids : tensor<?x1xi64>
    nn.field @weight : tensor<?x1xf32>
  }
  nn.rule @own hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield %value : f32
  }
  nn.clip @joint : global_norm(3.0)
  nn.clip @each : norm(0.5)
  nn.group @full rule(@own) rate(0.25) decay(#nn.l2<0.5>) clip(@each) untouched(lazy)
  nn.group @rows rule(@own) rate(0.125) clip(@each)
  nn.group @other rule(@own) rate(1.0) clip(@joint)
  nn.param @a : tensor<2xf32> in @full init(#nn.zeros)
  nn.param @b : tensor<2xf32> in @full init(#nn.zeros)
  nn.param @aside : tensor<2xf32> in @full init(#nn.zeros)
  nn.param @c : tensor<2xf32> in @other init(#nn.zeros)
  nn.table @t : i64 -> tensor<2xf32> in @rows init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x2xf32>, %ids: tensor<?x1xi64>, %weight: tensor<?x1xf32>):
    %flat = nn.reshape %ids : (tensor<?x1xi64>) -> tensor<?xi64>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %flat
    %a = nn.read @a : tensor<2xf32>
    %b = nn.read @b : tensor<2xf32>
    %c = nn.read @c : tensor<2xf32>
    %rows = nn.pull @t[%keys] : tensor<?x2xf32>
    nn.apply_gradients %weight weight %weight {@a = %a : tensor<2xf32>, @b = %b : tensor<2xf32>, @c = %c : tensor<2xf32>, @t[%keys] = %rows : tensor<?x2xf32>} over [@full, @other, @rows]
      : tensor<?x1xf32>, tensor<?x1xf32>
  }
}

// -----

// Other clips, and groups without one, do not change.
// CHECK-LABEL: module @none
// CHECK: nn.clip @joint : global_norm(3.000000e+00)
// CHECK-NEXT: nn.clip @elements : value(2.000000e+00)
// CHECK-NEXT: nn.group @a rule(@sgd) rate(1.000000e-01) clip(@joint)
// CHECK-NEXT: nn.group @b rule(@sgd) rate(1.000000e-01) clip(@elements)
// CHECK-NEXT: nn.group @c rule(@sgd) rate(1.000000e-01)
module @none attributes {nn.phase = "merged"} {
  nn.clip @joint : global_norm(3.0)
  nn.clip @elements : value(2.0)
  nn.group @a rule(@sgd) rate(0.1) clip(@joint)
  nn.group @b rule(@sgd) rate(0.1) clip(@elements)
  nn.group @c rule(@sgd) rate(0.1)
}
