// RUN: pdl-opt %s --nn-assign-stages --verify-diagnostics --split-input-file

nn.record @r {
  nn.field @x : tensor<?x2xf32>
}
nn.group @g rule(@sgd) rate(1.0)
nn.rule @sgd hyper() slots() once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %gradient : f32
}
nn.table @emb : i64 -> tensor<4xf32> in @g init(#nn.zeros)
nn.param @w : tensor<2xf32> in @g init(#nn.zeros)
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x2xf32>):
  // expected-note@below {{the values of the model}}
  %w = nn.read @w : tensor<2xf32>
  // expected-error@below {{prepares ids from values of the model; ids must derive from fields and constants alone}}
  %s = nn.add %x, %w : tensor<?x2xf32>, tensor<2xf32>
  %b = nn.bucketize %s boundaries [0.0] : tensor<?x2xf32>
  %flat = nn.reshape %b : (tensor<?x2xi64>) -> tensor<?xi64>
  %keys, %inverse, %key_splits, %occurrences = nn.unique %flat
  %rows = nn.pull @emb[%keys] : tensor<?x4xf32>
}

// -----

nn.record @r {
  nn.field @x : tensor<?x1xi64>
}
nn.table @a : i64 -> tensor<2xf32> init(#nn.zeros)
nn.table @b : i64 -> tensor<4xf32> init(#nn.zeros)
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x1xi64>):
  %flat = nn.reshape %x : (tensor<?x1xi64>) -> tensor<?xi64>
  %k, %i, %s, %o = nn.unique %flat
  %rows = nn.pull @a[%k] : tensor<?x2xf32>
  // expected-note@below {{the values of the model}}
  %e = nn.pool %rows[%i, %s, %o] of (%flat sum)
    : (tensor<?x2xf32>) -> tensor<?x2xf32>
  // expected-error@below {{prepares ids from values of the model}}
  %bucket = nn.bucketize %e boundaries [0.0] : tensor<?x2xf32>
  %flat2 = nn.reshape %bucket : (tensor<?x2xi64>) -> tensor<?xi64>
  %k2, %i2, %s2, %o2 = nn.unique %flat2
  %rows2 = nn.pull @b[%k2] : tensor<?x4xf32>
}

// -----

// A state is not trained, but servers send it.
nn.record @r {
  nn.field @x : tensor<?x2xf32>
}
nn.table @emb : i64 -> tensor<4xf32> init(#nn.zeros)
nn.state @mean : tensor<2xf32> init(#nn.zeros)
nn.program @predict frozen reads(@r) {
^bb0(%x: tensor<?x2xf32>):
  // expected-note@below {{the values of the model}}
  %mean = nn.read @mean : tensor<2xf32>
  // expected-error@below {{prepares ids from values of the model}}
  %s = nn.sub %x, %mean : tensor<?x2xf32>, tensor<2xf32>
  %b = nn.bucketize %s boundaries [0.0] : tensor<?x2xf32>
  %flat = nn.reshape %b : (tensor<?x2xi64>) -> tensor<?xi64>
  %keys, %inverse, %key_splits, %occurrences = nn.unique %flat
  %rows = nn.pull @emb[%keys] : tensor<?x4xf32>
}
