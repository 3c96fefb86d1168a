// RUN: pdl-opt %s --nn-autodiff -split-input-file -verify-diagnostics

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %z = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    // expected-error @+1 {{'nn.relu_gradient' op has no gradient, but stands between a trained symbol and the losses; put nn.stop_gradient before it, or say the same with ops that have one}}
    %l = nn.relu_gradient %z, %x : tensor<?x1xf32>
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.group @h rule(@sgd) rate(0.1)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.param @b : tensor<1xf32> in @h init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %b = nn.read @b : tensor<1xf32>
    %z = nn.mul %x, %b : tensor<?x1xf32>, tensor<1xf32>
    %s = nn.sign %z : tensor<?x1xf32>
    %l = nn.mul %s, %a : tensor<?x1xf32>, tensor<1xf32>
    // expected-error @+1 {{trains @h, but no symbol of that group contributes to the losses; use one, or take the group off the list (C3)}}
    nn.minimize %l over [@g, @h] : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    %l = nn.mul %x, %a : tensor<?x1xf32>, tensor<1xf32>
    // expected-error @+1 {{weighs losses with values that depend on trained symbols, whose gradient would be lost; put nn.stop_gradient before the weights if that is meant (C4)}}
    nn.minimize %x weight %l over [@g] : tensor<?x1xf32>, tensor<?x1xf32>
  }
}

// -----

// The mean over a batch is not the mean of the means over its parts.
module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    // expected-note @+1 {{samples are mixed here}}
    %s = nn.reduce sum %x axes [0] : tensor<?x1xf32>
    %d = nn.sub %x, %s : tensor<?x1xf32>, tensor<1xf32>
    %l = nn.mul %d, %a : tensor<?x1xf32>, tensor<1xf32>
    // expected-error @+1 {{minimizes losses that mix samples}}
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @a : tensor<1x1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1x1xf32>
    // expected-note @+1 {{samples are mixed here}}
    %gram = nn.matmul %x transposed, %x : tensor<?x1xf32>, tensor<?x1xf32>
    %z = nn.matmul %x, %gram : tensor<?x1xf32>, tensor<1x1xf32>
    %l = nn.matmul %z, %a : tensor<?x1xf32>, tensor<1x1xf32>
    // expected-error @+1 {{minimizes losses that mix samples}}
    nn.minimize %l over [@g] : tensor<?x1xf32>
  }
}
