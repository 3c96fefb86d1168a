// RUN: pdl-opt %s -split-input-file -verify-diagnostics

nn.func private @f(%c: !nn.ragged<?x3x*xi64>, %y: tensor<?x1xf32>) -> tensor<?x1xf32> {
  // expected-error @+1 {{counts rows of @t, which is not an nn.table (C1)}}
  nn.count @t[%c] show(%y) : !nn.ragged<?x3x*xi64>, tensor<?x1xf32>
  nn.return %y : tensor<?x1xf32>
}

// -----

nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @f(%c: tensor<?x3x2xi64>, %y: tensor<?x1xf32>) -> tensor<?x1xf32> {
  // expected-error @+1 {{counts ids 'tensor<?x3x2xi64>'; expected bags, or [b, s] with b the batch (C2)}}
  nn.count @t[%c] show(%y) : tensor<?x3x2xi64>, tensor<?x1xf32>
  nn.return %y : tensor<?x1xf32>
}

// -----

nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @f(%c: tensor<?x3xi64>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // expected-error @+1 {{adds 'tensor<?x2xf32>'; expected [b, 1], with b the batch (C2)}}
  nn.count @t[%c] show(%y) : tensor<?x3xi64>, tensor<?x2xf32>
  nn.return %y : tensor<?x2xf32>
}

// -----

nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @f(%c: tensor<?x3xi64>, %y: tensor<?x1xf64>) -> tensor<?x1xf64> {
  // expected-error @+1 {{adds 'tensor<?x1xf64>' to rows of 'f32'; nn.cast makes one of the other (C2)}}
  nn.count @t[%c] show(%y) : tensor<?x3xi64>, tensor<?x1xf64>
  nn.return %y : tensor<?x1xf64>
}

// -----

nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.func private @f(%c: tensor<?x3xi64>, %y: tensor<?x1xf32>) -> tensor<?x1xf32> {
  // expected-error @+1 {{counts nothing; give each count of the rule a value, such as show(%one) (C4)}}
  "nn.count"(%c) {table = @t, names = []} : (tensor<?x3xi64>) -> ()
  nn.return %y : tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @c : tensor<?x3xi64>
}
nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.program @train reads(@r) {
^bb0(%y: tensor<?x1xf32>, %c: tensor<?x3xi64>):
  // expected-error @+1 {{stands in program @train, which has no nn.minimize: only what trains changes state (C5)}}
  nn.count @t[%c] show(%y) : tensor<?x3xi64>, tensor<?x1xf32>
}

// -----

nn.record @r {
  nn.field @y : tensor<?x1xf32>
  nn.field @c : tensor<?x3xi64>
}
nn.table @t : i64 -> tensor<2xf32> init(#nn.zeros)
nn.program @evaluate frozen reads(@r) {
^bb0(%y: tensor<?x1xf32>, %c: tensor<?x3xi64>):
  // expected-error @+1 {{stands in frozen program @evaluate, which only reads (C3)}}
  nn.count @t[%c] show(%y) : tensor<?x3xi64>, tensor<?x1xf32>
}

// -----

// expected-error @+1 {{names count 'show' twice (C7)}}
nn.rule @wrong hyper() slots() counts(show, show) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield
} row {
^bb0(%width: f64, %show: f32, %again: f32, %rate: f32):
  nn.yield %rate : f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %pace: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{needs both regions 'sum' and 'row' if it has one of them, row slots or counts; one that sums nothing yields nothing from 'sum' (C4)}}
nn.rule @wrong hyper() slots() counts(show) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{in region 'row'; expected ('f64', 'f32', 'f32') (C1)}}
nn.rule @wrong hyper() slots() counts(show) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield
} row {
^bb0(%width: f64, %rate: f32):
  nn.yield %rate : f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %pace: f32):
  nn.yield %value : f32
}

// -----

// expected-error @+1 {{has row slots or counts, and a region 'param', which knows no rows; write region 'row' (C4)}}
nn.rule @wrong hyper() slots() counts(show) once {
^bb0(%step: f64, %rate: f64):
  nn.yield %rate : f64
} sum {
^bb0(%value: f32, %gradient: f32, %rate: f32):
  nn.yield
} param {
^bb0(%width: f64, %show: f32, %rate: f32):
  nn.yield %rate : f32
} each {
^bb0(%value: f32, %gradient: f32, %rate: f32, %pace: f32):
  nn.yield %value : f32
}
