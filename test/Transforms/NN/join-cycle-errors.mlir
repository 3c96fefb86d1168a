// RUN: pdl-opt %s -split-input-file -verify-diagnostics --nn-link-std --nn-lower-model --nn-join-cycle

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.group @g rule(@sgd) rate(0.1)
nn.param @u : tensor<1x1xf32> in @g init(#nn.zeros)
nn.program @a reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %l = nn.linear %x, @u : (tensor<?x1xf32>) -> tensor<?x1xf32>
  // expected-note @+1 {{the other one is here}}
  nn.minimize %l over @g : tensor<?x1xf32>
}
nn.program @b reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %l = nn.linear %x, @u : (tensor<?x1xf32>) -> tensor<?x1xf32>
  // expected-error @+1 {{changes group @g, as another program of @train does; give each program groups of its own, or minimize the sum of both losses in one program (C3)}}
  nn.minimize %l over @g : tensor<?x1xf32>
}
nn.cycle @train [@a, @b]

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.group @g rule(@sgd) rate(0.1)
nn.group @count rule(@running_sum) rate(1.0)
nn.param @u : tensor<1x1xf32> in @g init(#nn.zeros)
nn.param @n : tensor<1xf32> in @count init(#nn.zeros)
nn.program @a reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %l = nn.linear %x, @u : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %l over @g : tensor<?x1xf32>
  // expected-error @+1 {{stands in a program of @train, and rule @running_sum of its group takes sums as they are: it would run in the steps of other programs, too; use a rule of means, such as @moving_average (C4)}}
  nn.accumulate @n(%x) : tensor<?x1xf32>
}
nn.cycle @train [@a]

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
// expected-error @+1 {{names @a, which is not an nn.program (C2)}}
nn.cycle @train [@a]

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
// expected-note @+1 {{the program is here}}
nn.program @a frozen reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  nn.return %x : tensor<?x1xf32>
}
// expected-error @+1 {{names @a, which is frozen, and trains nothing; take it off the list, or `frozen` off the program (C2)}}
nn.cycle @train [@a * 2]

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
// expected-note @+1 {{the program is here}}
nn.program @a reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  nn.return
}
// expected-error @+1 {{names @a, which has no nn.minimize, and trains nothing}}
nn.cycle @train [@a]

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.group @g rule(@sgd) rate(0.1)
nn.param @u : tensor<1x1xf32> in @g init(#nn.zeros)
// expected-note @+1 {{the program is here}}
nn.program @a reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %l = nn.linear %x, @u : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %l over @g : tensor<?x1xf32>
  nn.return %l : tensor<?x1xf32>
}
// expected-error @+1 {{names @a, which has outputs that no caller would get; return them from a frozen program (C2)}}
nn.cycle @train [@a]

// -----

// expected-error @+1 {{has a turn of 0 steps; expected 1 to 65536 (C1)}}
nn.cycle @train [@a * 0]

// -----

// expected-error @+1 {{has 0 steps; expected 1 to 65536 (C1)}}
nn.cycle @train []

// -----

// expected-error @+1 {{has 65537 steps; expected 1 to 65536 (C1)}}
nn.cycle @train [@a * 65536, @b]

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.group @g rule(@sgd) rate(0.1)
nn.param @u : tensor<1x1xf32> in @g init(#nn.zeros)
nn.program @a reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %l = nn.linear %x, @u : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %l over @g : tensor<?x1xf32>
}
// expected-note @+1 {{the other one is here}}
nn.cycle @train [@a]
// expected-error @+1 {{names @a, which takes turns in another cycle (C2)}}
nn.cycle @again [@a * 2]

// -----

nn.record @r { nn.field @x : tensor<?x1xf32> }
nn.group @g rule(@sgd) rate(0.1)
nn.param @u : tensor<1x1xf32> in @g init(#nn.zeros)
nn.program @a reads(@r) {
^bb0(%x: tensor<?x1xf32>):
  %l = nn.linear %x, @u : (tensor<?x1xf32>) -> tensor<?x1xf32>
  nn.minimize %l over @g : tensor<?x1xf32>
}
// expected-note @+1 {{it is defined here}}
nn.rule @cyclic_counter hyper(length = 1.0) slots() once {
^bb0(%step: f64, %rate: f64, %length: f64):
  nn.yield
} each {
^bb0(%v: f32, %g: f32):
  nn.yield %g : f32
}
// expected-error @+1 {{counts its turns by the standard library's rule @cyclic_counter, and the model defines that name itself; give its own another name (C5)}}
nn.cycle @train [@a]
