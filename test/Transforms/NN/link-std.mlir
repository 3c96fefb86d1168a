// RUN: pdl-opt %s --nn-link-std -split-input-file | FileCheck %s

// Each definition is inserted once, before the first group that names it.
// CHECK-LABEL: module @f32
// CHECK-NOT: nn.schedule
// CHECK: nn.rule @adagrad
// CHECK-SAME: slots (accumulator = 0.000000e+00)
// CHECK: ^bb0(%{{.+}}: f64, %{{.+}}: f64, %{{.+}}: f64):
// CHECK: ^bb0(%{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32):
// CHECK: nn.schedule @warm_up
// CHECK: nn.group @first
// CHECK-NEXT: nn.group @second
module @f32 {
  nn.group @first rule(@adagrad) rate(0.1) schedule(@warm_up {steps = 10.0})
  nn.group @second rule(@adagrad {epsilon = 0.5}) rate(0.1)
  nn.param @w : tensor<1xf32> in @first init(#nn.zeros)
}

// -----

// The model's own definition takes precedence.
// CHECK-LABEL: module @own
// CHECK: nn.rule @sgd
// CHECK: ^bb0(%[[VALUE:[a-z0-9]+]]: f32, %{{.+}}: f32):
// CHECK-NEXT: nn.yield %[[VALUE]]
// CHECK-NOT: nn.rule
module @own {
  nn.rule @sgd hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield %value : f32
  }
  nn.group @g rule(@sgd) rate(0.1)
}

// -----

