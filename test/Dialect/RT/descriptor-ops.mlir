// RUN: pdl-opt %s | pdl-opt | FileCheck %s

nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
  nn.field @category : !nn.ragged<?x26x*xi64>
}
nn.rule @sgd hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %value : f32
}
nn.group @dense rule(@sgd) rate(1.0)
nn.table @emb : i64 -> tensor<10xf32> in @dense init(#nn.zeros)
nn.param @w : tensor<10xf32> in @dense init(#nn.zeros)
func.func @stage(%context: !llvm.ptr) -> i32 {
  %0 = arith.constant 0 : i32
  return %0 : i32
}

// CHECK: rt.program @train reads(@clicks [@label, @category]) lookups [@emb] updates [@w, @emb] lookup_of [-1, 0]
// CHECK-SAME: outputs ["output0"] widths [1] types [f32] loss
// CHECK-SAME: prepare(@stage, <0 + 0 * batch, keys(0), occurrences(4)>)
// CHECK-SAME: compute(@stage, <64 + 1600 * batch, keys(40), occurrences(0)>)
rt.program @train reads(@clicks [@label, @category]) lookups [@emb]
  updates [@w, @emb] lookup_of [-1, 0] outputs ["output0"] widths [1] types [f32] loss
  prepare(@stage, <0 + 0 * batch, keys(0), occurrences(4)>)
  compute(@stage, <64 + 1600 * batch, keys(40), occurrences(0)>)

// CHECK: rt.program @predict frozen reads(@clicks [@category])
// CHECK-SAME: prepare(@stage, <0 + 0 * batch>) compute(@stage, <64 + 1600 * batch>)
rt.program @predict frozen reads(@clicks [@category])
  prepare(@stage, <0 + 0 * batch>) compute(@stage, <64 + 1600 * batch>)

// The parts of a size, in any order.
// CHECK: rt.program @squares frozen
// CHECK-SAME: prepare(@stage, <0 + 0 * batch, ids(0, 8), keys(0), occurrences(0)>)
// CHECK-SAME: compute(@stage, <1 + 2 * batch, batch_squared(4), ids(0, 5), keys(6), occurrences(7)>)
rt.program @squares frozen reads(@clicks [@label, @category]) lookups [@emb]
  prepare(@stage, <0 + 0 * batch, ids(0, 8), keys(0), occurrences(0)>)
  compute(@stage, <1 + 2 * batch, occurrences(7), keys(6), ids(0, 5), batch_squared(4)>)

// CHECK: rt.once_kernel @dense calls @stage scalars ["sum of weights", "rate"] divisors [0] : f32
rt.once_kernel @dense calls @stage scalars ["sum of weights", "rate"] divisors [0] : f32
// CHECK: rt.update_kernel @w calls @stage slots ["m", "v"] from [0.000000e+00, 5.000000e-01]
rt.update_kernel @w calls @stage slots ["m", "v"] from [0.0, 0.5]
// CHECK: rt.update_kernel @w calls @stage launches @stage slots ["m"] from [0.000000e+00]
rt.update_kernel @w calls @stage launches @stage slots ["m"] from [0.0]
// CHECK: rt.update_kernel @emb calls @stage counts(2) weights [1.000000e-01, 0.000000e+00]
rt.update_kernel @emb calls @stage counts(2) weights [0.1, 0.0]
// CHECK: rt.update_kernel @emb calls @stage{{$}}
rt.update_kernel @emb calls @stage
// CHECK: rt.update_kernel @w calls @stage slots ["m", "a"] from [0.000000e+00, 5.000000e-01] row_slots(1) whole_rows
rt.update_kernel @w calls @stage slots ["m", "a"] from [0.0, 0.5] row_slots(1) whole_rows
// CHECK: rt.update_kernel @w calls @stage slots ["average"] from [0.000000e+00] frozen_part(1)
rt.update_kernel @w calls @stage slots ["average"] from [0.0] frozen_part(1)
