// RUN: pdl-opt %s --nn-expand-updates -split-input-file -verify-diagnostics

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  // expected-error @+1 {{names rule @sgd, which the module does not define; run nn-link-std if it is one of the standard library}}
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    nn.apply_gradients %x {@a = %a : tensor<1xf32>} over [@g] : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
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
    nn.apply_gradients %x {@a = %a : tensor<1xf32>} over [@g] : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf64> }
  // expected-note @+1 {{the rule is here}}
  nn.rule @still hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield %value : f32
  }
  // expected-error @+1 {{trains symbols of 'f64' by rule @still, whose region 'each' is written for 'f32'; write a rule for 'f64', or take one of the standard library, which is for both}}
  nn.group @g rule(@still) rate(0.1)
  nn.param @a : tensor<1xf64> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf64>):
    %a = nn.read @a : tensor<1xf64>
    nn.apply_gradients %x {@a = %a : tensor<1xf64>} over [@g] : tensor<?x1xf64>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.param @a : tensor<1xf32> init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    // expected-error @+1 {{updates @a, which is in none of its groups (C2)}}
    nn.apply_gradients %x {@a = %a : tensor<1xf32>} over [@g] : tensor<?x1xf32>
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
    // expected-error @+1 {{needs as many symbols as gradients (C1)}}
    "nn.apply_gradients"(%x, %a, %a) <{groups = [@g], keyed = array<i1: false>, operandSegmentSizes = array<i32: 1, 0, 2, 0>, symbols = [@a]}>
      : (tensor<?x1xf32>, tensor<1xf32>, tensor<1xf32>) -> ()
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @ids : tensor<?x1xi64> }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%ids: tensor<?x1xi64>):
    %flat = nn.reshape %ids : (tensor<?x1xi64>) -> tensor<?xi64>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %flat
    %rows = nn.pull @t[%keys] : tensor<?x1xf32>
    // expected-error @+1 {{needs the keys of the rows of @t that its gradient is of (C1)}}
    nn.apply_gradients %rows {@t = %rows : tensor<?x1xf32>} over [@g] : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.rule @still hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield %value : f32
  }
  nn.clip @c : norm(1.0)
  // expected-error @+1 {{is clipped by the norm of each symbol; run nn-split-clips first}}
  nn.group @g rule(@still) rate(0.1) clip(@c)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    nn.apply_gradients %x {@a = %a : tensor<1xf32>} over [@g] : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r { nn.field @x : tensor<?x1xf32> }
  nn.rule @still hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32):
    nn.yield %value : f32
  }
  // expected-error @+1 {{has a limit that is 0 in 'f32', the type of the symbols of group @g; write a larger one (C1)}}
  nn.clip @c : value(1.0e-46)
  nn.group @g rule(@still) rate(0.1) clip(@c)
  nn.param @a : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %a = nn.read @a : tensor<1xf32>
    nn.apply_gradients %x {@a = %a : tensor<1xf32>} over [@g] : tensor<?x1xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @x : tensor<?x1xi64>
    nn.field @y : tensor<?x1xf32>
  }
  nn.rule @scaled hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } sum {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    nn.yield
  } param {
  ^bb0(%width: f64, %rate: f32):
    nn.yield
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    nn.yield %gradient : f32
  }
  // expected-error @+1 {{trains table @t by rule @scaled, which reduces over a whole parameter: a table has no end; give tables a group with a rule of rows, such as @rowwise_lamb, or of elements}}
  nn.group @g rule(@scaled) rate(0.1)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xi64>, %y: tensor<?x1xf32>):
    %ids = nn.reshape %x : (tensor<?x1xi64>) -> tensor<?xi64>
    %keys, %inverse, %key_splits, %occurrences = nn.unique %ids
    %rows = nn.pull @t[%keys] : tensor<?x1xf32>
    nn.apply_gradients %y {@t[%keys] = %rows : tensor<?x1xf32>} over [@g] : tensor<?x1xf32>
  }
}