// Rules of f64 state work on f64.
// CHECK-LABEL: module @f64
// CHECK: nn.rule @sgd
// CHECK: ^bb0(%{{.+}}: f64, %{{.+}}: f64, %{{.+}}: f64):
// CHECK-NEXT: arith.mulf {{.+}} : f64
module @f64 {
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<1xf64> in @g init(#nn.zeros)
}

// -----

// Groups of both types name one rule. It is inserted for each type, the second
// time with another name. So is a rule of the library for averages.
// CHECK-LABEL: module @mixed
// CHECK: nn.rule @sgd
// CHECK: ^bb0(%{{.+}}: f32, %{{.+}}: f32, %{{.+}}: f32):
// CHECK: nn.rule @ema of averages
// CHECK: ^bb0(%{{.+}}: f32
// CHECK: nn.group @narrow rule(@sgd) {{.*}}average(@ema)
// CHECK: nn.rule @sgd.f64
// CHECK: ^bb0(%{{.+}}: f64, %{{.+}}: f64, %{{.+}}: f64):
// CHECK-NEXT: arith.mulf {{.+}} : f64
// CHECK: nn.rule @ema.f64 of averages
// CHECK: nn.group @wide rule(@sgd.f64) {{.*}}average(@ema.f64)
// CHECK-NEXT: nn.group @more rule(@sgd)
// CHECK-NEXT: nn.group @rows rule(@sgd.f64)
module @mixed {
  nn.group @narrow rule(@sgd) rate(0.1) average(@ema)
  nn.group @wide rule(@sgd) rate(0.1) average(@ema)
  nn.group @more rule(@sgd) rate(0.1)
  nn.group @rows rule(@sgd) rate(0.1)
  nn.param @a : tensor<1xf32> in @narrow init(#nn.zeros)
  nn.param @b : tensor<1xf64> in @wide init(#nn.zeros)
  nn.param @c : tensor<1xf32> in @more init(#nn.zeros)
  nn.table @t : i64 -> tensor<1xf64> in @rows init(#nn.zeros)
}

// -----

// All definitions of the library are valid.
// CHECK-LABEL: module @all
// CHECK-DAG: nn.rule @sgd hyper
// CHECK-DAG: nn.rule @momentum hyper
// CHECK-DAG: nn.rule @nesterov hyper
// CHECK-DAG: nn.rule @adagrad hyper
// CHECK-DAG: nn.rule @adam hyper
// CHECK-DAG: nn.rule @ftrl undivided hyper
// CHECK-DAG: nn.rule @rmsprop hyper
// CHECK-DAG: nn.rule @rmsprop_centered hyper
// CHECK-DAG: nn.rule @decayed_adagrad hyper
// CHECK-DAG: nn.rule @adadelta hyper
// CHECK-DAG: nn.rule @adamax hyper
// CHECK-DAG: nn.rule @adamw hyper
// CHECK-DAG: nn.rule @lion hyper
// CHECK-DAG: nn.rule @proximal_sgd hyper
// CHECK-DAG: nn.rule @proximal_adagrad hyper
// CHECK-DAG: nn.schedule @constant hyper
// CHECK-DAG: nn.schedule @exponential hyper
// CHECK-DAG: nn.schedule @warm_up hyper
// CHECK-DAG: nn.schedule @cosine hyper
// CHECK-DAG: nn.schedule @natural_exponential hyper
// CHECK-DAG: nn.schedule @inverse_time hyper
// CHECK-DAG: nn.schedule @noam hyper
// CHECK-DAG: nn.schedule @polynomial hyper
// CHECK-DAG: nn.schedule @piecewise hyper
// CHECK-DAG: nn.schedule @cosine_restarts hyper
// CHECK-DAG: nn.schedule @one_cycle hyper
module @all {
  nn.group @g1 rule(@sgd) rate(0.1) schedule(@constant)
  nn.group @g2 rule(@momentum {momentum = 0.5}) rate(0.1) schedule(@exponential {decay = 0.5, steps = 10.0, staircase = 1.0})
  nn.group @g3 rule(@nesterov {momentum = 0.5}) rate(0.1) schedule(@warm_up {steps = 10.0})
  nn.group @g4 rule(@adagrad {epsilon = 0.5}) rate(0.1) schedule(@cosine {steps = 10.0, floor = 0.01, warm_up = 5.0})
  nn.group @g5 rule(@adam {beta1 = 0.5, beta2 = 0.5, epsilon = 0.5}) rate(0.1) schedule(@natural_exponential {decay = 0.5, steps = 10.0, staircase = 1.0})
  nn.group @g6 rule(@ftrl {beta = 0.5, l1 = 0.5, l2 = 0.5}) rate(0.1) schedule(@inverse_time {decay = 0.5, steps = 10.0, staircase = 1.0})
  nn.group @g7 rule(@rmsprop {rho = 0.5, epsilon = 0.5}) rate(0.1) schedule(@noam {width = 16.0, warm_up = 10.0})
  nn.group @g8 rule(@rmsprop_centered {rho = 0.5, epsilon = 0.5}) rate(0.1) schedule(@polynomial {steps = 10.0, floor = 0.01, power = 2.0, cycle = 1.0})
  nn.group @g9 rule(@decayed_adagrad {decay = 0.5, epsilon = 0.5}) rate(0.1) schedule(@piecewise {after1 = 10.0, rate1 = 0.01})
  nn.group @g10 rule(@adadelta {rho = 0.5, epsilon = 0.5}) rate(0.1) schedule(@cosine_restarts {steps = 10.0, growth = 2.0, floor = 0.01})
  nn.group @g11 rule(@adamax {beta1 = 0.5, beta2 = 0.5, epsilon = 0.5}) rate(0.1) schedule(@one_cycle {steps = 10.0, rising = 0.5, divisor = 10.0, final_divisor = 100.0})
  nn.group @g12 rule(@adamw {beta1 = 0.5, beta2 = 0.5, epsilon = 0.5, weight_decay = 0.5}) rate(0.1)
  nn.group @g13 rule(@lion {beta1 = 0.5, beta2 = 0.5, weight_decay = 0.5}) rate(0.1)
  nn.group @g14 rule(@proximal_sgd {l1 = 0.5, l2 = 0.5}) rate(0.1)
  nn.group @g15 rule(@proximal_adagrad {l1 = 0.5, l2 = 0.5}) rate(0.1)
}
