// RUN: pdl-opt %s --nn-updates-to-kernels | FileCheck %s

// A scalar is identified by its name, not by its position. Messages use the
// rule's names of scalars.
nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.rule @sgd hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  %0 = arith.mulf %rate, %gradient : f32
  %1 = arith.subf %value, %0 : f32
  nn.yield %1 : f32
}
nn.clip @joint : global_norm(1.0)
nn.group @all rule(@sgd) rate(1.0) clip(@joint)
nn.param @w : tensor<1xf32> in @all init(#nn.zeros)

nn.program @train reads(@clicks) {
^bb0(%y: tensor<?x1xf32>):
  %w = nn.read @w : tensor<1xf32>
  %sum, %weight = nn.loss_sum %y : tensor<?x1xf32>
  %norm = nn.squared_norm {@w = %w : tensor<1xf32>} weight(%weight)
  %s:3 = nn.once @all weight(%weight) norm(%norm) -> (clip_factor, "hyper-parameter beta", weight) {
  ^bb0(%step: f64, %total: f64, %squared: f64):
    nn.yield %squared, %step, %total : f64, f64, f64
  } : tensor<f32>, tensor<f32>, tensor<f32>
  nn.update @w gradient(%w) scalars(%s#2, %s#1) {
  ^bb0(%value: f32, %gradient: f32, %total: f32, %beta: f32):
    %g = arith.divf %gradient, %total : f32
    %0 = arith.mulf %beta, %g : f32
    %1 = arith.subf %value, %0 : f32
    nn.yield %1 : f32
  } : tensor<1xf32>, tensor<f32>, tensor<f32>
}

// CHECK: rt.once_kernel @all calls @once_all scalars ["factor of clip @joint", "hyper-parameter beta", "sum of weights"] divisors [2] : f32
// CHECK: func.func private @update_w({{.*}}, %[[SCALARS:.*]]: !llvm.ptr)
// CHECK: llvm.getelementptr inbounds %[[SCALARS]][2]
// CHECK-NEXT: %[[TOTAL:.*]] = llvm.load
// CHECK-NEXT: llvm.getelementptr inbounds %[[SCALARS]][1]
// CHECK-NEXT: %[[BETA:.*]] = llvm.load
// CHECK: %[[G:.*]] = arith.divf %{{.*}}, %[[TOTAL]] : f32
// CHECK: arith.mulf %[[BETA]], %[[G]] : f32
