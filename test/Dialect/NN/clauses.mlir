// RUN: pdl-opt %s | pdl-opt | FileCheck %s
// RUN: pdl-opt %s --mlir-print-debuginfo | pdl-opt | FileCheck %s

// Clauses may be written in any order, and are printed in one order.

// CHECK: nn.record @r missing_texts(["NULL", "\\N"]) {
nn.record @r missing_texts(["NULL", "\\N"]) {
  // CHECK: nn.field @y : tensor<?x1xf32> missing(0.000000e+00 : f64) values({no = 0.000000e+00 : f64, yes = 1.000000e+00 : f64}) columns([3]){{$}}
  nn.field @y : tensor<?x1xf32> columns([3]) values({yes = 1.0, no = 0.0}) missing(0.0 : f64)
  // CHECK: nn.field @c : !nn.ragged<?x1x*xi64> hash(<xxh64, salt = slot>) columns(["tags"]) separator("|"){{$}}
  nn.field @c : !nn.ragged<?x1x*xi64> separator("|") columns(["tags"]) hash(#nn.hash<xxh64, salt = slot>)
  // CHECK: nn.field @d : !nn.ragged<?x1x*xi64> hash(<xxh64, salt = 0>) missing("none") missing_element("gap") separator("|"){{$}}
  nn.field @d : !nn.ragged<?x1x*xi64> separator("|") missing_element("gap") missing("none") hash(#nn.hash<xxh64>)
  // CHECK: nn.field @plain : tensor<?x1xi64>{{$}}
  nn.field @plain : tensor<?x1xi64>
}
nn.clip @clip : global_norm(1.0)
// CHECK: nn.group @g rule(@adam {beta1 = 8.000000e-01 : f64}) rate(1.000000e-03) schedule(@cosine {steps = 1.000000e+01 : f64}) decay(#nn.l2<9.9999999999999995E-7>) clip(@clip) untouched({{ ?}}lazy){{$}}
nn.group @g untouched(lazy) clip(@clip) decay(#nn.l2<1.0e-6>) schedule(@cosine {steps = 10.0}) rate(1.0e-3) rule(@adam {beta1 = 0.8})
// CHECK: nn.group @h rule(@sgd) rate(1.000000e+00){{$}}
nn.group @h rate(1.0) rule(@sgd)
// CHECK: nn.group @words rule(@sgd) rate(1.000000e+00) merge({{ ?}}sum){{$}}
nn.group @words merge(sum) rate(1.0) rule(@sgd)
// CHECK: nn.group @layers rule(@sgd) rate(1.000000e+00) rate_over({{ ?}}pushers){{$}}
nn.group @layers rate_over(pushers) rate(1.0) rule(@sgd)
// CHECK: nn.group @late rule(@sgd) rate(1.000000e+00) compensate(@delay_compensation {strength = 2.500000e-01 : f64}){{$}}
nn.group @late compensate(@delay_compensation {strength = 0.25}) rate(1.0) rule(@sgd)
// CHECK: nn.param @w : tensor<4xf32> in @g init(#nn.zeros){{$}}
nn.param @w : tensor<4xf32> init(#nn.zeros) in @g
// CHECK: nn.param @v : tensor<4xf32> init(#nn.zeros){{$}}
nn.param @v : tensor<4xf32> init(#nn.zeros)
// CHECK: nn.table @t : i64 -> tensor<4xf32> in @g init(#nn.zeros) unknown({{ ?}}zero){{$}}
nn.table @t : i64 -> tensor<4xf32> unknown(zero) init(#nn.zeros) in @g

// CHECK: nn.table @stored : i64 -> tensor<4xf32> in @g init(#nn.zeros) unknown({{ ?}}zero) stored({{ ?}}bf16){{$}}
nn.table @stored : i64 -> tensor<4xf32> stored(bf16) init(#nn.zeros) unknown(zero) in @g
// CHECK: nn.table @counted : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = 10) shrink(every = 1000, unseen = 7){{$}}
nn.table @counted : i64 -> tensor<4xf32> shrink(unseen = 7, every = 1000) admit(count = 10) in @g init(#nn.zeros)
// CHECK: nn.table @scored : i64 -> tensor<4xf32> in @g init(#nn.zeros) shrink(every = 1000, unseen = 7, decay = 0.97999999999999998, least = 5.000000e-01) score(click = 9.000000e-01, show = 1.000000e-01){{$}}
nn.table @scored : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 0.1, click = 0.9) shrink(every = 1000, unseen = 7, least = 0.5, decay = 0.98)
// CHECK: nn.table @drawn : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(probability = 1.000000e-01){{$}}
nn.table @drawn : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(probability = 0.1)
// CHECK: nn.table @worth : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(score = 2.000000e+00) score(click = 9.000000e-01, show = 1.000000e-01){{$}}
nn.table @worth : i64 -> tensor<4xf32> score(show = 0.1, click = 0.9) in @g admit(score = 2.0) init(#nn.zeros)
// CHECK: nn.table @wide : i64 -> tensor<4xf32> in @g init(#nn.zeros) score(show = 1.000000e-01) widen(from = 1, score = 2.000000e+00, init = #nn.uniform<-1.000000e-01, 1.000000e-01>){{$}}
nn.table @wide : i64 -> tensor<4xf32> widen(init = #nn.uniform<-0.1, 0.1>, score = 2.0, from = 1) in @g init(#nn.zeros) score(show = 0.1)
// CHECK: nn.table @wider : i64 -> tensor<4xf32> in @g init(#nn.zeros) admit(count = 3) score(show = 1.000000e-01) widen(from = 3, score = 2.000000e+00){{$}}
nn.table @wider : i64 -> tensor<4xf32> widen(score = 2.0, from = 3) in @g init(#nn.zeros) score(show = 0.1) admit(count = 3)
