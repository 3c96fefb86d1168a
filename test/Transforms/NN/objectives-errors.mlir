// RUN: pdl-opt %s --nn-autodiff -split-input-file -verify-diagnostics

// One norm cannot cover gradients with different divisors.
module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.clip @joint : global_norm(1.0)
  nn.group @g rule(@sgd) rate(0.1) clip(@joint)
  nn.group @h rule(@sgd) rate(0.1) clip(@joint)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.param @b : tensor<1xf32> in @h init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %b = nn.read @b : tensor<1xf32>
    %l = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    // expected-note @+1 {{that one is here}}
    nn.minimize %l over [@g] : tensor<?x1xf32>
    %m = nn.mul %x, %b : tensor<?x1xf32>, tensor<1xf32>
    // expected-error @+1 {{trains group @h, whose joint clip @joint is also that of a group which another nn.minimize trains; give each its own nn.clip (C5)}}
    nn.minimize %m over [@h] : tensor<?x1xf32>
  }
}

// -----

// A gradient of one loss does not reach groups of another loss.
module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.group @h rule(@sgd) rate(0.1)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %l = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
    // expected-error @+1 {{trains @h, but no symbol of that group contributes to the losses; use one, or take the group off the list (C3)}}
    nn.minimize %l over [@h] : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.param @s : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    // expected-error @+1 {{accumulates into @s, whose group an nn.minimize trains; put states into a group of their own (C3)}}
    nn.accumulate @s(%x) : tensor<?x1xf32>
    %l = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    // expected-note @+1 {{the other one is here}}
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.group @h rule(@moving_average) rate(0.1)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.param @s : tensor<1xf32> in @h init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    // expected-note @+1 {{the other one is here}}
    nn.accumulate @s(%x) : tensor<?x1xf32>
    // expected-error @+1 {{accumulates into @s a second time; add the values up, or give what accumulates, as nn.batch_norm does each time it is called, states of its own (C3)}}
    nn.accumulate @s(%x) : tensor<?x1xf32>
    %l = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.group @h rule(@moving_average) rate(0.1)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.param @s : tensor<1xf32> in @h init(#nn.zeros)
  nn.param @t : tensor<1xf32> in @h init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    // expected-note @+1 {{the other one is here}}
    nn.accumulate @s(%x) : tensor<?x1xf32>
    // expected-error @+1 {{accumulates into @t with other weights than into another state of its group; put it into a group of its own (C3)}}
    nn.accumulate @t(%x) weight %x : tensor<?x1xf32>, tensor<?x1xf32>
    %l = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
