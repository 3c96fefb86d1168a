// RUN: pdl-opt %s --nn-verify-phase="phase=split" -split-input-file -verify-diagnostics

module attributes {nn.phase = "split"} {
  nn.record @r {
    nn.field @x : tensor<?x2xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x2xf32>):
    // A word is not a stage.
    // expected-error @+1 {{has no stage; expected the attribute 'stage' to be prepare, receive, compute, send or apply}}
    %0 = nn.relu %x {stage = "compute"} : tensor<?x2xf32>
    nn.return %0 : tensor<?x2xf32>
  }
}

// -----

module attributes {nn.phase = "split"} {
  nn.record @r {
    nn.field @x : tensor<?x2xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x2xf32>):
    // expected-note @+1 {{this runs later}}
    %0 = nn.relu %x {stage = #nn.stage<compute>} : tensor<?x2xf32>
    // expected-error @+1 {{waits for a later stage}}
    %1 = nn.relu %0 {stage = #nn.stage<prepare>} : tensor<?x2xf32>
    nn.return %1 : tensor<?x2xf32>
  }
}

// -----

module attributes {nn.phase = "split"} {
  nn.record @r {
    nn.field @c : tensor<?x1xi64>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%c: tensor<?x1xi64>):
    %ids = nn.reshape %c {stage = #nn.stage<prepare>} : (tensor<?x1xi64>) -> tensor<?xi64>
    // expected-error @+1 {{can fail and stands outside of prepare}}
    %k, %i, %s, %o = nn.unique %ids {stage = #nn.stage<compute>}
    nn.return
  }
}

// -----

module attributes {nn.phase = "split"} {
  nn.record @r {
    nn.field @x : tensor<?x2xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x2xf32>):
    // expected-error @+1 {{belongs to apply exactly if it updates state}}
    %0 = nn.relu %x {stage = #nn.stage<apply>} : tensor<?x2xf32>
    nn.return %0 : tensor<?x2xf32>
  }
}

// -----

module attributes {nn.phase = "split"} {
  nn.record @r {
    nn.field @x : tensor<?x2xf32>
  }
  nn.param @w : tensor<2xf32> init(#nn.zeros)
  ps.channel @value number 0 in "predict" value of @w : tensor<2xf32>
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x2xf32>):
    // expected-error @+1 {{belongs to receive or send: servers take part}}
    %0 = ps.recv @value {stage = #nn.stage<compute>} : tensor<2xf32>
    nn.return %x : tensor<?x2xf32>
  }
}

// -----

// expected-error @+2 {{expected ::pdlc::nn::Stage to be one of: prepare, receive, compute, send, apply}}
// expected-error @+1 {{failed to parse NN_StageAttr parameter 'value'}}
module attributes {a = #nn.stage<later>} {
}
