// RUN: pdl-opt %s --ps-insert-send-recv -split-input-file -verify-diagnostics

// expected-error @+1 {{has no mode: run ps-partition first}}
module {
  nn.param @w : tensor<4xf32> init(#nn.zeros)
}

// -----

// expected-error @+1 {{has no mode: run ps-partition first}}
module attributes {ps.mode = #ps.mode<local>} {
  nn.param @w : tensor<4xf32> init(#nn.zeros)
}

// -----

// expected-error @+1 {{has attribute 'ps.mode' with value 1 : i64, which is no #ps.mode}}
module attributes {ps.mode = 1} {
  nn.param @w : tensor<4xf32> init(#nn.zeros)
}

// -----

module attributes {nn.phase = "placed", ps.mode = #ps.mode<sync>} {
  nn.record @r {
    nn.field @x : tensor<?x4xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x4xf32>):
    // expected-error @+1 {{has no stage: run nn-assign-stages first}}
    %0 = nn.sigmoid %x : tensor<?x4xf32>
    nn.return %0 : tensor<?x4xf32>
  }
}

// -----

module attributes {nn.phase = "placed", ps.mode = #ps.mode<sync>} {
  nn.record @r {
    nn.field @x : tensor<?x4xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x4xf32>):
    // expected-error @+1 {{has no stage: run nn-assign-stages first}}
    %0 = nn.sigmoid %x {stage = 3} : tensor<?x4xf32>
    nn.return %0 : tensor<?x4xf32>
  }
}

// -----

// The pass may not run twice.
module attributes {nn.phase = "placed", ps.mode = #ps.mode<sync>} {
  nn.record @r {
    nn.field @x : tensor<?x4xf32>
  }
  nn.param @w : tensor<4xf32> init(#nn.zeros)
  ps.channel @value number 0 in "predict" value of @w : tensor<4xf32>
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x4xf32>):
    // expected-error @+1 {{is of stage receive; only prepare, compute and apply are there before ps-insert-send-recv has run}}
    %w = ps.recv @value {stage = #nn.stage<receive>} : tensor<4xf32>
    %0 = nn.mul %x, %w {stage = #nn.stage<compute>} : tensor<?x4xf32>, tensor<4xf32>
    nn.return %0 : tensor<?x4xf32>
  }
}

// -----

module attributes {nn.phase = "placed", ps.mode = #ps.mode<sync>} {
  nn.record @r {
    nn.field @c : tensor<?x1xi64>
  }
  nn.table @emb : i64 -> tensor<2xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%c: tensor<?x1xi64>):
    %ids = nn.reshape %c {stage = #nn.stage<prepare>} : (tensor<?x1xi64>) -> tensor<?xi64>
    %k, %i, %s, %o = nn.unique %ids {stage = #nn.stage<prepare>}
    %0 = nn.pull @emb[%k] {stage = #nn.stage<prepare>} : tensor<?x2xf32>
    // expected-error @+1 {{pulls from @emb a second time: run nn-merge-lookups first}}
    %1 = nn.pull @emb[%k] {stage = #nn.stage<prepare>} : tensor<?x2xf32>
    nn.return %0 : tensor<?x2xf32>
  }
}

// -----

module attributes {nn.phase = "placed", ps.mode = #ps.mode<sync>} {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.rule @sgd hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    nn.yield %gradient : f32
  }
  nn.group @g rule(@sgd) rate(1.0)
  nn.param @w : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %g = nn.reduce sum %x axes [0] {stage = #nn.stage<compute>} : tensor<?x1xf32>
    // expected-error @+1 {{updates state without an nn.loss_sum, whose weight servers divide by}}
    nn.update @w gradient(%g) scalars() {
    ^bb0(%value: f32, %gradient: f32):
      nn.yield %gradient : f32
    } {stage = #nn.stage<apply>} : tensor<1xf32>
  }
}

// -----

module attributes {nn.phase = "placed", ps.mode = #ps.mode<sync>} {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.param @w : tensor<1xf32> init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %g = nn.reduce sum %x axes [0] {stage = #nn.stage<compute>} : tensor<?x1xf32>
    %sum, %weight = nn.loss_sum %x {stage = #nn.stage<compute>} : tensor<?x1xf32>
    // expected-error @+1 {{is the norm of no group's clip}}
    %n = nn.squared_norm {@w = %g : tensor<1xf32>} weight(%weight) {stage = #nn.stage<apply>}
  }
}

// -----

module attributes {nn.phase = "placed", ps.mode = #ps.mode<sync>} {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.rule @sgd hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    nn.yield %gradient : f32
  }
  nn.clip @joint : global_norm(1.0)
  nn.group @g rule(@sgd) rate(1.0) clip(@joint)
  nn.param @w : tensor<1xf32> in @g init(#nn.zeros)
  nn.param @v : tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %g = nn.reduce sum %x axes [0] {stage = #nn.stage<compute>} : tensor<?x1xf32>
    %sum, %weight = nn.loss_sum %x {stage = #nn.stage<compute>} : tensor<?x1xf32>
    // expected-error @+1 {{counts in @v, which nothing updates}}
    %n = nn.squared_norm {@w = %g : tensor<1xf32>, @v = %g : tensor<1xf32>} weight(%weight) {stage = #nn.stage<apply>}
    %s:2 = nn.once @g weight(%weight) norm(%n) -> (weight, clip_factor) {
    ^bb0(%step: f64, %w: f64, %squared_norm: f64):
      nn.yield %w, %squared_norm : f64, f64
    } {stage = #nn.stage<apply>} : tensor<f32>, tensor<f32>
    nn.update @w gradient(%g) scalars(%s#0) {
    ^bb0(%value: f32, %gradient: f32, %w: f32):
      nn.yield %gradient : f32
    } {stage = #nn.stage<apply>} : tensor<1xf32>, tensor<f32>
  }
}
