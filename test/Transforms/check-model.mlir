// RUN: pdl-opt %s --nn-check-model -split-input-file -verify-diagnostics

// A program that no command runs, because of a letter; a group that nothing
// trains; state that nothing reads.
module {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @x : tensor<?x1xf32>
  }
  nn.group @used rule(@sgd) rate(0.1)
  // expected-warning @+1 {{nothing trains group @unused: no nn.minimize names it}}
  nn.group @unused rule(@sgd) rate(0.1)
  nn.param @w : tensor<1x1xf32> in @used init(#nn.zeros)
  // expected-warning @+1 {{nothing reads @idle: no program and no function names it}}
  nn.param @idle : tensor<1xf32> in @unused init(#nn.zeros)
  // expected-warning @+1 {{nothing reads @mean}}
  nn.state @mean : tensor<1xf32> init(#nn.zeros)
  // expected-warning @+1 {{nothing reads @rows}}
  nn.table @rows : i64 -> tensor<1xf32> init(#nn.zeros)
  nn.func private @score(%x: tensor<?x1xf32>) -> tensor<?x1xf32> {
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
  // expected-warning @+1 {{no command runs program @trian; commands are train, evaluate and predict; did you mean 'train'?}}
  nn.program @trian reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %x: tensor<?x1xf32>):
    %z = nn.call @score(%x) : (tensor<?x1xf32>) -> tensor<?x1xf32>
    %l = nn.squared_error %z, %y : tensor<?x1xf32>
    nn.minimize %l over [@used] : tensor<?x1xf32>
  }
}

// -----

// A model that only predicts trains no group, and that is meant. A name far
// from that of a command is meant as well.
module {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @w : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.program @score frozen reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %z = nn.linear %x, @w : (tensor<?x1xf32>) -> tensor<?x1xf32>
    nn.return %z : tensor<?x1xf32>
  }
}

// -----

module {
  // expected-note @+1 {{the first one is here}}
  nn.record @a { nn.field @x : tensor<?x1xf32> }
  // expected-error @+1 {{is the second nn.record of the model; put all fields into one and leave some out of a program with `except` (C2)}}
  nn.record @b { nn.field @x : tensor<?x1xf32> }
}
