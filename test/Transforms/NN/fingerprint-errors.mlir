// RUN: pdl-opt %s --nn-fingerprint -split-input-file -verify-diagnostics
// RUN: pdl-opt %s --pdl-pipeline="from=model to=merged" -split-input-file -verify-diagnostics

// A fingerprint contains rules and schedules. A module without nn-link-std
// lacks those of the standard library.
module {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  // expected-error @+1 {{names rule @sgd, which the module does not define; run nn-link-std if it is one of the standard library}}
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %l = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

module {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.rule @still hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield %value : f32
  }
  // expected-error @+1 {{names schedule @cosine, which the module does not define; run nn-link-std if it is one of the standard library}}
  nn.group @g rule(@still) rate(0.1) schedule(@cosine)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %l = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
