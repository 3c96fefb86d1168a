// RUN: pdl-opt %s --nn-updates-to-kernels --verify-diagnostics --split-input-file

// Two programs must update a group in the same way.

nn.record @clicks {
  nn.field @label : tensor<?x1xf32>
}
nn.rule @sgd hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %value : f32
}
nn.group @all rule(@sgd) rate(1.0)
nn.param @w : tensor<10xf32> in @all init(#nn.zeros)

nn.program @train reads(@clicks) {
^bb0(%y: tensor<?x1xf32>):
  %sum, %weight = nn.loss_sum %y : tensor<?x1xf32>
  // expected-note@+1 {{the other one is here}}
  %s:2 = nn.once @all weight(%weight) -> (weight, "rate") {
  ^bb0(%step: f64, %total: f64, %squared_norm: f64):
    %rate = arith.constant 1.0 : f64
    nn.yield %total, %rate : f64, f64
  } : tensor<f32>, tensor<f32>
}
nn.program @other reads(@clicks) {
^bb0(%y: tensor<?x1xf32>):
  %sum, %weight = nn.loss_sum %y : tensor<?x1xf32>
  // expected-error@+1 {{updates in another way than another program does; all programs must update a group alike}}
  %s:2 = nn.once @all weight(%weight) -> (weight, "rate") {
  ^bb0(%step: f64, %total: f64, %squared_norm: f64):
    %rate = arith.constant 2.0 : f64
    nn.yield %total, %rate : f64, f64
  } : tensor<f32>, tensor<f32>
}
