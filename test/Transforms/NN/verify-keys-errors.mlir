// RUN: pdl-opt %s --nn-verify-phase="phase=gradient" -verify-diagnostics

// A gradient of rows must have the keys by which the rows were pulled.
module attributes {nn.phase = "gradient"} {
  nn.record @r {
    nn.field @y : tensor<?x1xf32>
    nn.field @c : tensor<?x1xi64>
  }
  nn.rule @sgd hyper() slots() once {
  ^bb0(%step: f64, %rate: f64):
    nn.yield %rate : f64
  } each {
  ^bb0(%value: f32, %gradient: f32, %rate: f32):
    nn.yield %value : f32
  }
  nn.group @g rule(@sgd) rate(0.1)
  nn.table @t : i64 -> tensor<1xf32> in @g init(#nn.zeros)
  nn.program @train reads(@r) {
  ^bb0(%y: tensor<?x1xf32>, %c: tensor<?x1xi64>):
    %a = nn.reshape %c : (tensor<?x1xi64>) -> tensor<?xi64>
    %crossed = nn.cross %c salt(1) : tensor<?x1xi64>
    %b = nn.reshape %crossed : (tensor<?x1xi64>) -> tensor<?xi64>
    %k0, %i0, %s0, %o0 = nn.unique %a
    %k1, %i1, %s1, %o1 = nn.unique %b
    // expected-note @+1 {{pulled here}}
    %rows = nn.pull @t[%k0] : tensor<?x1xf32>
    %sum, %weight = nn.loss_sum %y : tensor<?x1xf32>
    %scalars:2 = nn.once @g weight(%weight) -> (weight, "rate") {
    ^bb0(%step: f64, %w: f64, %norm: f64):
      nn.yield %w, %w : f64, f64
    } : tensor<f32>, tensor<f32>
    // expected-error @+1 {{updates rows of @t by other keys than they are pulled by (C1)}}
    nn.update @t keys(%k1) gradient(%rows) scalars(%scalars#0, %scalars#1) {
    ^bb0(%value: f32, %gradient: f32, %w: f32, %rate: f32):
      nn.yield %value : f32
    } : tensor<?x1xf32>, tensor<f32>, tensor<f32>
  }
}
