// RUN: pdl-opt %s --nn-verify-phase="phase=merged" -split-input-file -verify-diagnostics

// expected-error @+1 {{is in phase model, expected merged}}
module {
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @x : tensor<?x2xf32>
  }
  nn.param @w : tensor<2xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x2xf32>):
    // expected-note @+1 {{the first time is here}}
    %0 = nn.read @w : tensor<2xf32>
    // expected-error @+1 {{reads @w a second time (nn.program, C5)}}
    %1 = nn.read @w : tensor<2xf32>
    %2 = nn.add %x, %0 : tensor<?x2xf32>, tensor<2xf32>
    %3 = nn.add %2, %1 : tensor<?x2xf32>, tensor<2xf32>
    nn.return %3 : tensor<?x2xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @x : tensor<?x2xf32>
  }
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x2xf32>):
    // expected-error @+1 {{may not stand in phase merged: nn-lower-model spells it out}}
    %0 = nn.flatten %x from 1 : tensor<?x2xf32>
    nn.return %0 : tensor<?x2xf32>
  }
}

// -----

module attributes {nn.phase = "merged"} {
  nn.record @r {
    nn.field @x : tensor<?x2xf32>
  }
  nn.param @w : tensor<2x2xf32> init(#nn.zeros)
  nn.program @predict frozen reads(@r) {
  ^bb0(%x: tensor<?x2xf32>):
    %w = nn.read @w : tensor<2x2xf32>
    // expected-error @+1 {{may not stand in phase merged: nn-fuse-gemm makes it}}
    %0 = nn.gemm %x, %w post [relu] : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
    nn.return %0 : tensor<?x2xf32>
  }
}
