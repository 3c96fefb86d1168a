// RUN: pdl-opt %s --pdl-pipeline="to=gradient" -split-input-file -verify-diagnostics

module {
  nn.record @r { nn.field @y : tensor<?x1xf32>  nn.field @x : tensor<?x1xf32> }
  nn.schedule @own hyper(steps = 1000.0) {
  ^bb0(%step: f64, %rate: f64, %steps: f64):
    %one = arith.constant 1.0 : f64
    %before = arith.subf %step, %one : f64
    %part = arith.divf %before, %steps : f64
    %now = arith.mulf %rate, %part : f64
    nn.yield %now : f64
  }
  // expected-error @+1 {{gives its rule the number NaN ('f32') at the first update; look at rate, schedule and the hyper-parameters of both (C7)}}
  nn.group @g rule(@sgd) rate(0.1) schedule(@own {steps = 0.0})
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

module {
  nn.record @r { nn.field @y : tensor<?x1xf32>  nn.field @x : tensor<?x1xf32> }
  nn.schedule @own hyper(steps = 1000.0) {
  ^bb0(%step: f64, %rate: f64, %steps: f64):
    %one = arith.constant 1.0 : f64
    %before = arith.subf %step, %one : f64
    %part = arith.divf %before, %steps : f64
    %now = arith.mulf %rate, %part : f64
    nn.yield %now : f64
  }
  // expected-error @+1 {{gives its rule the number NaN ('f32') at the first update}}
  nn.group @g rule(@adam) rate(0.1) schedule(@own {steps = 0.0})
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

// A learning rate that f32 cannot represent. In f64 it is a number.
module {
  nn.record @r { nn.field @y : tensor<?x1xf32>  nn.field @x : tensor<?x1xf32> }
  // expected-error @+1 {{gives its rule the number +Inf ('f32') at the first update}}
  nn.group @g rule(@ftrl) rate(1.0e39)
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

module {
  nn.record @r { nn.field @y : tensor<?x1xf64>  nn.field @x : tensor<?x1xf64> }
  nn.group @g rule(@ftrl) rate(1.0e39)
  nn.param @w : tensor<1x1xf64> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf64>, %x: tensor<?x1xf64>):
    %z = nn.linear %x, @w : (tensor<?x1xf64>) -> tensor<?x1xf64>
    %l = nn.squared_error %z, %y : tensor<?x1xf64>
    nn.minimize %l over [@g] : tensor<?x1xf64>
  }
}

// -----

// A rule whose constant is 1, and which divides by 1 minus this constant.
module {
  nn.record @r { nn.field @y : tensor<?x1xf32>  nn.field @x : tensor<?x1xf32> }
  nn.rule @own hyper(beta = 0.5) slots() once {
  ^bb0(%step: f64, %rate: f64, %beta: f64):
    %one = arith.constant 1.0 : f64
    %rest = arith.subf %one, %beta : f64
    %pace = arith.divf %rate, %rest : f64
    nn.yield %pace : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %pace: f32):
    %move = arith.mulf %pace, %gradient : f32
    %new_value = arith.subf %value, %move : f32
    nn.yield %new_value : f32
  }
  // expected-error @+1 {{gives its rule the number +Inf ('f32') at the first update}}
  nn.group @g rule(@own {beta = 1.0}) rate(0.1)
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

// Without warm-up steps, the learning rate is complete from the start. A
// learning rate of zero is also a number.
module {
  nn.record @r { nn.field @y : tensor<?x1xf32>  nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@adam) rate(0.0) schedule(@warm_up {steps = 0.0})
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

// A rate that is a number and no rate in f32: the model would not learn, without
// a word.
module {
  nn.record @r { nn.field @y : tensor<?x1xf32>  nn.field @x : tensor<?x1xf32> }
  // expected-warning @+1 {{gives its rule the number 1.0E-46, which is 0 in 'f32', at the first update; look at rate, schedule and the hyper-parameters of both}}
  nn.group @g rule(@sgd) rate(1.0e-46)
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
