// RUN: pdl-opt %s --ps-fuse-messages -split-input-file -verify-diagnostics

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

module attributes {nn.phase = "placed", ps.mode = #ps.mode<sync>} {
  nn.record @r {
    nn.field @x : tensor<?x1xf32>
  }
  nn.clip @joint : global_norm(1.0)
  ps.channel @norm number 0 in "train" norm clip @joint : tensor<f64>
  // expected-error @+1 {{sends a norm, but receives no partial norms that it could be joined from}}
  nn.program @train reads(@r) {
  ^bb0(%x: tensor<?x1xf32>):
    %sum, %weight = nn.loss_sum %x {stage = #nn.stage<compute>} : tensor<?x1xf32>
    %t = ps.send %sum to @norm {stage = #nn.stage<send>} : tensor<f64>
  }
}
