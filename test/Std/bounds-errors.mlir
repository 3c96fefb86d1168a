// RUN: pdl-opt %s --nn-link-std -split-input-file -verify-diagnostics

// The symbols that a rule can update, and the bounds of its arguments.

// expected-error @+1 {{gives 'beta1' of @adam a number out of its bounds; expected one from 0 below 1 (C2)}}
nn.group @g rule(@adam {beta1 = 1.0}) rate(0.1)

// -----

// expected-error @+1 {{gives 'epsilon' of @adam a number out of its bounds; expected one from 0 (C2)}}
nn.group @g rule(@adam {epsilon = -1.0e-8}) rate(0.1)

// -----

// expected-error @+1 {{gives 'beta1' of @adam a number out of its bounds; expected one from 0 below 1 (C2)}}
nn.group @g rule(@adam {beta1 = 0x3FECCCCCCCCCCCCD}) rate(0.1)

// -----

// expected-error @+1 {{gives 'steps' of @cosine a number out of its bounds; expected one above 0 (C2)}}
nn.group @g rule(@adam) rate(0.1) schedule(@cosine {steps = 0.0})

// -----

// expected-error @+1 {{has a learning rate below 0, by which the loss would grow; minimize the negated loss instead (C3)}}
nn.group @g rule(@sgd) rate(-0.1)

// -----

// A counter may count down.
nn.group @g rule(@step_counter) rate(-1.0)

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.group @means rule(@moving_average) rate(0.1)
nn.param @w : tensor<1xf32> in @means init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %w = nn.read @w : tensor<1xf32>
  %l = nn.mul %x, %w : tensor<?x1xf32>, tensor<1xf32>
  // expected-error @+1 {{trains @means, whose rule @moving_average is `of states`, which nn.accumulate writes; give what is trained a group with a rule of gradients, such as @adam (C2)}}
  nn.minimize %l over @means : tensor<?x1xf32>
}

// -----

// expected-error @+1 {{gives "a" a default out of its bounds; expected one from 0 to 1 (C6)}}
nn.rule @own hyper(a = 2.0 from 0.0 to 1.0) slots() once {
^bb0(%step: f64, %rate: f64, %a: f64):
  nn.yield
} each {
^bb0(%value: f32, %gradient: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{gives "a" a default out of its bounds; expected one below 2 (C3)}}
nn.schedule @own hyper(a = 2.0 below 2.0) {
^bb0(%step: f64, %rate: f64, %a: f64):
  nn.yield %rate : f64
}

// -----

// expected-error @+1 {{gives 'most' of @model_average a number out of its bounds; expected one from 1 to 16777216 (C2)}}
nn.group @g rule(@sgd) rate(0.1) average(@model_average {most = 1.0e8})

// -----

// The first step would divide 0 by 0.
// expected-error @+1 {{gives 'initial' of @bounded_adagrad a number out of its bounds; expected one above 0 (C2)}}
nn.group @g rule(@bounded_adagrad {initial = 0.0}) rate(0.1)

// -----

// Bounds may be in any order, but each may occur only once and must be a
// number.
nn.schedule @own hyper(a = 1.0 to 2.0 from 0.0) {
^bb0(%step: f64, %rate: f64, %a: f64):
  nn.yield %rate : f64
}

// -----

// expected-error @+1 {{expected one bound on each side, such as from 0.0 below 1.0}}
nn.schedule @own hyper(a = 1.0 from 0.0 above 0.5) {
^bb0(%step: f64, %rate: f64, %a: f64):
  nn.yield %rate : f64
}

// -----

// expected-error @+1 {{expected a finite bound; leave out the one that nothing reaches}}
nn.schedule @own hyper(a = 1.0 from 0x7FF8000000000000) {
^bb0(%step: f64, %rate: f64, %a: f64):
  nn.yield %rate : f64
}

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.group @g rule(@adam) rate(0.1)
nn.param @mean : tensor<1xf32> in @g init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  // expected-error @+1 {{accumulates into @mean, whose group's rule @adam is not `of states` and would take the mean for a gradient; give it a group with a rule of states, such as rule(@moving_average) (C1)}}
  nn.accumulate @mean(%x) : tensor<?x1xf32>
  nn.minimize %x over @g : tensor<?x1xf32>
}
